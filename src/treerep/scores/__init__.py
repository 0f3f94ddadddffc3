"""Scores of an approximation: distortion and mean average precision."""
