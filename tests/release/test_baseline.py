"""The descriptions of values that `release/baseline.py` stores, and the differences it finds."""

import json

import numpy as np
import pytest

import treerep as tr
from release.baseline import _html, _page, _rows, compare, differences, fingerprint, fingerprints, main, store

LABELS = ["a", "b", "c", "d"]
TREE = tr.Tree(4, [[0, 4], [1, 4], [4, 5], [2, 5], [3, 5]], [1.0, 2.0, 0.5, 3.0, 4.0], labels=LABELS)


def changes(old, new, **options):
    found = [[{"code": "x", "value": json.loads(json.dumps(fingerprint(one)))}] for one in (old, new)]
    return list(differences(*found, **options))


def test_a_tree_with_other_numbers_of_nodes_and_points_is_the_same():
    edges = [[3, 5], [2, 5], [4, 5], [1, 4], [0, 4]]
    other = tr.Tree(4, edges, [1.0, 2.0, 0.5, 3.0, 4.0], labels=LABELS[::-1])
    assert changes(TREE, other) == []


def test_edges_of_length_0_and_nodes_of_degree_2_do_not_change_splits():
    edges = [[0, 4], [1, 4], [4, 6], [6, 5], [2, 5], [5, 7], [7, 3]]
    other = tr.Tree(4, edges, [1.0, 2.0, 0.25, 0.25, 3.0, 4.0, 0.0], labels=LABELS)
    assert changes(TREE, other) == ["x: value: tree: nodes: 6 -> 8"]


def test_another_length_and_another_split_are_told():
    longer = TREE.with_weights(np.array([1.0, 2.0, 0.5, 3.0, 4.5]))
    assert changes(TREE, longer) == [
        "x: value: tree: tree changed: 0 of 5 splits are gone, 0 are new, 1 have another length (by at most 0.5); "
        "mean edge 2.1 -> 2.2"
    ]
    swapped = tr.Tree(4, TREE.edges, TREE.weights, labels=["a", "c", "b", "d"])
    assert "1 of 5 splits are gone, 1 are new, 2 have another length" in changes(TREE, swapped)[0]


def test_large_trees_are_compared_by_sums(monkeypatch):
    monkeypatch.setattr("release.baseline._MOST_SPLITS", 4)
    assert changes(TREE, TREE) == []
    longer = TREE.with_weights(np.array([1.0, 2.0, 0.5, 3.0, 4.5]))
    assert "x: value: tree: length: 10.5 -> 11.0" in changes(TREE, longer)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (0.5, 0.5 + 1e-12, []),
        (0.5, 0.6, ["x: value: 0.5 -> 0.6"]),
        (np.arange(4.0), np.array([1.0, 0.0, 2.0, 3.0]), ["mixed"]),  # the same mean
        (np.array(["a"]), np.array(["b"]), ["hash"]),
        ({"a": [1, 2]}, {"a": [1, 3]}, ["x: value: a: [1] 2 -> 3"]),
        (tr.Score(0.1, pairs=3, basis="all"), tr.Score(0.2, pairs=3, basis="all"), ["number", "high", "low"]),
        ("a\nb\nc", "a\nB\nC", ["x: value: b -> B (and 1 more lines)"]),
        ("fitted in 1.2 s at 0xab", "fitted in 3 s at 0xcd", []),
        ('{"seconds": 0.5, "n": 1}', '{"seconds": 1e-05, "n": 1}', []),
    ],
)
def test_values_that_differ_are_told(old, new, told):
    found = changes(old, new)
    assert len(found) == len(told)
    assert all(one in line for one, line in zip(told, found, strict=True))


def test_metrics_are_compared_by_distances():
    points = np.arange(12.0).reshape(4, 3) ** 2
    assert changes(tr.PointMetric(points), tr.PointMetric(points)) == []
    assert changes(tr.PointMetric(points), tr.PointMetric(points + np.eye(4, 3)))


def test_pages_are_compared_by_their_data(tmp_path):
    tr.page(TREE, tmp_path / "tree.html", title="one")
    first = fingerprints(tmp_path)
    tr.page(TREE, tmp_path / "tree.html", title="two")
    second = fingerprints(tmp_path)
    found = list(differences([{"code": "x", "files": first}], [{"code": "x", "files": second}]))
    assert 'x: files: tree.html: title: "one" -> "two"' in found
    assert len(str(first)) < 10_000  # the program of the page is left out


def test_the_seconds_of_a_printed_table_are_left_out():
    table = """
┏━━━━━━━━┳━━━━━━━━━┳━━━━━━━┓
┃ method ┃ seconds ┃ nodes ┃
┡━━━━━━━━╇━━━━━━━━━╇━━━━━━━┩
│ upgma  │   0.025 │    14 │
└────────┴─────────┴───────┘
done
"""
    page = "<tr><th>n</th><th>seconds</th></tr><tr><td>1</td><td>0.5</td></tr>"
    assert _html(page) == _html(page.replace("0.5", "0.7")) != _html(page.replace("1<", "2<"))
    assert _rows(table.encode()).split("\n")[1:-1] == ["method | nodes", "upgma | 14", "done"]


def test_all_blocks_of_a_page_are_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cell = "```{code-cell} ipython3\n:tags: [remove-cell]\n\nx = 1\n```\n"
    text = f"{cell}Text.\n% not run: no\n```python\n1 / 0\n```\n{cell.replace('1', 'x + 1')}"
    assert [one["code"] for one in _page(text, tmp_path)] == ["x = 1", "x = x + 1"]


def test_a_page_is_stored_and_compared(tmp_path, capsys):
    root = tmp_path / "checkout"
    (root / "docs").mkdir(parents=True)
    text = "```python\nimport treerep as tr\ntree = tr.fit(tr.datasets.sarich(), method='upgma')\n```\n"
    for name, page in (("before", text), ("now", text.replace("upgma", "bionj") + "```python\n1 / 0\n```\n")):
        (root / "docs" / "page.md").write_text(page)
        failed = store(tmp_path / name, root, 0.0, [])
        assert failed == (name == "now")  # the error is stored as well
    assert compare(tmp_path / "before", tmp_path / "before", 1e-9) == 0
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "before"), str(tmp_path / "now")]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "docs/page.md:",
        "    removed: tree = tr.fit(tr.datasets.sarich(), method='upgma')",
        "    added: tree = tr.fit(tr.datasets.sarich(), method='bionj')",
        "    added: 1 / 0",
        "1 parts compared, 1 differ; 0 in one store only",
    ]
