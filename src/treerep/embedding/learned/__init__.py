"""Embeddings by gradient descent: PM, LM and PT."""
