"""Records of the methods of `fit`, `embed` and `hyperbolicity`. The methods are not imported.

The public functions, the command line, the citations and the tables of the documentation read
these records, so a new method is one file and one record.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from .lazy import load


@dataclass(frozen=True)
class NoOptions:
    """Options of a method that has none."""


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    name : str
        The name that users write: `method="bfs"`.
    function : str
        The function, as "module:name". It is imported at its first use.
    title : str
        What it is, in a few words, with its authors.
    exact : str
        The kind of data on which it is exact: "trees", "ultrametrics", or "" for none.
    time, memory : str
        Cost for n points; memory beyond the data.
    good_at : str
        What to use it for.
    cite : tuple of str
        Keys of `references.bib`.
    options : type
        A dataclass with one field per option. None, the default of each, leaves the choice to
        the function.
    random : bool
        Whether it makes random choices: it takes `rng`, and several trials give several
        results.
    threads : bool
        Whether it takes `n_jobs`.
    """

    name: str
    function: str
    title: str
    exact: str = ""
    time: str = ""
    memory: str = ""
    good_at: str = ""
    cite: tuple[str, ...] = ()
    options: type = NoOptions
    random: bool = False
    threads: bool = False

    def load(self) -> Callable[..., Any]:
        """Import the function."""
        function: Callable[..., Any] = load(self.function)
        return function

    @property
    def option_names(self) -> tuple[str, ...]:
        """Names of the options."""
        return tuple(field.name for field in fields(self.options))

    def chosen(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that were given; a ValueError names one that this method lacks."""
        return chosen_options(self.name, self.option_names, given)


def records(*methods: Method) -> dict[str, Method]:
    """Return methods by name."""
    return {method.name: method for method in methods}


def find_method(methods: Mapping[str, Method], name: object) -> Method:
    """Return the record of a name that a user gave."""
    if not isinstance(name, str) or name not in methods:
        raise ValueError(f"unknown method {name!r}: choose one of {', '.join(methods)}")
    return methods[name]


def chosen_options(
    owner: str, known: Collection[str], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options that were given (not None), all of which must be known.

    >>> chosen_options("bfs", ["root"], {"root": 3, "tol": None})
    {'root': 3}
    """
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in known:
            others = ", ".join(other for other in given if other in known)
            raise ValueError(
                f"{owner} takes no {name}" + (f", but {others}" if others else ": leave it out")
            )
    return options
