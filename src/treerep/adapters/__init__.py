"""Conversion from and to objects of other libraries."""
