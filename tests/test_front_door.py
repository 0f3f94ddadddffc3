import ast
import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import treerep as tr

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {
    "numpy",
    "numba",
    "scipy",
    "networkx",
    "torch",
    "matplotlib",
    "dask",
    "typer",
    "rich",
    "tqdm",
    "anndata",
}

FUNCTIONS = [
    function
    for module in (tr, tr.scores)
    for name in module.__all__
    if inspect.isfunction(function := getattr(module, name))
]


def test_the_front_door_is_what_was_agreed():
    assert set(tr.__all__) == {
        "fit",
        "refine",
        "place",
        "placements",
        "Placements",
        "bootstrap_trees",
        "consensus",
        "embed",
        "Embedding",
        "draw",
        "average_distortion",
        "worst_distortion",
        "distance_error",
        "mean_average_precision",
        "page",
        "hyperbolicity",
        "as_metric",
        "Metric",
        "MatrixMetric",
        "PointMetric",
        "GraphMetric",
        "SequenceMetric",
        "CharacterMetric",
        "Tree",
        "TreeSum",
        "MetricError",
        "Score",
        "Hyperbolicity",
        "RefinedTree",
        "Refinement",
        "TreeEmbedding",
        "ProductEmbedding",
        "lower_bound",
        "LowerBound",
        "Page",
        "citations",
        "datasets",
        "formats",
        "methods",
        "scores",
        "sklearn",
        "tl",
        "pl",
        "__version__",
    }
    assert set(dir(tr)) == set(tr.__all__)


@pytest.mark.parametrize("name", [name for name in tr.__all__ if name != "__version__"])
def test_every_public_name_has_a_docstring(name):
    assert inspect.getdoc(getattr(tr, name))


@pytest.mark.parametrize("name", tr.datasets.__all__)
def test_every_name_of_datasets_has_a_docstring(name):
    assert inspect.getdoc(getattr(tr.datasets, name))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_everything_after_the_data_is_keyword_only(function):
    parameters = inspect.signature(function).parameters.values()
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    pairs = (
        ["approx", "truth"],
        ["approx", "graph"],
        ["tree", "classes"],
        ["tree", "data"],
        ["tree", "path"],
        ["tree", "rows"],
        ["tree", "similarity"],
    )
    assert len(positional) == 1 or positional in pairs
    assert not any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


@pytest.mark.parametrize(
    "module", [tr, tr.formats, tr.scores, tr.sklearn], ids=lambda module: module.__name__
)
def test_type_checkers_see_the_same_homes(module):
    source = ast.parse(inspect.getsource(module))
    (guarded,) = (node for node in source.body if isinstance(node, ast.If))
    seen = {alias.asname: node.module for node in guarded.body for alias in node.names}
    assert seen == {**module._HOMES, **dict.fromkeys(getattr(module, "_MODULES", ()))}
    assert {*seen, "__version__"} == {*module.__all__, "__version__"}
    assert dir(module) == sorted(module.__all__)


def test_objects_of_other_libraries_are_welcome():
    metric = tr.as_metric(nx.path_graph(4))
    assert isinstance(metric, tr.GraphMetric)
    assert metric.pairs(0, 3) == 3


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        tr.fitt  # noqa: B018
    assert not hasattr(tr, "_nothing")


def test_import_is_light():
    code = "import sys, treerep; treerep.__version__; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "treerep" in done.stdout.split()
    assert not HEAVY & set(done.stdout.split())


def test_metrics_and_trees_are_built_without_numba_at_import():
    code = (
        "import sys, treerep as tr; tr.Tree, tr.PointMetric, tr.GraphMetric, tr.fit, tr.datasets, tr.tl.tree, "
        "tr.pl.tree; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "networkx", "torch", "matplotlib", "dask", "anndata", "pandas"} & set(
        done.stdout.split()
    )


def test_version_is_that_of_the_package():
    assert tr.__version__ == importlib.metadata.version("treerep")
