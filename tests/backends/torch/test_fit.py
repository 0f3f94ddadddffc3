"""TreeRep on a torch device gives the tree of the compiled engine."""

import subprocess
import sys
import weakref
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.backends.devices import DEVICE
from tests.metrics import Table
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from tests.trees import assert_same
from treerep.backends.torch.fit import finished_on_host, fit_on_device
from treerep.backends.torch.metric import device_metric
from treerep.backends.torch.treerep import _sorting as torch_sorting
from treerep.backends.torch.treerep import zones as torch_zones
from treerep.backends.torch.treerep._waves import Waves

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]

RULES = ("random", "near", "closest")
PLAIN = ("euclidean", "manhattan", "chebyshev")
ROUNDED = ("cosine", "correlation", "hyperboloid", "poincare")


def both(data: object, **options: object) -> tuple[tr.Tree, tr.Tree]:
    options = {"method": "treerep"} | options
    return tr.fit(data, **options), tr.fit(data, device=DEVICE, **options)


def points(n: int, k: int, metric: str, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, k)).astype(dtype)
    if metric == "hyperboloid":
        x[:, 0] = np.sqrt(1 + (x[:, 1:].astype(float) ** 2).sum(1))
    return (
        x * np.array(0.9 / np.sqrt((x.astype(float) ** 2).sum(1).max()), dtype) if metric == "poincare" else x
    )


def test_a_case_by_hand() -> None:
    tree = tr.fit([[0, 2, 2], [2, 0, 2], [2, 2, 0]], device=DEVICE, method="treerep")
    assert tree.newick() == "(0:1.0,1:1.0,2:1.0);"


@settings(max_examples=40)
@given(distances=tree_metrics(), rule=st.sampled_from(RULES), seed=st.integers(0, 9))
def test_tree_metrics_are_recovered(distances: np.ndarray, rule: str, seed: int) -> None:
    ours, theirs = both(distances, pivot=rule, rng=seed)
    assert_same(ours, theirs)
    np.testing.assert_allclose(
        theirs.block(range(len(theirs)), range(len(theirs))), distances, rtol=1e-7, atol=1e-9
    )


@settings(max_examples=60)
@given(
    distances=st.one_of(integer_metrics(), any_symmetric()),
    rule=st.sampled_from(RULES),
    seed=st.integers(0, 9),
)
def test_any_matrix_gives_the_same_tree(distances: np.ndarray, rule: str, seed: int) -> None:
    assert_same(*both(distances, pivot=rule, rng=seed))


@pytest.mark.parametrize(
    "dtype", ["uint8", "uint16", "uint32", "uint64", "int16", "int64", "float16", "float32"]
)
def test_dtypes_of_matrices(dtype: str) -> None:
    half = np.triu(np.random.default_rng(0).integers(1, 50, size=(60, 60)), 1)
    assert_same(*both((half + half.T).astype(dtype)))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 300])
@pytest.mark.parametrize("metric", PLAIN)
def test_points_give_the_same_tree(n: int, metric: str) -> None:
    for k, dtype in ((1, "float32"), (7, "float64"), (19, "float32")):
        for rule in RULES:
            assert_same(*both(points(n, k, metric, n, dtype), metric=metric, pivot=rule, rng=n))


@pytest.mark.parametrize("metric", ROUNDED)
def test_points_whose_distances_round_otherwise(metric: str) -> None:
    """Functions like asinh differ in the last digit: the tree is the same up to that, unless a branch falls apart."""
    ours, theirs = both(points(200, 6, metric), metric=metric)
    np.testing.assert_array_equal(ours.edges, theirs.edges)
    np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-9, atol=1e-12)


def test_duplicates_and_whole_numbers() -> None:
    x = np.random.default_rng(0).integers(0, 3, size=(500, 4)).astype(float)
    for metric in PLAIN:
        assert_same(*both(x, metric=metric))
    assert_same(*both(np.zeros((20, 3)), metric="euclidean"))


def test_tensors_stay_where_they_are() -> None:
    import torch

    x = points(400, 5, "euclidean", dtype="float32")
    tensor = torch.tensor(x, device=DEVICE)
    assert_same(
        tr.fit(x, metric="euclidean", rng=3, method="treerep"),
        tr.fit(tensor, metric="euclidean", rng=3, device=DEVICE, method="treerep"),
    )
    half = tensor.half()
    wide = half.double().numpy(force=True)
    assert_same(
        tr.fit(wide, metric="euclidean", method="treerep"),
        tr.fit(half, metric="euclidean", device=DEVICE, method="treerep"),
    )
    d = tr.PointMetric(x).block(range(400), range(400))
    assert_same(tr.fit(d, method="treerep"), tr.fit(torch.tensor(d), device=DEVICE, method="treerep"))


def changed(x: object, how: str) -> object:
    """The same whole numbers as a tensor of another kind."""
    import torch

    tensor = torch.tensor(x)
    if how == "grad":
        return tensor.double().requires_grad_()
    if how == "strided":
        return tensor.double().T.contiguous().T
    return tensor.to(getattr(torch, how))


KINDS = ("grad", "strided", "int64", "uint8", "float16", "bfloat16")


@pytest.mark.parametrize(
    ("metric", "how"),
    [*product(("manhattan", "cosine", "precomputed"), KINDS), ("manhattan", "bool")],
)
def test_tensors_of_any_kind(metric: str, how: str) -> None:
    x = np.random.default_rng(0).integers(0, 2 if how == "bool" else 6, size=(40, 40))
    x[:, 0] = 1
    if metric == "precomputed":
        x = np.triu(x, 1) + np.triu(x, 1).T
    tensor, before = changed(x, how), changed(x, how)
    for options in ({}, {"method": "treerep"}, {"method": "treerep", "trials": 2}):
        ours = tr.fit(x.astype("float16" if how == "float16" else float), metric=metric, **options)
        theirs = tr.fit(tensor, metric=metric, device=DEVICE, **options)
        np.testing.assert_array_equal(ours.edges, theirs.edges)
        np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-9, atol=1e-12)
    assert bool((tensor == before).all())


def test_the_steiner_nodes_of_an_embedding_are_no_points() -> None:
    placed = tr.embed(tr.fit(points(60, 3, "euclidean"), metric="euclidean", method="treerep"), scale=0.5)
    embedding = tr.Embedding(placed.directions, placed.radii, scale=placed.scale, n_points=60)
    assert embedding.n_nodes > len(embedding)
    ours, theirs = both(embedding)
    np.testing.assert_array_equal(ours.edges, theirs.edges)
    np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-9, atol=1e-12)


def test_a_generator_moves_on_as_on_the_threads() -> None:
    x = points(50, 3, "euclidean")
    for trials in (1, 3):
        one, two = np.random.default_rng(4), np.random.default_rng(4)
        for _ in range(2):
            ours = tr.fit(x, metric="euclidean", rng=one, trials=trials, method="treerep")
            assert_same(
                ours,
                tr.fit(
                    x,
                    metric="euclidean",
                    rng=two,
                    trials=trials,
                    device=DEVICE,
                    method="treerep",
                ),
            )
        assert one.bit_generator.state == two.bit_generator.state


def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from treerep.backends.torch import backend as torch_backend
    from treerep.backends.torch import metric as torch_metric

    read = []

    def counted(data: object, **options: object) -> tr.Metric:
        read.append(isinstance(data, Path))
        return tr.as_metric(data, **options)

    monkeypatch.setattr(torch_backend, "as_metric", counted)
    monkeypatch.setattr(torch_metric, "as_metric", counted)
    np.save(tmp_path / "points.npy", points(30, 2, "manhattan"))
    assert_same(*both(tmp_path / "points.npy", metric="manhattan", trials=3))
    assert sum(read) == 1


def test_points_that_have_moved_leave_no_memory_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    before: list[weakref.ref] = []
    move, close = torch_sorting.move_points, Waves.close

    def watched(codes: object, ranks: object, old: object, *rest: object) -> object:
        before.append(weakref.ref(old.near_a))
        return move(codes, ranks, old, *rest)

    def look(engine: object, *closed: object) -> None:
        assert before[-1]() is None
        close(engine, *closed)

    monkeypatch.setattr(torch_sorting, "move_points", watched)
    monkeypatch.setattr(Waves, "close", look)
    tr.fit(points(300, 3, "euclidean"), metric="euclidean", device=DEVICE, method="treerep")
    assert len(before) > 3


def out_of_memory(*_: object) -> None:
    import torch

    raise torch.cuda.OutOfMemoryError(
        "CUDA out of memory. Tried to allocate 20.00 GiB.\nSee the documentation."
    )


def test_no_memory_on_the_device_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    x = points(30, 3, "euclidean")
    monkeypatch.setattr(torch_zones.DeviceTreeRep, "run", out_of_memory)
    for work in (partial(tr.fit, method="treerep"), fit_on_device):
        with pytest.raises(
            MemoryError,
            match=r"^the device ran out of memory: .* 300 bytes per point .* device$",
        ):
            work(x, metric="euclidean", device=DEVICE)


def test_a_tree_too_large_for_the_device_gets_its_canonical_form_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from treerep.backends.torch import fit as torch_fit

    x = points(30, 3, "euclidean")
    with monkeypatch.context() as patch:
        patch.setattr(torch_fit, "canonical_edges", out_of_memory)
        assert_same(*both(x, metric="euclidean"))
        patch.setattr(
            torch_fit,
            "canonical_edges",
            lambda *_: pytest.fail("more edges than int32 can number twice"),
        )
        patch.setattr(torch_fit, "_MOST_EDGES", 28)
        assert_same(*both(x, metric="euclidean"))


def test_labels_tolerance_and_trials() -> None:
    mammals = tr.datasets.sarich()
    ours, theirs = both(mammals, trials=5, tol=0.5, rng=2)
    assert_same(ours, theirs)
    np.testing.assert_array_equal(ours.support, theirs.support)


def test_more_points_than_go_together() -> None:
    x = points(1500, 3, "euclidean")
    limits = torch_zones.Limits(points=40, ranks=64)
    space = device_metric(x, "euclidean", DEVICE)
    whole = fit_on_device(space, rng=1)
    found = fit_on_device(space, rng=1, limits=limits)
    assert found.waves > 2 * whole.waves
    ours = tr.fit(x, metric="euclidean", rng=1, method="treerep")
    assert_same(ours, finished_on_host(space, found))


def test_beyond_a_million_points_priorities_are_computed_on_the_device() -> None:
    x = np.random.default_rng(0).integers(0, 1000, size=(1_050_000, 1)).astype(np.float32)
    assert_same(*both(x, metric="manhattan", rng=5))


def test_the_tree_can_stay_on_the_device() -> None:
    x = points(1000, 4, "euclidean")
    found = fit_on_device(x, metric="euclidean", device=DEVICE)
    tree = tr.fit(x, metric="euclidean", method="treerep")
    assert found.edges.device.type == DEVICE.partition(":")[0]
    assert len(found.edges) == len(tree.edges)
    assert sorted(found.nodes.tolist()) == list(range(1000))
    np.testing.assert_array_equal(np.sort(found.weights.numpy(force=True)), np.sort(tree.weights))
    assert found.visits > 1000
    assert found.waves > 1


def test_bad_points_and_requests() -> None:
    import torch

    bad = torch.zeros((4, 2))
    bad[2, 1] = torch.nan
    with pytest.raises(tr.MetricError, match="coordinate 1 of point 2 is nan"):
        tr.fit(bad, metric="euclidean", device=DEVICE, method="treerep")
    with pytest.raises(tr.MetricError, match=r"points must be rows of a table .* this tensor has shape 5"):
        tr.fit(torch.zeros(5), metric="euclidean", device=DEVICE, method="treerep")
    with pytest.raises(
        tr.MetricError,
        match=r"largest coordinate is 1e\+30, too large for euclidean distances in float32",
    ):
        tr.fit(torch.full((3, 2), 1e30), metric="euclidean", device=DEVICE, method="treerep")
    with pytest.raises(tr.MetricError, match=r"sparse tensor .*: pass tensor.to_dense\(\)"):
        tr.fit(torch.eye(3).to_sparse(), metric="euclidean", device=DEVICE, method="treerep")
    with pytest.raises(tr.MetricError, match="sums overflow: rescale"):
        tr.fit(4e307 * (1 - np.eye(12)), device=DEVICE, method="treerep")
    with pytest.raises(ValueError, match="neighbor_joining does not run on a device"):
        tr.fit(tr.datasets.sarich(), method="neighbor_joining", device=DEVICE)
    with pytest.raises(ValueError, match="a Table cannot be evaluated on a device"):
        tr.fit(Table(np.zeros((3, 3))), device=DEVICE, method="treerep")
    with pytest.raises(ValueError, match="torch cannot find device 'abacus'"):
        tr.fit(tr.datasets.sarich(), device="abacus", method="treerep")


def test_no_compiled_code_is_imported() -> None:
    script = (
        "import sys, torch; sys.modules['numba'] = None\n"
        "from treerep.backends.torch.fit import fit_on_device\n"
        "x = torch.arange(12.0).reshape(6, 2)\n"
        "assert len(fit_on_device(x, metric='euclidean', device='cpu').edges) == 5"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_bootstrap_and_consensus() -> None:
    x = points(40, 6, "manhattan")
    for options in ({"bootstrap": 4}, {"trials": 4, "keep": "greedy"}):
        near, far = both(x, metric="manhattan", **options)
        assert_same(far, near)
        np.testing.assert_array_equal(far.support, near.support)


def test_squared_distances_are_refused() -> None:
    with pytest.raises(tr.MetricError, match="squared distances cannot be computed on a device"):
        tr.fit(np.eye(4), metric="sqeuclidean", device="cpu")
