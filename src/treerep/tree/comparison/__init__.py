"""Trees compared by their splits: difference and support."""
