"""Nouns of WordNet, from a database folder as distributed by Princeton and Debian (wordnet-base).

The file format is described in the manual page wndb(5WN).
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ._catalog import CATALOG
from .load import DataSet

# "is a kind of"; instances ("is one of", such as cities and people) have "@i" and are excluded
_HYPERNYM = "@"


def wordnet_nouns(folder: str | os.PathLike[str]) -> DataSet:
    """Read the graph of WordNet's nouns and their hypernyms from a database folder.

    Vertices are sets of synonyms, in the order of the database. They have labels such as
    ``dog.n.01`` (first word, noun, number of its sense). Edges join each vertex to its
    hypernyms. The largest component is kept.

    Parameters
    ----------
    folder : str or path
        The folder that holds ``data.noun`` and ``index.noun``.

    Returns
    -------
    DataSet
        The graph. WordNet 3.0 (Debian's package wordnet-base installs it in /usr/share/wordnet)
        gives the paper's graph, 74,374 vertices and 75,834 edges, with labels and in another
        order.

    Raises
    ------
    FileNotFoundError
        If one of the two files is missing.
    ValueError
        If a file cannot be read. The message names the line.

    See Also
    --------
    datasets.load : Load the same graph without labels, as "wordnet".
    GraphMetric : The metric of a graph.

    Notes
    -----
    Time and memory are O(size of the files). Miller, Comm. ACM 38, 1995.
    """
    from ..metric.graph import GraphMetric

    data = Path(folder) / "data.noun"
    index = Path(folder) / "index.noun"
    senses = dict(_parsed(index, _index_line))
    synsets = list(_parsed(data, _data_line))
    numbers = {synset.offset: number for number, synset in enumerate(synsets)}
    try:
        pairs = [(numbers[synset.offset], numbers[other]) for synset in synsets for other in synset.hypernyms]
        labels = [f"{synset.word}.n.{senses[synset.word].index(synset.offset) + 1:02d}" for synset in synsets]
    except (KeyError, ValueError) as error:
        raise ValueError(
            f"{data} and {index} do not match ({error}): use both from the same database"
        ) from error
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    named = labels[: edges.max(initial=-1) + 1]  # vertices after the last edge are isolated
    graph = GraphMetric(edges, labels=named, largest_component=True)
    return DataSet("wordnet", graph, None, CATALOG["wordnet"].citation)


class _Synset(NamedTuple):
    offset: str  # position in the file, to which pointers refer
    word: str  # the first of the synonyms, as in the index
    hypernyms: list[str]  # offsets


def _data_line(words: list[str]) -> _Synset:
    # offset, lexicographer's file, type, number of words (hexadecimal), words with their ids,
    # number of pointers, pointers: symbol, offset, type, which words
    begin = 4 + 2 * int(words[3], 16)
    pointers = range(begin + 1, begin + 1 + 4 * int(words[begin]), 4)
    hypernyms = [words[at + 1] for at in pointers if words[at] == _HYPERNYM and words[at + 2] == "n"]
    return _Synset(words[0], words[4].lower(), hypernyms)


def _index_line(words: list[str]) -> tuple[str, list[str]]:
    # word, type, number of senses, other fields; then the offsets, in the order of the senses
    return words[0], words[-int(words[2]) :]


def _parsed(path: Path, parse: Callable[[list[str]], Any]) -> Iterator[Any]:
    """Parse every line except the license, whose lines start with two spaces."""
    with path.open(encoding="latin-1") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("  ") or not line.strip():
                continue
            try:
                yield parse(line.partition("|")[0].split())
            except (ValueError, IndexError) as error:
                raise ValueError(
                    f"{path}, line {number}, is not a line of a WordNet database: replace the file"
                ) from error
