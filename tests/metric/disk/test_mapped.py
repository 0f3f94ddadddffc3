"""Matrices on disk that are read only where distances are asked for. What counts as large is lowered for the tests."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import treerep as tr
from benchmarks.out_of_core import tree_of_small_numbers as whole_tree
from treerep.fitting.treerep import algorithm
from treerep.metric import _inspection as inspection
from treerep.metric.base import BadEntryError, MetricError
from treerep.metric.disk import mapped
from treerep.metric.matrix import MatrixMetric
from treerep.metric.oracle.classes import CheckedMatrixOracle, HalfMatrixOracle, MatrixOracle

DTYPES = [
    "uint8",
    "int8",
    "uint16",
    "int16",
    "int32",
    "uint64",
    "int64",
    "float16",
    "float32",
    "float64",
]
QUICK = ("uint8", "int16", "float16", "float32")  # every type is compiled anew


@pytest.fixture
def all_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "LARGE", 0)


@pytest.fixture
def few_are_sampled(all_is_large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "_SAMPLE", 1)  # one entry of each row, and its mirror image


def on_disk(path: Path, matrix: np.ndarray) -> Any:
    np.save(path / "d.npy", matrix)
    return np.load(path / "d.npy", mmap_mode="r")


def unseen_entry(n: int) -> tuple[int, int]:
    """An entry that is not looked at at the door, where one entry of each row is, and its mirror image."""
    columns = np.random.default_rng(0).integers(0, n, size=-(-n // 64)).repeat(64)[:n]
    seen = np.eye(n, dtype=bool)
    seen[np.arange(n), columns] = seen[columns, np.arange(n)] = True
    i, j = np.argwhere(np.triu(~seen))[-1].tolist()  # i < j: all scores read those
    return i, j


@pytest.mark.parametrize(
    "dtype", [pytest.param(d, marks=() if d in QUICK else pytest.mark.slow) for d in DTYPES]
)
@pytest.mark.usefixtures("all_is_large")
def test_a_tree_comes_back_from_disk_and_nothing_is_copied(tmp_path: Path, dtype: str) -> None:
    tree = whole_tree(300)
    matrix = on_disk(tmp_path, tree.distances().astype(dtype))
    metric = tr.as_metric(matrix)
    assert isinstance(metric, MatrixMetric)
    assert np.shares_memory(metric.distances, matrix) and metric.distances.dtype == dtype
    assert metric.integral
    kind = {"u": MatrixOracle}.get(
        np.dtype(dtype).kind, HalfMatrixOracle if dtype == "float16" else CheckedMatrixOracle
    )
    assert type(metric.oracle) is kind
    found = tr.fit(metric, method="treerep")
    assert_array_equal(found.edges, tree.edges)
    assert_array_equal(found.weights, tree.weights)


@pytest.mark.parametrize("read", [tr.as_metric, tr.formats.read])
@pytest.mark.usefixtures("all_is_large")
def test_a_path_and_a_memmap_are_mapped_the_same(tmp_path: Path, read: Callable[[Any], tr.Metric]) -> None:
    tree = whole_tree(50)
    on_disk(tmp_path, tree.distances())
    assert isinstance(read(tmp_path / "d.npy").oracle, CheckedMatrixOracle)
    raw = np.memmap(tmp_path / "raw", np.uint16, "w+", shape=(50, 50))
    raw[:] = tree.distances()
    assert_array_equal(tr.fit(raw, method="treerep").edges, tree.edges)


def test_small_files_and_arrays_in_memory_are_looked_at_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = whole_tree(50).distances()
    assert isinstance(MatrixMetric(on_disk(tmp_path, matrix)).oracle, MatrixOracle)
    monkeypatch.setattr(mapped, "LARGE", 0)
    assert isinstance(MatrixMetric(matrix).oracle, MatrixOracle)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "is nan: replace"),
        (np.inf, "is inf: replace"),
        (-np.inf, "is -inf: replace"),
        (-2, "is -2.0, but dist"),
    ],
)
@pytest.mark.usefixtures("few_are_sampled")
def test_a_bad_entry_is_named_by_whoever_reads_it(
    tmp_path: Path, dtype: str, value: float, message: str
) -> None:
    matrix = whole_tree(80).distances().astype(dtype)
    i, j = unseen_entry(80)
    matrix[i, j] = value
    metric = MatrixMetric(on_disk(tmp_path, matrix))  # nobody has seen it yet
    for ask in (
        lambda: metric.pairs([0, i], [1, j]),
        lambda: metric.block(range(80), range(80)),
        lambda: tr.average_distortion(whole_tree(80), metric),
        lambda: tr.fit(metric, method="neighbor_joining"),
    ):
        with pytest.raises(MetricError, match=re.escape(f"d({i}, {j}) {message}")) as error:
            ask()
        assert "\n" not in str(error.value)
    assert metric.pairs(j, i) == matrix[j, i]


@pytest.mark.usefixtures("few_are_sampled")
def test_signed_integers_are_checked_too(tmp_path: Path) -> None:
    matrix = whole_tree(80).distances().astype(np.int16)
    i, j = unseen_entry(80)
    matrix[i, j] = -3
    metric = MatrixMetric(on_disk(tmp_path, matrix))
    with pytest.raises(
        BadEntryError, match=re.escape(f"d({i}, {j}) is -3.0, but distances are never negative")
    ):
        metric.block(range(80), range(80))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.usefixtures("few_are_sampled")
def test_a_fit_never_takes_in_what_is_no_distance(tmp_path: Path, n_jobs: int) -> None:
    matrix = whole_tree(400).distances()
    first = int(
        np.argmin(np.random.default_rng(0).permutation(400))
    )  # the first pivot, whose whole row is read
    other = next(j for j in range(first + 1, first + 9) if j % 64 > 8) % 400
    matrix[first, other] = np.nan
    MatrixMetric(on_disk(tmp_path, matrix))  # not seen at the door
    with pytest.raises(MetricError, match=re.escape(f"d({first}, {other}) is nan")):
        tr.fit(on_disk(tmp_path, matrix), n_jobs=n_jobs, method="treerep")


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.usefixtures("few_are_sampled")
def test_whatever_a_fit_reads_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, split: bool
) -> None:
    """Each of many single bad entries is either never read, so that the tree is the same, or named."""
    if split:
        monkeypatch.setattr(algorithm, "LIMITS", algorithm.Limits(finish_on_disk=8))
    tree, generator, outcomes = whole_tree(40), np.random.default_rng(1), set()
    for i, j in generator.integers(0, 40, (60, 2)):
        matrix = tree.distances()
        matrix[i, j] = np.nan if i != j else 0.0
        try:
            found = tr.fit(on_disk(tmp_path, matrix), method="treerep").edges.tolist()
        except MetricError as error:
            found = str(error)
        assert found == tree.edges.tolist() or f"d({i}, {j}) is nan" in found
        outcomes.add(type(found))
    assert outcomes == {list, str}  # both happen


@settings(max_examples=25)
@given(st.integers(0, 149), st.integers(0, 149), st.sampled_from([np.nan, np.inf, -2.0, 5000.0]))
def test_the_sample_of_a_small_matrix_is_all_of_it(i: int, j: int, value: float) -> None:
    matrix = whole_tree(150).distances()
    matrix[i, j] = value
    with pytest.raises(MetricError, match=rf"d\(({i}, {j}|{j}, {i})\)"):
        inspection.inspect_sample(matrix)


@pytest.mark.parametrize("n", [1, 2, 3, 63, 64, 65, 1000])
def test_the_sample_has_entries_of_every_row(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "_SAMPLE", 10_000)
    matrix = np.ones((n, n)) - np.eye(n)
    seen, rows = inspection.inspect_sample(matrix)
    assert len(rows) == n and rows.size >= min(n * n, 5000)
    assert seen == (float(n > 1), True, True, 0.0)
    for i in {0, n // 2, n - 1}:
        bad = matrix.copy()
        bad[i] = np.nan
        bad[i, i] = 0.0
        if n > 1:
            with pytest.raises(MetricError, match=rf"d\({i}, \d+\) is nan"):
                inspection.inspect_sample(bad)


def test_asymmetry_and_the_diagonal_are_seen_in_the_sample() -> None:
    matrix = np.ones((500, 500)) - np.eye(500)
    for i, j, value, message in [
        (3, 3, 1.0, "d(3, 3) is 1.0, but"),
        (4, 9, 2.0, "is not symmetric"),
    ]:
        bad = matrix.copy()
        bad[i, j] = value
        with pytest.raises(MetricError, match=re.escape(message)):
            inspection.inspect_sample(bad)


@pytest.mark.usefixtures("all_is_large")
def test_precision_is_judged_by_the_sample(tmp_path: Path) -> None:
    tree = tr.datasets.random_tree(200, hidden=0.5, weights=(1, 2), rng=0)
    single = on_disk(tmp_path, tree.distances().astype(np.float32))
    assert MatrixMetric(single).input_eps == np.finfo(np.float32).eps
    assert tr.fit(single, method="treerep").n_nodes == tree.n_nodes
    half = on_disk(tmp_path, tree.distances().astype(np.float16))
    assert MatrixMetric(half).input_eps == np.finfo(np.float16).eps
    assert MatrixMetric(np.asarray(half).copy()).input_eps == np.finfo(np.float16).eps
    rounded = on_disk(tmp_path, tree.distances().round(4))
    assert (
        MatrixMetric(rounded).input_eps
        == MatrixMetric(np.array(rounded)).input_eps
        > np.finfo(np.float32).eps
    )


@pytest.mark.usefixtures("all_is_large")
def test_fortran_order_is_read_as_the_mirror_image(tmp_path: Path) -> None:
    tree = whole_tree(60)
    matrix = on_disk(tmp_path, np.asfortranarray(tree.distances()))
    metric = MatrixMetric(matrix)
    assert np.shares_memory(metric.distances, matrix)
    assert_array_equal(tr.fit(metric, method="treerep").edges, tree.edges)


@pytest.mark.usefixtures("all_is_large")
def test_what_would_have_to_be_copied_is_refused(tmp_path: Path) -> None:
    matrix = on_disk(tmp_path, whole_tree(60).distances())
    with pytest.raises(MetricError, match="of 30 points is a view with gaps.*: save the view as a new file"):
        MatrixMetric(matrix[::2, ::2])
    foreign = on_disk(tmp_path, whole_tree(60).distances().astype(">f4"))
    with pytest.raises(MetricError, match="has dtype >f4, which is not in the byte order of this machine"):
        MatrixMetric(foreign)
    with pytest.raises(MetricError, match="square distance matrix, got 60 x 59"):
        MatrixMetric(matrix[:, 1:])


def test_symmetrize_asks_for_memory_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = on_disk(tmp_path, whole_tree(60).distances())
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="symmetrize='mean' needs"):
        MatrixMetric(matrix, symmetrize="mean")


@pytest.mark.usefixtures("all_is_large")
def test_a_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    matrix = on_disk(tmp_path, whole_tree(60).distances())
    with (tmp_path / "d.npy").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(
        MetricError,
        match=r"d.npy has 1,000 bytes, but its matrix ends at byte [\d,]+: the file is trun",
    ):
        MatrixMetric(matrix)
    with pytest.raises(ValueError, match="the file is truncated"):
        tr.as_metric(tmp_path / "d.npy")


@pytest.mark.usefixtures("all_is_large")
def test_everything_else_works_on_such_a_matrix(tmp_path: Path) -> None:
    tree = whole_tree(120)
    matrix = on_disk(tmp_path, tree.distances().astype(np.float16))
    found = tr.fit(matrix, trials=2, method="treerep")
    assert float(tr.average_distortion(found, matrix)) == 0.0
    assert float(tr.average_distortion(found, matrix, rows=10)) == 0.0
    assert tr.hyperbolicity(matrix, method="sample").delta == 0.0
    assert_array_equal(tr.refine(found, matrix).edges, tree.edges)
    (tmp_path / "old").mkdir()
    old = tr.fit(on_disk(tmp_path / "old", tree.distances()[:100, :100]), method="treerep")
    grown = tr.place(old, tree.distances()[100:, :100])
    assert_array_equal(grown.block(range(120), range(120)), tree.distances())
    for method in ("upgma", "minimum_spanning_tree"):
        tr.fit(matrix, method=method)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.usefixtures("all_is_large")
def test_few_points(tmp_path: Path, n: int) -> None:
    matrix = on_disk(tmp_path, (np.ones((n, n)) - np.eye(n)).astype(np.float16))
    assert len(tr.fit(matrix, method="treerep")) == n
    assert tr.fit(np.zeros((n, n), np.float16), method="treerep").weights.sum() == 0


@pytest.mark.parametrize(
    ("i", "j", "value", "message"),
    [
        (2, 5, np.nan, "d(2, 5) is nan"),
        (2, 5, -1, "d(2, 5) is -1.0, but"),
        (4, 4, 1, "d(4, 4) is 1.0"),
        (2, 5, 99, "not symmetric"),
    ],
)
def test_halves_in_memory_are_looked_at_whole(i: int, j: int, value: float, message: str) -> None:
    matrix = whole_tree(150).distances().astype(np.float16)
    assert_array_equal(MatrixMetric(matrix).block(range(150), range(150)), matrix)
    matrix[i, j] = value
    with pytest.raises(MetricError, match=re.escape(message)):
        MatrixMetric(matrix)


def test_every_half_is_converted_exactly() -> None:
    halves = np.arange(0x7C00, dtype=np.uint16).view(
        np.float16
    )  # all that are finite and not negative, from 0 on
    matrix = np.zeros((300, 300), np.float16)
    upper = np.triu_indices(300, 1)
    matrix[upper] = np.resize(halves, len(upper[0]))
    matrix += matrix.T
    assert set(halves.tolist()) == set(matrix.ravel().tolist())
    assert_array_equal(MatrixMetric(matrix).block(range(300), range(300)), matrix.astype(np.float64))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.usefixtures("all_is_large")
def test_a_pickle_holds_the_path_and_not_the_matrix(tmp_path: Path, dtype: str, order: Any) -> None:
    tree = whole_tree(200)
    labels = [f"point {i}" for i in range(200)]
    metric = MatrixMetric(on_disk(tmp_path, np.asarray(tree.distances(), dtype, order=order)), labels=labels)
    there = pickle.dumps(metric)
    assert len(there) < 10_000
    found = pickle.loads(there)
    assert found.on_disk and type(found.oracle) is type(metric.oracle) and not found.distances.flags.writeable
    assert_array_equal(found.block(range(200), range(200)), tree.distances())
    assert_array_equal(tr.fit(found, method="treerep").edges, tree.edges)
    (tmp_path / "d.npy").unlink()
    with pytest.raises(
        MetricError,
        match=r"d.npy must exist on every machine, and cannot be mapped on this one \(",
    ):
        pickle.loads(there)


@pytest.mark.usefixtures("all_is_large")
def test_a_part_of_a_file_is_found_again(tmp_path: Path) -> None:
    tables = on_disk(tmp_path, np.stack([whole_tree(30).distances(), 2 * whole_tree(30).distances()]))
    found = pickle.loads(pickle.dumps(MatrixMetric(tables[1])))
    assert_array_equal(found.block(range(30), range(30)), tables[1])


@pytest.mark.parametrize("mode", ["r+", "c"])
@pytest.mark.usefixtures("all_is_large")
def test_a_map_that_may_be_written_to_is_not(tmp_path: Path, mode: Any) -> None:
    np.save(tmp_path / "d.npy", whole_tree(60).distances())
    matrix = np.load(tmp_path / "d.npy", mmap_mode=mode)
    tr.fit(MatrixMetric(matrix), method="treerep")
    assert matrix.flags.writeable  # as it was
    assert_array_equal(np.load(tmp_path / "d.npy"), whole_tree(60).distances())


@pytest.mark.usefixtures("all_is_large")
def test_a_file_that_begins_at_an_odd_place_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(b"abc" + whole_tree(60).distances().tobytes())
    odd = np.memmap(tmp_path / "raw", np.float64, "r", offset=3, shape=(60, 60))
    with pytest.raises(
        MetricError,
        match="of 60 points begins in the middle of a number of 8 bytes: save it as a new file",
    ):
        MatrixMetric(odd)
