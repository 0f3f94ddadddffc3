"""Methods that fit a tree to a metric, one folder per family of methods."""
