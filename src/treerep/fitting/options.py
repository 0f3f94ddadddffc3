"""Options of the methods of `fit`: one dataclass per method with options.

Every field defaults to None, which selects the method's default. The docstring of `fit`
describes the options. This module imports nothing, so that the command line can list options
without loading a method.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class AutoOptions:
    """Options of `auto`."""

    balance: float | None = None
    time_limit: float | None = None


@dataclass(frozen=True)
class BackboneOptions(AutoOptions):
    """Options of `backbone`."""

    size: int | None = None


@dataclass(frozen=True)
class TreeRepOptions:
    """Options of `treerep`."""

    tol: float | Literal["auto"] | None = None
    pivot: Literal["random", "near", "closest"] | None = None


@dataclass(frozen=True)
class RootOptions:
    """Options of methods that start from one point."""

    root: int | str | None = None


@dataclass(frozen=True)
class GromovOptions(RootOptions):
    """Options of `gromov`."""

    linkage: Literal["average", "single"] | None = None


@dataclass(frozen=True)
class LinfOptions:
    """Options of `linf`."""

    moves: bool | None = None
    time_limit: float | None = None


@dataclass(frozen=True)
class GraphOptions:
    """Options of methods that need a graph, for data that is not a graph."""

    graph: Literal["complete", "knn"] | None = None
    k: int | None = None


@dataclass(frozen=True)
class RootedGraphOptions(GraphOptions, RootOptions):
    """Options of methods that need a graph and start from one point."""


@dataclass(frozen=True)
class BartalOptions:
    """Options of `bartal`."""

    draws: int | None = None
