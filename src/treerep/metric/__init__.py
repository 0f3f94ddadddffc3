"""Room `metric`: how far apart are i and j? Matrices, points, graphs."""
