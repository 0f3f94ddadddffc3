"""Points and trees in hyperbolic space."""
