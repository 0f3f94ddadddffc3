import csv
import io
import json
import os
import time

import numpy as np
import pytest
from rich.console import Console

import treerep as tr
from tests.cli.commands import assert_one_line_error, treerep
from treerep.cli import _compare_tables as compare_tables
from treerep.cli._child import run_in_child
from treerep.cli.commands import compare
from treerep.fitting.methods import METHODS


def test_all_methods_on_a_graph_in_every_form(graph, tmp_path):
    done = treerep(
        "compare",
        "graph.edges",
        "--methods",
        "all",
        "--trials",
        "3",
        "--csv",
        "c.csv",
        "--json",
        cwd=tmp_path,
    )
    assert done.returncode == 0
    assert "\x1b" not in done.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "c.csv").read_text())))
    assert [row["method"] for row in rows] == list(METHODS)
    assert all(row["reason"] == "" and float(row["seconds"]) > 0 for row in rows)
    by_name = {row["method"]: row for row in rows}
    tree = tr.fit(graph, method="level_tree")
    assert float(by_name["level_tree"]["distortion"]) == tr.average_distortion(tree, graph)
    assert float(by_name["level_tree"]["distortion_scaled"]) == tr.average_distortion(
        tree, graph, scale="optimal"
    )
    assert float(by_name["level_tree"]["map"]) == tr.mean_average_precision(tree, graph)
    assert int(by_name["level_tree"]["nodes"]) == tree.n_nodes
    assert float(by_name["treerep"]["distortion"]) == tr.average_distortion(
        tr.fit(graph, method="treerep", trials=3), graph
    )

    stored = json.loads(done.stdout)
    assert [row["map"] for row in stored["rows"]] == [float(row["map"]) for row in rows]
    table = [line for line in done.stderr.splitlines() if line.startswith("│")]
    assert [line.split("│")[1].strip() for line in table] == list(METHODS)
    assert done.stderr.splitlines()[0] == "graph.edges: 7 points"


def test_csv_on_standard_output_stands_alone(call, four):
    done = call("compare", "four.csv", "--methods", "upgma,treerep,upgma", "--csv", "-", "--trials", "2")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["method"], row["trials"]) for row in rows] == [
        ("upgma", "1"),
        ("treerep", "2"),
    ]
    assert "MAP" not in done.stderr and "optimal scale" in done.stderr


def test_the_table_is_on_standard_output_without_json(call, four):
    done = call("compare", "four.csv", "--methods", "upgma,treerep")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "four.csv: 4 points"
    assert done.stdout.splitlines()[-1] == "* best"  # one tree of each method, as in `tr.fit`


def test_one_text_only_goes_to_standard_output(call, four):
    done = call("compare", "four.csv", "--methods", "upgma", "--json", "--csv", "-")
    assert_one_line_error(done, "--csv - and --json cannot share standard output: use only one of them")


def test_best_cells_by_hand():
    rows = [
        {"method": "a", "distortion": 0.1, "map": 0.5, "seconds": 1.0, "nodes": 3},
        {"method": "b", "distortion": 0.1 + 1e-15, "map": 0.9, "seconds": 2.0, "nodes": 2},
        {"method": "c", "distortion": 0.2, "map": None, "seconds": 3.0, "nodes": None},
        {"method": "d", "reason": "it failed"},
    ]
    expected = {(0, "distortion"), (1, "distortion"), (1, "map"), (0, "seconds")}
    assert compare_tables.best_cells(rows) == expected


def test_a_narrow_terminal_cuts_no_value_off(monkeypatch, capsys):
    monkeypatch.setattr(compare_tables, "console", lambda **_: Console(width=40))
    rows = [
        {
            "method": "minimum_spanning_tree",
            "distortion": 0.0286,
            "map": 0.5,
            "seconds": 0.000351,
            "nodes": 14,
        }
    ]
    compare_tables.print_table(rows, "title", stderr=False)
    cells = [line.split("│")[1:-1] for line in capsys.readouterr().out.splitlines() if "│" in line]
    joined = ["".join(column).replace(" ", "") for column in zip(*cells, strict=True)]
    assert joined == ["minimum_spanning_tree", "0.0286*", "-", "0.5*", "0.000351*", "14"]


def test_a_method_that_fails_or_takes_too_long_does_not_stop_the_rest(call, four, monkeypatch):
    measured = compare._measure
    # What the limited run needs is compiled before it.
    assert call("compare", "four.csv", "--methods", "gromov", "--json").returncode == 0

    def hindered(metric, method, *others):
        if method == "bfs":
            raise ValueError("no luck,\n metric='cosine' might help")
        if method == "upgma" and len(metric) == 4 and metric.labels:
            time.sleep(60)
        return measured(metric, method, *others)

    monkeypatch.setattr(compare, "_measure", hindered)
    done = call("compare", "four.csv", "--methods", "bfs,upgma,gromov", "--time-limit", "3", "--json")
    assert done.returncode == 0
    bfs, upgma, gromov = json.loads(done.stdout)["rows"]
    assert bfs == {"method": "bfs", "reason": "no luck, --metric cosine might help"}
    assert upgma == {"method": "upgma", "reason": "stopped after 3 s"}
    assert gromov["distortion"] == pytest.approx(0, abs=1e-9)
    assert "stopped after 3 s" in done.stderr
    done = call("compare", "four.csv", "--methods", "bfs,gromov", "--csv", "-")
    assert [row["reason"][:7] for row in csv.DictReader(io.StringIO(done.stdout))] == [
        "no luck",
        "",
    ]


def test_work_in_a_child():
    assert run_in_child(lambda: {"x": 1.5}, 60) == {"x": 1.5}
    with pytest.raises(RuntimeError, match="no luck"):
        run_in_child(lambda: (_ for _ in ()).throw(ValueError("no luck")), 60)
    with pytest.raises(RuntimeError, match="ended with code 9"):
        run_in_child(lambda: os._exit(9), 60)
    with pytest.raises(TimeoutError, match="stopped after 0.1 s"):
        run_in_child(lambda: time.sleep(60), 0.1)


@pytest.mark.parametrize("kind", ["points", "tree"])
def test_points_and_trees_are_compared_too(kind, four, call, tmp_path):
    if kind == "points":
        np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((12, 2)))
    else:
        tr.fit(four).save(tmp_path / "data.json")
    words = ["data.npy", "--kind", "points"] if kind == "points" else ["data.json"]
    done = call("compare", *words, "--methods", "upgma", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert row["method"] == "upgma" and row["nodes"] > 4
