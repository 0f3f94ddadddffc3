"""`treerep place`: new points of a table, matched to the tree by label."""

import json

import numpy as np
import pytest

import treerep as tr
from tests.cli.commands import assert_one_line_error
from treerep.formats import read_placements, read_tree

TREE = "((a:1,b:2):1.5,c:3,d:1);\n"
# x: on the edge of c, 1 below the inner node, with a pendant edge of 0.5. y: a copy of d.
TABLE = "name,d,c,b,a\nx,2.5,2.5,5,4\ny,0,4,4.5,3.5\n"
LARGER = "((a:1,b:2):1.5,(c:2,x:0.5):1,(d:0,y:0):1);"


@pytest.fixture
def files(call, tmp_path):
    (tmp_path / "t.nwk").write_text(TREE)
    (tmp_path / "new.csv").write_text(TABLE)
    return call


def path_difference(tree):
    return tree.difference(tr.Tree.from_newick(LARGER)).path


@pytest.mark.parametrize("output", ["larger.nwk", "larger.json", "larger.nex", "larger.nwk.gz"])
def test_the_tree_grows(files, output):
    done = files("place", "t.nwk", "new.csv", "-o", output)
    assert (done.returncode, done.stdout) == (0, "")
    assert "2 new points in a tree of 4 points" in done.stderr
    assert path_difference(read_tree(output)) == pytest.approx(0, abs=1e-12)


def test_places(files):
    done = files("place", "t.nwk", "new.csv", "-o", "x.jplace", "--candidates", "2", "--json")
    assert json.loads(done.stdout)["placed"] == 2
    found = read_placements("x.jplace")
    assert found.labels == ("x", "y")
    assert found.nodes.shape == (2, 2)
    assert path_difference(found.attached()) == pytest.approx(0, abs=1e-12)


def test_standard_output(files):
    done = files("place", "t.nwk", "new.csv")
    assert path_difference(tr.Tree.from_newick(done.stdout)) == pytest.approx(0, abs=1e-12)
    done = files("place", "t.nwk", "-", "--json", stdin=TABLE.encode())
    tree = tr.Tree.from_newick(json.loads(done.stdout)["newick"])
    assert path_difference(tree) == pytest.approx(0, abs=1e-12)


def test_a_table_of_all_distances(files, four, tmp_path):
    tr.formats.write_tree(tr.fit(four).restrict(range(3)), tmp_path / "three.nwk")
    assert files("place", "three.nwk", "four.csv", "-o", "four.json").returncode == 0
    placed = tr.Tree.load("four.json").restrict(four.labels)
    np.testing.assert_allclose(placed.distances(), four.distances, atol=1e-9)


def test_missing_distances(files, tmp_path):
    (tmp_path / "new.csv").write_text("name,d,c,b,a\nx,2.5,2.5,nan,4\n")
    assert_one_line_error(files("place", "t.nwk", "new.csv"), "is nan")
    done = files("place", "t.nwk", "new.csv", "--missing")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("name,d,c,b\nx,1,2,3\n", "new.csv: no column has the label 'a' of the tree"),
        ("name,d,c,b,a,a\nx,1,2,3,4,5\n", "two columns have the same label"),
        (",d,c,b,a\na,1,2,3,0\n", "all rows are points of the tree"),
        ("d,c,b,a\n1,2,3,4\n", "the rows have no labels"),
        ("", "the file is empty"),
    ],
)
def test_tables_that_do_not_match(files, tmp_path, table, message):
    (tmp_path / "new.csv").write_text(table)
    assert_one_line_error(files("place", "t.nwk", "new.csv"), message)


def test_outputs_are_checked_first(files):
    assert_one_line_error(files("place", "t.nwk", "new.csv", "-o", "x.txt"), "unknown suffix")
    assert_one_line_error(
        files("place", "t.nwk", "new.csv", "-o", "no/x.jplace"), "folder does not exist"
    )


def test_sequences(call, tmp_path):
    """The alignment holds old and new sequences. The new ones are found by their labels."""
    alignment = tr.datasets.random_alignment(12, sites=2000, depth=0.3)
    labels = alignment.tree.labels
    text = "".join(f">{k}\n{s}\n" for k, s in zip(labels, alignment.sequences, strict=True))
    (tmp_path / "all.fasta").write_text(text)
    tr.formats.write_tree(alignment.tree.restrict(labels[:10]), tmp_path / "old.nwk")
    assert call("place", "old.nwk", "all.fasta", "-o", "larger.nwk").returncode == 0
    larger = read_tree("larger.nwk")
    assert sorted(larger.labels) == sorted(labels)
    assert larger.difference(alignment.tree).robinson_foulds <= 1
    options = ("--metric", "jc69", "--saturated", "cap", "-o", "x.jplace")
    assert call("place", "old.nwk", "all.fasta", *options).returncode == 0
    assert read_placements("x.jplace").labels == labels[10:]
    # The last sequence has no site in common with some of the tree.
    rows = list(alignment.sequences)
    rows[0] = rows[0][:1000] + "-" * 1000
    rows[11] = "-" * 1000 + rows[11][1000:]
    text = "".join(f">{k}\n{s}\n" for k, s in zip(labels, rows, strict=True))
    (tmp_path / "holes.fasta").write_text(text)
    done = call("place", "old.nwk", "holes.fasta", "--missing", "-o", "holes.nwk")
    assert done.returncode == 0, done.stderr
    assert read_tree("holes.nwk").difference(alignment.tree).robinson_foulds <= 2
    done = call("place", "old.nwk", "holes.fasta", "--saturated", "raise")
    assert done.returncode == 2
    assert "no site is known in both" in done.stderr
    assert_one_line_error(
        call("place", "larger.nwk", "all.fasta"), "all sequences are in the tree"
    )
    (tmp_path / "new.csv").write_text(TABLE)
    done = call("place", "old.nwk", "new.csv", "--metric", "jc69")
    assert_one_line_error(done, "--metric is for FASTA files")
