"""Room `cli`: the same from a shell. Commands import what they run when they run, so that `--help` is quick."""

from .ending import main

__all__ = ["main"]
