"""Labels from anywhere: on a terminal, and in tables."""

import numpy as np
import pytest
from rich.console import Console

import treerep as tr
from tests.cli.commands import Caller
from treerep import formats
from treerep._core.io.printing import printable
from treerep.cli._attribute_tables import read_attributes
from treerep.cli._text_tree import middle_node, text_tree
from treerep.cli._wording import one_line

HOSTILE = ["a\x1b[2J", "b\x07\x9b31m", "c\r\nd", "e\u202ef"]
CONTROLS = "\x1b\x07\x9b\r\u202e"
PATH = np.abs(np.subtract.outer(np.arange(4) * 1.5, np.arange(4) * 1.5))


@pytest.mark.parametrize(
    "text", ["plain", "\N{DECIDUOUS TREE}", "caf\xe9 \u05d0", "\N{WOMAN}\u200d\N{MICROSCOPE}"]
)
def test_letters_of_all_scripts_stay(text):
    assert printable(text) == text


def test_delta_prints_no_control_characters(call: Caller, tmp_path):
    square = np.array([[0.0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])  # a cycle: delta is 1
    np.savez(tmp_path / "d.npz", d=square, labels=np.array(HOSTILE))
    done = call("delta", tmp_path / "d.npz")
    assert done.returncode == 0
    assert not set(CONTROLS) & set(done.stdout + done.stderr)
    assert all(printable(label) in done.stdout for label in HOSTILE)
    assert r"a\x1b[2J" in done.stdout
    assert r"\u001b" in call("delta", tmp_path / "d.npz", "--json").stdout


def test_a_tree_in_text_has_no_control_characters():
    tree = tr.fit(tr.as_metric(PATH, labels=HOSTILE))
    console = Console(width=100, force_terminal=False, color_system=None)
    with console.capture() as captured:
        console.print(text_tree(tree, middle_node(tree)))
    assert not set(CONTROLS) & set(captured.get())
    assert r"a\x1b[2J" in captured.get()


def test_errors_and_names_of_files_have_no_control_characters(call: Caller, tmp_path):
    assert one_line(ValueError(f"no point is named {HOSTILE[0]}")) == r"no point is named a\x1b[2J"
    path = tmp_path / f"{HOSTILE[0]}.csv"
    path.write_text("a,b,c\n1,2\n")
    for words in (["fit", path], ["fit", tmp_path / HOSTILE[1]]):
        done = call(*words, "-o", tmp_path / "t.nwk")
        assert done.returncode == 2
        assert not set(CONTROLS) & set(done.stderr)


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_tables_of_coordinates_keep_labels_as_they_are(call: Caller, tmp_path, suffix):
    """What a spreadsheet would calculate is written as it is, and read back as it was."""
    labels = ["=1+1", "@SUM(1)", '+"x"', "-a\tb,c"]
    formats.write_tree(tr.fit(tr.as_metric(PATH, labels=labels)), tmp_path / "t.json")
    path = tmp_path / f"e.{suffix}"
    done = call("embed", tmp_path / "t.json", "-o", path)
    assert done.returncode == 0, done.stderr
    tree = tr.fit(tr.as_metric(PATH, labels=labels))
    columns = read_attributes(str(path), tree)
    points = formats.read(path, kind="points")
    assert points.labels == tuple(labels)
    np.testing.assert_array_equal(points.points, np.column_stack([columns["x1"], columns["x2"]]))
