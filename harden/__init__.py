"""Campaigns that try to break the package: `python -m harden`, or `make harden`."""
