"""The page about data sets agrees with the catalog and the data."""

import re
from pathlib import Path

import pytest

from treerep.datasets import load
from treerep.datasets._catalog import CATALOG

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "datasets.md"
ROW = re.compile(r"^\| `(\w+)` \| ([\d,]+) \| ([^|]*)\| [^|]* \| [^|]* \|$", re.MULTILINE)
ROWS = {name: (points, size) for name, points, size in ROW.findall(PAGE.read_text("utf-8"))}


def numbers(text):
    return [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", text)]


def test_every_data_set_has_a_row():
    assert list(ROWS) == list(CATALOG)


@pytest.mark.parametrize("name", CATALOG)
def test_sizes(name):
    points, size = ROWS[name]
    assert numbers(points) == [CATALOG[name].points]
    assert numbers(size)[:1] == [number for number in [CATALOG[name].size] if number is not None]


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", [name for name, row in CATALOG.items() if row.kind == "cells"])
def test_classes(name):
    assert numbers(ROWS[name][1])[1] == len(set(load(name).classes.tolist()))


def test_repr_does_not_print_the_data():
    assert repr(load("sarich")) == "DataSet('sarich', 8 points, labels)"


@pytest.mark.usefixtures("data_folder")
def test_repr_counts_edges_and_classes():
    assert repr(load("celegans")) == "DataSet('celegans', 452 points, 2,024 edges)"
    assert repr(load("zeisel")) == "DataSet('zeisel', 3,005 points, 7 classes)"
