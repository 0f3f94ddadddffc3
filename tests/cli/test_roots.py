"""Roots, support and names of clades on the command line, and options of figures."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import treerep as tr
from tests.cli.commands import Caller, assert_one_line_error

RAXML = "(((a:1.0,b:1.0)95:1.0,c:2.0)88:1.0,d:5.0);"
IQTREE = "(((a:1.0,b:1.0)98.7/100:1.0,c:2.0)Carnivora:1.0,(d:5.0,e:1.0)80:0.5)Root;"
SHARES = "((a:1.0,b:1.0)0.95:1.0,(c:2.0,d:1.0)0.5:1.0,e:1.0);"


@pytest.fixture
def newick(tmp_path: Path) -> Path:
    path = tmp_path / "tree.nwk"
    path.write_text(IQTREE, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [RAXML, IQTREE, SHARES])
@pytest.mark.parametrize("suffix", ["nwk", "nex", "json", "npz"])
def test_trees_are_written_back_as_they_were(call: Caller, tmp_path: Path, text: str, suffix: str) -> None:
    (tmp_path / "in.nwk").write_text(text, encoding="utf-8")
    assert call("convert", "in.nwk", f"out.{suffix}").returncode == 0
    assert call("convert", f"out.{suffix}", "-", "--to", "newick").stdout.strip() == text


def test_graphml_keeps_root_and_clades(call: Caller, newick: Path) -> None:
    assert call("convert", "tree.nwk", "tree.graphml").returncode == 0
    done = call("convert", "tree.graphml", "-", "--to", "newick")
    assert done.stdout.strip() == IQTREE.replace("98.7/100", "1.0").replace("80", "0.8")
    tree = tr.Tree.from_newick(IQTREE)
    again = tr.Tree.from_networkx(tree.to_networkx())
    assert (again.newick(), again.clade_names) == (
        done.stdout.strip(),
        tree.clade_names,
    )


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ("c", "(((a:1.0,b:1.0)95:1.0,d:6.0)88:1.0,c:1.0);"),
        ("a, b", "((a:1.0,b:1.0)95:0.5,(c:2.0,d:6.0):0.5);"),
        ("midpoint", "(((a:1.0,b:1.0)95:1.0,c:2.0)88:1.5,d:4.5);"),
    ],
)
def test_convert_to_another_root(call: Caller, tmp_path: Path, root: str, expected: str) -> None:
    (tmp_path / "in.nwk").write_text(RAXML, encoding="utf-8")
    done = call("convert", "in.nwk", "-", "--to", "newick", "--root", root)
    found = tr.Tree.from_newick(done.stdout)
    reference = tr.Tree.from_newick(expected).restrict(found.labels or ())
    assert found.isclose(reference)
    # The branches below the root.
    split = {
        frozenset(found.labels[p] for p in below if p < len(found))  # type: ignore[index]
        for below in _branches(found)
    }
    wanted = tr.Tree.from_newick(expected)
    assert split == {
        frozenset(wanted.labels[p] for p in below if p < len(wanted))  # type: ignore[index]
        for below in _branches(wanted)
    }


def _branches(tree: tr.Tree) -> list[list[int]]:
    """Return the nodes of each branch below the root."""
    rooted = tree.rooted(tree.root or 0)
    top = {}
    for node in rooted.order.tolist():
        above = int(rooted.parent[node])
        top[node] = node if above == rooted.root else top.get(above, -1)
    found: dict[int, list[int]] = {}
    for node, first in top.items():
        if node != rooted.root:
            found.setdefault(first, []).append(node)
    return list(found.values())


def test_roots_that_do_not_exist(call: Caller, newick: Path) -> None:
    output = "-", "--to", "newick"
    done = call("convert", "tree.nwk", *output, "--root", "x")
    assert_one_line_error(done, "no point 'x': use labels separated by commas, or midpoint")
    done = call("convert", "tree.nwk", *output, "--root", "a,d")
    assert_one_line_error(done, "no edge separates these 2 points")
    done = call("convert", "tree.nwk", "d.csv", "--root", "a")
    assert_one_line_error(done, "--root needs a tree to write")


def test_labels_with_commas_are_roots(call: Caller, tmp_path: Path) -> None:
    (tmp_path / "in.nwk").write_text("('x, y':1,b:1,c:2);", encoding="utf-8")
    done = call("convert", "in.nwk", "-", "--to", "newick", "--root", "x, y")
    assert done.stdout.strip() == "('x, y':0.5,(b:1.0,c:2.0):0.5);"


def test_draw_with_a_root_and_strips(call: Caller, newick: Path, tmp_path: Path) -> None:
    rows = "name,size,kind\na,1.5,x\nb,2.5,x\nc,3.5,y\nd,4.5,y\ne,5.5,z\n"
    (tmp_path / "table.csv").write_text(rows, encoding="utf-8")
    figure = "draw", "tree.nwk", "-o", "t.svg"
    done = call(*figure, "--root", "d,e", "--axis", "--support", "--strips", "table.csv")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "t.svg").read_text(encoding="utf-8")
    assert ET.fromstring(text).tag.endswith("svg")
    for written in ("distance from the root", "100", "size", "kind", "3"):
        assert f">{written}</text>" in text
    color = "--color", "table.csv:size", "--norm", "log"
    for options in (
        ("--layout", "circular", "--strips", "table.csv:kind,size", *color),
        ("--layout", "slanted", "--lengths", "cladogram", "--align"),
        ("--root", "midpoint", "--no-scale-bar", "--layout", "equal_daylight"),
    ):
        assert call(*figure, *options).returncode == 0
    done = call(*figure, "--strips", "table.csv:weight")
    assert_one_line_error(done, "no column 'weight'")
    done = call(*figure, "--axis", "--layout", "radial")
    assert_one_line_error(done, "--axis needs the layout 'rectangular'")
    (tmp_path / "plain.nwk").write_text("((a:1,b:2):1,c:3);", encoding="utf-8")
    done = call("draw", "plain.nwk", "-o", "p.svg", "--support")
    assert_one_line_error(done, "--support needs a tree with support: .*--bootstrap 100")
    call("embed", "tree.nwk", "-o", "e.npz", "--scale", "0.5")
    done = call("draw", "e.npz", "-o", "e.svg", "--root", "a")
    assert_one_line_error(done, "--root needs a tree, but the input is an embedding")
