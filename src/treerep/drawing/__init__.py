"""Room `drawing`: what does it look like? Figures, and the interactive page."""
