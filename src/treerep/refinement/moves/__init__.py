"""Take a point or a subtree out and put it back where it fits best."""
