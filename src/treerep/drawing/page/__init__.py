"""HTML pages to explore a tree in a browser, each in one file."""
