"""The bootstrap: by hand, against DendroPy, its properties, its errors, its interrupt."""

import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

import treerep as tr
from tests.processes import started
from treerep.citations import bibtex

LABELS = [f"t{i}" for i in range(12)]


def noisy_points(n: int = 12, width: int = 30) -> NDArray[np.float64]:
    """Return points of which every coordinate is 0 or 1."""
    return np.random.default_rng(0).integers(0, 2, size=(n, width)).astype(np.float64)


def clean_points(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return points at the leaves of a caterpillar: 40 columns for each inner edge."""
    edges = np.arange(n - 3)
    rows = np.arange(n)[:, None] > edges + 1
    columns = np.repeat(rows, 40, axis=1).astype(np.float64)
    return columns[:, rng.permutation(columns.shape[1])]


def test_by_hand() -> None:
    # A column that separates points 0 and 1 from points 2 and 3 is drawn k times of two: the inner
    # edge has length k. A replicate without the column is a star.
    points = np.array([[0.0, 0], [0, 0], [1, 0], [1, 0]])
    metric = tr.PointMetric(points, "manhattan")
    trees = tr.bootstrap_trees(metric, replicates=40, method="neighbor_joining", rng=1)
    found = Counter(int(tree.distances()[0, 2]) for tree in trees)
    assert set(found) == {0, 1, 2}
    tree = tr.fit(metric, method="neighbor_joining").with_support(trees)
    (support,) = tree.support[~np.isnan(tree.support)]
    assert support == pytest.approx(1 - found[0] / 40)


def test_equals_dendropy_on_columns_drawn_here() -> None:
    dendropy = pytest.importorskip("dendropy")
    points = noisy_points()
    metric = tr.PointMetric(points, "manhattan", labels=LABELS)
    rng = np.random.default_rng(4)
    tree = tr.fit(metric, method="neighbor_joining", bootstrap=25, rng=4)
    texts = []
    for seed in np.random.SeedSequence(int(rng.integers(2**63))).spawn(25):
        drawn = points[:, np.random.default_rng(seed).integers(30, size=30)]
        replicate = np.abs(drawn[:, None] - drawn).sum(axis=2)
        texts.append(tr.fit(tr.MatrixMetric(replicate, labels=LABELS), method="neighbor_joining"))
    namespace = dendropy.TaxonNamespace(LABELS)
    options = {"schema": "newick", "rooting": "force-unrooted", "taxon_namespace": namespace}
    theirs = dendropy.TreeList.get(data="".join(t.newick() for t in texts), **options)
    counts: Counter[int] = Counter()
    for other in theirs:
        other.collapse_unweighted_edges(threshold=1e-9)
        other.encode_bipartitions()
        counts.update({split.split_bitmask for split in other.bipartition_encoding})
    # The support in the Newick text becomes the label of a node.
    ours = dendropy.Tree.get(data=tree.newick(), **options)
    ours.encode_bipartitions()
    checked = 0
    for node in ours.postorder_internal_node_iter(exclude_seed_node=True):
        share = counts[node.edge.bipartition.split_bitmask] / 25
        assert float(node.label) == pytest.approx(share, abs=1e-4)
        checked += 1
    assert checked == 9
    known = tree.support[~np.isnan(tree.support)]
    assert 0 < known.mean() < 1


@pytest.mark.parametrize(
    "options",
    [
        {"method": "neighbor_joining"},
        {"method": "gromov", "linkage": "single"},
        {"method": "treerep", "trials": 3},
        {"method": "treerep", "trials": 5, "keep": "greedy"},
        {"method": "auto"},
    ],
    ids=str,
)
def test_is_the_same_for_every_number_of_threads(options: dict[str, object]) -> None:
    points = noisy_points()
    shared = {"metric": "euclidean", **options}
    plain = tr.fit(points, **shared)  # type: ignore[arg-type]
    one = tr.fit(points, **shared, bootstrap=6, n_jobs=1)  # type: ignore[arg-type]
    assert_array_equal(one.edges, plain.edges)
    assert_array_equal(one.weights, plain.weights)
    three = tr.fit(points, **shared, bootstrap=6, n_jobs=3)  # type: ignore[arg-type]
    assert_array_equal(three.support, one.support)
    rng = np.random.default_rng(0)
    first = tr.fit(points, **shared, rng=rng)  # type: ignore[arg-type]
    shared["options"] = {"linkage": shared.pop("linkage", None)}
    trees = tr.bootstrap_trees(points, replicates=6, **shared, rng=rng)  # type: ignore[arg-type]
    assert_array_equal(first.with_support(trees).support, one.support)


def test_replicates_of_many_points_run_one_after_the_other(monkeypatch) -> None:
    points = noisy_points(60)
    options = {"metric": "euclidean", "method": "treerep", "bootstrap": 4}
    together = tr.fit(points, **options)
    monkeypatch.setattr("treerep.fitting.bootstrap.EXACT_SCORES", 20)
    assert_array_equal(tr.fit(points, **options).support, together.support)


@settings(max_examples=10, deadline=None)
@given(st.integers(4, 9), st.sampled_from(["neighbor_joining", "treerep"]), st.integers(0, 2**32))
def test_clean_points_have_full_support(n: int, method: str, seed: int) -> None:
    points = clean_points(n, np.random.default_rng(seed))
    tree = tr.fit(points, metric="manhattan", method=method, bootstrap=5, rng=seed)
    known = tree.support[~np.isnan(tree.support)]
    assert len(known) == n - 3 and (known == 1).all()


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 8), st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32))
def test_support_is_a_share(n: int, width: int, replicates: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 3, size=(n, width)).astype(float)
    tree = tr.fit(points, metric="manhattan", method="neighbor_joining", bootstrap=replicates, rng=seed)
    known = tree.support[~np.isnan(tree.support)]
    assert_array_equal(known * replicates, np.round(known * replicates))
    assert ((known >= 0) & (known <= 1)).all()
    # Neighbor joining gives a binary tree: n - 3 edges have two points on each side.
    counted = tree.with_support([tree], zero_edges=True).support
    inner = ~np.isnan(counted)
    assert np.count_nonzero(inner) == max(n - 3, 0)
    assert_array_equal(~np.isnan(tree.support), inner & (tree.weights > 0))


def test_equal_points_are_not_supported_by_the_order_of_joins() -> None:
    # Neighbor joining joins equal points in the same order every time, with edges of length 0.
    points = np.vstack([np.tile(noisy_points()[0], (5, 1)), noisy_points()[1:6]])
    tree = tr.fit(points, metric="manhattan", method="neighbor_joining", bootstrap=10)
    inner = ~np.isnan(tree.with_support([tree], zero_edges=True).support)
    assert (tree.weights[inner] == 0).any()
    assert np.isnan(tree.support[tree.weights == 0]).all()
    assert np.nanmax(tree.support) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "correlation"])
def test_resampled_points(metric: str, dtype: type) -> None:
    points = np.random.default_rng(3).normal(size=(6, 9)).astype(dtype)
    given = tr.PointMetric(points, metric, labels=LABELS[:6])
    drawn = given.resample(np.random.default_rng(5))
    columns = np.random.default_rng(5).integers(9, size=9)
    assert drawn.points.dtype == dtype and drawn.labels == given.labels
    assert_array_equal(drawn.points, points[:, columns])
    assert_array_equal(given.points, points)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            tr.MatrixMetric(np.zeros((3, 3))),
            "a MatrixMetric cannot be resampled: for a bootstrap",
        ),
        (tr.PointMetric([[0.1, 0.2]] * 3, "poincare"), "metric 'poincare' cannot be resampled"),
        (tr.PointMetric([[1.0, 0.0]] * 3, "hyperboloid"), "'hyperboloid' cannot be resampled"),
        (
            tr.PointMetric(np.eye(3, 9), "cosine"),
            "in a bootstrap replicate, point [012] is the zero",
        ),
    ],
)
def test_data_that_cannot_be_resampled(data: tr.Metric, message: str) -> None:
    with pytest.raises(tr.MetricError, match=message) as error:
        tr.fit(data, bootstrap=5, method="neighbor_joining")
    assert "\n" not in str(error.value)


def test_bad_arguments() -> None:
    points = tr.PointMetric(noisy_points())
    with pytest.raises(ValueError, match="bootstrap must be a positive whole number, not 0"):
        tr.fit(points, bootstrap=0)
    with pytest.raises(ValueError, match="replicates must be a positive whole number"):
        tr.bootstrap_trees(points, replicates=0)
    with pytest.raises(ValueError, match="pivot is an option of treerep: add method='treerep'"):
        tr.bootstrap_trees(points, replicates=2, options={"pivot": "near"})
    with pytest.raises(ValueError, match="neighbor_joining does not accept speed"):
        tr.bootstrap_trees(points, replicates=2, method="neighbor_joining", options={"speed": 2})
    with pytest.raises(TypeError, match="no method of fit has the option 'speed': leave it out"):
        tr.bootstrap_trees(points, replicates=2, options={"speed": 2})


def test_is_cited() -> None:
    tr.fit(noisy_points(), metric="euclidean", method="neighbor_joining", bootstrap=2)
    assert "felsenstein1985" in bibtex()


MANY = """
import numpy as np, treerep as tr
points = np.random.default_rng(0).normal(size=(300, 20))
options = {{"metric": "euclidean", "method": "neighbor_joining", "n_jobs": {jobs}}}
tr.fit(points, bootstrap=2, **options)  # compiles
print("ready", flush=True)
try:
    tr.fit(points, bootstrap=100_000, **options)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_can_be_interrupted(jobs: int) -> None:
    command = [sys.executable, "-c", MANY.format(jobs=jobs)]
    with started(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "interrupted\n"
        assert process.returncode == 0
