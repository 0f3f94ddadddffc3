"""How good is it? Distortion and mean average precision."""
