import numpy as np
import pytest

from treerep.datasets import branching_cells
from treerep.datasets.cells import _BLOCK


@pytest.mark.parametrize("n", [1, _BLOCK - 1, _BLOCK, 2 * _BLOCK + 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shapes_and_types(n, dtype):
    cells = branching_cells(n, dim=3, levels=3, dtype=dtype)
    assert cells.points.shape == (n, 3)
    assert cells.points.dtype == cells.pseudotime.dtype == dtype
    assert cells.branch.shape == cells.pseudotime.shape == (n,)
    assert cells.branch.dtype == np.int32
    assert np.isfinite(cells.points).all()
    assert set(cells.branch.tolist()) <= set(range(7))


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("n_jobs", [2, 4, None])
def test_threads_do_not_matter(n_jobs):
    assert same(branching_cells(20_000, dim=5, n_jobs=1), branching_cells(20_000, dim=5, n_jobs=n_jobs))


@pytest.mark.parametrize("n", [10, _BLOCK, 9000])
def test_more_cells_only_add(n):
    many = branching_cells(10_000, dim=4)
    assert same(branching_cells(n, dim=4), [array[:n] for array in many])


@pytest.mark.parametrize("chunks", [1000, _BLOCK, 2 * _BLOCK, 5000, 10_000, 20_000])
def test_chunks_hold_the_same_cells(chunks):
    dask = pytest.importorskip("dask")
    lazy = branching_cells(10_000, dim=4, chunks=chunks)
    assert lazy.points.chunks[0][0] == min(chunks, 10_000)
    whole = branching_cells(10_000, dim=4)
    assert same(dask.compute(*lazy, scheduler="threads"), whole)
    assert [array.dtype for array in lazy] == [array.dtype for array in whole]
    assert same(
        [array[4000:4200].compute(scheduler="sync") for array in lazy],
        [array[4000:4200] for array in whole],
    )


def test_chunks_are_counted():
    with pytest.raises(ValueError, match="chunks must be a positive whole number, not 0"):
        branching_cells(10, chunks=0)


def test_a_seed_is_a_cloud():
    assert same(branching_cells(100, rng=5), branching_cells(100, rng=np.random.default_rng(5)))
    assert not np.array_equal(branching_cells(100, rng=5).points, branching_cells(100, rng=6).points)


def test_blocks_have_streams_of_their_own():
    points = branching_cells(2 * _BLOCK, dim=2, dtype=np.float64).points
    assert not np.isin(points[:_BLOCK], points[_BLOCK:]).any()


def test_without_noise_branches_are_connected_segments():
    cells = branching_cells(50_000, dim=6, levels=3, noise=0, dtype=np.float64)
    ends = {}
    for branch in range(7):
        chosen = cells.branch == branch
        points, time = cells.points[chosen], cells.pseudotime[chosen]
        # A straight line at unit speed: the distance of two cells of a branch is their difference in pseudotime.
        assert np.allclose(np.linalg.norm(points - points[0], axis=1), np.abs(time - time[0]))
        order = np.argsort(time)
        ends[branch] = points[order[0]], points[order[-1]], time[order[0]], time[order[-1]]
    for branch in range(1, 7):
        start, _, birth, _ = ends[branch]
        _, end, _, death = ends[(branch - 1) // 2]
        assert np.linalg.norm(start - end) < 0.01
        assert abs(birth - death) < 0.01


def test_longer_branches_carry_more_cells():
    cells = branching_cells(100_000, dim=5, levels=4, dtype=np.float64)
    lengths = np.array([np.ptp(cells.pseudotime[cells.branch == branch]) for branch in range(15)])
    counts = np.bincount(cells.branch, minlength=15)
    assert np.allclose(counts / counts.sum(), lengths / lengths.sum(), atol=0.01)


def test_noise_is_around_the_branch():
    exact, noisy = (branching_cells(30_000, dim=5, noise=noise, dtype=np.float64) for noise in (0, 0.7))
    difference = noisy.points - exact.points
    assert np.array_equal(exact.branch, noisy.branch)
    assert np.allclose(difference.std(axis=0), 0.7, rtol=0.03)
    assert np.allclose(difference.mean(axis=0), 0, atol=0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "^n must be a positive whole number, not 0$"),
        ({"n": 10.5}, "^n must be a positive whole number, not 10.5$"),
        ({"n": 5, "dim": 2.0}, "^dim must be a positive whole number, not 2.0$"),
        ({"n": 5, "levels": 2.5}, "^levels must be a positive whole number, not 2.5$"),
        ({"n": 5, "levels": 0}, "levels"),
        ({"n": 5, "levels": 21}, "levels"),
        ({"n": 5, "noise": -1}, "noise"),
        ({"n": 5, "noise": float("nan")}, "noise"),
        ({"n": 5, "dtype": np.int32}, "int32"),
        ({"n": 5, "n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_requests(options, message):
    with pytest.raises(ValueError, match=message):
        branching_cells(options.pop("n"), **options)
