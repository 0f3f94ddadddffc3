"""Records of the methods of `fit`, `embed` and `hyperbolicity`. Records do not import methods.

The public functions, the command line, the citations and the tables of the documentation read
these records. To add a method, add one file and one record.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from .lazy import load


@dataclass(frozen=True)
class NoOptions:
    """Options of a method without options."""


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    name : str
        The name that users pass: `method="bfs"`.
    function : str
        The function, as "module:name", which is imported on first use.
    title : str
        A short description with the authors.
    exact : str
        The kind of data for which the method is exact: "trees", "ultrametrics", or "" if there is
        none.
    time, memory : str
        Cost for n points; the memory does not include the data.
    cite : tuple of str
        Keys of `references.bib`.
    options : type
        A dataclass with one field per option. Each option defaults to None, which selects the
        function's default.
    random : bool
        Whether the method makes random choices. A random method accepts `rng`, and trials give
        different results.
    threads : bool
        Whether the method accepts `n_jobs`.
    missing : bool
        Whether the method accepts a metric with missing distances.
    squared : bool
        Whether the method accepts squared distances, which violate the triangle inequality.
    """

    name: str
    function: str
    title: str
    exact: str = ""
    time: str = ""
    memory: str = ""
    cite: tuple[str, ...] = ()
    options: type = NoOptions
    random: bool = False
    threads: bool = False
    missing: bool = False
    squared: bool = False

    def load(self) -> Callable[..., Any]:
        """Import the function."""
        function: Callable[..., Any] = load(self.function)
        return function

    @property
    def option_names(self) -> tuple[str, ...]:
        """Names of the options."""
        return tuple(field.name for field in fields(self.options))

    def chosen(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that were given. An option that this method lacks raises a ValueError."""
        return chosen_options(self.name, self.option_names, given)


def records(*methods: Method) -> dict[str, Method]:
    """Return methods by name."""
    return {method.name: method for method in methods}


def find_method(methods: Mapping[str, Method], name: object) -> Method:
    """Return the record of the method with this name, or raise a ValueError."""
    if not isinstance(name, str) or name not in methods:
        raise unknown_method(name, methods)
    return methods[name]


def unknown_method(name: object, known: Collection[str], others: str = "") -> ValueError:
    """Return the error for an unknown name, with the known name that is meant perhaps.

    Abbreviations count: "mst" may mean "minimum_spanning_tree".

    >>> print(unknown_method("upgna", ["auto", "upgma"]))
    unknown method 'upgna' (did you mean 'upgma'?): choose one of auto, upgma
    >>> print(unknown_method("nj", ["neighbor_joining"], ", or all"))
    unknown method 'nj' (did you mean 'neighbor_joining'?): choose one of neighbor_joining, or all
    """
    text = str(name).lower().replace("-", "_").replace(" ", "_")
    short = [one for one in known if text == "".join(word[0] for word in one.split("_"))]
    near = short or get_close_matches(text, known, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return ValueError(f"unknown method {name!r}{hint}: choose one of {', '.join(known)}{others}")


def chosen_options(owner: str, known: Collection[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given (not None). Unknown options raise a ValueError.

    >>> chosen_options("bfs", ["root"], {"root": 3, "tol": None})
    {'root': 3}
    """
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in known:
            others = ", ".join(other for other in given if other in known)
            raise ValueError(
                f"{owner} does not accept {name}" + (f", only {others}" if others else ": leave it out")
            )
    return options
