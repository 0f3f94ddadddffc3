"""Placement of new points in an existing tree."""
