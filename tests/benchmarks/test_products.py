"""The products trained by the benchmark are what their names say, and their scores are those of the package."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import treerep as tr
from treerep.embedding.embedding import Embedding
from treerep.embedding.learned._training import Schedule, learn
from treerep.embedding.product import ProductEmbedding

torch = pytest.importorskip("torch")

from benchmarks import products  # noqa: E402
from benchmarks.products import Graph, Problem, Setting, Space, State  # noqa: E402
from treerep.embedding.learned._manifolds import Hyperboloid  # noqa: E402
from treerep.embedding.learned.pt import AllPairs  # noqa: E402

# A cycle of eight vertices with two branches.
EDGES = [*((k, (k + 1) % 8) for k in range(8)), (0, 8), (8, 9), (4, 10)]


@pytest.fixture
def graph() -> Graph:
    metric = tr.GraphMetric(np.array(EDGES))
    adjacency = metric.adjacency.tocsr()
    everyone = np.arange(len(metric))
    distances = metric.block(everyone, everyone)
    return Graph("cycle", distances, adjacency.indptr, adjacency.indices)


def random_state(space: Space, n: int, replicates: int) -> State:
    rng = np.random.default_rng(0)
    rows = torch.from_numpy(rng.normal(size=(replicates * space.components * n, space.dim)))
    points = rows if space.flat else Hyperboloid().lift(rows)
    scales = torch.from_numpy(rng.normal(size=(replicates * space.components, 1)))
    return State(points, scales)


@pytest.mark.parametrize("power", [1, 2])
def test_distances_are_sums_over_the_components(graph: Graph, power: int) -> None:
    space = Space("", 3, 2, power)
    n = len(graph.distances)
    state = random_state(space, n, 2)
    found = Problem(space, graph, "cpu").distances(state).numpy()
    rows = state.points.view(2, 3, n, 3).numpy()
    scales = state.log_scales.exp().view(2, 3).tolist()
    for replicate in range(2):
        parts = [Embedding.from_lorentz(rows[replicate, k], scale=1 / scales[replicate][k]) for k in range(3)]
        tables = [part.block(range(n), range(n)) for part in parts]
        expected = np.sum(np.power(tables, power), axis=0) ** (1 / power)
        np.testing.assert_allclose(found[replicate], expected, atol=1e-3)
        if power == 1:
            product = ProductEmbedding(parts).block(range(n), range(n))
            np.testing.assert_allclose(found[replicate], product, atol=1e-3)


def test_flat_distances(graph: Graph) -> None:
    space = Space("", 1, 4, flat=True)
    state = random_state(space, len(graph.distances), 1)
    found = Problem(space, graph, "cpu").distances(state)[0].numpy()
    expected = cdist(state.points, state.points) * float(state.log_scales.exp())
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_scores_are_those_of_the_package(graph: Graph) -> None:
    space = Space("", 1, 3, flat=True)
    problem = Problem(space, graph, "cpu")
    state = random_state(space, problem.n, 1)
    found = tr.MatrixMetric(problem.distances(state)[0].fill_diagonal_(0.0).numpy())
    truth = tr.GraphMetric(np.array(EDGES))
    assert float(problem.distortion(state)) == pytest.approx(
        float(tr.average_distortion(found, truth)), abs=1e-9
    )
    for metric in (found, truth):  # the distances of the graph have many ties
        table = metric.block(range(problem.n), range(problem.n))
        assert products.precision(table, graph) == pytest.approx(
            float(tr.mean_average_precision(metric, truth)), abs=1e-12
        )


def test_one_component_trains_as_in_the_package(graph: Graph) -> None:
    space = Space("", 1, 2)
    problem = Problem(space, graph, "cpu")
    start = products.first_state(problem, graph, (Setting(0.05, 3.0, 0),))
    rates = torch.tensor([0.05], dtype=torch.float64)
    found = products.train(problem, start, rates, products.squared, 12, np.inf)
    loss = AllPairs(Hyperboloid(), tr.GraphMetric(np.array(EDGES)), "cpu")
    assert float(start.log_scales) == pytest.approx(loss.log_scale(start.points))
    plan = Schedule(12, 0.05, 0, 1.0, adam=True, scale_pace=products.SCALE_PACE)
    expected = learn(Hyperboloid(), start.points, loss, loss.batches, plan, "", float(start.log_scales))
    assert found.epochs == 12
    torch.testing.assert_close(found.state.points, expected.points, rtol=1e-6, atol=1e-6)
    assert float(found.state.log_scales) == pytest.approx(expected.log_scale, abs=1e-6)


@pytest.mark.parametrize("loss", [products.squared, products.absolute])
def test_replicates_do_not_affect_each_other(graph: Graph, loss: products.Loss) -> None:
    problem = Problem(Space("", 2, 2), graph, "cpu")
    settings = tuple(Setting(rate, 3.0, seed) for seed, rate in enumerate([0.03, 0.1, 0.1]))
    start = products.first_state(problem, graph, settings)
    rates = torch.tensor([setting.rate for setting in settings], dtype=torch.float64)
    together = products.train(problem, start, rates, loss, 8, np.inf)
    assert (together.distortion < problem.distortion(start)).all()
    for k in range(3):
        own = products.chosen(start, torch.tensor([k]), 3)
        alone = products.train(problem, own, rates[k : k + 1], loss, 8, np.inf)
        assert float(alone.distortion) == pytest.approx(float(together.distortion[k]), 1e-9)


def test_classical_scaling_is_exact_for_points() -> None:
    points = np.random.default_rng(0).normal(size=(12, 3))
    found = products.spectral(cdist(points, points), 3, 1.0, flat=True)
    np.testing.assert_allclose(cdist(found, found), cdist(points, points), atol=1e-9)


def test_results_are_written_and_tabulated(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "TRIAL", 15)
    monkeypatch.setattr(products, "LONG", 15)
    monkeypatch.setattr(products, "GRAPHS", ("cycle",))
    spaces = (products.SPACES[0], *products.SPACES[4:6])
    products.run([graph], spaces, "cpu", 60.0, tmp_path / "p.json")
    record = json.loads((tmp_path / "p.json").read_text())
    better = copy.deepcopy(record)
    better["rows"][1]["distortion"] -= 0.001
    (table,) = products.tables([record, better, record])
    assert [row["space"] for row in table.rows] == [space.name for space in spaces]
    expected = [row["distortion"] for row in better["rows"]]
    assert [row["distortion"] for row in table.rows] == expected
    assert "rates 0.03, 0.1, 0.3; starts random, 3.0" in table.note
    for row in record["rows"]:
        assert row["distortion"] <= row["stress only"] <= min(row["trial distortions"])
        assert row["distortion"] == min(row["all distortions"]) < 0.1
        assert row["epochs"] == [15, 15, 15] and row["MAP"] <= row["highest MAP"] <= 1
        assert len(row["log scales"]) == (1 if row["space"] == "E10" else 5)


def test_it_needs_neither_numba_nor_scipy() -> None:
    code = "import sys; sys.modules.update(numba=None, scipy=None, tqdm=None); import benchmarks.products"
    root = Path(products.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, env=environment)
