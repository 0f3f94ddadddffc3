"""Trees of distance matrices with missing entries: NJ*."""
