"""Files of trees: one module per format."""
