"""Where nodes and edges go in a picture."""
