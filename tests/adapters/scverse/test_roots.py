"""Roots by group and by stages, against brute force."""

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import treerep as tr
from tests.tree.strategies import trees
from treerep import tl
from treerep.adapters.scverse._roots import _correlations, _medoid, order_agreement


@given(trees(min_points=3), st.integers(0, 2**32 - 1))
def test_the_medoid_has_the_least_sum(tree: tr.Tree, seed: int) -> None:
    rng = np.random.default_rng(seed)
    members = np.sort(rng.choice(len(tree), rng.integers(1, len(tree) + 1), replace=False))
    sums = tree.block(members, members).sum(axis=1)
    found = sums[np.flatnonzero(members == _medoid(tree, members))[0]]
    assert found <= sums.min() * (1 + 1e-6) + 1e-9


@given(trees(min_points=4), st.integers(0, 2**32 - 1))
def test_correlations_are_those_of_numpy(tree: tr.Tree, seed: int) -> None:
    cells = np.arange(1, len(tree))
    stage = np.random.default_rng(seed).integers(0, 3, len(cells)).astype(float)
    distances = tree.block(range(len(tree)), cells)
    varied = np.flatnonzero(distances.std(axis=1) > 1e-6)
    assume(stage.std() > 0 and len(varied))
    expected = [np.corrcoef(row, stage)[0, 1] for row in distances[varied]]
    assert_allclose(_correlations(tree, cells, stage)[varied], expected, atol=1e-6)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=2, max_size=25).filter(
        lambda rows: len({stage for stage, _ in rows}) > 1
    )
)
def test_agreement_is_counted(rows: list[tuple[int, int]]) -> None:
    scores = [1.0 if a[1] < b[1] else 0.5 if a[1] == b[1] else 0.0 for a in rows for b in rows if a[0] < b[0]]
    stage, time = zip(*rows, strict=True)
    assert order_agreement(stage, time) == pytest.approx(np.mean(scores), abs=1e-9)


def test_a_group_of_cells_is_the_root(marrow: ad.AnnData) -> None:
    tl.pseudotime(marrow, root="HSC", groupby="type")
    members = np.flatnonzero(marrow.obs["type"] == "HSC")
    distances = tl.get_tree(marrow).block(members, range(40))
    best = distances[:, members].sum(axis=1).argmin()
    assert_allclose(marrow.obs["treerep_pseudotime"], distances[best], atol=1e-9)
    assert marrow.uns["treerep_pseudotime"]["params"] == {
        "key": "treerep",
        "root": f"cell{members[best]}",
        "root_groupby": "type",
        "root_group": "HSC",
    }
    tl.set_tree(marrow, tl.get_tree(marrow), root=2, groupby="day", key_added="t")
    assert marrow.obs["day"][marrow.uns["t"]["params"]["root"]] == 2


def test_stages_choose_the_root_with_the_best_order(marrow: ad.AnnData) -> None:
    tl.pseudotime(marrow, stages="day")
    distances = tl.get_tree(marrow).block(range(0, 40, 4), range(40))
    agreements = [order_agreement(marrow.obs["day"], row) for row in distances]
    found = marrow.uns["treerep_pseudotime"]
    # Fewer than 32 candidates, so all are compared exactly.
    assert found["agreement"] == pytest.approx(max(agreements))
    assert found["params"]["root"] == f"cell{4 * int(np.argmax(agreements))}"
    column = marrow.obs["treerep_pseudotime"]
    assert order_agreement(marrow.obs["day"], column) == pytest.approx(found["agreement"])


def test_stages_of_a_path_give_its_end() -> None:
    n = 100
    path = tr.Tree(n, np.column_stack([np.arange(n - 1), np.arange(1, n)]), np.ones(n - 1))
    adata = ad.AnnData(np.zeros((n, 1)))
    names = np.where(np.arange(n) < 50, "early", "late").astype(object)
    names[70] = None
    adata.obs["stage"] = pd.Categorical(names, ["early", "late"], ordered=True)
    tl.set_tree(adata, path, stages="stage")
    assert adata.uns["treerep_pseudotime"]["agreement"] == 1
    assert adata.obs["treerep_pseudotime"].iloc[-1] > adata.obs["treerep_pseudotime"].iloc[0]
    assert adata.uns["treerep"]["params"]["stages"] == "stage"


def test_splits_join_the_lineages_away_from_the_root(marrow: ad.AnnData) -> None:
    tl.set_tree(marrow, tl.get_tree(marrow), root=7)
    tl.lineages(marrow, n_clusters=5)
    splits = marrow.uns["treerep_lineage"]["splits"]
    assert len(splits) == 4
    lineage = marrow.obs["treerep_lineage"].astype(int).to_numpy()
    # A tree of lineages, rooted at the lineage of the root cell.
    assert sorted([*splits[:, 1].tolist(), lineage[7]]) == list(range(5))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "pseudotime needs a root"),
        ({"stages": "type"}, r"adata.obs\['type'\] has no order"),
        ({"stages": "day", "root": 0}, "stages chooses the root: leave out root"),
        ({"groupby": "type"}, "groupby='type' needs root"),
        ({"groupby": "type", "root": "X"}, "root='X' is not a group .* e.g. 'HSC', 'B', 'T'"),
        ({"stages": "one"}, "fewer than two stages"),
    ],
)
def test_roots_that_cannot_be(marrow: ad.AnnData, options: dict, said: str) -> None:
    marrow.obs["one"] = 1.0
    with pytest.raises(ValueError, match=said):
        tl.pseudotime(marrow, **options)
    assert "treerep_pseudotime" not in marrow.obs
