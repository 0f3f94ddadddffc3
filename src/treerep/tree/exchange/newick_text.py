"""Newick, the text format of trees, as in `((a:1,b:2):0.5,c:3);`."""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import check_choice, whole_number
from .._validation import check_total
from ..comparison.support import support_above
from ..structure.annotations import Annotations
from ..structure.rooted import Preorder, lower_ends
from .comment_support import NUMBERING_KEYS, SUPPORT_KEYS, noted_support

if TYPE_CHECKING:
    from ..tree import Tree

# Possessive quantifiers (the second plus) never backtrack, so an invalid text is rejected in
# linear time.
_BARE = r"[^\s()\[\]',:;]++"
# Other programs stop at these characters outside quotes, so such names are written in quotes.
_SAFE = re.compile(r"""[^\s()\[\]',:;"{}=\\]++""")
_NAME_AND_LENGTH = rf"\s*+('[^']*+(?:''[^']*+)*+'|{_BARE})?+\s*+(?::\s*+([-+.0-9eE]*+))?+\s*+"
_PIECE = re.compile(_NAME_AND_LENGTH)
_STEP = re.compile(_NAME_AND_LENGTH + r"([(),;])")
_DECIMAL = re.compile(r"(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE]-[0-9]+")
# Support: 0.95, 95, 99.5 or, in IQ-TREE, 98.7/100.
_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_SUPPORT = re.compile(rf"{_NUMBER}(?:/{_NUMBER})*")
#: What the names of inner nodes mean.
INNER_LABELS = ("clades", "points", "ignore")
#: What to do with negative lengths.
NEGATIVE_LENGTHS = ("error", "zero")
_SHARE_DECIMALS = 4
# Shares are sums of many weights in some programs, and may exceed 1 by rounding.
_ROUNDING = 1e-6
_BRACKET_OR_QUOTE = re.compile(r"[\[\]']")
_END_OR_QUOTE = re.compile(r"[;']")


class Parsed(NamedTuple):
    """A tree read from Newick: named nodes are points, and other nodes are Steiner nodes."""

    n_points: int
    edges: NDArray[np.int64]
    weights: NDArray[np.float64]
    labels: tuple[str, ...] | None
    support: NDArray[np.float64] | None  # None if no edge has any
    annotations: Annotations


def write_newick(tree: "Tree", view: Preorder, digits: int | None, marks: Sequence[str] | None = None) -> str:
    """Write a tree from the root of `view`. O(N), no recursion.

    `marks` are written after the lengths, by position.
    """
    if digits is not None and whole_number(digits, "digits") < 1:
        raise ValueError(f"digits must be at least 1, not {digits}")
    n_points = tree.n_points
    order = view.order.tolist()
    up = view.up.tolist()
    lengths = view.length.tolist()
    names = _written_names(tree, view)
    numbers = [_decimal(x, digits) for x in lengths]
    if marks is not None:
        numbers = [x + mark for x, mark in zip(numbers, marks, strict=True)]
    elif tree.root_length is not None and int(view.order[0]) == tree.root:
        names[0] += f":{_decimal(tree.root_length, digits)}"
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


def _decimal(length: float, digits: int | None) -> str:
    return repr(length) if digits is None else f"{length:.{digits}g}"


def _written_names(tree: "Tree", view: Preorder) -> list[str]:
    """Return the text of each position: a label, the name of a clade, or support."""
    n_points = tree.n_points
    inner = np.zeros(len(view.order), bool)
    inner[view.up[1:]] = True
    clades = tree.clade_names
    support = support_texts(tree, view)
    whole = tree.support is not None
    numbers = tree.labels is None or is_numbering(tree.labels)
    names = []
    for k, (v, is_inner) in enumerate(zip(view.order.tolist(), inner.tolist(), strict=True)):
        if v < n_points:
            name = str(v) if tree.labels is None else tree.labels[v]
            # Numbers of points stay bare: `inner_labels="points"` reads them.
            like_support = is_share(name, whole) or (not numbers and looks_like_support(name))
        elif v in clades:
            name = clades[v]
            like_support = looks_like_support(name)
        else:
            names.append(support[k])
            continue
        bare = _SAFE.fullmatch(name) and not (is_inner and like_support)
        names.append(name if bare else "'" + name.replace("'", "''") + "'")
    return names


def support_texts(tree: "Tree", view: Preorder) -> list[str]:
    """Return the support of the edge above each position as text; empty if there is none."""
    texts = [""] * len(view.order)
    if tree.support is None:
        return texts
    above = np.round(np.abs(support_above(view, tree.edges, tree.support)), _SHARE_DECIMALS)
    texts = ["" if math.isnan(share) else repr(share) for share in above.tolist()]
    given = tree._annotations.support_text
    if given is not None:
        for position, text in zip(lower_ends(tree.edges, view).tolist(), given, strict=True):
            texts[position] = text
    return texts


def is_share(name: str, whole: bool) -> bool:
    """Tell whether an internal name is support: a decimal from 0 to 1, or with `whole` also 0 or 1.

    Points without labels are named 0, 1, ..., so an integer counts as support only if another
    node has decimal support.
    """
    return (whole and name in ("0", "1")) or (_DECIMAL.fullmatch(name) is not None and float(name) <= 1)


def looks_like_support(name: str) -> bool:
    """Tell whether an inner name may be support: one number, or several with slashes."""
    return _SUPPORT.fullmatch(name) is not None


def read_support(texts: Sequence[str]) -> tuple[list[float], bool] | None:
    """Return support as shares, and whether it was written as shares; None if it is not support.

    The last of several numbers with slashes counts. Numbers above 1 are percentages. Numbers above
    100 are not support, because some programs number inner nodes.

    >>> read_support(["95", "98.7/100"]), read_support(["0.5", "1"]), read_support(["101"])
    (([0.95, 1.0], False), ([0.5, 1.0], True), None)
    """
    values = [float(text.rpartition("/")[2]) for text in texts]
    largest = max(values, default=0.0)
    if largest > 100:
        return None
    if largest > 1 + _ROUNDING:
        return [value / 100 for value in values], False
    return [min(value, 1.0) for value in values], not any("/" in text for text in texts)


def is_numbering(names: Collection[str]) -> bool:
    """Tell whether names are the numbers from 0 or from 1, each of them once."""
    n = len(names)
    return set(names) in ({str(i) for i in range(n)}, {str(i) for i in range(1, n + 1)})


def parse_newick(
    text: str,
    default_length: float | None = None,
    inner_labels: str = "clades",
    negative_lengths: str = "error",
) -> Parsed:
    """Read one tree.

    O(len(text)), without recursion. A ValueError states the position of an error in the text.
    """
    if not isinstance(text, str):
        raise TypeError(f"Newick must be a string, not {type(text).__name__}")
    if default_length is not None and not 0 <= default_length < math.inf:
        raise ValueError(f"default_length must be a finite length of at least 0, not {default_length!r}")
    check_choice("inner_labels", inner_labels, INNER_LABELS)
    check_choice("negative_lengths", negative_lengths, NEGATIVE_LENGTHS)
    nodes = _Reader(text, inner_labels)
    nodes.read()
    nodes.sort_names()
    lengths = np.array(nodes.lengths, dtype=np.float64)
    if np.isnan(lengths[0]):  # the root needs no length
        lengths[0] = 0.0
    missing = np.isnan(lengths)
    if missing.any():
        if default_length is None:
            nodes.fail(
                int(missing.argmax()),
                1,
                "missing length: add one, or pass default_length=1.0 for all",
            )
        lengths[missing] = default_length
    if np.isinf(lengths).any():
        nodes.fail(int(np.isinf(lengths).argmax()), 2, "the length is infinite: correct it")
    if negative_lengths == "zero":
        lengths[lengths < 0] = 0.0
    if (lengths < 0).any():
        node = int((lengths < 0).argmax())
        fix = "correct it, or pass negative_lengths='zero'"
        nodes.fail(node, 2, f"length {lengths[node]} is negative: {fix}")
    root_length = float(lengths[0]) or None
    lengths = lengths[1:]
    check_total(lengths)
    numbers, labels = number_points(tuple(nodes.names))
    ids = np.array(nodes.points, dtype=np.int64)
    steiner = ids < 0
    ids = np.where(steiner, len(numbers) + np.cumsum(steiner) - 1, numbers[ids])
    edges = (
        np.stack([ids[nodes.parents[1:]], ids[1:]], axis=1) if len(ids) > 1 else np.empty((0, 2), np.int64)
    )
    support = np.array(nodes.shares[1:], dtype=np.float64)
    clades = tuple(sorted((int(ids[node]), name) for node, name in nodes.clades.items()))
    texts = tuple(nodes.texts[1:]) if any(nodes.texts[1:]) else None
    root = int(ids[0]) if len(ids) > 1 or root_length else None
    notes = Annotations(root, clades, texts, root_length)
    shares = None if np.isnan(support).all() else support
    return Parsed(len(numbers), edges, lengths, labels, shares, notes)


def number_points(names: tuple[str, ...]) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """Number the points by their names if the names are 0 ... n-1, otherwise in order."""
    if set(names) == {str(i) for i in range(len(names))}:
        return np.array([int(name) for name in names]), None
    return np.arange(len(names)), names


class _Reader:
    """The nodes read so far, in the order of their opening parentheses; node 0 is the root."""

    def __init__(self, text: str, inner_labels: str) -> None:
        self.text = text
        self.plain = blank_comments(text)
        self.has_comments = "[" in text
        self.inner_labels = inner_labels
        self.parents: list[int] = []
        self.points: list[int] = []  # number of a named node, -1 for a Steiner node
        self.lengths: list[float] = []  # nan if there is none
        self.steps: list[int] = []  # where the name and length of a node are
        self.shares: list[float] = []  # support of the edge above, nan if there is none
        self.texts: list[str] = []  # the same as text, if it is not a share
        self.clades: dict[int, str] = {}
        # node, name, and whether the node is an inner node, in the order of the text
        self.written: list[tuple[int, str, bool]] = []
        self.names: dict[str, int] = {}
        # support in comments, by the key of the comment and by node
        self.noted: dict[str, dict[int, str]] = {}

    def read(self) -> None:
        """Read up to the semicolon.

        Each step is an optional name, an optional length, and the delimiter that follows.
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
                self.texts.append("")
                self.steps.append(start)
            if mark == "(":
                stack.append(node)
                continue
            self.steps[node] = start
            if self.has_comments:
                self._note(node, step)
            if name is None and closed < 0:
                self.fail(node, 1, "a leaf has no name")
            if name is not None and (closed < 0 or self.inner_labels != "ignore"):
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

    def sort_names(self) -> None:
        """Tell points, clades and support apart, once all names are known."""
        inner = {node: name for node, name, is_inner in self.written if is_inner}
        if self.inner_labels == "points":
            whole = any(is_share(name, whole=False) for name in inner.values())
            texts = {node: name for node, name in inner.items() if is_share(name, whole)}
        else:
            texts = {node: name for node, name in inner.items() if looks_like_support(name)}
            leaves = [name for _, name, is_inner in self.written if not is_inner]
            # Some programs number all nodes. Support would repeat a number, or leave one out.
            if texts and is_numbering([*leaves, *texts.values()]):
                texts = {}
        if not self._take_support(texts):
            texts = {}
            self._take_support_of_comments()
        for node, name, is_inner in self.written:
            if is_inner and self.inner_labels == "clades" and node not in texts:
                self.clades[node] = _unquoted(name)
            elif not is_inner or node not in texts:
                self._name(node, name)

    def _take_support(self, texts: dict[int, str]) -> bool:
        """Set the support of some nodes, and return whether their texts are support."""
        support = read_support(list(texts.values()))
        if not texts or support is None:
            return False
        for (node, text), share in zip(texts.items(), support[0], strict=True):
            self.shares[node] = share
            self.texts[node] = "" if support[1] else text
        return True

    def _take_support_of_comments(self) -> None:
        inner = set(self.parents)
        for key in SUPPORT_KEYS:
            noted = self.noted.get(key, {})
            texts = {node: text for node, text in noted.items() if node in inner}
            if key in NUMBERING_KEYS and len(texts) < len(noted):
                continue
            if self._take_support(texts):
                return

    def _note(self, node: int, step: re.Match[str]) -> None:
        """Keep the support in the comments of a node."""
        start, stop = step.span()
        text = self.text
        # A name in quotes may contain brackets.
        comments = text[start : max(step.start(1), start)] + text[max(step.end(1), start) : stop]
        if "[" not in comments:
            return
        after = text[step.end(2) : step.start(3)] if step.start(2) >= 0 else None
        for key, value in noted_support(comments, after):
            if looks_like_support(value):
                self.noted.setdefault(key, {})[node] = value

    def _name(self, node: int, name: str) -> None:
        name = _unquoted(name)
        number = len(self.names)
        if self.names.setdefault(name, number) != number:
            self.fail(node, 1, f"the name {name!r} occurs twice: name each point once")
        self.points[node] = number

    def _measure(self, node: int, number: str) -> None:
        try:
            self.lengths[node] = float(number)
        except ValueError:
            self.fail(node, 2, f"expected a length after the colon, not {number!r}")

    def _finish(self, end: int, n_open: int) -> None:
        if n_open:
            fail_at(self.text, end - 1, f"the tree ends with {n_open} open parentheses")
        rest = re.compile(r"\S").search(self.plain, end)
        if rest:
            fail_at(self.text, rest.start(), "a second tree, or other text, after the semicolon")

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


def _unquoted(name: str) -> str:
    return name[1:-1].replace("''", "'") if name[0] == "'" else name


def split_trees(text: str) -> Iterator[str]:
    r"""Yield the text of each tree of a Newick file, up to its semicolon.

    >>> list(split_trees("(a:1,'b;c':2);\n(a:2,b:1);\n"))
    ["(a:1,'b;c':2);", '(a:2,b:1);']
    """
    plain = blank_comments(text)
    start = 0
    quoted = False
    for mark in _END_OR_QUOTE.finditer(plain):
        if mark.group() == "'":
            quoted = not quoted
        elif not quoted:
            yield text[start : mark.end()].strip()
            start = mark.end()
    if plain[start:].strip() or start == 0:
        yield text[start:]


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
