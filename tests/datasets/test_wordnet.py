import os
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import block_diag

from treerep.datasets import load, wordnet_nouns

# Hand-written, in the form of wndb(5WN): a license, an instance (Rex, "@i"), a pointer to a verb ("+"), a synset of two
# hypernyms, eleven (0b) synonyms, and a second component (the lone pair). Offsets need only agree with each other.
SYNONYMS = " ".join(f"pup{letter} 0" for letter in "abcdefghij")
DATA = f"""\
  1 This is the license, which is skipped.
00000100 03 n 01 entity 0 002 ~ 00000200 n 0000 ~ 00000300 n 0000 | that which exists
00000200 05 n 02 Animal 0 beast 0 002 @ 00000100 n 0000 ~ 00000400 n 0000 | a | in the gloss @ 00000500 n 0000
00000300 06 n 01 pet 0 002 @ 00000100 n 0000 + 00000900 v 0101 | kept at home
00000400 05 n 01 dog 0 003 @ 00000200 n 0000 @ 00000300 n 0000 ~ 00000500 n 0000 | barks
00000500 05 n 0b pup 0 {SYNONYMS} 001 @ 00000400 n 0000 | young
00000600 05 n 01 dog 1 001 @ 00000700 n 0000 | a chap
00000700 05 n 01 chap 0 000 | a fellow
00000800 05 n 01 Rex 0 001 @i 00000400 n 0000 | one dog
"""
INDEX = """\
  1 This is the license, which is skipped.
animal n 1 2 @ ~ 1 0 00000200
chap n 1 0 1 0 00000700
dog n 2 2 @ ~ 2 1 00000600 00000400
entity n 1 1 ~ 1 1 00000100
pet n 1 2 @ + 1 0 00000300
pup n 1 1 @ 1 0 00000500
rex n 1 1 @i 1 0 00000800
"""


@pytest.fixture
def database(tmp_path):
    (tmp_path / "data.noun").write_text(DATA)
    (tmp_path / "index.noun").write_text(INDEX)
    return tmp_path


def test_a_small_database(database):
    found = wordnet_nouns(database)
    assert found.labels == ("entity.n.01", "animal.n.01", "pet.n.01", "dog.n.02", "pup.n.01")
    edges = {
        (found.labels[i], found.labels[j])
        for i, j in zip(*found.graph.adjacency.nonzero(), strict=True)
        if i < j
    }
    assert edges == {
        ("entity.n.01", "animal.n.01"),
        ("entity.n.01", "pet.n.01"),
        ("animal.n.01", "dog.n.02"),
        ("pet.n.01", "dog.n.02"),
        ("dog.n.02", "pup.n.01"),
    }
    assert found.metric.pairs(0, 4) == 3
    assert "WordNet" in found.citation


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "data.noun",
            "03 n 01 entity",
            "03 n zz entity",
            "data.noun, line 2, is not a line of a WordNet database",
        ),
        (
            "data.noun",
            "000 | a fellow",
            "",
            "data.noun, line 8, is not a line of a WordNet database",
        ),
        (
            "index.noun",
            "chap n 1",
            "chap n one",
            "index.noun, line 3, is not a line of a WordNet database",
        ),
        (
            "index.noun",
            "chap n",
            "chip n",
            "do not match .*chap.*: use both from the same database",
        ),
        (
            "index.noun",
            "00000500",
            "00000501",
            "do not match .*00000500.*: use both from the same database",
        ),
        (
            "data.noun",
            "@ 00000700",
            "@ 00000701",
            "do not match .*00000701.*: use both from the same database",
        ),
    ],
)
def test_damaged_databases(file, old, new, message, database):
    path = database / file
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ValueError, match=message) as damaged:
        wordnet_nouns(database)
    assert "\n" not in str(damaged.value)


def test_no_database(tmp_path):
    with pytest.raises(FileNotFoundError, match="index.noun"):
        wordnet_nouns(tmp_path)


def test_wordnet_3_is_the_papers_graph(data_folder):
    folder = Path(
        os.environ.get("WNSEARCHDIR", "/usr/share/wordnet")
    )  # the variable of WordNet's own programs
    if not (folder / "data.noun").is_file():
        pytest.skip(f"no WordNet database in {folder}: install Debian's wordnet-base, or set WNSEARCHDIR")
    ours, paper = wordnet_nouns(folder).graph, load("wordnet").graph
    assert (len(ours), ours.adjacency.nnz // 2) == (74374, 75834)
    first, second = np.split(colors([ours.adjacency, paper.adjacency], rounds=12), [len(ours)])
    assert np.array_equal(np.sort(first), np.sort(second))
    assert len(np.unique(first)) > 27_000


def colors(adjacencies, rounds):
    """Color the vertices of all graphs: alike ones that have neighbors of the same colors (Weisfeiler and Leman)."""
    both = block_diag(adjacencies, format="csr").astype(np.int64)
    found = np.zeros(both.shape[0], np.int64)
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        sums = both @ rng.integers(2**60, size=found.max() + 1)[found]  # may wrap around
        found = np.unique(np.stack([found, sums]), axis=1, return_inverse=True)[1].reshape(-1)
    return found
