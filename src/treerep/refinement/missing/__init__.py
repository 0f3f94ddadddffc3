"""Trees of metrics with missing distances, by the methods of `fit`."""
