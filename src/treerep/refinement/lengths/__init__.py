"""The best edge lengths of a fixed tree."""
