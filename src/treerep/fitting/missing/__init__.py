"""Trees of distance matrices with missing entries: exact insertion, and NJ*."""
