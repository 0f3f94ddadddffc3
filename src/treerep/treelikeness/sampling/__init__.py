"""Averages over random quadruples."""
