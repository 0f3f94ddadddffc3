"""Stress tests: `python -m harden`, or `make harden`."""
