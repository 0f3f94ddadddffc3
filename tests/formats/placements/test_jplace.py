"""jplace files: written and read again, read from other programs, and read by gappa."""

import json
import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

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
    assert found.multiplicities is not None
    assert found.multiplicities.tolist() == [2, 1, 1]
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


# An entry of one point on the edge above a and b.
GOOD = {"p": [[7, -12.5, 1.0, 1.0, 0.5]], "n": ["q"]}


def _placed(*place: object) -> dict[str, object]:
    return {"placements": [{"p": [place], "n": ["q"]}]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fields": ["edge_num"]}, "the field 'like_weight_ratio' is missing"),
        ({"fields": None}, "the fields must be a list of names"),
        ({"fields": [*OTHER["fields"], "edge_num"]}, "the field 'edge_num' occurs twice"),
        ({"tree": 5}, "the tree must be Newick text"),
        ({"tree": "(a:1{0},b:2{1},c:1{2})"}, "the tree ends without a semicolon"),
        ({"tree": "(a:1,b:2,c:1);"}, "the edges of the tree have no numbers in braces"),
        (
            {"tree": "(a:1[0],b:2[1],c:1[2]);"},
            "the edges of the tree have no numbers in braces",
        ),
        ({"tree": "(a:1,b:2{1},c:1{2});"}, "need different numbers in braces"),
        ({"tree": "(a:1{1},b:2{1},c:1{2});"}, "need different numbers in braces"),
        ({"tree": "(a:1{0},b:2{1},c:1{2}):1{2};"}, "need different numbers in braces"),
        ({"tree": "(a:1{0},b:2{7},c:1{2}):1e999{9};"}, "the root has an infinite length"),
        (
            _placed(8, 0, 1, 0, 0),
            r"placement 0 \('q'\): edge_num is 8, which is not the number",
        ),
        (_placed(2.9, 0, 1, 0, 0), "edge_num is 2.89999.*, which is not the number"),
        (_placed(-0.5, 0, 1, 0, 0), "edge_num is -0.5, which is not the number"),
        (_placed(None, 0, 1, 0, 0), "edge_num is null, which is not the number"),
        (_placed(True, 0, 1, 0, 0), "edge_num is True, which is not a number"),
        (_placed("7", 0, 1, 0, 0), "edge_num is '7', which is not a number"),
        (_placed(7, 0, -3, 0, 0), "like_weight_ratio is -3, which is not a finite number"),
        (_placed(7, 0, None, 0, 0), "like_weight_ratio is null, which is not a finite number"),
        (_placed(7, 0, 1, 0, None), "pendant_length is null, which is not a finite length"),
        (_placed(7, 0, 1, 0, math.inf), "pendant_length is inf, which is not a finite length"),
        (
            _placed(7, 0, 1, 0, -0.5),
            "pendant_length is -0.5, which is negative: correct it, or ",
        ),
        (_placed(7, 0, 1, -1, 0), "proximal_length is -1, which is negative"),
        (_placed(7, 0, 1, 3, 0), "proximal_length is 3, but edge 7 has the length 1.5"),
        (_placed(7, 0), r"placement 0 \('q'\) has 2 numbers for 5 fields"),
        ({"placements": 5}, "the placements must be a list"),
        ({"placements": [[1]]}, 'placement 0 needs either names "n" or "nm"'),
        (
            {"placements": [GOOD, {"p": GOOD["p"]}]},
            'placement 1 needs either names "n" or "nm"',
        ),
        ({"placements": [GOOD | {"nm": [["q", 1]]}]}, 'needs either names "n" or "nm"'),
        ({"placements": [GOOD | {"n": 5}]}, "placement 0: the names must be a list of text"),
        ({"placements": [GOOD | {"n": None}]}, "placement 0: the names must be a list of text"),
        ({"placements": [GOOD | {"n": []}]}, "placement 0: the names must be a list of text"),
        ({"placements": [GOOD | {"n": ["q", 5]}]}, "the names must be a list of text"),
        ({"placements": [{"p": GOOD["p"], "nm": [[]]}]}, r"must hold \[name, multiplicity\]"),
        ({"placements": [{"p": GOOD["p"], "nm": 5}]}, r"must hold \[name, multiplicity\]"),
        (
            {"placements": [{"p": GOOD["p"], "nm": [["q", -2]]}]},
            "the multiplicity is -2, which",
        ),
        (
            {"placements": [{"p": GOOD["p"], "nm": [["q", None]]}]},
            "multiplicity is null, which",
        ),
        ({"placements": [GOOD | {"n": ["q", "r"], "m": 2}]}, '"m" belongs to one name, not 2'),
        ({"placements": [{"n": ["q"]}]}, r"placement 0 \('q'\) has no places"),
        ({"placements": [GOOD | {"p": []}]}, r"placement 0 \('q'\) has no places"),
        ({"placements": [GOOD | {"p": [1, 2, 3]}]}, r"\('q'\): each place must be a list"),
    ],
)
def test_bad_files(tmp_path: Path, change: dict, message: str) -> None:
    (tmp_path / "bad.jplace").write_text(json.dumps(OTHER | change))
    with pytest.raises(ValueError, match=rf"bad\.jplace: .*{message}"):
        tr.formats.read_placements(tmp_path / "bad.jplace")


_VALUES = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        2.5,
        1e400,
        10**400,
        "",
        "q",
        "(a:1{0},b:1{1});",
        [],
        [[]],
        {},
        {"p": 1},
    ]
)


@given(st.data())
@settings(max_examples=200)
def test_a_changed_file_is_read_or_refused(tmp_path_factory: Any, data: Any) -> None:
    content = json.loads(json.dumps(OTHER))
    inside: Any = content
    while True:
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        key = data.draw(st.sampled_from(list(keys)))
        if not isinstance(inside[key], dict | list) or not inside[key] or data.draw(st.booleans()):
            break
        inside = inside[key]
    inside[key] = data.draw(_VALUES)
    path = tmp_path_factory.getbasetemp() / "changed.jplace"
    path.write_text(json.dumps(content))
    message = ""
    try:
        found = tr.formats.read_placements(path)
    except ValueError as error:
        message = str(error)
    if message:
        assert message.startswith(str(path))
    else:
        assert found.pendant.min(initial=0) >= 0
        assert found.distal.min(initial=0) >= 0 <= found.proximal.min(initial=0)
        jplace.write(found)


def test_a_place_may_be_beyond_its_edge_by_rounding() -> None:
    for proximal, distal in ((1.5000149, 0.0), (-0.0000099, 1.5)):
        found = jplace.read(json.dumps(OTHER | _placed(7, 0, 1, proximal, 0)))
        assert found.distal.tolist() == [[distal]]


def test_multiplicities_are_kept() -> None:
    entries = [
        GOOD | {"n": ["q", "r"]},
        {"p": GOOD["p"], "nm": [["x", 30], ["y", 0.5]]},
        {"p": [[2, -3.0, 1.0, 1.0, 0.0]], "nm": [["z", 2]]},
    ]
    found = jplace.read(json.dumps(OTHER | {"placements": entries}))
    assert found.labels == ("q", "r", "x", "y", "z")
    written = json.loads(jplace.write(found))
    # Neighbors with the same places are written as one entry.
    assert [entry["nm"] for entry in written["placements"]] == [
        [["q", 1.0], ["r", 1.0], ["x", 30.0], ["y", 0.5]],
        [["z", 2.0]],
    ]
    for again in (jplace.read(json.dumps(written)), found.best):
        assert again.multiplicities is not None
        assert again.multiplicities.tolist() == [1, 1, 30, 0.5, 2]
        assert again.labels == found.labels
    one = jplace.read(json.dumps(OTHER | {"placements": [GOOD | {"n": "q"}]}))
    assert one.multiplicities is None
    assert json.loads(jplace.write(one))["placements"][0]["n"] == ["q"]


@pytest.mark.parametrize("root", [":0{9}", ":0.0 {9}", "R:0{9}", "'a):1{3}':0{9}", ":0", "1.0:0{9}"])
def test_the_length_of_the_root_is_dropped(root: str) -> None:
    assert isinstance(OTHER["tree"], str)
    found = jplace.read(json.dumps(OTHER | {"tree": OTHER["tree"].replace("{9};", root + ";")}))
    expected = jplace.read(json.dumps(OTHER))
    assert found.tree.isclose(expected.tree)
    assert found.attached().isclose(expected.attached())


def test_places_above_the_root_keep_their_distances() -> None:
    text = "((a:1{0},b:1{1}):1{2},c:2{3}):0.5{4};"
    # The first place is 0.4 above the root, the second at the root.
    places = [[4, 0, 0.75, 0.1, 0.25], [2, 0, 0.25, 0, 0.25]]
    content = OTHER | {"tree": text, "placements": [{"p": places, "n": ["q"]}]}
    found = jplace.read(json.dumps(content))
    assert_allclose(found.pendant, [[0.65, 0.25]])
    assert_allclose(found.uncertainty, 0, atol=1e-12)
    larger = found.attached()
    q = larger.labels.index("q")
    assert_allclose([larger.pairs(q, larger.labels.index(x)) for x in "abc"], [2.65] * 3)
    with pytest.raises(ValueError, match="but edge 4 has the length 0.5"):
        jplace.read(json.dumps(content | _placed(4, 0, 1, 0.7, 0)))


def test_text_columns_are_not_read() -> None:
    content = {
        "tree": "((a:0.2{0},b:0.2{1})1.000:0.1{2},c:0.2{3},d:0.3{4}){5};",
        "fields": ["classification", "distal_length", *OTHER["fields"][:3], "pendant_length"],
        "placements": [{"p": [["p__Firmicutes", 0.1, 1, -614, 1, 0.2]], "nm": [["x_0", 1], ["y_1", 1]]}],
        "version": 3,
    }
    found = jplace.read(json.dumps(content))
    assert found.labels == ("x_0", "y_1")
    assert_allclose(found.distal, 0.1)


def test_negative_lengths_are_an_option(tmp_path: Path) -> None:
    path = tmp_path / "x.jplace"
    tree = "((a:1{3},b:-2{1}):1.5{7},(c:3{0},d:1{2}):-0.1{5}){9};"
    places = [[5, 0, 1, -0.05, -0.1], [5, 0, 1, 0.2, 0.1], [7, 0, 1, -1.0, 0.1]]
    entries = [{"p": [place], "n": [name]} for place, name in zip(places, "qrs", strict=True)]
    path.write_text(json.dumps(OTHER | {"tree": tree, "placements": entries}))
    with pytest.raises(ValueError, match=r"length -2\.0 is negative"):
        tr.formats.read_placements(path)
    found = tr.formats.read_placements(path, negative_lengths="zero")
    assert found.tree.weights.min() == 0
    assert_allclose(found.pendant.ravel(), [0, 0.1, 0.1])
    assert_allclose(found.distal.ravel(), [0, 0, 1.5])
    # The option does not permit other errors.
    path.write_text(json.dumps(OTHER | {"tree": tree} | _placed(7, 0, 1, 3, 0)))
    with pytest.raises(ValueError, match="but edge 7 has the length 1.5"):
        tr.formats.read_placements(path, negative_lengths="zero")


def test_version_1_has_edge_numbers_in_square_brackets() -> None:
    tree = OTHER["tree"]
    assert isinstance(tree, str)
    old = re.sub(r"(?<!c)\{(\d)\}", r"[\1]", tree)
    assert "'c{2}':3[0]" in old
    entries = [
        {"p": [[7, -12.5, 0.25, 1.0, 0.5], [0, -11.5, 0.75, 2.5, 0.25]], "n": "q", "m": 2},
        OTHER["placements"][1],
    ]
    found = jplace.read(json.dumps(OTHER | {"tree": old, "placements": entries, "version": 1}))
    expected = jplace.read(json.dumps(OTHER))
    assert jplace.write(found) == jplace.write(expected)


def test_leaves_without_names_are_named_by_their_edges() -> None:
    text = "((:1{3},( :1{5},:1[x]{7}):1{6}):1{2},\n:1{1},d:2{4}):0{0};"
    found = jplace.read(json.dumps(OTHER | {"tree": text} | _placed(7, 0, 1, 0, 0)))
    assert found.tree.labels == ("{3}", "{5}", "{7}", "{1}", "d")
    assert found.tree.pairs(0, 4) == 4
    again = jplace.read(jplace.write(found))
    assert again.tree.labels == found.tree.labels


def test_a_name_may_occur_several_times() -> None:
    found = jplace.read(json.dumps(OTHER | {"placements": [GOOD, GOOD | {"p": [[2, 0, 1, 0, 0]]}]}))
    assert found.labels == ("q", "q")
    assert jplace.read(jplace.write(found)).labels == ("q", "q")
    with pytest.raises(ValueError, match="share the label 'q'"):
        found.attached()


def test_a_file_without_points() -> None:
    found = jplace.read(json.dumps(OTHER | {"placements": []}))
    assert len(found) == 0
    assert found.attached() == found.tree
    assert json.loads(jplace.write(found))["placements"] == []


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
