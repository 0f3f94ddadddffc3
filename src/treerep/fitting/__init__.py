"""Which tree approximates this metric? One folder per family of methods."""
