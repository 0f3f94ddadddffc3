"""Reader and writer for trees in Nexus: the TAXA and TREES blocks, with TRANSLATE.

Maddison, Swofford and Maddison, Systematic Biology 46 (1997).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ...tree.exchange.newick_text import (
    Parsed,
    blank_comments,
    fail_at,
    number_points,
    parse_newick,
)
from ...tree.tree import Tree
from .._source import Source
from .newick import tree_text

_BEGIN = re.compile(r"\s*#NEXUS\b", re.IGNORECASE)
# Possessive quantifiers (++, *+) make a wrong text fail in linear time.
_TEXT = re.compile(r"\S")
_MARK = re.compile(r"[;']")
_KEYWORD = re.compile(r"\s*([^\s='()]*)")
_WORD = re.compile(r"\s*+(?:('[^']*+(?:''[^']*+)*+')(?=[\s,]|\Z)|(,)|([^\s',]++)(?=[\s,]|\Z))")
_TREE = re.compile(r"\s*+U?TREE\s*+\*?\s*+(?:'[^']*+(?:''[^']*+)*+'|[^\s='()*]++)\s*+=\s*+", re.IGNORECASE)
_NTAX = re.compile(r"NTAX\s*=\s*([0-9]{1,18})(?![0-9])", re.IGNORECASE)
_LINK = re.compile(r"\bTAXA\s*+=\s*+('[^']*+(?:''[^']*+)*+'|[^\s']++)", re.IGNORECASE)
_BARE = re.compile(r"[A-Za-z0-9.]+")


def write(tree: Tree, *, root: int | str | None = None) -> str:
    """Return the text of a Nexus file. The tree contains numbers, and TRANSLATE maps them to labels."""
    return _text([("tree", tree if root is None else tree.with_root(root))])


def write_all(trees: Sequence[Tree], *, root: int | str | None = None) -> str:
    """Return the text of a Nexus file with several trees on the same points."""
    rooted = trees if root is None else [tree.with_root(root) for tree in trees]
    return _text([(f"tree_{k}", tree) for k, tree in enumerate(rooted, start=1)])


def _text(trees: Sequence[tuple[str, Tree]]) -> str:
    """Return the text of a Nexus file of named trees, which have the same labels."""
    first = trees[0][1]
    n = len(first)
    names = [_quoted(name) for name in first.labels or map(str, range(n))]
    lines = [
        "#NEXUS",
        "BEGIN TAXA;",
        f"  DIMENSIONS NTAX={n};",
        "  TAXLABELS",
        *(f"    {name}" for name in names),
        "  ;",
        "END;",
        "BEGIN TREES;",
        "  TRANSLATE",
        ",\n".join(f"    {i} {name}" for i, name in enumerate(names, start=1)),
        "  ;",
        *(f"  TREE {name} = {_numbered(tree)}" for name, tree in trees),
        "END;\n",
    ]
    return "\n".join(lines)


def _numbered(tree: Tree) -> str:
    """Return the root mark and the Newick text of a tree, with numbers as labels."""
    # Other programs write a tree without a root from a node with three branches.
    is_rooted = tree.root is not None and tree.degrees[tree.root] == 2
    numbers = tuple(str(i + 1) for i in range(len(tree)))
    text = tree._replace(labels=numbers).newick(leaves=False)
    return f"[{'&R' if is_rooted else '&U'}] {text}"


def _quoted(name: str) -> str:
    # An underscore outside quotes is read as a blank.
    return name if _BARE.fullmatch(name) else "'" + name.replace("'", "''") + "'"


def read(source: Source, **options: Any) -> Tree:
    """Read the only tree of a Nexus file, with the options of `Tree.from_newick`.

    Names are looked up in TRANSLATE, then in TAXLABELS: unchanged, with underscores for blanks,
    or, without TRANSLATE, by number from 1. Points are in the order of TAXLABELS. Underscores
    are kept. Blocks other than TAXA and TREES are ignored. If the file has several TAXA blocks, a
    tree has the taxa that LINK names, or those of the only block that has all of its names.
    """
    nexus = _Nexus(tree_text(source))
    nexus.read()
    if len(nexus.trees) > 1:
        nexus.fail(nexus.trees[1].start, "the file has a second tree: read all trees, or keep only one")
    return nexus.tree(nexus.trees[0], options)


def read_all(source: Source, **options: Any) -> list[Tree]:
    """Read all trees of a Nexus file."""
    nexus = _Nexus(tree_text(source))
    nexus.read()
    return [nexus.tree(written, options) for written in nexus.trees]


class _Taxa:
    """A TAXA block: its title in capitals, and its labels, numbered from 0."""

    def __init__(self) -> None:
        self.title = ""
        self.count: int | None = None
        self.labels: dict[str, int] = {}


class _Written(NamedTuple):
    """Where the text of a tree begins and ends, and the TRANSLATE and LINK of its block."""

    start: int
    stop: int
    translate: dict[str, str]
    link: str | None


class _Nexus:
    """The taxa of a file, and the positions of its trees."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = blank_comments(text, "Nexus")
        self.taxa: list[_Taxa] = []
        self.translate: dict[str, str] = {}  # of the current TREES block
        self.link: str | None = None
        self.trees: list[_Written] = []

    def fail(self, position: int, problem: str) -> NoReturn:
        fail_at(self.text, position, problem, "Nexus")

    def read(self) -> None:
        """Read the commands of all blocks."""
        block: str | None = None
        for start, stop in self._commands():
            word = self._keyword(start, stop)
            if word == "BEGIN":
                if block is not None:
                    self.fail(start, f"block {block} has no END")
                block = self._block_name(start, stop)
                if block == "TAXA":
                    self.taxa.append(_Taxa())
                self.translate = {}
                self.link = None
            elif word in ("END", "ENDBLOCK"):
                block = None
            elif block == "TAXA":
                self._read_taxa(word, start, stop)
            elif block == "TREES":
                self._read_trees(word, start, stop)
            elif block is None:
                self.fail(start, f"the command {word[:20]!r} is outside all blocks")
        if block is not None:
            self.fail(len(self.text), f"block {block} has no END: the file may be truncated")
        if not self.trees:
            self.fail(len(self.text), "the file has no tree: add a TREES block with one TREE")

    def tree(self, written: _Written, options: dict[str, Any]) -> Tree:
        """Return the tree of a part of the text."""
        text = self.text[written.start : written.stop] + ";"
        try:
            parsed = parse_newick(text, **options)
        except ValueError:
            # Blanks for the text before the tree, so that the message has the position in the file.
            before = re.sub(r"[^\n]", " ", self.text[: written.start])
            parsed = parse_newick(before + text, **options)
        return self.named(parsed, written)

    def _commands(self) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each command. Semicolons in quotes do not end a command."""
        begin = _BEGIN.match(self.plain)
        if begin is None:
            self.fail(0, "the file does not start with #NEXUS, as Nexus files do")
        start = begin.end()
        quoted = False
        for mark in _MARK.finditer(self.plain, start):
            if mark.group() == "'":
                quoted = not quoted
            elif not quoted:
                yield _TEXT.search(self.plain, start).start(), mark.start()  # type: ignore[union-attr]
                start = mark.end()
        if quoted or self.plain[start:].strip():
            self.fail(start, "a semicolon is missing or a quote is not closed in this command")

    def _keyword(self, start: int, stop: int) -> str:
        word = _KEYWORD.match(self.plain, start, stop)
        return word.group(1).upper() if word else ""

    def _block_name(self, start: int, stop: int) -> str:
        words = self.plain[start:stop].split()
        if len(words) != 2:
            self.fail(start, "BEGIN must be followed by the name of one block")
        return words[1].upper()

    def _read_taxa(self, word: str, start: int, stop: int) -> None:
        taxa = self.taxa[-1]
        if word == "DIMENSIONS":
            count = _NTAX.search(self.plain, start, stop)
            if count is None:
                self.fail(start, "DIMENSIONS has no NTAX=")
            taxa.count = int(count.group(1))
        elif word == "TITLE":
            taxa.title = _title(self.plain[start + len(word) : stop].strip())
        elif word == "TAXLABELS":
            if taxa.labels:
                self.fail(start, "TAXLABELS occurs twice")
            for at, name in self._words(start + len(word), stop):
                if name is None:
                    self.fail(at, "names are separated by a comma: use blanks, or quote the name")
                if name in taxa.labels:
                    self.fail(at, f"the name {name!r} occurs twice in TAXLABELS")
                taxa.labels[name] = len(taxa.labels)
            if taxa.count not in (None, len(taxa.labels)):
                self.fail(start, f"NTAX is {taxa.count}, but TAXLABELS has {len(taxa.labels)} names")

    def _read_trees(self, word: str, start: int, stop: int) -> None:
        if word == "TRANSLATE":
            self._read_translate(start + len(word), stop)
        elif word == "LINK":
            link = _LINK.search(self.plain, start, stop)
            self.link = _title(link[1]) if link else None
        elif word in ("TREE", "UTREE"):
            head = _TREE.match(self.plain, start, stop)
            if head is None:
                self.fail(start, "a tree must be written as TREE name = (...)")
            self.trees.append(_Written(head.end(), stop, self.translate, self.link))

    def _read_translate(self, start: int, stop: int) -> None:
        """Read pairs of a token and a name, separated by commas."""
        pair: list[str] = []
        for at, word in [*self._words(start, stop), (stop, None)]:
            if word is not None:
                pair.append(word)
            elif len(pair) == 2:
                if self.translate.setdefault(pair[0], pair[1]) != pair[1]:
                    self.fail(at, f"TRANSLATE has two names for {pair[0]!r}")
                pair = []
            elif pair or at < stop:  # a comma after the last pair is ignored
                self.fail(
                    at,
                    "TRANSLATE must consist of pairs of a token and a name, separated by commas",
                )

    def _words(self, start: int, stop: int) -> Iterator[tuple[int, str | None]]:
        """Yield the end of each word, and the word without quotes, or None for a comma."""
        end = len(self.plain[:stop].rstrip())
        while start < end:
            word = _WORD.match(self.plain, start, end)
            if word is None:
                self.fail(start, "expected a name here: write '' for a quote inside quotes")
            quoted, comma, bare = word.groups()
            start = word.end()
            yield start, None if comma else (bare or quoted[1:-1].replace("''", "'"))

    def named(self, parsed: Parsed, written: _Written) -> Tree:
        """Return the tree with names for its tokens, and points in the order of TAXLABELS."""
        n = parsed.n_points
        tokens = parsed.labels or [str(i) for i in range(n)]
        names, taxa = self._resolved(tokens, written)
        last = len(taxa)
        order = sorted(range(n), key=lambda point: taxa.get(names[point], last))
        numbers, labels = number_points(tuple(names[point] for point in order))
        ids = np.arange(len(parsed.edges) + 1)
        ids[order] = numbers
        # Tokens may also name clades. The number of a leaf is support, or numbers the nodes.
        leaves = set(tokens)
        clades = tuple(
            (node, name if name in leaves else written.translate.get(name, name))
            for node, name in parsed.annotations.clade_names
        )
        notes = parsed.annotations._replace(clade_names=clades).renumbered(ids)
        fields = ids[parsed.edges], parsed.weights, labels, parsed.support
        return Tree._in_canonical_order(n, *fields, False, notes)

    def _resolved(self, tokens: Sequence[str], written: _Written) -> tuple[list[str], dict[str, int]]:
        """Return the names of the points of a tree, and the labels of its TAXA block."""
        blocks = [taxa for taxa in self.taxa if taxa.labels]
        if written.link is not None and len(blocks) > 1:
            blocks = [taxa for taxa in blocks if taxa.title == written.link]
            if not blocks:
                self.fail(written.start, f"LINK names no TAXA block of the file: {written.link!r}")
        labels = [taxa.labels for taxa in blocks] or [{}]
        found = [(_names(tokens, written.translate, taxa), taxa) for taxa in labels]
        known = [(names, taxa) for names, taxa in found if not taxa or taxa.keys() >= set(names)]
        if not known:
            names, taxa = found[0]
            name = next(name for name in names if name not in taxa)
            where = "TAXLABELS" if len(found) == 1 else "the TAXLABELS of one TAXA block"
            self.fail(written.start, f"{name!r} is in the tree but not in {where}: add it there")
        names, taxa = known[0]
        if any(set(others) != set(names) for others, _ in known[1:]):
            self.fail(
                written.start,
                "several TAXA blocks have names for this tree: add LINK TAXA = title to the TREES block",
            )
        if len(set(names)) < len(names):
            name = next(name for k, name in enumerate(names) if name in names[:k])
            self.fail(written.start, f"{name!r} occurs twice in the tree: name each point once")
        return names, taxa


def _title(word: str) -> str:
    """Return the title of a block. Titles ignore case."""
    return (word[1:-1].replace("''", "'") if word.startswith("'") else word).upper()


def _names(tokens: Sequence[str], translate: dict[str, str], taxa: dict[str, int]) -> list[str]:
    """Return the label of each token: by TRANSLATE, then by TAXLABELS, or the token itself."""
    blanks = {name.replace("_", " "): name for name in taxa}
    numbers = {} if translate else {str(i + 1): name for name, i in taxa.items()}
    names = [translate.get(token, token) for token in tokens]
    return [
        name if name in taxa else blanks.get(name.replace("_", " "), numbers.get(name, name))
        for name in names
    ]
