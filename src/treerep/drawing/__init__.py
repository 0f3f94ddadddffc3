"""Room `drawing`: what a tree and an embedding look like."""
