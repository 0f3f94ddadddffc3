"""Random trees: those of Bartal."""
