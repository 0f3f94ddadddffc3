"""Commands with sums of trees, products of embeddings and lower bounds."""

import base64
import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treerep as tr
from tests.cli.commands import Caller, assert_one_line_error
from tests.rounding import FUNCTIONS
from treerep.embedding.product import ProductEmbedding
from treerep.formats import read, read_trees, write_distances


@pytest.fixture
def mammals(call: Caller) -> tr.Metric:
    """Distances of mammals in mammals.csv, and a sum of two trees in sum.npz."""
    metric = tr.datasets.sarich()
    write_distances(metric, "mammals.csv")
    tr.fit(metric, trees=2).save("sum.npz")
    return metric


def test_products_are_read_as_embeddings(call: Caller) -> None:
    tree = tr.datasets.random_tree(6, hidden=1.0, rng=0)
    half = tree.with_weights(tree.weights / 2)
    product = ProductEmbedding([tr.embed(half), tr.embed(half)])
    product.save("p.npz")
    tree.save("t.json")
    done = call("score", "p.npz", "t.json", "--json")
    assert done.returncode == 0, done.stderr
    fields = json.loads(done.stdout)
    assert (fields["points"], fields["nodes"]) == (6, 2 * tree.n_nodes)
    assert 1 <= fields["worst_distortion"] <= 1.05 + FUNCTIONS
    done = call("convert", "p.npz", "d.csv")
    assert done.returncode == 0, done.stderr
    expected = product.block(range(6), range(6))
    np.testing.assert_allclose(read("d.csv").block(range(6), range(6)), expected, rtol=FUNCTIONS)


def test_no_tree_is_fitted_to_a_product(call: Caller) -> None:
    ProductEmbedding([tr.embed(tr.datasets.random_tree(6))] * 2).save("p.npz")
    for command, output in (("embed", "e.npz"), ("view", "p.html")):
        done = call(command, "p.npz", "-o", output)
        assert_one_line_error(done, "an embedding: use a tree or data instead")
    done = call("draw", "p.npz", "-o", "p.png")
    assert done.returncode == 0, done.stderr
    done = call("draw", "p.npz", "-o", "p.png", "--trials", "3")
    assert_one_line_error(done, "--trials 3 has no effect, because the input is an embedding")


@pytest.mark.parametrize("output", ["s.npz", "s.nwk", "s.nex"])
def test_fit_writes_a_sum(call: Caller, mammals: tr.Metric, output: str) -> None:
    done = call("fit", "mammals.csv", "--trees", "2", "-o", output, "--json", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    fields = json.loads(done.stdout)
    expected = tr.fit(mammals, trees=2, n_jobs=1)
    found = tr.TreeSum(read_trees(output))
    np.testing.assert_allclose(found.restrict(mammals.labels).distances(), expected.distances())
    assert (fields["points"], fields["trees"], fields["nodes"]) == (8, 2, expected.n_nodes)
    assert fields["distortion"] == tr.average_distortion(expected, mammals)
    start = f"8 points, 2 trees, {expected.n_nodes} nodes, average distortion "
    assert done.stderr.startswith(start)


def test_a_refined_sum_on_standard_output(call: Caller, mammals: tr.Metric) -> None:
    done = call("fit", "mammals.csv", "--trees", "2", "--refine", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    found = tr.TreeSum(tr.Tree.from_newick(line) for line in lines).restrict(mammals.labels)
    expected = tr.refine(tr.fit(mammals, trees=2, n_jobs=1), mammals, n_jobs=1)
    np.testing.assert_allclose(found.distances(), expected.distances())
    done = call("fit", "mammals.csv", "--trees", "2", "--json")
    assert json.loads(done.stdout)["newick"].count(";\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["--method", "upgma"],
        ["--trials", "3"],
        ["--keep", "greedy"],
        ["--bootstrap", "3"],
        ["--device", "cuda"],
        ["--tol", "0.1"],
        ["--size", "9"],
    ],
)
def test_options_of_one_tree(call: Caller, words: list[str]) -> None:
    done = call("fit", "none.csv", "--trees", "2", *words)
    name = words[0]
    expected = f"{name} does not apply to a sum of trees: remove {name} or --trees"
    assert_one_line_error(done, expected)


def test_outputs_of_one_tree(call: Caller, mammals: tr.Metric) -> None:
    message = "holds one tree: write a sum of trees as .nwk, .nex or .npz"
    for words in (
        ["fit", "mammals.csv", "--trees", "2", "-o", "s.json"],
        ["fit", "mammals.csv", "--trees", "2", "--to", "graphml"],
        ["refine", "sum.npz", "mammals.csv", "-o", "s.graphml"],
        ["convert", "sum.npz", "s.json"],
    ):
        assert_one_line_error(call(*words), message)


def test_missing_distances(call: Caller, mammals: tr.Metric, tmp_path) -> None:
    text = (tmp_path / "mammals.csv").read_text()
    number = str(mammals.block([0], [1])[0, 0])
    (tmp_path / "holes.csv").write_text(text.replace(number, "NA"))
    done = call("fit", "holes.csv", "--missing", "--trees", "2")
    assert_one_line_error(done, "a sum of trees needs all distances")
    done = call("score", "sum.npz", "holes.csv", "--missing", "--json")
    assert 0 < json.loads(done.stdout)["lower_bound"] < 0.1


def test_refine_a_sum(call: Caller, mammals: tr.Metric) -> None:
    done = call("refine", "sum.npz", "mammals.csv", "-o", "better.npz", "--json")
    assert done.returncode == 0, done.stderr
    fields = json.loads(done.stdout)
    before = tr.average_distortion(tr.TreeSum.load("sum.npz"), mammals)
    assert fields["distortion_before"] == before
    after = tr.average_distortion(tr.TreeSum.load("better.npz"), mammals)
    assert fields["distortion"] == after <= before


def test_embed_a_sum(call: Caller, mammals: tr.Metric) -> None:
    done = call("embed", "sum.npz")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(rows[0]) == ["label", "tree1_x", "tree1_y", "tree2_x", "tree2_y"]
    assert tuple(row["label"] for row in rows) == mammals.labels
    assert re.match(r"8 points, 2 spaces of dimension 2, scale 0\.\d+, ", done.stderr)
    done = call("embed", "sum.npz", "-o", "product.npz", "--json")
    fields = json.loads(done.stdout)
    product = ProductEmbedding.load("product.npz")
    assert fields["trees"] == 2 and fields["scales"] == list(product.scales)
    done = call("embed", "sum.npz", "--dim", "3", "--model", "lorentz")
    assert done.stdout.startswith("label,tree1_x0,tree1_x1,tree1_x2,tree1_x3,tree2_x0,")
    done = call("embed", "sum.npz", "--trials", "3")
    assert_one_line_error(done, "has no effect, because the input is already a sum of trees")


def test_draw_and_convert_a_sum(call: Caller, mammals: tr.Metric, tmp_path) -> None:
    done = call("draw", "sum.npz", "-o", "sum.svg", "--layout", "rectangular")
    assert done.returncode == 0, done.stderr
    assert "tree 2: " in (tmp_path / "sum.svg").read_text()
    done = call("draw", "sum.npz", "-o", "sum.png", "--trials", "3")
    assert_one_line_error(done, "has no effect, because the input is already a sum of trees")
    assert call("convert", "sum.npz", "sum.nwk").returncode == 0
    assert len(read_trees("sum.nwk")) == 2
    assert call("convert", "sum.npz", "d.csv").returncode == 0
    found = read("d.csv").block(range(8), range(8))
    np.testing.assert_allclose(found, tr.TreeSum.load("sum.npz").distances())
    done = call("convert", "sum.nwk", "d.csv")
    assert_one_line_error(done, "a second tree")


def test_commands_for_one_tree(call: Caller, mammals: tr.Metric) -> None:
    message = "sum.npz contains a sum of 2 trees, but this command needs one tree: "
    assert_one_line_error(call("place", "sum.npz", "mammals.csv"), message)
    Path("a.nwk").write_text(tr.fit(mammals).newick())
    assert_one_line_error(call("view", "a.nwk", "--compare", "sum.npz", "-o", "x.html"), message)
    done = call("fit", "sum.npz")
    assert_one_line_error(done, "contains a sum of trees: use score, refine, embed, draw or view")


def stored_page(path: str) -> dict[str, Any]:
    """The data of a page."""
    text = Path(path).read_text(encoding="utf-8")
    return json.loads(re.findall(r'id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[0])


def test_view_a_sum_and_two_trees(call: Caller, mammals: tr.Metric) -> None:
    done = call("view", "sum.npz", "-o", "sum.html")
    assert done.returncode == 0, done.stderr
    page = stored_page("sum.html")
    assert page["layout"] == "tanglegram"
    assert [other["name"] for other in page["others"]] == ["tree 2"]
    done = call("view", "sum.npz", "-o", "sum.html", "--trials", "3")
    assert_one_line_error(done, "has no effect, because the input is already a sum of trees")
    Path("a.nwk").write_text(tr.fit(mammals).newick())
    Path("b.nwk").write_text(tr.fit(mammals, method="upgma").newick())
    done = call("view", "a.nwk", "--compare", "b.nwk", "-o", "two.html", "--layout", "disk")
    assert done.returncode == 0, done.stderr
    page = stored_page("two.html")
    assert page["layout"] == "disk" and [other["name"] for other in page["others"]] == ["b.nwk"]


def test_view_takes_a_column_of_dates(call: Caller, mammals: tr.Metric) -> None:
    rows = "".join(f"{name},{2000 + i}-07-02\n" for i, name in enumerate(mammals.labels))
    Path("dates.csv").write_text(f"name,seen\n{rows}")
    done = call("view", "mammals.csv", "--table", "dates.csv", "--dates", "seen", "-o", "x.html")
    assert done.returncode == 0, done.stderr
    years = np.frombuffer(base64.b64decode(stored_page("x.html")["dates"]), "<f8")
    np.testing.assert_allclose(np.sort(years), 2000.5 + np.arange(8), atol=0.01)
    done = call("view", "mammals.csv", "--dates", "seen", "-o", "x.html")
    assert_one_line_error(done, "--dates seen is not a column of the table, which has no columns")


def test_a_sum_on_standard_input(call: Caller, mammals: tr.Metric, tmp_path) -> None:
    content = (tmp_path / "sum.npz").read_bytes()
    done = call("score", "-", "mammals.csv", "--json", stdin=content)
    assert json.loads(done.stdout)["trees"] == 2


def test_the_bound_beside_the_scores(call: Caller, mammals: tr.Metric) -> None:
    tree = tr.fit(mammals)
    tree.save("tree.npz")
    bound = tr.lower_bound(mammals)
    first = call("score", "tree.npz", "mammals.csv").stdout.splitlines()[1]
    assert first.endswith(f"(all 28 pairs); no tree is below {float(bound):.4g}")
    last = call("score", "sum.npz", "mammals.csv").stdout.splitlines()[-1]
    expected = f"average distortion of any tree +at least {float(bound):.4g}"
    assert re.fullmatch(expected, last)
    fields = json.loads(call("score", "tree.npz", "mammals.csv", "--json").stdout)
    assert (fields["lower_bound"], fields["lower_bound_confidence"]) == (float(bound), 1.0)
    assert fields["lower_bound"] <= fields["distortion"]
    done = call("score", "tree.npz", "mammals.csv", "--no-bound", "--json")
    assert "lower_bound" not in json.loads(done.stdout)
    assert "no tree" not in call("score", "tree.npz", "mammals.csv", "--no-bound").stdout


def test_no_bound_is_computed_for_exact_trees(call: Caller, four, monkeypatch) -> None:
    tr.fit(four).save("tree.npz")
    monkeypatch.setattr(tr, "lower_bound", lambda *_, **__: pytest.fail("it was computed"))
    done = call("score", "tree.npz", "four.csv", "--json")
    assert json.loads(done.stdout)["lower_bound"] == 0.0
    assert "no tree" not in call("score", "tree.npz", "four.csv").stdout
    done = call("compare", "four.csv", "--methods", "neighbor_joining")
    assert done.returncode == 0 and "no tree" not in done.stdout


def test_the_confidence_of_the_bound(call: Caller, mammals, monkeypatch) -> None:
    uncertain = tr.LowerBound(0.0123, confidence=0.95)
    monkeypatch.setattr(tr, "lower_bound", lambda *_, **__: uncertain)
    tr.fit(mammals).save("tree.npz")
    done = call("score", "tree.npz", "mammals.csv")
    assert "; no tree is below 0.0123 (95% confidence)\n" in done.stdout
    done = call("compare", "mammals.csv", "--methods", "upgma")
    assert done.stdout.endswith("\nno tree has a distortion below 0.0123 (95% confidence)\n")


def test_the_bound_below_the_table(call: Caller, mammals: tr.Metric, tmp_path) -> None:
    bound = float(tr.lower_bound(mammals))
    words = ["compare", "mammals.csv", "--methods", "upgma,neighbor_joining"]
    done = call(*words, "--json", "--csv", "c.csv")
    fields = json.loads(done.stdout)
    assert (fields["lower_bound"], fields["lower_bound_confidence"]) == (bound, 1.0)
    rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
    assert [float(row["lower_bound"]) for row in rows] == [bound, bound]
    note = f"no tree has a distortion below {bound:.4g}"
    assert done.stderr.endswith(f"{note}\n")
    done = call(*words, "--no-bound", "--csv", "-")
    assert {row["lower_bound"] for row in csv.DictReader(io.StringIO(done.stdout))} == {""}
    assert "no tree" not in done.stderr


def test_a_bound_that_takes_too_long_is_left_out(call: Caller, mammals, monkeypatch) -> None:
    def slow(*_: object, **__: object) -> None:
        import time

        time.sleep(60)

    command = ("compare", "mammals.csv", "--methods", "upgma", "--json")
    assert "lower_bound" in json.loads(call(*command).stdout)
    monkeypatch.setattr(tr, "lower_bound", slow)
    done = call(*command, "--time-limit", "3")
    assert done.returncode == 0, done.stderr
    assert "lower_bound" not in json.loads(done.stdout)
