"""Numbers of the FAQ that no example prints agree with the stored measurements."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAQ = " ".join((ROOT / "docs" / "faq.md").read_text(encoding="utf-8").split())


@pytest.fixture
def rows():
    text = (ROOT / "benchmarks" / "results" / "backbone.json").read_text(encoding="utf-8")
    cells, graphs = json.loads(text)["tables"][:2]
    return [row for row in cells["rows"] + graphs["rows"] if row["size"] == "default"]


def test_distortion_of_the_default(rows):
    distortions = [float(row["backbone"].split()[0]) for row in rows]
    assert f"default reaches {min(distortions):.2f} to {max(distortions):.2f}." in FAQ


def test_seconds_for_a_million_points(rows):
    million = next(row for row in rows if row["points"] == 1_000_000)
    shown = (
        f"about {float(million['backbone, seconds']):.0f} s with the default and "
        f"about {float(million['TreeRep, seconds']):.1g} s with"
    )
    assert shown in FAQ
