"""Lower bounds that hold for every tree: packings of quadruples, and single quadruples."""
