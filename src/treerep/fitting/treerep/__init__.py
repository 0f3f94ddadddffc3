"""TreeRep (Sonthalia and Gilbert 2020)."""
