"""What is said of rivals that are right, wrong, slow, broken or not there."""

import importlib
import json
import sys
import time

import numpy as np
import pytest

import treerep as tr
from benchmarks.common import RESULTS
from benchmarks.rivals import ADAPTERS, answers, report, wins
from benchmarks.rivals.child import outcome
from benchmarks.rivals.command import STORE
from benchmarks.rivals.contest import contest
from benchmarks.rivals.newick import read_newick
from benchmarks.rivals.plans import BENCH, FULL, SMALL
from benchmarks.rivals.problems import LITTLE, MATRICES, Problem, make
from benchmarks.rivals.program import run as run_program
from benchmarks.rivals.rival import Rival as Described
from benchmarks.rivals.rival import find, package_version, program_version
from tests.benchmarks import fakes

slow = pytest.mark.slow  # a process for every rival, or much to load

FAKES = "tests.benchmarks.fakes"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("inputs")


@pytest.fixture(scope="module")
def small(folder):
    return make("random tree", 16, folder)


@pytest.fixture(scope="module")
def large(folder):
    return [
        make("random tree", 24, folder),
        make("random tree", 32, folder),
        make("noisy tree", 12, folder),
    ]


def of_fake(name, small, large, limit=30.0):
    return contest(find(FAKES, name), FAKES, small, large, limit=limit)


@slow
def test_a_star_is_a_tree_with_its_seconds_memory_and_scores(small, large):
    found = of_fake("star", small, large[:1])
    run = found.runs["random tree/24"]
    assert found.version == "1.0" and found.start > 0
    assert run["status"] == "right" and run["nodes"] == 25 and run["negative"] == 0
    assert run["seconds"] > 0 and run["memory"] >= 0
    tree = tr.Tree(24, *fakes.star(large[0].matrix()))
    assert run["distortion"] == pytest.approx(tr.average_distortion(tree, large[0].matrix()))


def test_answers_of_random_rivals_are_scored_together(small):
    found = outcome(find(FAKES, "random"), small)
    assert found["status"] == "right" and found["nodes"] == pytest.approx(17)
    assert found["negative"] == pytest.approx((0 + 1 + 2 + 3 + 4) / 5)
    assert found["scatter"]["negative"] == pytest.approx(np.sqrt((4 + 1 + 0 + 1 + 4) / 4 / 5))


@slow
def test_what_is_no_tree_is_called_wrong(small, large):
    run = of_fake("cycle", small, large[:1]).runs["random tree/24"]
    assert run["status"] == "wrong" and run["why"] == "24 nodes and 24 edges: not a tree"


@slow
def test_the_absent_are_listed_and_not_run(small, large):
    found = of_fake("absent", small, large)
    assert found.version is None and not found.runs


@slow
def test_the_slow_are_ended_and_go_on_with_the_next_family(small, large):
    runs = of_fake("slow", small, large, limit=1.0).runs
    assert runs["random tree/24"] == {"status": "over time", "why": "more than 1 s"}
    assert runs["random tree/32"]["status"] == "not tried"
    assert runs["noisy tree/12"]["status"] == "right"


@slow
def test_failures_say_why_in_one_line_and_the_rest_goes_on(small, large):
    runs = of_fake("broken", small, large).runs
    assert runs["random tree/32"] == {"status": "failed", "why": "ValueError: too large"}
    assert runs["noisy tree/12"]["status"] == "right"
    runs = of_fake("dead", small, large[1:]).runs
    assert runs["random tree/32"]["status"] == "failed" and "ended with 7" in runs["random tree/32"]["why"]
    assert runs["noisy tree/12"]["status"] == "right"
    runs = of_fake("never works", small, large).runs
    assert {run["why"] for run in runs.values()} == {"ZeroDivisionError: division by zero"} and len(runs) == 3


@slow
def test_ours_have_one_core(small, large):
    run = of_fake("treerep cores", small, large[:1]).runs["random tree/24"]
    assert run == {"status": "failed", "why": "ValueError: 1 core"}


@slow
def test_the_clock_starts_when_all_is_read_or_the_word_is_said(tmp_path):
    path = tmp_path / "matrix"
    path.write_bytes(b"x" * 10**6)
    reads = "import sys, time; time.sleep(0.3); print(len(sys.stdin.read()))"
    says = "import sys, time; time.sleep(0.3); print('now', file=sys.stderr); print(len(open(sys.argv[1]).read()))"
    for words, mark in (([reads], None), ([says, "{}"], "now")):
        begin = time.perf_counter()
        found = run_program([sys.executable, "-c", *words], path, mark)
        assert found.result == "1000000\n" and found.memory > 10**6
        assert 0 < found.seconds < time.perf_counter() - begin - 0.3  # its sleep is not counted
    with pytest.raises(RuntimeError, match="never said 'go', but: now"):
        run_program([sys.executable, "-c", says, "{}"], path, "go")
    with pytest.raises(RuntimeError, match="ended with 3"):
        run_program([sys.executable, "-c", "import sys; sys.exit(3)"], path)


@pytest.mark.parametrize(
    ("ends", "lengths", "why"),
    [
        ([[0, 3], [1, 3]], [1, 1], "not all of the 3 points"),
        ([[0, 3], [1, 3], [2, 4]], [1, 1, 1], "5 nodes and 3 edges"),
        ([[0, 1], [1, 3], [3, 0], [2, 4]], [1, 1, 1, 1], "2 parts"),
        ([[0, 3], [1, 3], [2, 3]], [1, np.nan, 1], "1 lengths are not finite"),
    ],
    ids=["point missing", "too few edges", "cycle beside a tree", "nan"],
)
def test_what_makes_a_tree(ends, lengths, why):
    with pytest.raises(answers.Wrong, match=why):
        answers.checked_tree(answers.Edges(np.array(ends), np.array(lengths, float)), 3)


def test_negative_lengths_are_counted_and_become_zero():
    tree, negative = answers.checked_tree(
        answers.Edges(np.array([[0, 7], [1, 7], [2, 7]]), np.array([1, -2, 3.0])), 3
    )
    assert negative == 1 and tree.pairs([0, 1], [1, 2]).tolist() == [1, 3]


def test_newick_of_programs():
    found = answers.of_newick("((p2:1,'p0':-2):0.5,\np1:3);", Problem("x", 3, None))
    assert sorted(zip(found.ends.tolist(), found.lengths.tolist(), strict=True)) == [
        ([3, 1], 3.0),
        ([3, 4], 0.5),
        ([4, 0], -2.0),
        ([4, 2], 1.0),
    ]
    assert read_newick("(a:1e-3,b);")[2].tolist() == [0.001, 0.0]
    assert len(read_newick("(" * 5000 + "a" + ",b)" * 5000 + ";")[0]) == 10_001
    for bad in ("", "(a,b)", "(a,b;", "a,b);", "(a,b));"):
        with pytest.raises(ValueError, match="character"):
            read_newick(bad)
    with pytest.raises(answers.Wrong, match="2 leaves, which are not the 3 points"):
        answers.of_newick("(p0:1,p1:1);", Problem("x", 3, None))


def test_joins_of_anjl_and_the_wrong_distances():
    found = answers.of_joins(np.array([[0, 1, 1, 2, 2], [3, 2, 4, 5, 3.0]]), Problem("x", 3, None))
    tree, _ = answers.checked_tree(found, 3)
    assert tree.distances()[0].tolist() == [0, 3, 10]


def test_distances_of_graphs_are_compared(folder):
    graph = make(LITTLE, 0, folder)
    assert answers.score_paths(graph.matrix(), graph) == {}
    with pytest.raises(answers.Wrong, match="625 distances"):
        answers.score_paths(graph.matrix() + 1, graph)


INSTALLED = [
    *(("treerep_trees", name) for name in ("treerep TreeRep", "treerep neighbor_joining")),
    *(("scikit_bio", f"scikit-bio {name}") for name in ("nj", "bme")),
    ("treerep_graphs", "treerep GraphMetric"),
    ("treerep_graphs", "treerep hyperbolicity"),
    ("scipy", "SciPy shortest_path"),
    ("networkit", "networkit APSP"),
    ("treerep_embeddings", "treerep NJ and Sarkar"),
]


@slow
@pytest.mark.parametrize(("module", "name"), INSTALLED, ids=[name for _, name in INSTALLED])
@pytest.mark.filterwarnings("ignore")
def test_adapters_of_what_is_installed(module, name, small, folder):
    rival = find(f"benchmarks.rivals.{module}", name)
    found = outcome(rival, small if rival.task == "tree" else make(LITTLE, 0, folder))
    assert found["status"] == "right", found
    if rival.task == "tree":
        assert found["distortion"] < 1e-9  # a tree metric
    if rival.task == "delta":
        assert found["delta"] == 4  # a grid of 5 x 5: (8 + 8 - 4 - 4) / 2 of its corners


def test_every_adapter_says_what_it_is():
    modules = [importlib.import_module(f"benchmarks.rivals.{name}") for name in ADAPTERS]
    rivals = [rival for module in modules for rival in module.RIVALS]
    assert len({rival.name for rival in rivals}) == len(rivals)
    for rival in rivals:
        assert isinstance(rival, Described) and rival.install and rival.task in answers.SCORES
        assert rival.ours == rival.name.startswith("treerep")


def test_versions_of_what_is_not_there():
    assert package_version("no-such-package")() is None
    assert package_version("numpy", "no.such.module")() is None
    assert program_version("no-such-program")() is None
    assert package_version("numpy")() == np.__version__


def test_inputs_are_metrics_and_the_same_every_time(folder):
    for family in set(MATRICES) - {"zeisel"}:
        d = make(family, 20, folder).matrix()
        assert (d == d.T).all() and (d.diagonal() == 0).all() and (d >= 0).all() and d.max() > 0
        assert (d == make(family, 20, folder).matrix()).all()
    for plan in (BENCH, FULL):
        assert plan.inputs.keys() == SMALL.keys() == answers.SCORES.keys()


def record(tmp_path):
    """Two rivals and an absent one, measured by hand."""

    def run(seconds, distortion):
        return {
            "status": "right",
            "seconds": seconds,
            "memory": 8 * 128**2,
            "distortion": distortion,
        }

    def rival(name, times, **options):
        runs = {f"noisy tree/{128 * 2**k}": run(seconds, 0.1) for k, seconds in enumerate(times)}
        said = {
            "name": name,
            "task": "tree",
            "kind": "joining",
            "install": f"get {name}",
            "ours": False,
        }
        return {**said, "version": "1", "start": 0.5, "runs": runs, **options}

    rivals = [
        rival("treerep ours", [0.01, 0.04, 0.16], ours=True),
        rival("quick", [0.005, 0.04, 0.32]),
        rival("gone", [], version=None, start=None),
        rival(
            "odd",
            [],
            runs={"noisy tree/128": {"status": "wrong", "why": "no tree", "seconds": 1.0}},
        ),
    ]
    of = {"processor": "p", "cores": 2, "python": "3", "numpy": "2", "scipy": "1", "numba": "0"}
    missing = {"yeast": "yeast is not there"}
    return {
        "plan": "`make bench`",
        "limits": {"tree": 10.0},
        "machine": of,
        "took": 9,
        "missing": missing,
        "rivals": rivals,
    }


def test_the_report_names_winners_and_absentees(tmp_path, capsys):
    stored = json.loads(json.dumps(record(tmp_path)))
    report.write(stored, tmp_path, tmp_path)
    told = {path.stem: path.read_text() for path in tmp_path.glob("*.md")}
    assert "| gone | joining | not installed | - | `get gone` |" in told["rivals_present"]
    assert "noisy tree, n = 128: invalid: no tree" in told["rivals_present"]
    assert "| quick | treerep ours | 3 | 1 of 3 (0.50 of our time) | - | - |" in told["rivals_wins"]
    assert "odd" not in told["rivals_wins"]
    assert "yeast is not there" in told["rivals_about"]
    assert report.exponent(stored["rivals"][0]) == pytest.approx(2)
    assert report.exponent(stored["rivals"][1]) == pytest.approx(3)
    assert "1,000.0 (invalid)" in told["rivals_time"]
    assert "**5.0**" in told["rivals_time"]
    assert {path.name for path in tmp_path.glob("*.svg")} == {
        "rivals_time.svg",
        "rivals_quality.svg",
    }


def test_a_better_answer_is_a_win():
    one = {"name": "treerep a", "kind": "k", "ours": True, "task": "tree"}
    other = {"name": "b", "kind": "k", "ours": False, "task": "tree"}
    place = "proteins/9"
    same = {"status": "right", "seconds": 1.0, "memory": 10**6, "map": 0.5}
    one["runs"] = {place: {**same, "distortion": 0.2}}
    other["runs"] = {place: {**same, "distortion": 0.1}}
    text = wins.wins([one, other])
    assert "| b | treerep a | 1 | - | proteins: distortion 0.100 vs 0.200 | - |" in text
    assert "| proteins | 9 | 0.100 | b | 0 of 1 are ours |" in text
    one["runs"][place]["scatter"] = {"distortion": 0.06, "map": 0.01}
    assert "| b | treerep a | 1 | - | - | - |" in wins.wins([one, other])


def test_less_memory_is_a_win():
    def rival(name, memory, **options):
        runs = {
            f"noisy tree/{n}": {
                "status": "right",
                "seconds": 1.0,
                "distortion": 0,
                "memory": memory,
            }
            for n in (9, 99)
        }
        return {
            "name": name,
            "kind": "k",
            "ours": False,
            "task": "tree",
            "runs": runs,
            **options,
        }

    ours, small, same = rival("treerep a", 1000, ours=True), rival("b", 250), rival("c", 900)
    text = wins.wins([ours, small, same])
    assert "| b | treerep a | 2 | - | - | 0.25 of ours |" in text
    assert "| c | treerep a | 2 | - | - | - |" in text


def test_the_page_is_what_is_stored():
    for name, text in report.parts(json.loads(STORE.read_text())).items():
        assert text == (RESULTS / name).read_text(), "python -m benchmarks rivals --docs"
