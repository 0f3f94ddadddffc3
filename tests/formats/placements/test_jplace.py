"""jplace files: written and read again, read from other programs, and read by gappa."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import treerep as tr
from tests.tree.strategies import trees
from treerep.formats.placements import jplace

# ((a: 1, b: 2): 1.5, (c: 3, d: 1): 2), with the numbers of another program and a number at the root.
OTHER = {
    "tree": "((a:1{3},b:2{1}):1.5{7},('c{2}':3{0},d:1{2}):2{5}){9};",
    "placements": [
        {"p": [[7, -12.5, 0.25, 1.0, 0.5], [0, -11.5, 0.75, 2.5, 0.25]], "nm": [["q", 2]]},
        {"p": [[2, -3.0, 1.0, 1.0, 0.0]], "n": ["r", "s"]},
    ],
    "fields": [
        "edge_num",
        "likelihood",
        "like_weight_ratio",
        "proximal_length",
        "pendant_length",
    ],
    "version": 3,
    "metadata": {},
}


def test_a_file_of_another_program() -> None:
    found = jplace.read(json.dumps(OTHER))
    assert found.tree.labels == ("a", "b", "c{2}", "d")
    assert found.labels == ("q", "r", "s")
    assert_allclose(found.weights, [[0.75, 0.25], [1, 0], [1, 0]])
    # q is on the edge of c, at 3 - 2.5 from c, and else on the edge above a and b.
    assert_allclose(found.distal[0], [0.5, 0.5])
    assert_allclose(found.log_likelihoods[0], [-11.5, -12.5])
    assert np.isnan(found.errors).all()
    larger = found.attached()
    names = ("a", "b", "c{2}", "d")
    assert_allclose(
        [larger.pairs(larger.labels.index("q"), names.index(name)) for name in names],
        [1 + 1.5 + 2 + 2.5 + 0.25, 2 + 1.5 + 2 + 2.5 + 0.25, 0.5 + 0.25, 1 + 2.5 + 0.25],
    )
    assert larger.pairs(larger.labels.index("r"), larger.labels.index("s")) == 0


@given(trees(min_points=3), st.integers(0, 10**6), st.booleans())
@settings(max_examples=40)
@pytest.mark.filterwarnings("ignore:the lengths of the tree do not fit")  # random distances
def test_what_is_written_is_read(tree: tr.Tree, seed: int, rooted: bool) -> None:
    # Steiner nodes that are leaves cannot be written in Newick.
    tree = tr.Tree(len(tree), tree.edges, tree.weights).contracted()
    names = ["it's", "x{3}", "a b", *(f"t{k}" for k in range(len(tree)))][: len(tree)]
    tree = tr.Tree(len(tree), tree.edges, tree.weights, labels=names)
    rng = np.random.default_rng(seed)
    if rooted:
        tree = tree.with_root(int(rng.integers(tree.n_nodes)))
    rows = rng.uniform(0.5, 2, (3, len(tree)))
    found = tr.placements(tree, rows, lengths="given", labels=["{1}", "q", "ü'"])
    again = jplace.read(jplace.write(found))
    assert again.labels == found.labels
    for name in ("weights", "pendant", "errors", "log_likelihoods"):
        used = np.isfinite(getattr(found, name))
        assert_allclose(getattr(again, name)[used], getattr(found, name)[used])
    assert_allclose(again.uncertainty, found.uncertainty, rtol=1e-9, atol=1e-12)
    first = found.attached()
    second = again.attached().restrict(first.labels)
    assert_allclose(second.distances(), first.distances(), atol=1e-9)


def test_files(tmp_path: Path) -> None:
    star = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels="abc")
    found = tr.placements(star, [[3.5, 4.5, 1.5], [2.0, 2.0, 3.0]])
    for name in ("x.jplace", "x.jplace.gz"):
        tr.formats.write_placements(found, tmp_path / name)
        again = tr.formats.read_placements(tmp_path / name)
        assert again.labels == ("3", "4")
        assert_allclose(again.pendant, found.pendant)
        assert_allclose(again.attached().distances(), found.attached().distances())
    content = json.loads((tmp_path / "x.jplace").read_text())
    assert content["version"] == 3
    assert content["tree"] == "(a:1.0{0},b:2.0{1},c:3.0{2});"
    assert content["fields"][:3] == ["edge_num", "likelihood", "like_weight_ratio"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fields": ["edge_num"]}, "the field 'like_weight_ratio' is missing"),
        ({"tree": "(a:1,b:2{1},c:1{2});"}, "need different numbers in braces"),
        ({"tree": "(a:1{1},b:2{1},c:1{2});"}, "need different numbers in braces"),
        ({"placements": [{"p": [[8, 0, 1, 0, 0]], "n": ["q"]}]}, "at edge 8, which is not in"),
        ({"placements": [{"p": [[7, 0]], "n": ["q"]}]}, "has 2 numbers for 5 fields"),
        ({"placements": [{"p": [], "n": ["q"]}]}, "placement 0 has no places"),
        ({"placements": [{"p": [[7, 0, 1, 0, None]], "n": ["q"]}]}, "is missing or infinite"),
    ],
)
def test_bad_files(tmp_path: Path, change: dict, message: str) -> None:
    (tmp_path / "bad.jplace").write_text(json.dumps(OTHER | change))
    with pytest.raises(ValueError, match=rf"bad\.jplace: .*{message}"):
        tr.formats.read_placements(tmp_path / "bad.jplace")


def test_other_files(tmp_path: Path) -> None:
    for text, message in (("[1]", "has a tree, placements and fields"), ("{", "Expecting")):
        (tmp_path / "bad.jplace").write_text(text)
        with pytest.raises(ValueError, match=message):
            tr.formats.read_placements(tmp_path / "bad.jplace")


def _is_gappa() -> bool:
    """Whether the program for placements is installed. Debian has another program of this name."""
    if shutil.which("gappa") is None:
        return False
    command = ["gappa", "examine", "graft", "--help"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _is_gappa(), reason="gappa for placements is not installed")
def test_gappa_grafts_the_same_tree(tmp_path: Path) -> None:
    points = np.random.default_rng(0).normal(size=(40, 3))
    d = tr.PointMetric(points).block(range(40), range(40))
    names = [f"t{k}" for k in range(40)]
    tree = tr.fit(tr.MatrixMetric(d[:30, :30], labels=names[:30]))
    found = tr.placements(tree, d[30:, :30], labels=names[30:])
    tr.formats.write_placements(found, tmp_path / "x.jplace")
    common = ["--jplace-path", "x.jplace"]
    for command in (
        ["examine", "info"],
        ["examine", "graft", "--fully-resolve", "--out-dir", "."],
        ["examine", "heat-tree", "--write-newick-tree", "--out-dir", "."],
        ["edit", "accumulate", "--out-dir", "."],
    ):
        subprocess.run(["gappa", *command, *common], cwd=tmp_path, check=True)
    grafted = tr.formats.read_tree(tmp_path / "x.newick")
    assert grafted.difference(found.attached()).path < 1e-3 * d.max()
