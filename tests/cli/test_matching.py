"""Files of trees and data are matched by label; a Newick file is never matched by order of appearance."""

import json

import numpy as np
import pytest

import treerep as tr
from tests.cli.commands import assert_one_line_error
from treerep.formats import read_tree, write_distances, write_tree

REFUSED = (
    "{} has labels in the order of a text file, and {} has no labels: use data with labels, "
    "or write the tree as .json or .npz, which keep the order of the data"
)


@pytest.fixture
def files(call, four):
    """The same distances with and without labels, and in another order; and the tree of the first in Newick."""
    np.save("plain.npy", four.distances)
    order = [2, 0, 3, 1]
    shuffled = tr.MatrixMetric(four.distances[np.ix_(order, order)], labels=[four.labels[k] for k in order])
    write_distances(shuffled, "shuffled.csv")
    write_tree(tr.fit(four), "tree.nwk", root=3)  # the last point comes first
    write_tree(tr.fit(four), "tree.json")
    return call


def distortion(call, tree, data):
    done = call("score", tree, data, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["distortion"]


def test_score_by_label(files):
    for tree in ("tree.nwk", "tree.json"):
        for data in ("four.csv", "shuffled.csv"):
            assert distortion(files, tree, data) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("command", [("score",), ("refine", "-o", "better.nwk")])
def test_newick_and_data_without_labels_are_refused(files, command, tmp_path):
    name, *options = command
    assert_one_line_error(
        files(name, "tree.nwk", "plain.npy", *options), REFUSED.format("tree.nwk", "plain.npy")
    )
    assert not (tmp_path / "better.nwk").exists()
    files("convert", "tree.nwk", "copy.json")  # which keeps the order of the text, and says so
    assert_one_line_error(
        files(name, "copy.json", "plain.npy", *options),
        REFUSED.format("copy.json", "plain.npy"),
    )


def test_json_keeps_the_order(files):
    assert distortion(files, "tree.json", "plain.npy") == pytest.approx(0, abs=1e-12)
    files("convert", "tree.json", "tree.npz")
    assert distortion(files, "tree.npz", "plain.npy") == pytest.approx(0, abs=1e-12)


def test_numbers_in_newick_are_positions(files):
    files("fit", "plain.npy", "-o", "numbers.nwk")
    for data in ("plain.npy", "four.csv"):
        assert distortion(files, "numbers.nwk", data) == pytest.approx(0, abs=1e-12)


def test_refined_trees_have_their_labels_on_the_right_rows(files, four):
    rough = tr.fit(four)
    write_tree(rough.with_weights(np.ones(len(rough.edges))), "rough.nwk", root=3)
    for data, better in (("shuffled.csv", "better.nwk"), ("four.csv", "better.json")):
        assert files("refine", "rough.nwk", data, "-o", better, "--balance", "0").returncode == 0
        for truth in ("four.csv", "shuffled.csv"):
            assert distortion(files, better, truth) < 1e-6
    assert read_tree("better.json").labels == four.labels
    assert distortion(files, "better.json", "plain.npy") < 1e-6


def test_embeddings_are_matched_by_label(files):
    assert files("embed", "tree.nwk", "-o", "e.npz", "--dim", "3").returncode == 0
    same = distortion(files, "e.npz", "four.csv")
    assert same < 0.1
    assert distortion(files, "e.npz", "shuffled.csv") == pytest.approx(same)
    assert_one_line_error(files("score", "e.npz", "plain.npy"), REFUSED.format("e.npz", "plain.npy"))
    files("embed", "tree.json", "-o", "e.npz", "--dim", "3")
    assert distortion(files, "e.npz", "plain.npy") < 0.1
