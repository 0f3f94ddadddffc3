"""Tree refinement: edge lengths, moves, and trees built around a refined sample."""
