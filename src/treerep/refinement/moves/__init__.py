"""Moves: remove a point or a subtree and reinsert it where it fits best."""
