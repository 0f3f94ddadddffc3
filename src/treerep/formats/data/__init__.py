"""Files of distances, points and graphs: one module per format."""
