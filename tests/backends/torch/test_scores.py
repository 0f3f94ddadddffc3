import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.backends.devices import DEVICE
from tests.metrics import Table
from tests.tree.strategies import caterpillar, naive_distances, trees
from treerep.backends.torch import _blocks as torch_blocks
from treerep.backends.torch import _rectangles as torch_rectangles
from treerep.backends.torch._blocks import blocks_of
from treerep.backends.torch._rectangles import rectangles
from treerep.metric._inspection import inspect_all
from treerep.metric.base import MetricError
from treerep.metric.disk import mapped

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]

FIELDS = ("low", "high", "exact", "pairs", "skipped", "scale", "basis")


def both(approx, truth, **options):
    """The score of this machine's threads, and the one of torch."""
    return tr.average_distortion(approx, truth, **options), tr.average_distortion(
        approx, truth, device=DEVICE, **options
    )


def assert_equal(ours, theirs, rtol=1e-12):
    assert float(theirs) == pytest.approx(float(ours), rel=rtol, abs=1e-15)
    for name in FIELDS:
        one, two = getattr(ours, name), getattr(theirs, name)
        assert two == (pytest.approx(one, rel=100 * rtol, abs=1e-15) if isinstance(one, float) else one), name


@pytest.fixture
def small_pieces(monkeypatch):
    """Cut even a few points into many rectangles."""
    monkeypatch.setattr(torch_rectangles, "CPU_ENTRIES", 256)
    monkeypatch.setattr(torch_rectangles, "_SMALLEST_TILE", 4)


def noisy(tree, seed=0):
    d = naive_distances(tree)[: len(tree), : len(tree)]
    d = d * np.random.default_rng(seed).uniform(0.8, 1.3, d.shape) + 0.1
    d = np.triu(d, 1)
    return d + d.T


def test_a_case_by_hand():
    truth = [[0, 2, 4], [2, 0, 4], [4, 4, 0]]
    score = tr.average_distortion([[0, 1, 4], [1, 0, 5], [4, 5, 0]], truth, device="cpu")
    assert repr(score) == "0.25 (all 3 pairs)"
    star = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 2.0])  # distances 2, 3 and 3
    assert float(tr.average_distortion(star, truth, device="cpu")) == pytest.approx((0 + 1 / 4 + 1 / 4) / 3)


@settings(max_examples=60)
@given(tree=trees(max_nodes=60), scale=st.sampled_from(["none", "optimal"]), swap=st.booleans())
def test_trees_against_matrices(tree, scale, swap):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_rectangles, "CPU_ENTRIES", 128)
        patch.setattr(torch_rectangles, "_SMALLEST_TILE", 4)
        pair = (tree, noisy(tree))
        assert_equal(*both(*(pair[::-1] if swap else pair), scale=scale))


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("scale", ["none", "optimal"])
def test_few_points(n, scale):
    truth = tr.MatrixMetric(np.ones((n, n)) - np.eye(n))
    tree = tr.Tree(n, [[k, k + 1] for k in range(n - 1)], [2.0] * (n - 1))
    assert_equal(*both(tree, truth, scale=scale))


@pytest.mark.parametrize("rows", ["all", 40, 2, None])
@pytest.mark.parametrize("scale", ["none", "optimal"])
@pytest.mark.parametrize("kind", ["euclidean", "manhattan", "chebyshev", "cosine", "correlation", "poincare"])
def test_trees_against_points(small_pieces, kind, scale, rows):
    points = np.random.default_rng(1).normal(size=(173, 6))
    points[5] = points[4]
    points[7] = points[4] * (1 + 1e-9)  # near, and yet apart
    points = points / 10 if kind == "poincare" else points
    metric = tr.PointMetric(points, kind)
    assert_equal(*both(tr.fit(metric, rng=0, method="treerep"), metric, scale=scale, rows=rows, rng=3))


def test_near_points_far_from_the_origin_keep_their_digits():
    rng = np.random.default_rng(0)
    points = np.repeat(1e6 + rng.normal(size=(20, 3)), 5, axis=0) + 1e-7 * rng.normal(size=(100, 3))
    metric = tr.PointMetric(points)
    device = __import__("torch").device("cpu")
    blocks = blocks_of(metric, np.arange(100), device, "truth")
    block = blocks.block(np.arange(50)[None], np.arange(50, 100)[None])
    np.testing.assert_allclose(block[0].numpy(), metric.block(np.arange(50), np.arange(50, 100)), rtol=1e-12)


def test_points_of_single_precision():
    points = np.random.default_rng(2).normal(size=(150, 8)).astype(np.float32)
    metric = tr.PointMetric(points)
    assert_equal(*both(tr.fit(metric, rng=0, method="treerep"), metric), rtol=1e-6)


@pytest.mark.parametrize(
    "dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int16, np.float32, np.float64]
)
@pytest.mark.parametrize("rows", ["all", 7])
@pytest.mark.parametrize("room", [0, 10**9], ids=["moved", "held"])
def test_matrices_of_every_kind(small_pieces, monkeypatch, dtype, rows, room):
    monkeypatch.setattr(torch_blocks, "bytes_to_keep", lambda device: room)
    monkeypatch.setattr(torch_blocks, "_ROWS", 16)
    high = {np.uint8: 255, np.uint16: 65_000, np.int16: 30_000}.get(dtype, 70_000)
    d = np.triu(np.random.default_rng(3).integers(high // 2, high, size=(50, 50)), 1)
    metric = tr.MatrixMetric((d + d.T).astype(dtype))
    assert_equal(*both(tr.fit(metric, rng=0, method="treerep"), metric, rows=rows))


def test_embeddings_graphs_second_trees_and_metrics_of_ones_own(small_pieces):
    tree = caterpillar(40)
    graph = tr.GraphMetric(tr.datasets.random_tree(40, rng=0).to_networkx())
    for approx, truth in [
        (tr.embed(tree, dim=3), tree),
        (tr.embed(tree, dim=3), tr.embed(tree, dim=2)),
        (tree, caterpillar(40, seed=1)),
        (tree, Table(noisy(tree))),
    ]:
        assert_equal(*both(approx, truth), rtol=1e-9)
    leaves = tr.fit(graph, method="treerep")
    assert_equal(*both(leaves, graph))


def test_pairs_at_distance_zero_are_skipped(small_pieces):
    points = np.repeat(np.random.default_rng(0).normal(size=(15, 2)), 3, axis=0)
    metric = tr.PointMetric(points)
    for rows in ("all", 10):
        ours, theirs = both(tr.fit(metric, rng=0, method="treerep"), metric, rows=rows)
        assert theirs.skipped > 0
        assert_equal(ours, theirs)


def test_a_deep_tree_keeps_its_short_paths():
    tree = caterpillar(3000)
    shaken = tree.with_weights(tree.weights * np.random.default_rng(1).uniform(0.9, 1.1, len(tree.weights)))
    assert_equal(*both(tree, tr.MatrixMetric(shaken.distances())), rtol=1e-13)


def test_unusable_distances_and_devices_are_named():
    d = np.ones((4, 4)) - np.eye(4)
    d[1, 3] = d[3, 1] = np.nan
    tree = tr.Tree(4, [[0, 1], [1, 2], [2, 3]], [1.0] * 3)
    with pytest.raises(MetricError, match=r"truth has d\(1, 3\) = nan"):
        tr.average_distortion(tree, Table(d), device="cpu")
    with pytest.raises(ValueError, match="cannot find device 'abacus'"):
        tr.average_distortion(tree, tree, device="abacus")
    with pytest.raises(ValueError, match="cannot be combined"):
        tr.average_distortion(tree, tree, device="cpu", engine="dask")


@pytest.mark.parametrize("room", [0, 10**9], ids=["moved", "held"])
@pytest.mark.parametrize("rows", ["all", 19])
def test_a_mapped_matrix_is_looked_at_where_it_is_read(monkeypatch, tmp_path, room, rows):
    """A large file is checked by a sample: what is wrong between must not pass for a pair at distance 0."""
    monkeypatch.setattr(mapped, "LARGE", 0)
    monkeypatch.setattr("treerep.metric.matrix.inspect_sample", lambda d: (inspect_all(np.abs(d)), np.abs(d)))
    monkeypatch.setattr(torch_blocks, "bytes_to_keep", lambda device: room)
    d = noisy(caterpillar(20))
    d[3, 7] = d[7, 3] = -1.0
    np.save(tmp_path / "d.npy", d)
    metric = tr.MatrixMetric(np.load(tmp_path / "d.npy", mmap_mode="r"))
    assert metric.on_disk
    for device in (None, DEVICE):
        with pytest.raises(MetricError, match=r"d\((3, 7|7, 3)\) is -1.0, but distances are never negative"):
            tr.average_distortion(caterpillar(20), metric, rows=rows, device=device)


def test_no_memory_on_the_device_is_one_line(monkeypatch):
    tree = caterpillar(5)

    def out_of_memory(*_):
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:121] . DefaultCPUAllocator: can't allocate memory\n"
        )

    monkeypatch.setattr("treerep.backends.torch._tree_distances.TreeTensors.distances", out_of_memory)
    with pytest.raises(
        MemoryError,
        match="^the device ran out of memory: .* half a GB .* leave out device$",
    ):
        tr.average_distortion(tree, tree, device=DEVICE)
    with pytest.raises(
        MemoryError,
        match="^the device ran out of memory: .* half a GB .* leave out device$",
    ):
        tr.refine(tree, caterpillar(5, seed=1), weights="l2", moves=False, device=DEVICE)


def test_other_errors_of_torch_stay_what_they_are(monkeypatch):
    def failed(*_):
        raise RuntimeError("something else")

    monkeypatch.setattr("treerep.backends.torch._tree_distances.TreeTensors.distances", failed)
    with pytest.raises(RuntimeError, match="^something else$"):
        tr.average_distortion(caterpillar(5), caterpillar(5), device=DEVICE)


def test_many_pieces_make_the_same_score(monkeypatch):
    points = np.random.default_rng(5).normal(size=(700, 4))
    metric = tr.PointMetric(points)
    tree = tr.fit(metric, rng=0, method="treerep")
    scores = []
    for entries in (1 << 12, 1 << 20):
        monkeypatch.setattr(torch_rectangles, "CPU_ENTRIES", entries)
        scores.append(float(tr.average_distortion(tree, metric, device="cpu")))
    assert len(list(rectangles(700, 1 << 12))) > len(list(rectangles(700, 1 << 20)))
    assert scores[0] == pytest.approx(scores[1], rel=1e-13)
