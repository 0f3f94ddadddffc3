"""A device that torch knows."""
