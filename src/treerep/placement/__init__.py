"""New points in an existing tree."""
