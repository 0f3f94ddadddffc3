"""Trees without new nodes: minimum spanning tree, shortest paths, level tree, low stretch."""
