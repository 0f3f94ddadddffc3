"""What holds for every method behind `fit`: kinds of data, labels, seeds, options, errors."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose

import treerep as tr
from treerep._core import memory
from treerep.fitting.methods import METHODS

POINTS = np.random.default_rng(0).normal(size=(40, 3))
EXACT = (
    "treerep",
    "neighbor_joining",
    "bionj",
    "relaxed_neighbor_joining",
    "minimum_evolution",
    "gromov",
    "linf",
    "construct_tree",
    "backbone",
)


class Own(tr.Metric):
    """Distances of a user's own, known by `block` alone."""

    labels = tuple(f"p{k}" for k in range(40))

    def __len__(self) -> int:
        return 40

    def block(self, rows: object, cols: object) -> np.ndarray:
        return tr.PointMetric(POINTS).block(rows, cols)  # type: ignore[arg-type]


def takes(method: str) -> set[str]:
    return set(METHODS[method].option_names)


@pytest.mark.parametrize("method", METHODS)
def test_a_record_tells_what_its_function_takes(method: str) -> None:
    record = METHODS[method]
    metric, *others = inspect.signature(record.load()).parameters
    assert metric == "metric"
    assert set(others) - {"rng", "n_jobs"} == set(record.option_names)
    assert ("rng" in others) == record.random
    assert ("n_jobs" in others) == record.threads
    assert record.load().__name__ == record.name == method


def test_every_option_of_a_method_is_one_of_fit() -> None:
    options = {name for record in METHODS.values() for name in record.option_names}
    shared = {"data", "method", "metric", "rng", "n_jobs", "engine", "device"}
    shared |= {"trials", "keep", "bootstrap", "trees"}
    assert set(inspect.signature(tr.fit).parameters) - shared == options


@pytest.mark.parametrize("method", METHODS)
def test_matrices_points_graphs_trees_and_metrics_of_ones_own(method: str) -> None:
    options = {"trees": 5} if "trees" in takes(method) else {}
    points = tr.PointMetric(POINTS)
    matrix = points.block(range(40), range(40))
    graph = tr.GraphMetric([[k, (k + 1) % 40] for k in range(40)])
    for data in (
        points,
        matrix,
        matrix.astype(np.float32),
        graph,
        tr.datasets.random_tree(40),
        Own(),
    ):
        fitted = tr.fit(data, method=method, **options)
        assert len(fitted) == 40
        assert np.isfinite(fitted.block(range(40), range(40))).all()
        assert fitted.labels == getattr(data, "labels", None)


@pytest.mark.parametrize("method", METHODS)
def test_one_point_two_points_and_duplicates(method: str) -> None:
    assert tr.fit([[0.0]], method=method).n_nodes == 1
    two = tr.fit([[0.0, 2.0], [2.0, 0.0]], method=method)
    assert two.pairs([0], [1])[0] == pytest.approx(1.0 if method == "bartal" else 2.0)
    same = tr.fit(np.zeros((6, 6)), method=method)
    assert_allclose(same.block(range(6), range(6)), 0)


@pytest.mark.parametrize("method", METHODS)
def test_a_seed_gives_one_tree_whatever_the_threads(method: str) -> None:
    options = {"trees": 4} if "trees" in takes(method) else {}
    one, two, again = (tr.fit(Own(), method=method, rng=7, n_jobs=jobs, **options) for jobs in (1, 2, 2))
    assert_allclose(one.block(range(40), range(40)), two.block(range(40), range(40)), rtol=0, atol=0)
    assert_allclose(two.block(range(40), range(40)), again.block(range(40), range(40)), rtol=0, atol=0)


@pytest.mark.parametrize("method", EXACT)
def test_exact_methods_recover_a_large_tree_with_hidden_nodes(method: str) -> None:
    tree = tr.datasets.random_tree(300, hidden=0.3, rng=1)
    n = len(tree)
    found = tr.fit(tree, method=method)
    exact = tree.block(range(n), range(n))
    assert_allclose(found.block(range(n), range(n)), exact, atol=1e-9 * exact.max())


@pytest.mark.parametrize("method", METHODS)
def test_trials_need_a_random_method(method: str) -> None:
    if METHODS[method].random:
        options = {"trees": 2} if "trees" in takes(method) else {}
        best = tr.fit(Own(), method=method, trials=3, **options)
        rng = np.random.default_rng(0)
        each = [tr.fit(Own(), method=method, rng=g, **options) for g in [rng, *rng.spawn(2)]]
        scores = [float(tr.average_distortion(tree, Own(), scale="optimal")) for tree in each]
        assert best == each[int(np.argmin(scores))]
    else:
        with pytest.raises(
            ValueError,
            match=f"{method} is not random, so all 3 trials would give the same tree",
        ):
            tr.fit(Own(), method=method, trials=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"method": "nj"},
            r"unknown method 'nj' \(did you mean 'neighbor_joining'\?\): choose one of auto, treerep, "
            "neighbor_joining, bionj, ",
        ),
        (
            {"method": "neighbor_joining", "tol": 0.1},
            "neighbor_joining does not accept tol: leave it out",
        ),
        (
            {"method": "treerep", "linkage": "single"},
            "treerep does not accept linkage, only tol, pivot",
        ),
        ({"method": "gromov", "k": 3}, "gromov does not accept k, only root, linkage"),
        (
            {"method": "gromov", "linkage": "ward"},
            "linkage must be one of 'average', 'single', not 'ward'",
        ),
        ({"method": "gromov", "root": 40}, "root must be one of the points 0 to 39, not 40"),
        ({"method": "bfs", "root": -1}, "root must be one of the points 0 to 39, not -1"),
        (
            {"method": "bfs", "graph": "ring"},
            "graph must be one of 'complete', 'knn', not 'ring'",
        ),
        ({"method": "low_stretch", "k": 0}, "k must be a positive whole number, not 0"),
        (
            {"method": "level_tree", "graph": "complete"},
            "every level tree of the complete graph is a star: use ",
        ),
        ({"method": "bartal", "draws": 0}, "draws must be a positive whole number, not 0"),
    ],
)
def test_bad_options_get_one_clear_line(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        tr.fit(Own(), **arguments)  # type: ignore[call-overload]
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("method", ["gromov", "construct_tree", "minimum_spanning_tree", "bfs", "level_tree"])
def test_the_root_is_a_number_or_a_label_as_everywhere(method: str) -> None:
    mammals = tr.datasets.sarich()
    by_label = tr.fit(mammals, method=method, root="monkey")
    assert by_label == tr.fit(mammals, method=method, root=mammals.labels.index("monkey"))
    with pytest.raises(ValueError, match="no point has the label 'yeti': use one of the labels"):
        tr.fit(mammals, method=method, root="yeti")
    with pytest.raises(ValueError, match="no point has the label 'dog': the points have no labels"):
        tr.fit(mammals.distances, method=method, root="dog")


def test_trials_from_one_root_are_refused() -> None:
    with pytest.raises(
        ValueError,
        match="all 5 trials from root 2 would give the same tree: leave out root or trials",
    ):
        tr.fit(Own(), method="gromov", root=2, trials=5)


def test_more_trials_are_never_worse() -> None:
    for method in ("bartal", "low_stretch", "relaxed_neighbor_joining"):
        options = {"draws": 3} if method == "bartal" else {}
        scores = [
            float(
                tr.average_distortion(
                    tr.fit(Own(), method=method, trials=k, **options), Own(), scale="optimal"
                )
            )
            for k in (1, 2, 4)
        ]
        assert scores == sorted(scores, reverse=True)


def test_a_graph_needs_no_graph() -> None:
    ring = tr.GraphMetric([[k, (k + 1) % 6] for k in range(6)])
    with pytest.raises(
        ValueError,
        match="k applies only to data that is not a graph, and this is a GraphMetric: leave out k",
    ):
        tr.fit(ring, method="low_stretch", k=3)


def test_a_disconnected_graph_is_refused_before_any_method_sees_it() -> None:
    with pytest.raises(tr.MetricError, match="2 components .* pass largest_component=True"):
        tr.fit(tr.GraphMetric([[0, 1], [2, 3]]), method="minimum_spanning_tree")


@pytest.mark.parametrize(
    "method",
    [
        "neighbor_joining",
        "bionj",
        "relaxed_neighbor_joining",
        "minimum_evolution",
        "upgma",
        "gromov",
        "bartal",
    ],
)
def test_what_does_not_fit_into_memory_is_said_at_once(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 2**20)
    with pytest.raises(MemoryError, match=f"{method} on 400 points needs .* use method='treerep'") as error:
        tr.fit(tr.PointMetric(np.zeros((400, 1))), method=method)
    assert "\n" not in str(error.value)
