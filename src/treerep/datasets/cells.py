"""Simulated differentiating cells, in any number."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._core.checks import positive_number
from .._core.extras import require
from .._core.parallel import run
from .._core.typing import RNGLike

# Cells per random stream, small enough for a core's cache. The number is part of the definition
# of the data: a different number gives different cells.
_BLOCK = 4096


class Cells(NamedTuple):
    """Simulated cells along a branching tree in gene space.

    Attributes
    ----------
    points : (n, dim) array
        Coordinates of the cells. All arrays are NumPy arrays, or Dask arrays with `chunks`.
    branch : (n,) array
        Branch of each cell. Branch b > 0 begins at the end of branch (b - 1) // 2.
    pseudotime : (n,) array
        Distance of each cell from the root along the branches.

    See Also
    --------
    datasets.branching_cells : Simulate cells.
    """

    # NumPy arrays, or Dask arrays with `chunks`.
    points: Any  # (n, dim) floats: coordinates
    # (n,) int32: branch of each cell; branch b > 0 starts at the end of branch (b - 1) // 2
    branch: Any
    pseudotime: Any  # (n,) floats: distance from the root along the branches


class _Branches(NamedTuple):
    """Segments: a cell of branch b at age t in [0, 1) has mean start[b] + t * step[b]."""

    start: NDArray[np.floating]
    step: NDArray[np.floating]
    birth: NDArray[np.floating]  # pseudotime at age 0
    length: NDArray[np.floating]
    share: NDArray[np.float64]  # cumulative probability of branches 0 ... b


def branching_cells(
    n: int,
    *,
    dim: int = 50,
    levels: int = 4,
    noise: float = 0.3,
    dtype: DTypeLike = np.float32,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
    chunks: int | None = None,
) -> Cells:
    """Simulate n cells along the branches of a random binary tree in gene space.

    The root branch splits into two, each of these into two, and so on for `levels` generations,
    which gives 2^levels - 1 branches. A branch is a straight segment that changes every gene by
    a random amount of about one. Cells are uniform along their branch, with normal noise around
    it. Longer branches have more cells.

    Parameters
    ----------
    n : int
        Number of cells.
    dim : int
        Number of genes (coordinates).
    levels : int
        Generations of branches, 1 (a single line) to 20.
    noise : float
        Standard deviation of each coordinate around the branch.
    dtype : float32 or float64
        Precision of the coordinates.
    rng : int, numpy Generator or None
        Seed of the random choices.
    n_jobs : int, optional
        Number of threads; None uses all cores. It does not change the result.
    chunks : int, optional
        Return Dask arrays in chunks of this size, which the workers compute on request. The
        cells do not depend on the chunks. `n_jobs` is then ignored.

    Returns
    -------
    Cells
        Coordinates, branch and pseudotime of each cell.

    See Also
    --------
    datasets.random_tree : Draw a random tree.
    datasets.hyperbolic_points : Draw points of hyperbolic space.
    tl.tree : Fit a tree to the cells of an AnnData object.

    Notes
    -----
    O(n dim) time and memory. The same seed gives the same cells. A larger n only adds cells.

    Examples
    --------
    >>> cells = branching_cells(1000, dim=10, levels=3)
    >>> cells.points.shape, int(cells.branch.max())
    ((1000, 10), 6)
    """
    n = positive_number(n, "n")
    dim = positive_number(dim, "dim")
    levels = positive_number(levels, "levels")
    if levels > 20:
        raise ValueError(f"levels must be between 1 and 20, got {levels}")
    if not 0 <= noise < np.inf:
        raise ValueError(f"noise must be a standard deviation of at least 0, got {noise}")
    precision = np.dtype(dtype)
    if precision not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {precision}")
    generator = np.random.default_rng(rng)
    branches = _grow(levels, dim, precision, generator)
    recipe = _Recipe(branches, noise, tuple(generator.integers(2**63, size=2).tolist()))
    if chunks is not None:
        return _in_chunks(recipe, n, positive_number(chunks, "chunks"))
    cells = _empty(recipe, n)
    for _ in run(
        lambda start: _fill(recipe, start, _rows(cells, start, start + _BLOCK)),
        range(0, n, _BLOCK),
        n_jobs,
    ):
        pass
    return cells


class _Recipe(NamedTuple):
    """The parameters of the cells."""

    branches: _Branches
    noise: float
    stream: tuple[int, ...]


def _empty(recipe: _Recipe, n: int) -> Cells:
    start = recipe.branches.start
    return Cells(
        np.empty((n, start.shape[1]), start.dtype),
        np.empty(n, np.int32),
        np.empty(n, start.dtype),
    )


def _rows(cells: Cells, start: int, stop: int) -> Cells:
    return Cells(*(array[start:stop] for array in cells))


def _fill(recipe: _Recipe, start: int, out: Cells) -> None:
    # One generator per block, seeded by its number, so that blocks can be filled in any order.
    block = np.random.Generator(np.random.SFC64([*recipe.stream, start // _BLOCK]))
    _scatter(recipe.branches, recipe.noise, block, out)


def _part(recipe: _Recipe, start: int, stop: int) -> Cells:
    """Return the cells start ... stop - 1, cut from whole blocks."""
    first = start - start % _BLOCK
    cells = _empty(recipe, stop - first)
    for begin in range(first, stop, _BLOCK):
        _fill(recipe, begin, _rows(cells, begin - first, begin - first + _BLOCK))
    return _rows(cells, start - first, stop - first)


def _in_chunks(recipe: _Recipe, n: int, size: int) -> Cells:
    array = require("dask.array", "dask")
    dask = require("dask", "dask")
    sent = dask.delayed(recipe, pure=False)
    bounds = [(start, min(start + size, n)) for start in range(0, n, size)]
    parts = [dask.delayed(_part, pure=False)(sent, start, stop) for start, stop in bounds]
    example = _empty(recipe, 0)

    def joined(field: int) -> NDArray[Any]:
        like = example[field]
        shapes = [(stop - start, *like.shape[1:]) for start, stop in bounds]
        pieces = zip(parts, shapes, strict=True)
        return array.concatenate(
            [array.from_delayed(part[field], shape, like.dtype) for part, shape in pieces]
        )

    return Cells(*map(joined, range(3)))


def _grow(levels: int, dim: int, dtype: DTypeLike, generator: np.random.Generator) -> _Branches:
    """Draw the branches level by level. Each starts where its parent ends."""
    count = 2**levels - 1
    step = generator.standard_normal((count, dim)) * generator.uniform(0.5, 1.5, (count, 1))
    length = np.linalg.norm(step, axis=1)
    start = np.zeros_like(step)
    birth = np.zeros(count)
    for level in range(1, levels):
        born = np.arange(2**level - 1, 2 ** (level + 1) - 1)
        parent = (born - 1) // 2
        start[born] = start[parent] + step[parent]
        birth[born] = birth[parent] + length[parent]
    start, step, birth, narrow = (array.astype(dtype) for array in (start, step, birth, length))
    return _Branches(start, step, birth, narrow, np.cumsum(length) / length.sum())


def _scatter(branches: _Branches, noise: float, generator: np.random.Generator, out: Cells) -> None:
    """Fill one block of cells.

    Whole blocks are drawn even if fewer cells are needed, so that n does not affect the cells.
    """
    wanted = len(out.branch)
    dtype: Any = out.points.dtype.type
    branch = np.searchsorted(branches.share, generator.random(_BLOCK), side="right")[:wanted]
    # Rounding may leave the last share slightly below one.
    np.minimum(branch, len(branches.share) - 1, out=branch)
    age = generator.random(_BLOCK, dtype=dtype)[:wanted]
    generator.standard_normal(out=out.points, dtype=dtype)
    points = out.points
    points *= dtype(noise)
    # Use one buffer for both terms: temporaries of this size cost more than the random numbers.
    buffer = np.take(branches.step, branch, axis=0)
    buffer *= age[:, None]
    points += buffer
    points += np.take(branches.start, branch, axis=0, out=buffer, mode="clip")
    out.branch[:] = branch
    out.pseudotime[:] = branches.birth[branch] + age * branches.length[branch]
