"""Trees with a small largest error."""
