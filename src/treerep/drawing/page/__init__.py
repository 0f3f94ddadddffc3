"""A page to explore a tree in a browser, in one file."""
