"""Objects of other libraries in and out. No mathematics."""
