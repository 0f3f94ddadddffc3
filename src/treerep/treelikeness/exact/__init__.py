"""The exact search: pairs from the farthest down, component by component."""
