"""The tables under "Accuracy" in docs/howto/single_cells.md, measured again."""

import re
import warnings
from pathlib import Path

import anndata as ad
import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score, roc_auc_score

import treerep as tr

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # scanpy's own dependencies
    import scanpy as sc

PAGE = Path(__file__).resolve().parents[3] / "docs" / "howto" / "single_cells.md"
METHODS = {
    "default": {},
    "TreeRep, best of 20 trials": {"method": "treerep", "trials": 20},
    "neighbor joining": {"method": "neighbor_joining"},
}
SLACK = 0.011  # the page shows two digits; another CPU may round a last digit differently


def row(name: str, table: int) -> list[list[float]]:
    """Return the numbers in each column of a row: a median and, if shown, its range."""
    rows = re.findall(rf"^\| {re.escape(name)} \|(.*)\|$", PAGE.read_text("utf-8"), re.MULTILINE)
    cells = rows[table].split("|")
    return [[float(number) for number in re.findall(r"\d\.\d+", cell)] for cell in cells]


def check(shown: list[float], values: list[float]) -> None:
    """Compare a shown median and range with measured values."""
    expected = [np.median(values), min(values), max(values)][: len(shown)]
    assert shown == pytest.approx(expected, abs=SLACK)


@pytest.mark.parametrize("name", METHODS)
def test_lineages_of_blood_cells(name: str) -> None:
    adata = sc.datasets.pbmc68k_reduced()
    metric, types = tr.as_metric(adata), adata.obs["bulk_labels"]
    seeds = range(1 if name == "neighbor joining" else 10)
    trees = [tr.fit(metric, rng=seed, **METHODS[name]) for seed in seeds]
    shown = row(name, 0)
    for column, k in enumerate((4, 6, 10)):
        check(shown[column], [adjusted_rand_score(types, tree.cut(k)) for tree in trees])
    check(shown[3], [float(tr.average_distortion(tree, metric)) for tree in trees])


def test_clusters_of_blood_cells() -> None:
    adata = sc.datasets.pbmc68k_reduced()
    points, types = adata.obsm["X_pca"], adata.obs["bulk_labels"]
    for column, k in enumerate((4, 6, 10)):
        ward = AgglomerativeClustering(k).fit_predict(points)
        check(row("Ward's method", 0)[column], [adjusted_rand_score(types, ward)])
        means = KMeans(k, n_init=10, random_state=0).fit_predict(points)
        check(row("k-means", 0)[column], [adjusted_rand_score(types, means)])


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_pseudotime_of_marrow_cells() -> None:
    """The whole range takes ten seeds; each tree must lie within it."""
    marrow = tr.datasets.load("paul15")
    adata = ad.AnnData(np.expm1(marrow.metric.points).round())
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)
    sc.pp.pca(adata, n_comps=20)
    types, metric = np.asarray(marrow.classes), tr.as_metric(adata)
    young = np.flatnonzero(types == "Multipotent progenitors")
    root = int(young[metric.block(young, young).sum(axis=1).argmin()])
    late = np.isin(types, ["Monocytes", "Neutrophils", "Basophils"])
    myeloid = late | (types == "GMP")

    def scores(time: np.ndarray) -> list[float]:
        return [
            roc_auc_score(types != "Multipotent progenitors", time),
            roc_auc_score(late[myeloid], time[myeloid]),
        ]

    sc.pp.neighbors(adata)
    adata.uns["iroot"] = root
    sc.tl.diffmap(adata)
    sc.tl.dpt(adata)
    diffusion = scores(adata.obs["dpt_pseudotime"].to_numpy())
    for shown, value in zip(row("diffusion pseudotime (`sc.tl.dpt`)", 0), diffusion, strict=True):
        check(shown, [value])
    everyone = range(len(types))
    for shown, value in zip(
        row("distance from the root cell", 0),
        scores(metric.block([root], everyone)[0]),
        strict=True,
    ):
        check(shown, [value])
    for name in ("default", "TreeRep, best of 20 trials"):
        for seed in range(2):
            tree = tr.fit(metric, rng=seed, **METHODS[name])
            found = scores(tree.block([root], everyone)[0])
            for (_, low, high), value in zip(row(name, 1), found, strict=True):
                assert low - SLACK <= value <= high + SLACK
