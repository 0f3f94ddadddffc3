"""Sums of trees: joint edge lengths, and topologies improved in turn."""
