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
    assert_one_line_error(files("place", "t.nwk", "new.csv", "-o", "no/x.jplace"), "folder does not exist")


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
    old = read_tree("old.nwk")
    tr.formats.write_tree(old.with_weights(100 * old.weights), tmp_path / "long.nwk")
    done = call("place", "long.nwk", "all.fasta", "-o", "refitted.nwk")
    assert "warning" not in done.stderr
    refitted = read_tree("refitted.nwk")
    assert refitted.difference(larger).robinson_foulds == 0
    assert 0.5 < refitted.weights.sum() / larger.weights.sum() < 2
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
    assert_one_line_error(call("place", "larger.nwk", "all.fasta"), "all sequences are in the tree")
    (tmp_path / "new.csv").write_text(TABLE)
    done = call("place", "old.nwk", "new.csv", "--metric", "jc69")
    assert_one_line_error(done, "--metric is for FASTA files")


def test_a_table_without_a_header_is_not_matched_to_a_text(call, tmp_path):
    """Labels of rows do not tell the order of the columns."""
    tree = tr.Tree.from_newick("(a:1,(b:1,c:2):1,d:5);")
    (tmp_path / "t.nwk").write_text(tree.newick())
    message = "the table has no labels: put the labels of the points in the first line"
    for row in ("new,6.5,5.5,4.5,1.5\n", "6.5,5.5,4.5,1.5\n"):
        (tmp_path / "new.csv").write_text(row)
        assert_one_line_error(call("place", "t.nwk", "new.csv"), message)
    # A tree from a .json file has the order of the data.
    tr.formats.write_tree(tree.restrict("dcba"), tmp_path / "t.json")
    done = call("place", "t.json", "new.csv", "-o", "larger.json")
    assert done.returncode == 0, done.stderr
    (tmp_path / "new.csv").write_text("name,d,c,b,a\nnew,6.5,5.5,4.5,1.5\n")
    done = call("place", "t.nwk", "new.csv", "-o", "named.json")
    assert done.returncode == 0, done.stderr
    named = tr.Tree.load("named.json").restrict([*"dcba", "new"])
    unnamed = tr.Tree.load("larger.json")
    np.testing.assert_allclose(named.distances()[4], unnamed.distances()[4])


LONG = "(a:10,(b:10,c:20):10,(d:50,e:10):10);\n"
# new: 1 from the middle of the edge of d, in units of a tenth.
NEW = "name,a,b,c,d,e\nnew,5.5,6.5,7.5,3.5,4.5\n"


@pytest.mark.filterwarnings("always:the lengths of the tree")
def test_lengths(call, tmp_path):
    """A tree ten times as long: a warning and one factor, or the lengths that fit."""
    (tmp_path / "t.nwk").write_text(LONG)
    (tmp_path / "new.csv").write_text(NEW)
    tree = tr.Tree.from_newick(LONG)
    right = tree.with_weights(tree.weights / 10)
    done = call("place", "t.nwk", "new.csv", "-o", "scaled.json")
    warning = "treerep: warning: the lengths of the tree do not fit the distances"
    assert done.returncode == 0
    assert f"{warning}, so they were multiplied by 0.1: " in done.stderr
    assert "pass --lengths given" in done.stderr
    old = right.labels
    scaled = tr.Tree.load("scaled.json")
    assert scaled.restrict(old).difference(right).path == pytest.approx(0, abs=1e-2)
    done = call("place", "t.nwk", "new.csv", "-o", "asked.json", "--lengths", "scale")
    assert "warning" not in done.stderr
    assert tr.Tree.load("asked.json") == scaled
    done = call("place", "t.nwk", "new.csv", "-o", "given.json", "--lengths", "given")
    assert f"{warning}, which are about 0.1 times as large" in done.stderr
    assert tr.Tree.load("given.json").restrict(old).difference(tree).path < 1e-9
    done = call("place", "t.nwk", "new.csv", "--lengths", "refit")
    assert_one_line_error(done, "--lengths refit needs the distances between the points")


def test_a_table_of_all_distances_refits_the_tree(call, tmp_path):
    tree = tr.Tree.from_newick(LONG)
    right = tree.with_weights(tree.weights * np.linspace(0.05, 0.2, len(tree.weights)))
    block = right.distances()
    new = [5.5, 6.5, 7.5, 3.5, 4.5]
    lines = ["," + ",".join(right.labels)]
    for label, row in zip([*right.labels, "new"], [*block.tolist(), new], strict=True):
        lines.append(",".join([label, *map(str, row)]))
    (tmp_path / "t.nwk").write_text(LONG)
    (tmp_path / "all.csv").write_text("\n".join(lines) + "\n")
    done = call("place", "t.nwk", "all.csv", "-o", "places.jplace")
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    places = read_placements("places.jplace")
    assert places.tree.difference(right).path == pytest.approx(0, abs=1e-6)
    assert places.tree.difference(tree).robinson_foulds == 0


def test_sequences_without_taxa_of_the_tree(call, tmp_path):
    (tmp_path / "t.nwk").write_text(LONG)
    (tmp_path / "some.fasta").write_text(">a\nACGT\n>b\nACGA\n>new\nACGA\n")
    done = call("place", "t.nwk", "some.fasta")
    assert_one_line_error(done, "data has no points 'c', 'd', 'e': use data of the old and the new")
