"""Files in and out, for every package: archives, arrays, edge lists, safe writing, safe printing."""
