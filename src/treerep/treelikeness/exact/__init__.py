"""The exact search: pairs in order of decreasing distance, component by component."""
