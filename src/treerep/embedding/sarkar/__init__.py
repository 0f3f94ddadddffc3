"""Sarkar's construction, in local frames that are exact at any scale."""
