"""Room `embedding`: where the points lie in hyperbolic space."""
