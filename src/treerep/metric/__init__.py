"""How far apart are i and j? Matrices, points and graphs."""
