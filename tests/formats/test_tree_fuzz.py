"""Readers of trees do not crash, whatever they are given."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treerep.formats import TREE_FORMATS, write_tree
from treerep.tree.tree import Tree

from .fuzz_trees import FORMATS, try_reader

TREE = Tree(
    4,
    [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]],
    [1.0, 0.5, 0, 2, 3],
    labels=["a b", "it's", "<&>", "é😀"],
)
SHARES = Tree(
    4,
    TREE.edges,
    TREE.weights,
    TREE.labels,
    support=[float("nan")] * 2 + [0.75] + [float("nan")] * 2,
)
PIECES = [
    b"(",
    b")",
    b",",
    b":",
    b";",
    b"'",
    b"[",
    b"]",
    b"0",
    b"-1",
    b"1e999",
    b"nan",
    b"\n",
    b"\0",
    b"\xff",
    b"",
    b"<",
    b"/>",
]
PIECES += [
    b"BEGIN TREES;",
    b"END;",
    b"TRANSLATE",
    b"<node/>",
    b"<graph>",
    b'"',
    b"{",
    b"}",
    b"null",
    b"[]",
    b"true",
    b"\x1f\x8b",
]


def test_formats_are_all_tried() -> None:
    assert set(FORMATS) == {name for name, known in TREE_FORMATS.items() if known.reads}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=60)
@given(
    content=st.one_of(
        st.binary(max_size=60),
        st.text(max_size=60).map(str.encode),
        st.lists(st.sampled_from(PIECES)).map(b"".join),
    )
)
def test_random_bytes(name: str, folder: Path, content: bytes) -> None:
    try_reader(name, content, folder)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=80)
@given(data=st.data())
def test_files_with_faults(name: str, folder: Path, data: st.DataObject) -> None:
    write_tree(data.draw(st.sampled_from([TREE, SHARES])), folder / "good", format=name)
    content = (folder / "good").read_bytes()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        stop = data.draw(
            st.one_of(
                st.just(start),
                st.integers(start, min(start + 8, len(content))),
                st.just(len(content)),
            )
        )
        piece = data.draw(
            st.one_of(st.sampled_from(PIECES), st.binary(max_size=4), st.just(content[start:stop] * 2))
        )
        content = content[:start] + piece + content[stop:]
    try_reader(name, content, folder)


@pytest.mark.parametrize("name", FORMATS)
def test_files_cut_short_are_never_trees(name: str, folder: Path) -> None:
    write_tree(SHARES, folder / "good", format=name)
    content = (folder / "good").read_bytes()
    for stop in range(0, len(content.rstrip()), 1 + len(content) // 80):
        assert not try_reader(name, content[:stop], folder)
    assert try_reader(name, content, folder)


RUN = 200_000
HEAD = '<graphml><key id="w" for="edge" attr.name="weight"/><graph><node id="a"/>'
HEAD += '<edge source="a" target="a"><data key="w">'
TAIL = "x</data></edge></graph></graphml>"


@pytest.mark.parametrize(
    ("name", "begin", "repeated", "end"),
    [
        ("newick", "(a:1,", " ", "'"),
        ("newick", "(a", " ", "b:1,c:2);"),
        ("newick", "(a:", " ", "x,b:1);"),
        ("newick", "(a:", "1", "x,b:1);"),
        ("newick", "(", "'", "x"),
        ("newick", "", "(", ""),
        ("newick", "", "[]", "("),
        ("newick", "", "[", ""),
        ("newick", "(a:1,b:1);", " ", "x"),
        ("nexus", "#NEXUS begin trees; tree", " ", "; end;"),
        ("nexus", "#NEXUS begin trees; tree t", " ", "; end;"),
        ("nexus", "#NEXUS begin trees; translate ", "'", "x'; end;"),
        ("nexus", "#NEXUS begin trees; translate ", " ", "'x; end;"),
        ("nexus", "#NEXUS", "; ", ""),
        ("nexus", "#NEXUS ", "begin x; end; ", ""),
        ("nexus", "#NEXUS begin taxa; dimensions ", "ntax ", "; end;"),
        ("graphml", HEAD, "1", TAIL),
        ("graphml", HEAD, " ", TAIL),
        ("graphml", "", "<a>", ""),
        ("json", "", "[", ""),
    ],
)
def test_long_runs_are_refused_in_linear_time(
    name: str, begin: str, repeated: str, end: str, folder: Path
) -> None:
    # In quadratic time these would take minutes.
    assert not try_reader(name, (begin + repeated * RUN + end).encode(), folder)


@settings(max_examples=50)
@given(content=st.one_of(st.binary(max_size=40), st.lists(st.sampled_from(PIECES)).map(b"".join)))
def test_guesses(folder: Path, content: bytes) -> None:
    try_reader(None, content, folder)
