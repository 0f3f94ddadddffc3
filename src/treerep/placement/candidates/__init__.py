"""Candidate places of new points, by least squares."""
