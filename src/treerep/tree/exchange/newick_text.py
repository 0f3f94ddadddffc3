"""Newick, the text format of trees, as in `((a:1,b:2):0.5,c:3);`."""

import math
import re
from collections.abc import Collection
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import whole_number
from .._validation import check_total
from ..structure.rooted import Preorder

# Possessive quantifiers (the second plus) never backtrack, so an invalid text is rejected in
# linear time.
_BARE = r"[^\s()\[\]',:;]++"
_NAME_AND_LENGTH = rf"\s*+('[^']*+(?:''[^']*+)*+'|{_BARE})?+\s*+(?::\s*+([-+.0-9eE]*+))?+\s*+"
_NAME = re.compile(_BARE)
_PIECE = re.compile(_NAME_AND_LENGTH)
_STEP = re.compile(_NAME_AND_LENGTH + r"([(),;])")
_DECIMAL = re.compile(r"(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE]-[0-9]+")
# Support values of other programs that are not fractions: 95, 99.5 or, from IQ-TREE, 98.7/100.
_SUPPORT = re.compile(r"[0-9.]++(?:[eE][-+]?[0-9]++)?(?:/[0-9.]++)*+")
_SHARE_DECIMALS = 4
_BRACKET_OR_QUOTE = re.compile(r"[\[\]']")


class Parsed(NamedTuple):
    """A tree read from Newick: named nodes are points, and the others are Steiner nodes."""

    n_points: int
    edges: NDArray[np.int64]
    weights: NDArray[np.float64]
    labels: tuple[str, ...] | None
    support: NDArray[np.float64] | None  # None if no edge has support


def write_newick(
    view: Preorder,
    n_points: int,
    labels: tuple[str, ...] | None,
    digits: int | None,
    support: NDArray[np.float64] | None = None,
) -> str:
    """Write a tree from the root of `view`, with the support of the edge above each position.

    O(N), no recursion.
    """
    if digits is not None and whole_number(digits, "digits") < 1:
        raise ValueError(f"digits must be at least 1, not {digits}")
    order = view.order.tolist()
    up = view.up.tolist()
    lengths = view.length.tolist()
    names = _written_names(view, n_points, labels, support)
    numbers = (
        [repr(x) for x in lengths] if digits is None else [f"{x:.{digits}g}" for x in lengths]
    )
    tails = [names[0], *(f"{name}:{x}" for name, x in zip(names[1:], numbers[1:], strict=True))]
    pieces: list[str] = []
    open_nodes: list[int] = []

    def write_leaf(k: int) -> None:
        if k > 0 and order[k] >= n_points:
            raise ValueError(
                f"Steiner node {order[k]} is a leaf, but Newick requires names for leaves: "
                "save the tree as .json or .npz, or remove the node with tree.contracted()"
            )
        pieces.append(tails[k])

    for k, above in enumerate(up[1:], start=1):
        if above == k - 1:  # a first child immediately follows its parent
            pieces.append("(")
            open_nodes.append(above)
            continue
        write_leaf(k - 1)
        while open_nodes[-1] != above:
            pieces += (")", tails[open_nodes.pop()])
        pieces.append(",")
    write_leaf(len(order) - 1)
    while open_nodes:
        pieces += (")", tails[open_nodes.pop()])
    pieces.append(";")
    return "".join(pieces)


def _written_names(
    view: Preorder,
    n_points: int,
    labels: tuple[str, ...] | None,
    support: NDArray[np.float64] | None,
) -> list[str]:
    """Return the text of each position: the name of a point, or the support at a Steiner node."""
    inner = np.zeros(len(view.order), bool)
    inner[view.up[1:]] = True
    shares = (
        [math.nan] * len(inner)
        if support is None
        else np.round(np.abs(support), _SHARE_DECIMALS).tolist()
    )
    names = []
    numbers = labels is None or is_numbering(labels)
    for v, is_inner, share in zip(view.order.tolist(), inner.tolist(), shares, strict=True):
        if v < n_points:
            label = str(v) if labels is None else labels[v]
            like_support = is_share(label, whole=support is not None) or (
                not numbers and looks_like_support(label)
            )
            bare = _NAME.fullmatch(label) and not (is_inner and like_support)
            names.append(label if bare else "'" + label.replace("'", "''") + "'")
        else:
            names.append("" if math.isnan(share) else repr(share))
    return names


def is_share(name: str, whole: bool) -> bool:
    """Tell whether an internal name is support: a decimal from 0 to 1, or with `whole` also 0 or 1.

    Points without labels are named 0, 1, ..., so an integer counts as support only if another
    node has decimal support.
    """
    return (whole and name in ("0", "1")) or (
        _DECIMAL.fullmatch(name) is not None and float(name) <= 1
    )


def looks_like_support(name: str) -> bool:
    """Tell whether an internal name may be support in percent: one number, or several with /."""
    return _SUPPORT.fullmatch(name) is not None


def is_numbering(names: Collection[str]) -> bool:
    """Tell whether names are point numbers from 0 or from 1. Internal numbers are then points."""
    n = len(names)
    return set(names) in ({str(i) for i in range(n)}, {str(i) for i in range(1, n + 1)})


def parse_newick(
    text: str, default_length: float | None = None, inner_labels: bool = True
) -> Parsed:
    """Read one tree.

    O(len(text)), without recursion. A ValueError states the position of an error in the text.
    """
    if not isinstance(text, str):
        raise TypeError(f"Newick must be a string, not {type(text).__name__}")
    if default_length is not None and not 0 <= default_length < math.inf:
        raise ValueError(
            f"default_length must be a finite length of at least 0, not {default_length!r}"
        )
    nodes = _Reader(text, inner_labels)
    nodes.read()
    nodes.tell_points_from_support()
    lengths = np.array(nodes.lengths[1:], dtype=np.float64)
    missing = np.isnan(lengths)
    if missing.any():
        if default_length is None:
            nodes.fail(
                1 + int(missing.argmax()),
                1,
                "missing length: add one, or pass default_length=1.0 for all",
            )
        lengths[missing] = default_length
    wrong = (lengths < 0) | np.isinf(lengths)
    if wrong.any():
        node = 1 + int(wrong.argmax())
        nodes.fail(node, 2, f"length {lengths[node - 1]} is negative or infinite")
    check_total(lengths)
    numbers, labels = number_points(tuple(nodes.names))
    ids = np.array(nodes.points, dtype=np.int64)
    steiner = ids < 0
    ids = np.where(steiner, len(numbers) + np.cumsum(steiner) - 1, numbers[ids])
    edges = (
        np.stack([ids[nodes.parents[1:]], ids[1:]], axis=1)
        if len(ids) > 1
        else np.empty((0, 2), np.int64)
    )
    support = np.array(nodes.shares[1:], dtype=np.float64)
    return Parsed(
        len(numbers), edges, lengths, labels, None if np.isnan(support).all() else support
    )


def number_points(names: tuple[str, ...]) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """Number the points by their names if these are 0 ... n-1, otherwise in order."""
    if set(names) == {str(i) for i in range(len(names))}:
        return np.array([int(name) for name in names]), None
    return np.arange(len(names)), names


class _Reader:
    """The nodes read so far, in the order of their opening parentheses; node 0 is the root."""

    def __init__(self, text: str, inner_labels: bool) -> None:
        self.text = text
        self.plain = blank_comments(text)
        self.inner_labels = inner_labels
        self.parents: list[int] = []
        self.points: list[int] = []  # number of a named node; -1 for a Steiner node
        self.lengths: list[float] = []  # nan if missing
        self.steps: list[int] = []  # position of the name and length of a node
        self.shares: list[float] = []  # support of the edge above; nan if missing
        # node, name, and whether the node is internal, in the order of the text
        self.written: list[tuple[int, str, bool]] = []
        self.names: dict[str, int] = {}

    def read(self) -> None:
        """Read up to the semicolon.

        Each step is an optional name, an optional length, and the delimiter after them.
        """
        stack = [-1]
        # closed: the node whose parenthesis was just closed
        end = 0
        closed = -1
        while step := _STEP.match(self.plain, end):
            start, stop = step.span()
            end = stop
            name, number, mark = step.groups()
            if mark == "(" and (closed >= 0 or name is not None or number is not None):
                fail_at(
                    self.text,
                    stop - 1,
                    "expected a comma or a closing parenthesis, not an opening one",
                )
            node = closed
            if node < 0:
                node = len(self.parents)
                self.parents.append(stack[-1])
                self.points.append(-1)
                self.lengths.append(math.nan)
                self.shares.append(math.nan)
                self.steps.append(start)
            if mark == "(":
                stack.append(node)
                continue
            self.steps[node] = start
            if name is None and closed < 0:
                self.fail(node, 1, "a leaf has no name")
            if name is not None and (closed < 0 or self.inner_labels):
                self.written.append((node, name, closed >= 0))
            if number is not None:
                self._measure(node, number)
            if mark == ";":
                self._finish(stop, len(stack) - 1)
                return
            if len(stack) == 1:
                fail_at(self.text, stop - 1, f"{mark!r} outside all parentheses")
            closed = stack.pop() if mark == ")" else -1
        self._explain(end)

    def fail(self, node: int, part: int, problem: str) -> NoReturn:
        """Raise an error about the name (part 1) or the length (part 2) of a node."""
        step = _STEP.match(self.plain, self.steps[node])
        at = step.start(part) if step and step.group(part) is not None else self.steps[node]
        fail_at(self.text, at, problem)

    def tell_points_from_support(self) -> None:
        """Number the named nodes once all names are known, and separate support from names."""
        whole = any(inner and is_share(name, whole=False) for _, name, inner in self.written)
        points = []
        for node, name, inner in self.written:
            if inner and is_share(name, whole):
                self.shares[node] = float(name)
            else:
                points.append((node, name, inner))
        unsure = next(
            (
                (node, name)
                for node, name, inner in points
                if inner and looks_like_support(name)
            ),
            None,
        )
        if unsure and not is_numbering([name.strip("'") for _, name, _ in points]):
            hint = "pass inner_labels=False, or put it in quotes if it names a point"
            self.fail(
                unsure[0],
                1,
                f"{unsure[1]!r} at an internal node looks like support, but is not between 0 and 1: {hint}",
            )
        for node, name, inner in points:
            self._name(node, name, inner)

    def _name(self, node: int, name: str, inner: bool) -> None:
        if name[0] == "'":
            name = name[1:-1].replace("''", "'")
        number = len(self.names)
        if self.names.setdefault(name, number) != number:
            hint = (
                "; if internal names are support or do not name points, pass inner_labels=False"
                if inner
                else ""
            )
            self.fail(node, 1, f"the name {name!r} occurs twice{hint}")
        self.points[node] = number

    def _measure(self, node: int, number: str) -> None:
        try:
            self.lengths[node] = float(number)
        except ValueError:
            self.fail(node, 2, f"expected a length after the colon, not {number!r}")

    def _finish(self, end: int, n_open: int) -> None:
        if n_open:
            fail_at(self.text, end - 1, f"the tree ends with {n_open} open parentheses")
        if not (math.isnan(self.lengths[0]) or self.lengths[0] == 0):
            self.fail(0, 2, "the root has a length, but no edge above it: remove the length")
        rest = re.compile(r"\S").search(self.plain, end)
        if rest:
            fail_at(
                self.text,
                rest.start(),
                "unexpected text after the semicolon: give one tree at a time",
            )

    def _explain(self, end: int) -> NoReturn:
        """Raise an error that explains why no step could be read at `end`."""
        piece = _PIECE.match(self.plain, end)
        stop = piece.end() if piece else end
        if not self.plain.strip():
            fail_at(self.text, 0, "the text is empty")
        if stop == len(self.plain):
            fail_at(self.text, stop, "the text ends without a semicolon")
        if self.plain[stop] == "'":
            fail_at(
                self.text,
                stop,
                "unclosed quote, or a quote in the middle of a name: write '' inside quotes",
            )
        names = "put names that contain blanks or any of ()[]':;, in single quotes"
        fail_at(self.text, stop, f"unexpected {self.plain[stop]!r}: {names}")


def blank_comments(text: str, kind: str = "Newick") -> str:
    """Replace [comments], which may be nested, by blanks, so that positions do not change."""
    if "[" not in text:
        return text
    pieces = []
    done = 0
    depth = 0
    comment_start = 0
    in_quote = False
    for match in _BRACKET_OR_QUOTE.finditer(text):
        mark = match.group()
        at = match.start()
        if depth == 0 and mark == "'":
            in_quote = not in_quote
        elif not in_quote and mark == "[":
            if depth == 0:
                pieces.append(text[done:at])
                comment_start = done = at
            depth += 1
        elif depth > 0 and mark == "]":
            depth -= 1
            if depth == 0:
                pieces.append(" " * (at + 1 - done))
                done = at + 1
    if depth:
        fail_at(text, comment_start, "this comment is not closed", kind)
    return "".join([*pieces, text[done:]])


def fail_at(text: str, position: int, problem: str, kind: str = "Newick") -> NoReturn:
    """Raise a ValueError that states the problem and its position in the text."""
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    raise ValueError(f"{kind}, line {line} column {column} (character {position}): {problem}")
