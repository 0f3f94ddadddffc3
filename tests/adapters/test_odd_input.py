"""Odd tables through the adapters of scikit-learn and scverse: the right tree, or one line that says what is wrong."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix

import treerep as tr

ad = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")
pytest.importorskip("sklearn")

COUNTS = np.random.default_rng(0).poisson(1.0, (12, 4)).astype(np.float32)
NAMES = [
    "</script>",
    "a b",
    "(x,y)",
    "'q'",
    "x:1",
    "empty ",
    "\u202eright",
    "n\x00l",
    "[c]",
    ";",
    "é",
    "0",
]


def one_line(error):
    assert "\n" not in str(error.value)


def cells(table):
    names = [f"cell{k}" for k in range(len(table) if isinstance(table, np.ndarray) else table.shape[0])]
    return ad.AnnData(table, obs=pd.DataFrame(index=names))


def expected_distances():
    adata = cells(COUNTS)
    tr.tl.tree(adata, use_rep="X")
    return tr.tl.get_tree(adata).distances()


@pytest.mark.parametrize("kind", [csr_array, csr_matrix, csc_array, np.asfortranarray, np.float64, np.int64])
def test_every_kind_of_table_gives_the_tree_of_its_numbers(kind):
    table = COUNTS.astype(kind) if isinstance(kind, type) and issubclass(kind, np.generic) else kind(COUNTS)
    adata = cells(table)
    tr.tl.tree(adata, use_rep="X")
    np.testing.assert_allclose(tr.tl.get_tree(adata).distances(), expected_distances(), rtol=1e-6)


def broken(value, sparse):
    table = COUNTS.copy()
    table[2, 1] = value
    return csr_array(table) if sparse else table


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_numbers_are_named(value, sparse):
    adata = cells(broken(value, sparse))
    with pytest.raises(ValueError, match=r"coordinate 1 of point 2 \('cell2'\) is") as error:
        tr.tl.tree(adata, use_rep="X")
    one_line(error)
    assert not adata.uns


@pytest.mark.parametrize(
    ("adata", "said"),
    [
        (lambda: cells(COUNTS[:0]), "no cells"),
        (lambda: cells(COUNTS[:, :0]), "got an array of shape 12 x 0"),
        (lambda: ad.AnnData(obs=pd.DataFrame(index=["a", "b"])), "this AnnData has no X"),
        (
            lambda: ad.AnnData(COUNTS, obs=pd.DataFrame(index=["x"] * 12)),
            "several cells are named 'x'",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:Observation names are not unique")
def test_tables_without_a_tree_are_refused_in_one_line(adata, said):
    with pytest.raises(ValueError, match=said) as error:
        tr.tl.tree(adata(), use_rep="X")
    one_line(error)


def test_categories_are_not_coordinates():
    adata = cells(COUNTS)
    adata.obsm["kinds"] = pd.DataFrame({"kind": pd.Categorical(list("ab") * 6)}, index=adata.obs_names)
    with pytest.raises(ValueError, match=r"adata.obsm\['kinds'\]: coordinates of dtype object") as error:
        tr.tl.tree(adata, use_rep="kinds")
    one_line(error)


def test_names_with_the_marks_of_newick_come_back():
    adata = ad.AnnData(COUNTS, obs=pd.DataFrame(index=NAMES))
    tr.tl.tree(adata, use_rep="X")
    assert set(tr.tl.get_tree(adata).labels) == set(NAMES)


def test_files_that_stay_on_disk(tmp_path):
    cells(COUNTS).write_h5ad(tmp_path / "cells.h5ad")
    backed = ad.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    tr.tl.tree(backed, use_rep="X")
    np.testing.assert_allclose(tr.tl.get_tree(backed).distances(), expected_distances(), rtol=1e-6)
    backed.file.close()


def test_estimators_take_lists_and_named_columns():
    from treerep.sklearn import TreeRep

    rows = [[0.0, 1.0], [1.0, 2.0], [3.0, 3.0], [3.0, 4.0]]
    frame = pd.DataFrame(rows, columns=["a", "b"], index=list("wxyz"))
    first, second = (TreeRep(random_state=0).fit(data) for data in (rows, frame))
    np.testing.assert_array_equal(first.tree_.distances(), second.tree_.distances())
    assert list(second.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        second.transform(frame[["b", "a"]])
    with pytest.raises(ValueError, match="n_samples=1 should be >= n_clusters=2"):
        TreeRep().fit([[1.0, 2.0]])
    assert len(TreeRep(n_clusters=1).fit([[1.0, 2.0]]).tree_) == 1
    for bad, said in (
        ([[0.0, np.nan], [1.0, 2.0]], "contains NaN"),
        ([1.0, 2.0], "Expected 2D array"),
        (np.zeros((0, 2)), "0 sample"),
        (np.zeros((2, 0)), "0 feature"),
        ([["a"], ["b"]], "convert string"),
    ):
        with pytest.raises(ValueError, match=said):
            TreeRep().fit(bad)
