"""Room `refinement`: the best tree, not just a tree."""
