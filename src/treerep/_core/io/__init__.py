"""File utilities for all packages: archives, arrays, edge lists, safe writing and printing."""
