"""What each command does with files; how the process ends is in test_shell."""

import base64
import csv
import gzip
import inspect
import io
import json
import os
import re
import warnings
import webbrowser
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import treerep as tr
from tests.cli.commands import assert_one_line_error
from treerep.cli import _options as options
from treerep.cli._outputs import write_outputs
from treerep.drawing.draw import LAYOUTS
from treerep.drawing.layouts.hyperbolic import disk_embedding
from treerep.embedding._models import MODELS
from treerep.fitting._request import KEEP
from treerep.formats import DATA_FORMATS, TREE_FORMATS, read, read_tree, write_tree
from treerep.placement._lengths import LENGTHS
from treerep.refinement.refine import WEIGHTS
from treerep.tree.exchange.newick_text import NEGATIVE_LENGTHS


def test_names_are_those_of_the_library():
    readable = {name for name, known in TREE_FORMATS.items() if known.reads}
    assert set(get_args(options.Model)) == set(MODELS)
    assert get_args(options.Layout) == LAYOUTS
    assert get_args(options.Weights) == WEIGHTS
    assert get_args(options.Keep) == KEEP
    assert get_args(options.PlacementLengths) == LENGTHS
    assert get_args(options.NegativeLengths) == NEGATIVE_LENGTHS
    assert get_args(options.TreeFormat) == tuple(TREE_FORMATS)
    assert set(get_args(options.AnyFormat)) == {*DATA_FORMATS, *readable}
    assert set(get_args(options.WrittenFormat)) == {
        *TREE_FORMATS,
        "npy",
        "csv",
        "tsv",
        "phylip",
    }


def same_distances(tree, metric):
    """Whether a tree has the distances of a metric, by name."""
    if metric.labels is not None:
        assert set(tree.labels) == set(metric.labels)
        tree = tree.restrict(metric.labels)
    n = np.arange(len(metric))
    return np.allclose(tree.block(n, n), metric.block(n, n))


@pytest.mark.parametrize("name", ["t.nwk", "t.nex", "t.json", "t.npz", "t.graphml", "t.nwk.gz"])
def test_fit_writes_a_tree_in_the_format_of_the_suffix(call, four, name):
    done = call("fit", "four.csv", "-o", name)
    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(
        r"4 points, 6 nodes, average distortion \S+, \S+ at optimal scale, [\d.]+ s\n",
        done.stderr,
    )
    assert same_distances(read_tree(name), four)


def test_fit_to_standard_output(call, four, tmp_path):
    text = (tmp_path / "four.csv").read_bytes()
    done = call("fit", "-", stdin=text)
    assert done.returncode == 0
    assert same_distances(tr.Tree.from_newick(done.stdout), four)
    assert call("fit", "-", "--to", "nexus", stdin=gzip.compress(text)).stdout.startswith("#NEXUS")


def test_fit_as_json(call, four):
    fields = json.loads(call("fit", "four.csv", "--json").stdout)
    assert same_distances(tr.Tree.from_newick(fields["newick"]), four)
    fields = json.loads(call("fit", "four.csv", "--json", "-o", "t.nwk", "--seed", "7").stdout)
    assert fields["distortion"] == pytest.approx(0, abs=1e-12)
    assert fields["seconds"] > 0
    expected = {
        "points": 4,
        "nodes": 6,
        "output": "t.nwk",
        "seed": 7,
        "trials": 1,
        "exact": True,
        "method": "auto",
    }
    assert {name: fields[name] for name in expected} == expected
    assert fields["version"] == tr.__version__
    assert same_distances(read_tree("t.nwk"), four)


def test_fit_gives_the_tree_of_the_library(call, tmp_path):
    points = np.random.default_rng(0).standard_normal((30, 3))
    np.save(tmp_path / "points.npy", points)
    assert (
        call(
            "fit",
            "points.npy",
            "--metric",
            "manhattan",
            "--trials",
            "3",
            "--seed",
            "5",
            "-o",
            "t.npz",
        ).returncode
        == 0
    )
    assert tr.Tree.load("t.npz") == tr.fit(points, metric="manhattan", trials=3, rng=5)
    assert call("fit", "points.npy", "--kind", "points", "--method", "upgma", "-o", "t.npz").returncode == 0
    assert tr.Tree.load("t.npz") == tr.fit(points, metric="euclidean", method="upgma")
    arguments = (
        "--method",
        "treerep",
        "--tol",
        "0.3",
        "--refine",
        "--jobs",
        "1",
        "-o",
        "t.npz",
    )
    assert call("fit", "points.npy", "--kind", "points", *arguments).returncode == 0
    metric = tr.PointMetric(points, "euclidean")
    assert tr.Tree.load("t.npz") == tr.refine(tr.fit(metric, method="treerep", tol=0.3), metric)


def test_fit_of_graphs(call, tmp_path):
    (tmp_path / "two.txt").write_text("x y 2\ny z 3\nu v 1\n")
    assert_one_line_error(call("fit", "two.txt", "--kind", "graph"), "--largest-component")
    done = call("fit", "two.txt", "--kind", "graph", "--largest-component", "-o", "t.nwk")
    assert done.returncode == 0
    tree = read_tree("t.nwk").restrict(["x", "y", "z"])
    assert tree.block([0], [1, 2]).tolist() == [[2, 5]]
    call(
        "fit",
        "two.txt",
        "--kind",
        "graph",
        "--largest-component",
        "--unweighted",
        "-o",
        "t.nwk",
    )
    assert read_tree("t.nwk").restrict(["x", "y", "z"]).block([0], [1, 2]).tolist() == [[1, 2]]


def test_fit_of_an_asymmetric_table(call, tmp_path):
    (tmp_path / "d.csv").write_text("0,1\n3,0\n")
    assert_one_line_error(call("fit", "d.csv"), "--symmetrize mean")
    tree = tr.Tree.from_newick(call("fit", "d.csv", "--symmetrize", "mean").stdout)
    assert tree.distances().tolist() == [[0, 2], [2, 0]]


@pytest.mark.filterwarnings("ignore:fewer than 3 distances")
def test_fit_of_a_table_with_missing_distances(call, tmp_path):
    (tmp_path / "d.csv").write_text("a,0,2,3,NA\nb,2,0,3,4\nc,3,3,0,3\nd,NA,4,3,0\n")
    assert_one_line_error(call("fit", "d.csv"), "write NaN and pass --missing")
    tree = tr.Tree.from_newick(call("fit", "d.csv", "--missing").stdout)
    assert tree.restrict(["a", "d"]).pairs(0, 1) == pytest.approx(4)
    refused = call("fit", "d.csv", "--missing", "--method", "upgma")
    assert_one_line_error(refused, "--method upgma needs all distances")


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points_go_through_every_command(call, tmp_path, n):
    distances = 2.0 * (1 - np.eye(n))
    distances[: n // 3, n - 1] = distances[n - 1, : n // 3] = 3
    np.savetxt(tmp_path / "d.csv", distances, delimiter=",")
    for command in (
        ["fit", "d.csv", "-o", "t.nwk"],
        ["refine", "t.nwk", "d.csv", "-o", "t.json"],
        ["score", "t.json", "d.csv"],
        ["embed", "t.nwk", "--scale", "0.5"],
        ["draw", "t.nwk", "-o", "t.png"],
        ["view", "d.csv", "-o", "t.html"],
        ["delta", "d.csv"],
        ["compare", "d.csv", "--methods", "treerep,upgma"],
        ["convert", "t.nwk", "back.csv"],
    ):
        done = call(*command)
        assert done.returncode == 0, (command, done.stderr)
    metric = read("back.csv") if n > 1 else tr.MatrixMetric(np.zeros((1, 1)))
    assert np.allclose(metric.block(range(n), range(n)), distances)


def test_score_by_name_whatever_the_order(call, four):
    tree = tr.fit(four).restrict(reversed(four.labels))
    write_tree(tree, "t.nwk")
    done = call("score", "t.nwk", "four.csv", "--json")
    fields = json.loads(done.stdout)
    assert (done.stderr, fields["points"], fields["nodes"], fields["exact"]) == ("", 4, 6, True)
    assert [fields[name] for name in ("distortion", "distortion_scaled")] == pytest.approx([0, 0], abs=1e-12)
    assert fields["worst_distortion"] == pytest.approx(1)
    assert "map" not in fields


def test_score_of_a_graph_is_that_of_the_library(call, graph):
    tree = tr.fit(graph, method="bfs", root=0)
    write_tree(tree, "t.json")
    fields = json.loads(call("score", "t.json", "graph.edges", "--json").stdout)
    assert fields["distortion"] == tr.average_distortion(tree, graph)
    assert fields["distortion_scaled"] == tr.average_distortion(tree, graph, scale="optimal")
    assert fields["worst_distortion"] == tr.worst_distortion(tree, graph)
    assert fields["map"] == tr.mean_average_precision(tree, graph)
    done = call("score", "t.json", "graph.edges")
    assert done.stdout.splitlines()[0] == "7 points, 7 nodes"
    assert f"{fields['map']:.4g} (all 7 points)" in done.stdout


def test_score_says_what_does_not_fit(call, four, graph):
    call("fit", "four.csv", "-o", "t.nwk")
    assert_one_line_error(call("score", "t.nwk", "graph.edges"), "t.nwk has 4 points and graph.edges has 7")
    assert_one_line_error(
        call("score", "four.csv", "t.nwk"), "four.csv contains neither .*: name the tree first"
    )
    assert_one_line_error(call("score", "-", "-"), "only one input can be standard input")
    write_tree(tr.Tree(4, tr.fit(four).edges, tr.fit(four).weights, labels="abcd"), "other.nwk")
    assert_one_line_error(
        call("score", "other.nwk", "four.csv"),
        "other.nwk has no point 'a b', which is in four.csv",
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "four.csv", "-o", "./four.csv", "--to", "newick"],
        ["fit", "four.csv", "-o", "link.json"],
        ["refine", "t.nwk", "four.csv", "-o", "four.csv", "--to", "newick"],
        ["embed", "four.csv", "-o", "four.csv"],
        ["draw", "four.csv", "-o", "four.csv"],
        ["view", "four.csv", "-o", "four.csv"],
        ["compare", "four.csv", "--csv", "four.csv"],
        ["convert", "four.csv", "four.csv"],
    ],
)
def test_the_file_that_is_read_is_never_overwritten(call, four, tmp_path, arguments):
    before = (tmp_path / "four.csv").read_bytes()
    (tmp_path / "link.json").symlink_to("four.csv")
    assert_one_line_error(call(*arguments), "would be overwritten: choose another name for the output")
    assert (tmp_path / "four.csv").read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "x.labels.tsv", "-o", "x.itol.nwk"],
        ["fit", "four.csv", "-o", "x.nwk", "--to", "itol"],
        ["refine", "t.nwk", "four.csv", "-o", "x.itol.nwk"],
        ["convert", "t.nwk", "x.itol.nwk"],
    ],
)
def test_files_beside_the_tree_are_checked_before_the_work(call, four, tmp_path, monkeypatch, arguments):
    call("fit", "four.csv", "-o", "t.nwk")
    (tmp_path / "x.labels.tsv").write_bytes((tmp_path / "four.csv").read_bytes())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr("treerep.cli._inputs.kind_of_file", lambda *_: pytest.fail("it was read"))
    assert_one_line_error(call(*arguments), "x.labels.tsv exists and is not a table of LABELS")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_size_of_a_backbone(call, four):
    assert call("fit", "four.csv", "--method", "backbone", "--size", "3", "-o", "t.nwk").returncode == 0
    assert same_distances(read_tree("t.nwk"), four)


@pytest.mark.parametrize(("option", "only"), [("--tol", "treerep"), ("--size", "backbone")])
def test_options_of_one_method_are_refused_with_others(call, four, option, only):
    done = call("fit", "four.csv", "--method", "upgma", option, "5")
    assert_one_line_error(done, f"--method upgma has no option {option}: remove it, or use --method {only}")


def test_fit_with_support(call, tmp_path):
    points = np.random.default_rng(0).integers(0, 2, size=(12, 20))
    np.savetxt(tmp_path / "points.csv", points, delimiter=",", fmt="%d")
    arguments = ("fit", "points.csv", "--metric", "manhattan")
    joined = (*arguments, "--method", "neighbor_joining", "--bootstrap", "8")
    assert call(*joined, "-o", "t.nwk").returncode == 0
    expected = tr.fit(points, metric="manhattan", method="neighbor_joining", bootstrap=8)
    found = read_tree("t.nwk")
    assert found.difference(expected).robinson_foulds == 0
    shares = sorted(expected.support[~np.isnan(expected.support)])
    written = found.support[~np.isnan(found.support)]
    assert sorted(written) == pytest.approx(shares, abs=1e-4)
    done = call(*joined, "--refine")
    assert_one_line_error(done, "remove --refine or --bootstrap")
    done = call(*arguments, "--method", "treerep", "--keep", "greedy")
    assert_one_line_error(done, "--keep greedy needs several trees: add --trials 100")
    voted = ("--method", "treerep", "--trials", "5", "--keep", "greedy", "--json")
    fields = json.loads(call(*arguments, *voted).stdout)
    assert fields["keep"] == "greedy" and fields["bootstrap"] is None
    greedy = tr.fit(points, metric="manhattan", method="treerep", trials=5, keep="greedy")
    assert fields["newick"] == greedy.newick()


def test_a_bootstrap_of_distances_is_refused(call, four):
    done = call("fit", "four.csv", "--bootstrap", "5")
    assert_one_line_error(done, "a MatrixMetric cannot be resampled: for a bootstrap, use")


def test_a_table_of_itol_that_is_read_is_not_overwritten(call, four, tmp_path):
    (tmp_path / "x.labels.tsv").write_text("LABELS\nSEPARATOR TAB\nDATA\n")
    done = call("fit", "x.labels.tsv", "-o", "x.itol.nwk")
    assert_one_line_error(done, "x.labels.tsv would be overwritten: choose another name for the output")


def test_a_table_of_attributes_is_not_overwritten(call, four, tmp_path):
    (tmp_path / "table.svg").write_text("name,x\n")
    for arguments in (
        ["view", "four.csv", "--table", "table.svg", "-o", "table.svg"],
        ["draw", "four.csv", "--color", "table.svg:x", "-o", "table.svg"],
    ):
        assert_one_line_error(call(*arguments), "table.svg would be overwritten")


def test_a_device_is_not_read_as_a_table(call, four):
    for arguments in (
        ["view", "four.csv", "--table", "/dev/zero", "-o", "p.html"],
        ["fit", "/dev/zero"],
    ):
        assert_one_line_error(call(*arguments), "/dev/zero:? (this )?is a device")


def test_a_read_only_output_is_refused_before_the_work(call, four, tmp_path, monkeypatch):
    (tmp_path / "t.nwk").write_text("old")
    (tmp_path / "t.nwk").chmod(0o444)
    monkeypatch.setattr("treerep.cli._inputs.kind_of_file", lambda *_: pytest.fail("it was read"))
    assert_one_line_error(call("fit", "four.csv", "-o", "t.nwk"), "t.nwk: it is read-only: make it writable")
    assert (tmp_path / "t.nwk").read_text() == "old"


def test_several_outputs_are_written_together_or_not_at_all(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("old")
    fsync, turns = os.fsync, iter(range(2))

    def full(descriptor):
        if next(turns) == 1:
            raise OSError(28, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_outputs([(str(tmp_path / name), "new") for name in ("a.csv", "b.csv")])
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv"}
    assert (tmp_path / "a.csv").read_text() == "old"


def test_a_tree_may_be_refined_in_place(call, four):
    call("fit", "four.csv", "-o", "t.nwk")
    assert call("refine", "t.nwk", "four.csv", "-o", "t.nwk").returncode == 0
    assert same_distances(read_tree("t.nwk"), four)


def test_infinite_scores_are_null(call, four, tmp_path):
    (tmp_path / "zero.nwk").write_text("""('a b':0,'it''s':0,'<c>':1,\N{FISH}:1);""", encoding="utf-8")
    assert json.loads(call("score", "zero.nwk", "four.csv", "--json").stdout)["worst_distortion"] is None


def test_refine(call, tmp_path):
    mammals = tr.datasets.sarich()
    tr.formats.write_distances(mammals, "d.csv")
    call("fit", "d.csv", "--method", "treerep", "-o", "t.json")
    done = call("refine", "t.json", "d.csv", "-o", "better.json", "--balance", "0", "--json")
    fields = json.loads(done.stdout)
    assert fields["distortion"] < fields["distortion_before"]
    assert tr.Tree.load("better.json") == tr.refine(tr.fit(mammals, method="treerep"), mammals, balance=0)
    # Newick has an order of its own; the result is in that of the data, to standard output.
    call("convert", "t.json", "t.nwk")
    done = call("refine", "t.nwk", "d.csv", "--balance", "0", "--time-limit", "60")
    assert tr.Tree.from_newick(done.stdout).isclose(
        tr.Tree.load("better.json").restrict(tr.Tree.from_newick(done.stdout).labels)
    )


def test_embed_as_table(call, four):
    done = call("embed", "four.csv", "--scale", "0.7", "--trials", "20")
    header, *rows = csv.reader(io.StringIO(done.stdout))
    assert header == ["label", "x1", "x2"]
    assert [row[0] for row in rows] == list(four.labels)
    places = np.array([row[1:] for row in rows], float)
    expected = tr.embed(tr.fit(four, trials=20), scale=0.7)
    assert np.array_equal(places, expected.poincare[:4])
    found = tr.Embedding.from_poincare(places, scale=0.7)
    assert np.allclose(found.block(range(4), range(4)), expected.block(range(4), range(4)))


def test_the_same_number_of_trials_is_fitted_everywhere(call, tmp_path, monkeypatch):
    mammals = tr.datasets.sarich()
    tr.formats.write_distances(mammals, "d.csv")
    counts = []
    fit = tr.fit
    monkeypatch.setattr(
        tr,
        "fit",
        lambda *data, **options: counts.append(options.get("trials")) or fit(*data, **options),
    )
    words = [
        "fit -o t.nwk",
        "embed",
        "draw -o t.svg",
        "view -o t.html",
        "compare --methods treerep --csv c.csv",
    ]
    for given, expected in ([], 1), (["--trials", "2"], 2):
        for command in words:
            name, *others = command.split()
            counts.clear()
            assert call(name, "d.csv", *others, *given).returncode == 0
            assert counts[-1] == expected, command
    for function in (tr.fit, tr.tl.tree, tr.sklearn.TreeRep, tr.sklearn.HyperbolicEmbedding):
        assert inspect.signature(fit if function is tr.fit else function).parameters["trials"].default == 1


def test_trials_are_refused_where_no_tree_is_fitted(call, four):
    call("fit", "four.csv", "-o", "t.json")
    call("embed", "t.json", "-o", "e.npz")
    for words in (
        ["view", "t.json", "-o", "t.html"],
        ["embed", "four.csv", "--method", "hmds"],
        ["draw", "e.npz", "-o", "e.svg"],
    ):
        assert_one_line_error(call(*words, "--trials", "5"), "--trials 5 has no effect")


def test_embed_as_table_is_good_to_look_at(call, four):
    call("fit", "four.csv", "-o", "t.json")
    done = call("embed", "t.json", "-o", "e.csv")
    assert (done.returncode, "warning" in done.stderr) == (0, False)
    _, *rows = csv.reader(io.StringIO(Path("e.csv").read_text(encoding="utf-8")))
    places = np.array([row[1:] for row in rows], float)
    assert np.array_equal(places, disk_embedding(tr.Tree.load("t.json")).poincare[:4])
    tight = tr.embed(tr.Tree.load("t.json"))
    assert np.linalg.norm(places, axis=1).max() < 0.9999 < np.linalg.norm(tight.poincare[:4], axis=1).max()
    # Whoever says how good it has to be, or stores all digits, obtains that.
    assert f"scale {tight.scale:.4g}" in call("embed", "t.json", "-o", "e.csv", "--distortion", "1.05").stderr
    assert f"scale {tight.scale:.4g}" in call("embed", "t.json", "-o", "e.npz").stderr


def test_embed_on_the_hyperboloid_and_by_other_methods(call, four):
    call("fit", "four.csv", "-o", "t.nwk")
    assert (
        call("embed", "t.nwk", "-o", "e.tsv", "--scale", "1", "--model", "lorentz", "--dim", "3").returncode
        == 0
    )
    header, *rows = csv.reader(io.StringIO(Path("e.tsv").read_text(encoding="utf-8")), delimiter="\t")
    assert header == ["label", "x0", "x1", "x2", "x3"]
    places = np.array([row[1:] for row in rows], float)
    assert np.allclose(places[:, 0] ** 2 - (places[:, 1:] ** 2).sum(axis=1), 1)
    fields = json.loads(call("embed", "four.csv", "-o", "e.npz", "--method", "hmds", "--json").stdout)
    embedding = tr.Embedding.load("e.npz")
    assert (embedding.labels, embedding.dim) == (four.labels, 2)
    assert fields["distortion"] == tr.average_distortion(embedding, four)
    assert (
        json.loads(call("score", "e.npz", "four.csv", "--json").stdout)["distortion"] == fields["distortion"]
    )


@pytest.mark.torch
def test_embed_by_learning(call, four):
    assert call("embed", "four.csv", "-o", "e.npz", "--method", "pt").returncode == 0
    assert len(tr.Embedding.load("e.npz")) == 4


def test_draw(call, four, tmp_path):
    (tmp_path / "table.tsv").write_text(
        "name\tsize\tkind\n\N{FISH}\t4\tfish\nit's\t2\tcat\n<c>\t\tcat\na b\t1\tcat\nother\t9\tdog\n",
        encoding="utf-8",
    )
    done = call("draw", "four.csv", "-o", "t.pdf", "--color", "table.tsv:size")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "t.pdf").read_bytes().startswith(b"%PDF-")
    call("fit", "four.csv", "-o", "t.nwk")
    assert (
        call(
            "draw",
            "t.nwk",
            "-o",
            "t.svg",
            "--layout",
            "rectangular",
            "--color",
            "table.tsv:kind",
        ).returncode
        == 0
    )
    assert ET.parse("t.svg").getroot().tag.endswith("svg")
    call("embed", "t.nwk", "-o", "e.npz", "--scale", "0.5")
    assert call("draw", "e.npz", "-o", "t.png", "--no-labels").returncode == 0
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    assert_one_line_error(
        call("draw", "t.nwk", "-o", "x.pdf", "--color", "table.tsv:group"), "no column 'group'"
    )
    assert_one_line_error(
        call("draw", "t.nwk", "-o", "x.pdf", "--color", "table.tsv"), "attributes.csv:group"
    )
    assert_one_line_error(call("draw", "t.nwk", "-o", "x.xyz"), "x.xyz.*suffix")
    assert not list(tmp_path.glob("x.*"))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("name,x\n", "a header and a row"),
        ("name,x\na,1,2\n", "row 2 has 3 cells"),
        ("name,x,x\na,1,2\n", "two columns are named 'x'"),
        ("name,x\nit's,1\n", "no row starts with 'a b'"),
        ("name,x\na b,1\nit's,1\n<c>,1\n\N{FISH},1\na b,2\n", "two rows have the label 'a b'"),
    ],
)
def test_tables_of_attributes_that_do_not_fit(call, four, tmp_path, text, match):
    (tmp_path / "table.csv").write_text(text, encoding="utf-8")
    assert_one_line_error(
        call("view", "four.csv", "-o", "t.html", "--table", "table.csv"),
        f"table.csv: .*{match}",
    )
    assert not (tmp_path / "t.html").exists()


def test_attributes_of_points_without_names_come_in_their_order(call, graph, tmp_path):
    (tmp_path / "table.csv").write_text("group\n" + "".join(f"{letter}\n" for letter in "pqrstuv"))
    done = call("view", "graph.edges", "-o", "t.html", "--table", "table.csv", "--color", "group")
    assert done.returncode == 0
    assert '"categories":["p","q","r","s","t","u","v"]' in (tmp_path / "t.html").read_text()


def test_view(call, four, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    done = call("view", "four.csv", "-o", "t.html", "--title", "Four <points>", "--open")
    assert (done.returncode, done.stdout) == (0, "")
    assert opened == [(tmp_path / "t.html").resolve().as_uri()]
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "<title>Four &lt;points&gt;</title>" in page
    assert '"it\'s"' in page and '"\\u003cc>"' in page
    assert call("view", "-", "-o", "-", stdin=b"(a:1,b:2);").stdout.rstrip().endswith("</html>")
    assert_one_line_error(call("view", "four.csv", "-o", "-", "--open"), "--open needs a file")


def test_the_first_view_of_a_page_is_chosen_by_options(call, four, tmp_path):
    options = ["--layout", "circular", "--lengths", "square root"]
    tree = tr.fit(tr.formats.read(tmp_path / "four.csv"))
    roots = {
        "it's": tree.root_at_outgroup("it's")[0].root,
        "midpoint": tree.root_at_midpoint()[0].root,
    }
    for name, node in roots.items():
        done = call("view", "four.csv", "-o", "t.html", *options, "--root", name)
        assert done.returncode == 0
        page = (tmp_path / "t.html").read_text(encoding="utf-8")
        assert '"layout":"circular"' in page and '"lengths":"square root"' in page
        (order,) = re.findall(r'"node":"(.*?)"', page)
        assert int.from_bytes(base64.b64decode(order)[:4], "little") == node
    for wrong, message in [
        (["--layout", "round"], "layout must be one of 'disk', 'rectangular'"),
        (["--root", "nobody"], "--root: the tree has no point 'nobody'"),
    ]:
        assert_one_line_error(call("view", "four.csv", "-o", "u.html", *wrong), message)


def test_delta(call, graph, four):
    expected = tr.hyperbolicity(graph)
    assert expected.delta == 1  # of the square: (2 + 2) - (1 + 1), halved
    fields = json.loads(call("delta", "graph.edges", "--json", "--method", "exact").stdout)
    assert (fields["delta"], fields["exact"], fields["diameter"]) == (
        expected.delta,
        True,
        expected.diameter,
    )
    assert fields["witness"] == list(expected.witness)
    normal = json.loads(call("delta", "graph.edges", "--json", "--normalize").stdout)
    assert normal["delta"] == fields["delta"] / fields["diameter"]
    text = call("delta", "graph.edges").stdout
    assert re.search(r"^delta +1 \(exact\)$", text, flags=re.MULTILINE)
    assert re.search(r"^diameter +4$", text, flags=re.MULTILINE)
    assert "mean over quadruples" in call("delta", "graph.edges", "--method", "sample").stdout
    assert re.search(r"^delta +0 \(exact\)$", call("delta", "four.csv").stdout, flags=re.MULTILINE)


def test_convert(call, four):
    for step in (["four.csv", "d.phy"], ["d.npy", "e.tsv"]):
        assert_one_line_error(call("convert", *step), "'a b'" if step[1] == "d.phy" else "d.npy")
    for source, output in (
        ("four.csv", "d.tsv"),
        ("d.tsv", "d.npy"),
        ("d.npy", "d.phy"),
        ("d.phy", "back.csv"),
    ):
        assert call("convert", source, output) == (0, "", "")
    assert np.array_equal(read("back.csv").distances, four.distances)
    call("fit", "four.csv", "-o", "t.nwk")
    for source, output in (
        ("t.nwk", "t.nex"),
        ("t.nex", "t.graphml"),
        ("t.graphml", "t.npz"),
        ("t.npz", "t.json"),
    ):
        assert call("convert", source, output) == (0, "", "")
    assert same_distances(tr.Tree.load("t.json"), four)
    assert call("convert", "t.json", "tree.csv").returncode == 0
    assert np.allclose(read("tree.csv").distances, tr.Tree.load("t.json").distances())
    assert call("convert", "t.json", "-", "--to", "graphml").stdout.startswith("<")
    assert call("convert", "-", "-", "--to", "csv", stdin=b"(a:1,b:2)c;").stdout.startswith(",")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["fit"], "INPUT"),
        (["fit", "none.csv"], "none.csv: No such file"),
        (["fit", "."], "directory"),
        (["fit", "table.csv"], "table.csv: .*--kind points or --kind graph"),
        (["fit", "table.npy"], "--kind points"),
        (
            ["fit", "four.csv", "--kind", "trees"],
            "--kind.*'trees' is not one of 'distances', 'points', 'graph'",
        ),
        (["fit", "four.csv", "--format", "nwk"], "--format"),
        (["fit", "four.csv", "--format", "json"], "cannot be read"),
        (["fit", "four.csv", "--method", "nope"], "'nope' is not one of 'auto', 'treerep'"),
        (
            ["fit", "four.csv", "--method", "upgma", "--tol", "1"],
            "--method upgma has no option --tol",
        ),
        (["fit", "four.csv", "--trials", "0"], "--trials"),
        (["fit", "four.csv", "--seed", "-1"], "--seed"),
        (["fit", "four.csv", "--jobs", "many"], "--jobs"),
        (
            ["fit", "four.csv", "--metric", "cosine", "--kind", "graph"],
            "--metric cosine requires --kind points",
        ),
        (
            ["fit", "four.csv", "--largest-component"],
            "--largest-component does not apply to a distance matrix",
        ),
        (["fit", "four.csv", "--weight", "w", "--unweighted"], "use one of them"),
        (["fit", "four.csv", "-o", "t.xyz"], "t.xyz: unknown suffix for a tree"),
        (["fit", "four.csv", "-o", "no/t.nwk"], "no/t.nwk: the folder does not exist"),
        (["fit", "four.csv", "-o", "."], "is a folder"),
        (["fit", "tree.nwk"], "already contains a tree"),
        (["fit", "large.npy"], "large.npy: .*40000.*more than the file has"),
        (["fit", "large.phy"], "large.phy: line 1 declares 40000 points"),
        (
            ["fit", "many.npy", "--kind", "points", "--method", "neighbor_joining"],
            "needs [0-9.,]+ GiB of memory",
        ),
        (["refine", "tree.nwk"], "INPUT"),
        (["refine", "tree.nwk", "four.csv", "--balance", "2"], "--balance"),
        (["refine", "tree.nwk", "four.csv"], "tree.nwk has 3 points and four.csv has 4"),
        (
            ["embed", "four.csv", "-o", "e.txt"],
            "e.txt: unknown suffix for an embedding: use .npz, .csv or .tsv",
        ),
        (["embed", "four.csv", "--json"], "cannot both be written to standard output"),
        (["embed", "four.csv", "--distortion", "0.5"], "above 1"),
        (
            ["embed", "four.csv", "--method", "hmds", "--distortion", "2"],
            "hmds does not accept distortion",
        ),
        (["embed", "four.csv", "--device", "cuda"], "sarkar does not accept device"),
        (["draw", "four.csv"], "--output"),
        (["view", "four.csv", "-o", "t.html", "--table", "none.csv"], "none.csv: No such file"),
        (["compare", "four.csv", "--methods", "treerep,nope"], "unknown method 'nope'"),
        (["compare", "four.csv", "--methods", ","], "--methods is empty"),
        (["compare", "four.csv", "--csv", "no/c.csv"], "the folder does not exist"),
        (
            ["delta", "four.csv", "--time-limit", "0"],
            "--time-limit must be a positive number of seconds",
        ),
        (["delta", "four.csv", "--method", "guess"], "'guess' is not one of"),
        (["convert", "four.csv", "-"], "--to"),
        (
            ["convert", "four.csv", "t.nwk"],
            "four.csv does not contain a tree: run `treerep fit` first",
        ),
        (["convert", "four.csv", "d.xyz"], "d.xyz: unknown suffix for distances"),
        (["convert", "tree.nwk", "t.dot"], "or set the format with --to"),
    ],
)
def test_errors_are_one_line_and_leave_no_file(call, four, tmp_path, arguments, match):
    (tmp_path / "table.csv").write_text("1,2\n3,4\n5,6\n")
    (tmp_path / "tree.nwk").write_text("(a:1,b:2,c:3);")
    np.save(tmp_path / "table.npy", np.ones((3, 2)))
    (tmp_path / "large.phy").write_text("40000\na 0 1\n")
    if arguments[1:2] == ["many.npy"]:
        np.save(tmp_path / "many.npy", np.zeros((2_000_000, 1), np.float32))
    with (tmp_path / "large.npy").open("wb") as file:
        shape = {"descr": "<f8", "fortran_order": False, "shape": (40_000, 40_000)}
        np.lib.format.write_array_header_1_0(file, shape)
    before = sorted(path.name for path in tmp_path.iterdir())
    assert_one_line_error(call(*arguments), match)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_warnings_are_one_line(call, four):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        done = call("embed", "four.csv", "--scale", "40")
    assert done.returncode == 0
    assert re.match(r"treerep: warning: \d of 6 nodes coincide with others [^\n]*\n4 points, ", done.stderr)


def test_embeddings_where_they_do_not_fit(call, four):
    assert call("embed", "four.csv", "-o", "e.npz").returncode == 0
    assert_one_line_error(call("embed", "e.npz", "-o", "again.npz"), "e.npz already contains an embedding")
    assert_one_line_error(
        call("view", "e.npz", "-o", "page.html"),
        "the input is an embedding: use a tree or data instead",
    )
    content = Path("e.npz").read_bytes()
    assert_one_line_error(call("score", "-", "four.csv", stdin=content), "cannot be read from standard input")


def test_data_in_a_format_of_trees(call, four):
    done = call("fit", "four.csv", "--format", "newick", "--kind", "distances", "-o", "t.nwk")
    assert_one_line_error(done, "--format newick is a tree format")


def test_a_table_that_is_no_text(call, four, tmp_path):
    (tmp_path / "table.csv").write_bytes(b"label,x\n\xff\xfe,1\n")
    done = call("view", "four.csv", "-o", "page.html", "--table", "table.csv")
    assert_one_line_error(done, "table.csv is not a UTF-8 table")


def test_a_packed_file_that_is_damaged(call, four, tmp_path):
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b"0,1\n1,0\n")[:12] + b"damage")
    done = call("fit", "d.csv.gz", "-o", "t.nwk")
    assert_one_line_error(done, r"d\.csv\.gz is damaged or truncated")


def test_a_sample_is_said_once(call, tmp_path, monkeypatch):
    monkeypatch.setattr("treerep.scores._sampling.EXACT_POINTS", 2000)
    np.save(tmp_path / "points.npy", np.random.default_rng(0).standard_normal((2100, 2)))
    done = call("fit", "points.npy", "--kind", "points", "--trials", "1", "-o", "t.npz")
    assert re.search(r"at optimal scale \(from \d+ of 2,100 rows\), ", done.stderr), done.stderr
