"""Products of hyperbolic planes trained directly (Gu, Sala, Gunel, Ré 2019), on the paper's graphs.

Needs torch and NumPy, but not numba: ``python -m benchmarks.products --data FOLDER --out FILE``.
``--prepare FOLDER`` writes the graphs to a folder, and ``--store FILE ...`` stores the best results of
some files as a table.
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from treerep.embedding.learned._manifolds import Adam, Hyperboloid, Line, Manifold, arcosh1p

from .common import Table, store

GRAPHS = ("celegans", "diseasome", "csphd")
# Every combination of rate, start and seed is tried. Numbers are the diameter of a spectral start.
RATES = (0.03, 0.1, 0.3)
STARTS: tuple[float | str, ...] = ("random", 3.0, 10.0, 24.0)
SEEDS = 2
# Epochs of the trial of all combinations, and of each loss for the best combinations.
TRIAL = 600
LONG = 4000
KEPT = 4
# The share of the time that the trials may take.
TRIAL_SHARE = 0.35
# Rate of the second loss and of the log scales, as fractions of the rate.
SECOND_PACE = 0.5
SCALE_PACE = 0.1
# |r - 1| is smoothed to sqrt((r - 1)^2 + w^2), where w falls from the first width to the second.
WIDTHS = (0.05, 0.001)
# Distances within this fraction of the largest one are tied, as in the package.
TIES = 1e-9
# Time per epoch does not fall below that of this many distances.
OVERHEAD = 4_000_000

Array = NDArray[np.float64]
Tensor = torch.Tensor


class Space(NamedTuple):
    """A product of equal components: d = (sum of (scale_m d_m)^power)^(1 / power)."""

    name: str
    components: int
    dim: int
    power: int = 1
    flat: bool = False

    @property
    def numbers(self) -> int:
        """Number of coordinates per point."""
        return self.components * self.dim

    @property
    def manifold(self) -> Manifold:
        """The manifold of a component."""
        return Flat() if self.flat else Hyperboloid()


SPACES = (
    Space("E10", 1, 10, flat=True),
    Space("E20", 1, 20, flat=True),
    Space("H10", 1, 10),
    Space("H20", 1, 20),
    Space("(H2)^5, root of squares", 5, 2, power=2),
    Space("(H2)^5, sum", 5, 2),
    Space("(H2)^10, root of squares", 10, 2, power=2),
    Space("(H2)^10, sum", 10, 2),
)


class Flat(Line):
    """Euclidean space. Adam keeps one second moment per point."""

    def inner(self, x: Tensor, u: Tensor, v: Tensor) -> Tensor:  # noqa: ARG002, D102
        return (u * v).sum(1, keepdim=True)


class Graph(NamedTuple):
    """The distances of a graph, and its adjacency in compressed rows."""

    name: str
    distances: Array
    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]


class Setting(NamedTuple):
    """A combination of options of the training."""

    rate: float
    start: float | str
    seed: int


SETTINGS = tuple(Setting(rate, start, seed) for rate in RATES for start in STARTS for seed in range(SEEDS))


class State(NamedTuple):
    """Points of all replicates and components, one row each, and one log scale per component."""

    points: Tensor
    log_scales: Tensor


class Trained(NamedTuple):
    """The best state of every replicate, its average distortion, and the number of epochs."""

    state: State
    distortion: Tensor
    epochs: int


class Problem:
    """A space and the distances of a graph on a device."""

    def __init__(self, space: Space, graph: Graph, device: str) -> None:
        self.space = space
        self.n = len(graph.distances)
        self.device = device
        truth = torch.from_numpy(graph.distances).to(device)
        self.weights = torch.where(truth > 0, 1 / truth, 0.0)
        self.count = int((truth > 0).sum())

    def distances(self, state: State) -> Tensor:
        """Return the distances of all pairs, (replicates, n, n)."""
        space = self.space
        rows = state.points.view(-1, self.n, state.points.shape[1])
        found = flat_distances(rows) if space.flat else hyperbolic_distances(rows)
        found = found.view(-1, space.components, self.n * self.n)
        scales = state.log_scales.view(-1, 1, space.components).exp()
        if space.power == 1:
            total = torch.bmm(scales, found)
        else:
            total = torch.bmm(scales.square(), found.square()).sqrt()
        return total.view(-1, self.n, self.n)

    def errors(self, state: State) -> Tensor:
        """Return d / t - 1, and 0 for pairs at t = 0, (replicates, n, n)."""
        return self.distances(state) * self.weights - (self.weights > 0).double()

    def mean(self, values: Tensor) -> Tensor:
        """Return the mean over pairs at t > 0, given values that are 0 for other pairs."""
        return values.sum((1, 2)) / self.count

    def distortion(self, state: State) -> Tensor:
        """Return the average distortion of every replicate, without scaling."""
        with torch.no_grad():
            return self.mean(self.errors(state).abs())


def hyperbolic_distances(rows: Tensor) -> Tensor:
    """Return the distances of points of hyperboloids, (m, n, n). cosh d = x0 y0 - x.y."""
    mirrored = rows.clone()
    mirrored[..., 0].neg_()
    minus_one = rows.new_full((1, 1, 1), -1.0)
    return arcosh1p(torch.baddbmm(minus_one, mirrored, rows.transpose(1, 2), alpha=-1))


def flat_distances(rows: Tensor) -> Tensor:
    """Return Euclidean distances, (m, n, n)."""
    squares = rows.square().sum(2, keepdim=True)
    apart = torch.baddbmm(squares + squares.transpose(1, 2), rows, rows.transpose(1, 2), alpha=-2)
    return apart.clamp_min(1e-20).sqrt()


def squared(errors: Tensor, _progress: float) -> Tensor:
    """Return the terms of the relative stress."""
    return errors.square()


def absolute(errors: Tensor, progress: float) -> Tensor:
    """Return the terms of the average distortion, smoothed less and less."""
    first, last = WIDTHS
    width = first * (last / first) ** progress
    return (errors.square() + width**2).sqrt() - width


Loss = Callable[[Tensor, float], Tensor]


def train(problem: Problem, start: State, rates: Tensor, loss: Loss, epochs: int, seconds: float) -> Trained:
    """Minimize a loss for all replicates at once; keep the state of lowest distortion for each.

    The rate falls to 0. Fewer epochs are run if `seconds` would be exceeded.
    """
    replicates = len(rates)
    per_point = rates.repeat_interleave(len(start.points) // replicates)[:, None]
    per_scale = rates.repeat_interleave(problem.space.components)[:, None] * SCALE_PACE
    movers = Adam(problem.space.manifold), Adam(Line())
    best = Trained(start, problem.distortion(start), 0)
    state = start
    clock = Clock(epochs, seconds, problem.device)
    for progress in clock.epochs():
        leaves = State(*(x.detach().requires_grad_() for x in state))
        errors = problem.errors(leaves)
        value = problem.mean(loss(errors, progress)).sum()
        slopes = torch.autograd.grad(value, list(leaves))
        best = better(best, leaves, problem.mean(errors.detach().abs()), clock.done)
        pace: Any = 1 - progress
        state = State(
            movers[0].step(leaves.points.detach(), slopes[0], per_point * pace),
            movers[1].step(leaves.log_scales.detach(), slopes[1], per_scale * pace),
        )
    return better(best, state, problem.distortion(state), clock.done)


def better(best: Trained, state: State, distortion: Tensor, epochs: int) -> Trained:
    """Return the better state of every replicate."""
    improved = distortion < best.distortion
    kept = []
    for old, new in zip(best.state, state, strict=True):
        chosen = improved.repeat_interleave(len(old) // len(improved))[:, None]
        kept.append(torch.where(chosen, new.detach(), old))
    return Trained(State(*kept), torch.minimum(distortion, best.distortion), epochs)


class Clock:
    """Counts epochs, and lowers their number after a few if the time would not suffice."""

    def __init__(self, epochs: int, seconds: float, device: str) -> None:
        self.planned = epochs
        self.seconds = seconds
        self.device = device
        self.done = 0

    def epochs(self) -> Iterator[float]:
        """Yield the share of the epochs done before every epoch."""
        warm = 3
        timed = 13
        begin = 0.0
        while self.done < self.planned:
            if self.done == warm:
                begin = self._now()
            if self.done == timed:
                each = (self._now() - begin) / (timed - warm)
                self.planned = max(min(self.planned, int(self.seconds / each)), timed)
            yield min(self.done / self.planned, 1.0)
            self.done += 1

    def _now(self) -> float:
        if self.device.startswith("cuda"):
            torch.cuda.synchronize()
        return time.perf_counter()


def spectral(distances: Array, dim: int, reach: float, flat: bool) -> Array:
    """Return classical scaling, or the x of h-MDS at diameter `reach` (Sala et al. 2018), (n, dim)."""
    if flat:
        squares = distances**2
        products = -0.5 * (squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean())
    else:
        products = -np.cosh(distances * (reach / distances.max()))
    values, vectors = np.linalg.eigh(products)
    leading = np.argsort(values)[::-1][:dim]
    return vectors[:, leading] * np.sqrt(np.maximum(values[leading], 0))


def first_points(problem: Problem, graph: Graph, setting: Setting, starts: dict[Any, Array]) -> Array:
    """Return coordinates, (components, n, dim), split from one start after a random rotation."""
    space = problem.space
    rng = np.random.default_rng(setting.seed)
    shape = (problem.n, space.numbers)
    noise = rng.normal(size=shape)
    if setting.start == "random":
        vectors = noise
    else:
        reach = float(setting.start)
        if reach not in starts:
            starts[reach] = spectral(graph.distances, space.numbers, reach, space.flat)
        turn = np.linalg.qr(rng.normal(size=(space.numbers, space.numbers)))[0]
        # Classical scaling does not depend on the diameter, so the noise does.
        vectors = starts[reach] @ turn + noise * (0.1 * reach if space.flat else 1e-3)
    return vectors.reshape(problem.n, space.components, space.dim).transpose(1, 0, 2)


def first_state(problem: Problem, graph: Graph, settings: tuple[Setting, ...]) -> State:
    """Return the starts of all settings, each with the best common scale."""
    starts: dict[Any, Array] = {}
    vectors = [first_points(problem, graph, setting, starts) for setting in settings]
    points = torch.from_numpy(np.stack(vectors).reshape(-1, problem.space.dim))
    points = points.to(problem.device)
    if not problem.space.flat:
        points = Hyperboloid().lift(points)
    count = len(settings) * problem.space.components
    state = State(points, points.new_zeros((count, 1)))
    # sum (s r - 1)^2 is minimal at s = sum r / sum r^2.
    ratios = problem.distances(state) * problem.weights
    scales = (ratios.sum((1, 2)) / ratios.square().sum((1, 2))).log()
    return State(points, scales.repeat_interleave(problem.space.components)[:, None])


def chosen(state: State, which: Tensor, replicates: int) -> State:
    """Return the replicates with the given numbers."""
    parts = (x.view(replicates, -1, x.shape[1])[which] for x in state)
    return State(*(part.reshape(-1, part.shape[2]) for part in parts))


def precision(distances: Array, graph: Graph) -> float:
    """Return the mean average precision, with ties by definition."""
    found = []
    for point, row in enumerate(distances):
        neighbors = graph.indices[graph.indptr[point] : graph.indptr[point + 1]]
        if len(neighbors) == 0:
            continue
        limits = np.sort(row[neighbors]) + TIES * row.max()
        ball = np.searchsorted(np.sort(np.delete(row, point)), limits, "right")
        inside = np.searchsorted(np.sort(row[neighbors]), limits, "right")
        found.append(np.mean(inside / ball))
    return float(np.mean(found))


def precisions(problem: Problem, graph: Graph, state: State) -> list[float]:
    """Return the mean average precision of every replicate."""
    with torch.no_grad():
        return [precision(each, graph) for each in problem.distances(state).cpu().numpy()]


def compete(space: Space, graph: Graph, device: str, seconds: float) -> dict[str, Any]:
    """Train a space on a graph: try all settings, then train the best ones for long, with two losses."""
    begin = time.perf_counter()
    problem = Problem(space, graph, device)
    start = first_state(problem, graph, SETTINGS)
    rates = torch.tensor([setting.rate for setting in SETTINGS], dtype=torch.float64)
    rates = rates.to(device)
    trial = train(problem, start, rates, squared, TRIAL, TRIAL_SHARE * seconds)
    order = trial.distortion.argsort()[:KEPT]
    rates = rates[order]
    left = 0.47 * (seconds - (time.perf_counter() - begin))
    first = train(problem, chosen(start, order, len(SETTINGS)), rates, squared, LONG, max(left, 0.0))
    # The long training may end in a worse minimum than the trial.
    tried = chosen(trial.state, order, len(SETTINGS))
    first = better(first, tried, trial.distortion[order], first.epochs)
    second = train(problem, first.state, rates * SECOND_PACE, absolute, LONG, max(left, 0.0))
    best = int(second.distortion.argmin())
    maps = precisions(problem, graph, first.state), precisions(problem, graph, second.state)
    setting = SETTINGS[int(order[best])]
    return {
        "graph": graph.name,
        "space": space.name,
        "numbers": space.numbers,
        "distortion": float(second.distortion[best]),
        "MAP": maps[1][best],
        "stress only": float(first.distortion.min()),
        "MAP, stress only": maps[0][int(first.distortion.argmin())],
        "highest MAP": max(*maps[0], *maps[1]),
        "all distortions": second.distortion.tolist(),
        "trial distortions": trial.distortion.tolist(),
        **setting._asdict(),
        "epochs": [trial.epochs, first.epochs, second.epochs],
        "log scales": chosen(second.state, torch.tensor([best]), KEPT).log_scales.flatten().tolist(),
        "seconds": time.perf_counter() - begin,
    }


def weight(space: Space, graph: Graph) -> float:
    """Return the share of the time of a space and a graph, up to a factor."""
    return OVERHEAD + space.components * len(graph.distances) ** 2


def run(
    graphs: list[Graph],
    spaces: tuple[Space, ...],
    device: str,
    seconds: float,
    out: Path | None,
) -> dict[str, Any]:
    """Train all spaces on all graphs within the given time. Write the file after every result."""
    end = time.perf_counter() + seconds
    record: dict[str, Any] = {"device": device_name(device), "torch": torch.__version__}
    record |= {"rates": RATES, "starts": STARTS, "seeds": SEEDS, "rows": []}
    jobs = [(space, graph) for space in spaces for graph in graphs]
    while jobs:
        space, graph = jobs[0]
        share = weight(space, graph) / math.fsum(weight(*job) for job in jobs)
        row = compete(space, graph, device, share * (end - time.perf_counter()))
        record["rows"].append(row)
        jobs = jobs[1:]
        print(json.dumps(row), flush=True)
        if out is not None:
            out.write_text(json.dumps(record, indent=1) + "\n")
    return record


def device_name(device: str) -> str:
    if device.startswith("cuda"):
        return torch.cuda.get_device_name()
    return f"{torch.get_num_threads()} CPU threads"


def read(folder: Path) -> list[Graph]:
    """Read the files of `prepare`."""
    found = []
    for name in GRAPHS:
        with np.load(folder / f"{name}.npz") as file:
            distances = file["D"].astype(np.float64)
            found.append(Graph(name, distances, file["indptr"], file["indices"]))
    return found


def load(name: str) -> Graph:
    """Return a graph of the package."""
    import treerep as tr

    metric = tr.datasets.load(name).metric
    everyone = np.arange(len(metric))
    adjacency = metric.adjacency.tocsr()
    adjacency.sort_indices()
    return Graph(name, metric.block(everyone, everyone), adjacency.indptr, adjacency.indices)


def prepare(folder: Path) -> None:
    """Write the graphs as .npz files, for machines without numba."""
    folder.mkdir(parents=True, exist_ok=True)
    for graph in map(load, GRAPHS):
        fields = {"D": graph.distances.astype(np.uint8)}
        fields |= {"indptr": graph.indptr, "indices": graph.indices}
        np.savez_compressed(folder / f"{graph.name}.npz", **fields)


def tables(records: list[dict[str, Any]]) -> list[Table]:
    """Return the best result of every space on every graph."""
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for row in (row for record in records for row in record["rows"]):
        key = row["graph"], row["space"]
        if key not in best or row["distortion"] < best[key]["distortion"]:
            best[key] = row
    order = [(name, space.name) for name in GRAPHS for space in SPACES]
    rows = [shown(best[key]) for key in order if key in best]
    return [Table("Products of spaces trained directly", rows, note(records))]


def note(records: list[dict[str, Any]]) -> str:
    runs = []
    for record in records:
        rates = ", ".join(map(str, record["rates"]))
        starts = ", ".join(map(str, record["starts"]))
        runs.append(f"rates {rates}; starts {starts}; {record['seeds']} seeds each")
    where = {f"{record['device']}, torch {record['torch']}" for record in records}
    return (
        "Average distortion without scaling, at the learned scale, and MAP by definition. One scale "
        "is learned per component. Every combination of rate, start and seed was trained "
        f"({'. Then '.join(dict.fromkeys(runs))}). A start is random, or spectral with this "
        "diameter; in Euclidean space, the number is ten times the noise added to classical scaling. "
        f"The best {KEPT} combinations were trained again for longer, first on the "
        "relative stress, then on the smoothed mean of |d / t - 1|. The table shows the best of "
        f"all. On {' and '.join(sorted(where))}."
    )


def shown(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "graph": row["graph"],
        "space": row["space"],
        "numbers per point": row["numbers"],
        "distortion": row["distortion"],
        "MAP": row["MAP"],
        "distortion, stress only": row["stress only"],
        "MAP, stress only": row["MAP, stress only"],
        "highest MAP": row["highest MAP"],
        "rate": row["rate"],
        "start": str(row["start"]),
        "epochs": sum(row["epochs"]),
        "seconds": row["seconds"],
    }


def measure() -> list[Table]:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return tables([run([load(name) for name in GRAPHS], SPACES, device, 480.0, None)])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.products")
    parser.add_argument("--prepare", type=Path, help="folder for the graphs as .npz files")
    parser.add_argument("--store", type=Path, nargs="+", help="files of results to store")
    parser.add_argument("--data", type=Path, help="folder of graphs")
    parser.add_argument("--out", type=Path, help="file for the results")
    parser.add_argument("--spaces", nargs="+", default=[space.name for space in SPACES])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--minutes", type=float, default=7.0)
    options = parser.parse_args()
    if options.prepare:
        prepare(options.prepare)
    if options.data:
        spaces = tuple(space for space in SPACES if space.name in options.spaces)
        run(read(options.data), spaces, options.device, 60 * options.minutes, options.out)
    if options.store:
        command = "python -m benchmarks.products --data FOLDER --out FILE"
        records = [json.loads(path.read_text()) for path in options.store]
        store("products", tables(records), command)


if __name__ == "__main__":
    main()
