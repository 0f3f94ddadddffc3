"""TreeRep on a Dask cluster gives the tree of one machine, bit for bit."""

import re
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.trees import assert_same
from treerep.fitting.treerep import _zone_kernels as zone_kernels

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.usefixtures("many_waves")

CLUSTER = {"threads": 2, "processes": False}  # four blocks


def points_of(metric: str, n: int, k: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, k))
    if metric == "hyperboloid":
        return np.column_stack([np.sqrt(1 + (points**2).sum(axis=1)), points])
    return (
        points / (2 * np.sqrt(1 + (points**2).sum(axis=1, keepdims=True))) if metric == "poincare" else points
    )


METRICS = (
    "euclidean",
    "manhattan",
    "chebyshev",
    "cosine",
    "correlation",
    "hyperboloid",
    "poincare",
)


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric(client: Any, metric: str) -> None:
    points = points_of(metric, 90, 5)
    found = tr.fit(
        da.from_array(points, chunks=(40, 2)),
        metric=metric,
        engine=client,
        rng=1,
        method="treerep",
    )
    assert_same(found, tr.fit(points, metric=metric, rng=1, method="treerep"))


@pytest.mark.parametrize("dtype", ["float32", "int16", "float16", "bool"])
def test_every_kind_of_number(client: Any, dtype: str) -> None:
    points = (4 * points_of("euclidean", 70, 9)).astype(dtype)
    found = tr.fit(
        da.from_array(points, chunks=(30, 9)),
        metric="manhattan",
        engine=client,
        rng=2,
        method="treerep",
    )
    assert_same(found, tr.fit(points, metric="manhattan", rng=2, method="treerep"))


@pytest.mark.parametrize("pivot", ["random", "near", "closest"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 60])
def test_pivot_rules_and_few_points(client: Any, n: int, pivot: str) -> None:
    points = points_of("euclidean", n, 2, seed=n)
    found = tr.fit(
        da.from_array(points, chunks=(2 if n < 9 else 17, 2)),
        metric="euclidean",
        engine=client,
        pivot=pivot,
        method="treerep",
    )
    assert_same(found, tr.fit(points, metric="euclidean", pivot=pivot, method="treerep"))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whole_numbers_and_duplicates(client: Any, data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    points = rng.integers(0, data.draw(st.integers(1, 4)), size=(n, data.draw(st.integers(1, 3)))).astype(
        float
    )
    chunks = (data.draw(st.integers(1, n)), points.shape[1])
    found = tr.fit(
        da.from_array(points, chunks=chunks),
        metric="manhattan",
        engine=client,
        rng=3,
        method="treerep",
    )
    assert_same(found, tr.fit(points, metric="manhattan", rng=3, method="treerep"))


def test_points_on_a_line_and_a_tolerance(client: Any) -> None:
    points = (
        np.random.default_rng(0).permutation(60)[:, None] + np.random.default_rng(1).normal(size=(60, 1)) / 99
    )
    for tol in ("auto", 0.3):
        found = tr.fit(
            da.from_array(points, chunks=25),
            metric="euclidean",
            engine=client,
            tol=tol,
            method="treerep",
        )
        assert_same(found, tr.fit(points, metric="euclidean", tol=tol, method="treerep"))


def test_points_in_memory(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treerep.backends.dask._spread_points._PIECE_BYTES", 200)
    points = np.asfortranarray(points_of("cosine", 100, 6))
    metric = tr.PointMetric(points, "cosine", labels=[f"<{i}>" for i in range(100)])
    assert_same(
        tr.fit(metric, engine=client, rng=5, method="treerep"),
        tr.fit(metric, rng=5, method="treerep"),
    )
    assert_same(
        tr.fit(points, metric="cosine", engine=client, rng=5, method="treerep"),
        tr.fit(points, metric="cosine", rng=5, method="treerep"),
    )


def test_more_points_than_priorities_are_stored_for(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treerep.fitting.treerep._priorities._SHUFFLED", 10)
    points = points_of("euclidean", 80, 3)
    assert_same(
        tr.fit(
            da.from_array(points, chunks=30),
            metric="euclidean",
            engine=client,
            method="treerep",
        ),
        tr.fit(points, metric="euclidean", method="treerep"),
    )


def test_many_blocks_are_summed_up_in_groups(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treerep.backends.dask._treerep_run._FAN_IN", 2)
    points = points_of("euclidean", 60, 3)
    assert_same(
        tr.fit(
            da.from_array(points, chunks=30),
            metric="euclidean",
            engine=client,
            method="treerep",
        ),
        tr.fit(points, metric="euclidean", method="treerep"),
    )


def test_kernels_are_not_compiled_anew(client: Any) -> None:
    """Every dtype, layout and flag would be a specialization of its own, half a minute each."""
    points = points_of("euclidean", 40_000, 2)
    tr.fit(points, metric="euclidean", method="treerep")
    kernels = (
        zone_kernels.sort_chunk,
        zone_kernels.scatter_chunk,
        zone_kernels.finish,
        zone_kernels.grow,
    )
    before = [len(kernel.signatures) for kernel in kernels]
    tr.fit(
        da.from_array(points[:300], chunks=100),
        metric="euclidean",
        engine=client,
        method="treerep",
    )
    assert [len(kernel.signatures) for kernel in kernels] == before


def test_points_at_odd_addresses_are_as_good() -> None:
    """Arrays that came from workers lie anywhere in a buffer."""
    points = points_of("euclidean", 50, 3)
    odd = np.frombuffer(b"x" + points.tobytes(), np.uint8)[1:].view(np.float64).reshape(50, 3)
    assert not odd.flags.aligned
    assert tr.PointMetric(odd).oracle.points.flags.aligned
    assert_same(
        tr.fit(odd, metric="euclidean", method="treerep"),
        tr.fit(points, metric="euclidean", method="treerep"),
    )


@pytest.mark.parametrize(
    ("metric", "row", "value", "message"),
    [
        ("euclidean", 73, np.nan, "coordinate 1 of point 73 is nan"),
        ("cosine", 99, 0.0, "point 99 is the zero vector"),
        ("correlation", 51, 2.0, "point 51 is constant"),
        (
            "euclidean",
            88,
            1e200,
            "point 88 has the largest coordinate, 1e+200, which is too large",
        ),
        ("poincare", 60, 0.9, "point 60 has norm"),
    ],
)
def test_bad_points_are_named(client: Any, metric: str, row: int, value: float, message: str) -> None:
    points = points_of(metric, 100, 4)
    points[row, 1 if np.isnan(value) else slice(None)] = value
    with pytest.raises(tr.MetricError) as alone:
        tr.fit(points, metric=metric, method="treerep")
    with pytest.raises(tr.MetricError) as spread:
        tr.fit(da.from_array(points, chunks=10), metric=metric, engine=client, method="treerep")
    assert message in str(spread.value)
    assert str(spread.value) == str(alone.value)


def test_points_too_near_to_each_other_are_seen_over_all_blocks(client: Any) -> None:
    points = 1e-170 * points_of("euclidean", 40, 2)
    with pytest.raises(tr.MetricError, match="too small for euclidean distances"):
        tr.fit(
            da.from_array(points, chunks=10),
            metric="euclidean",
            engine=client,
            method="treerep",
        )
    points[7] = 1.0  # the other blocks alone would still be too small
    assert_same(
        tr.fit(
            da.from_array(points, chunks=10),
            metric="euclidean",
            engine=client,
            method="treerep",
        ),
        tr.fit(points, metric="euclidean", method="treerep"),
    )


def test_what_is_no_table_of_points_is_refused(client: Any) -> None:
    array = da.zeros((5, 2))
    unknown = array[array[:, 0] > 1], array[:, array[0] > 1]
    for bad, message in (
        (array[0], "this dask array has shape 2"),
        *((bad, "unknown lengths") for bad in unknown),
    ):
        with pytest.raises(tr.MetricError, match=message):
            tr.fit(bad, metric="euclidean", engine=client, method="treerep")
    with pytest.raises(ValueError, match="trials=3 needs all points in one place"):
        tr.fit(array, metric="euclidean", engine=client, trials=3, method="treerep")
    with pytest.raises(ValueError, match="method='upgma' needs all points in one place"):
        tr.fit(array, metric="euclidean", engine=client, method="upgma")
    with pytest.raises(tr.MetricError, match="point 3 has a masked coordinate"):
        tr.fit(
            da.ma.masked_array(array, mask=np.arange(10).reshape(5, 2) == 7),
            metric="euclidean",
            engine=client,
            method="treerep",
        )


@pytest.mark.parametrize("metric", [None, "precomputed"])
def test_distances_in_a_dask_array_are_not_taken_for_points(client: Any, metric: str | None) -> None:
    # Without a metric an array is a distance matrix, as everywhere. It used to be fitted as Euclidean points.
    distances = da.from_array(tr.datasets.sarich().distances, chunks=4)
    remedy = "for points add metric='euclidean', for distances call compute()"
    with pytest.raises(tr.MetricError, match=re.escape(remedy)):
        tr.fit(distances, metric=metric, engine=client, method="treerep")


def test_empty_and_uneven_chunks(client: Any) -> None:
    points = points_of("euclidean", 61, 4)
    array = da.from_array(points, chunks=((0, 1, 0, 0, 47, 13, 0), (0, 3, 1)))
    assert_same(
        tr.fit(array, metric="euclidean", engine=client, method="treerep"),
        tr.fit(points, metric="euclidean", method="treerep"),
    )


def test_chunks_that_are_not_what_their_array_says_are_refused(client: Any) -> None:
    def told(rows: int, k: int, dtype: str, said: int) -> Any:
        return da.from_delayed(dask.delayed(np.ones)((rows, k), dtype), (said, 4), "float64")

    whole = told(20, 4, "float64", 20)
    for other, message in (
        (told(19, 4, "float64", 20), "10 points from number 30 on, but its chunks have 9"),
        (
            told(20, 4, "float32", 20),
            "point 0 has 4 coordinates of float64 and point 20 has 4 coordinates of float32",
        ),
        (told(20, 3, "float64", 20), "and point 20 has 3 coordinates of float64"),
    ):
        with pytest.raises(tr.MetricError, match=message) as error:
            tr.fit(
                da.concatenate([whole, other]),
                metric="euclidean",
                engine=client,
                method="treerep",
            )
        assert "\n" not in str(error.value)


def test_a_dask_array_without_an_engine_says_what_to_do() -> None:
    with pytest.raises(TypeError, match="add engine='dask'"):
        tr.fit(da.zeros((5, 2)), metric="euclidean", method="treerep")


def test_nothing_stays_with_the_workers(client: Any) -> None:
    points = points_of("euclidean", 60, 3)
    tr.fit(da.from_array(points, chunks=30), metric="euclidean", engine=client, method="treerep")
    points[3] = np.nan
    with pytest.raises(tr.MetricError):
        tr.fit(
            da.from_array(points, chunks=30),
            metric="euclidean",
            engine=client,
            method="treerep",
        )
    deadline = time.monotonic() + 10
    while client.futures and time.monotonic() < deadline:  # Dask lets go a little later
        time.sleep(0.05)
    assert not client.futures
