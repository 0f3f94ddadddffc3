"""Characters: by hand, against SciPy and plain Python, every method, unknown entries, errors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

import treerep as tr
from treerep.metric.oracle.classes import bytes_per_point, select_points


def plain(states: NDArray[np.int64], weights: NDArray[np.float64], i: int, j: int) -> float:
    """Compute a distance as the documentation says."""
    known = [k for k in range(len(weights)) if states[i, k] >= 0 and states[j, k] >= 0]
    differ = [k for k in known if states[i, k] != states[j, k]]
    return float(weights.sum() * weights[differ].sum() / weights[known].sum())


def test_by_hand() -> None:
    # Three loci are known in both 0 and 2, and two of them differ: 4 * 2 / 3.
    m = tr.CharacterMetric([[1, 4, 2, 7], [1, 4, 3, 7], [1, 5, -1, 8]])
    assert_allclose(m.pairs([0, 0, 1], [1, 2, 2]), [1, 8 / 3, 8 / 3])
    # Weights 1 and 3 are known in both, and 3 differs: 6 * 3 / 4.
    weighted = tr.CharacterMetric([[1, 2, -1], [1, 3, 5]], weights=[1, 3, 2])
    assert weighted.pairs(0, 1) == 4.5


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 8), st.integers(1, 40), st.booleans(), st.integers(0, 2**32))
def test_equals_the_definition(n: int, width: int, weighted: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    states = rng.integers(-1, 4, size=(n, width))
    states[:, rng.integers(width)] = rng.integers(4, size=n)  # one locus is always known
    weights = rng.integers(1, 5, size=width) / 2.0 if weighted else np.ones(width)
    m = tr.CharacterMetric(states, weights=weights if weighted else None)
    expected = [[plain(states, weights, i, j) for j in range(n)] for i in range(n)]
    found = m.block(range(n), range(n))
    assert_allclose(found, expected, rtol=1e-12)
    assert_array_equal(found, found.T)
    assert (np.diag(found) == 0).all()


@pytest.mark.parametrize("largest", [5, 40_000])
def test_equals_scipy(largest: int) -> None:
    states = np.random.default_rng(0).integers(0, largest, size=(30, 70))
    m = tr.as_metric(states, metric="hamming")
    assert isinstance(m, tr.CharacterMetric)
    assert m.integral and m.codes.dtype == (np.int16 if largest == 5 else np.int32)
    expected = 70 * cdist(states, states, "hamming")
    assert_allclose(m.block(range(30), range(30)), expected, atol=1e-9)
    ones = tr.CharacterMetric(states, weights=np.ones(70))
    assert_array_equal(ones.block(range(30), range(30)), m.block(range(30), range(30)))


def test_kinds_of_entries() -> None:
    numbers = np.array([[1, 0, 7], [1, 2, 7], [3, 2, 0]])
    expected = tr.CharacterMetric(numbers, missing=0).block(range(3), range(3))
    holes = np.where(numbers == 0, np.nan, numbers)
    texts = np.where(numbers == 0, "-", numbers.astype(str))
    objects = numbers.astype(object)
    objects[numbers == 0] = None
    tables = [
        tr.CharacterMetric(holes),
        tr.CharacterMetric(np.ma.masked_equal(numbers, 0)),
        tr.CharacterMetric(texts, missing=("?", "-")),
        tr.CharacterMetric(objects),
        tr.CharacterMetric(numbers * 2.0**40, missing=0),  # too large for int32
        tr.CharacterMetric(np.where(numbers == 1, -9, numbers), missing=0),  # a negative category
    ]
    for table in tables:
        assert_allclose(table.block(range(3), range(3)), expected)
        assert not table.integral


def test_negative_ones_are_unknown_besides_other_codes() -> None:
    table = [[1, -1, 3], [1, 2, 3], [0, 2, 4]]
    for missing in (0, 0.0, "0", (0, -1), [0], {0}, np.array([0])):
        m = tr.CharacterMetric(table, missing=missing)
        assert_array_equal(m.codes, [[1, -1, 3], [1, 2, 3], [-1, 2, 4]])
    assert tr.CharacterMetric(table).pairs(0, 1) == 0


@pytest.mark.parametrize("minus", [-1, -1.0, np.float32(-1), "-1"], ids=repr)
def test_numbers_in_tables_of_objects_are_numbers(minus: object) -> None:
    """Pandas turns whole numbers into floats beside text and NaN."""
    frame = pd.DataFrame(
        {"x": ["a", "b", "a", "b"], "y": [minus, 2, 2.0, np.nan], "z": [1, 1.0, True, 7.0]},
        index=list("stuv"),
        dtype=object,
    )
    expected = [[0, -1], [1, 0], [0, 0], [1, -1]]
    for m in (
        tr.CharacterMetric(frame.iloc[:, :2]),
        tr.as_metric(frame.iloc[:, :2], metric="hamming"),
        tr.CharacterMetric(frame.iloc[:, :2].to_numpy()),
        tr.CharacterMetric(frame.iloc[:, :2].to_numpy().tolist()),
    ):
        assert isinstance(m, tr.CharacterMetric)
        assert_array_equal(m.codes[:, 0], np.array(expected)[:, 0])
        unknown = m.codes[:, 1] < 0
        assert_array_equal(unknown, [True, False, False, True])
        assert m.codes[1, 1] == m.codes[2, 1]
    seven = tr.CharacterMetric(frame, missing=7)
    assert seven.codes[3, 2] == -1
    assert seven.codes[0, 2] == seven.codes[1, 2]


def test_columns_of_pandas_with_unknown_entries() -> None:
    frame = pd.DataFrame({"x": pd.array([1, None, 2], dtype="Int64"), "y": ["p", "q", None]})
    m = tr.CharacterMetric(frame)
    assert_array_equal(m.codes < 0, [[False, False], [True, False], [False, True]])


def states_of(tree: tr.Tree, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return states in which every edge changes as many loci as it is long."""
    lengths = np.round(tree.weights).astype(int)
    columns = []
    for (u, v), length in zip(tree.edges.tolist(), lengths, strict=True):
        beyond = np.array([u in tree.path(i, v) for i in range(len(tree))])
        columns += [beyond.astype(np.int64)] * length
    return np.column_stack(columns)[:, rng.permutation(lengths.sum())]


@pytest.mark.parametrize("method", ["treerep", "auto", "backbone", "neighbor_joining", "minimum_evolution"])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_method_recovers_a_tree(method: str, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    truth = tr.datasets.random_tree(20, rng=3)
    truth = tr.Tree(20, truth.edges, rng.integers(1, 5, size=len(truth.edges)).astype(float))
    states = states_of(truth, rng)
    weights = np.full(states.shape[1], 2.0) if weighted else None
    m = tr.CharacterMetric(states, weights=weights, labels=[f"s{i}" for i in range(20)])
    tree = tr.fit(m, method=method)
    assert_allclose(tree.distances(), (2 if weighted else 1) * truth.distances(), atol=1e-9)
    assert tr.average_distortion(tree, m) == pytest.approx(0, abs=1e-9)


def test_hyperbolicity() -> None:
    rng = np.random.default_rng(1)
    truth = tr.datasets.random_tree(16, rng=3)
    truth = tr.Tree(16, truth.edges, np.ones(len(truth.edges)))
    m = tr.CharacterMetric(states_of(truth, rng))
    assert tr.hyperbolicity(m).delta == 0


def test_subsets_keep_weights_and_names() -> None:
    m = tr.CharacterMetric([[1, -1, 2], [-1, 2, -1], [1, 3, 4]], weights=[1, 2, 3], labels="abc")
    part = select_points(m.oracle, np.array([2, 0]))
    assert_array_equal(part.weights, m.oracle.weights)
    assert_array_equal(part.codes, m.codes[[2, 0]])
    assert bytes_per_point(m.oracle) == 3 * 2 + 2 * 8
    for same in (m, pickle.loads(pickle.dumps(m))):
        with pytest.raises(tr.MetricError, match="'a' and 'b' have no known locus in common"):
            same.pairs(0, 1)
    for method in ("treerep", "neighbor_joining"):
        with pytest.raises(tr.MetricError, match="'[ab]' and '[ab]' have no known locus") as error:
            tr.fit(m, method=method)
        assert "\n" not in str(error.value)


def test_bootstrap_draws_loci() -> None:
    rng = np.random.default_rng(0)
    states = rng.integers(0, 4, size=(8, 30))
    weights = rng.random(30)
    m = tr.CharacterMetric(states, weights=weights, labels="abcdefgh")
    drawn = m.resample(np.random.default_rng(2))
    loci = np.random.default_rng(2).integers(30, size=30)
    assert_array_equal(drawn.codes, states[:, loci])
    assert_array_equal(drawn.weights, weights[loci])
    assert drawn.labels == m.labels
    tree = tr.fit(m, method="neighbor_joining", bootstrap=10)
    assert len(tree.support[~np.isnan(tree.support)]) == 5


@pytest.mark.parametrize(
    ("states", "options", "message"),
    [
        ([1, 2], {}, "n x L table, got an array of shape 2"),
        (np.zeros((0, 3)), {}, "n x L table, got an array of shape 0 x 3"),
        ([[0.5, 1], [1, 1]], {}, "entry 0 of row 0 is 0.5: categories are whole numbers"),
        ([[1, 2], [-1, -1]], {}, "row 1 has no known locus"),
        ([[1, 2], [-1, -1]], {"labels": "ab"}, "row 'b' has no known locus"),
        ([[1, 2]], {"weights": [1]}, r"got weights of shape \(1,\) for 2 loci"),
        ([[1, 2]], {"weights": [1, -1]}, "the weight of locus 1 is -1"),
        ([[1, 2]], {"weights": [1, np.nan]}, "the weight of locus 1 is nan"),
        ([[1, 2]], {"weights": [0, 0]}, "all weights are 0"),
        ([[1, 2]], {"weights": ["a", "b"]}, "weights must be real numbers"),
        ([[1, 2]], {"labels": "ab"}, "2 labels were given for 1 points"),
    ],
)
def test_bad_input(states: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(tr.MetricError, match=message) as error:
        tr.CharacterMetric(states, **options)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_files(tmp_path) -> None:
    path = tmp_path / "states.csv"
    path.write_text("strain,l1,l2,l3\na,1,2,3\nb,1,-1,4\nc,5,2,4\n")
    m = tr.formats.read(path, metric="hamming")
    assert m.labels == ("a", "b", "c")
    assert_allclose(m.pairs([0, 0, 1], [1, 2, 2]), [1.5, 2, 1.5])


def test_capped_pairs_have_the_largest_distance() -> None:
    rows = [[1, 2, -1, -1], [-1, -1, 3, 4], [1, -1, 3, 5]]
    m = tr.CharacterMetric(rows, saturated="cap")
    assert_allclose(m.pairs([0, 0, 1], [1, 2, 2]), [4, 0, 2])
    weighted = tr.CharacterMetric(rows, weights=[1, 1, 2, 4], saturated="cap")
    assert_allclose(weighted.pairs([0, 0, 1], [1, 2, 2]), [8, 0, 8 * 4 / 6])
    for metric in (m, weighted):
        same = pickle.loads(pickle.dumps(metric))
        assert_array_equal(same.block(range(3), range(3)), metric.block(range(3), range(3)))
    assert m.resample(np.random.default_rng(0)).saturated == "cap"
    with pytest.raises(ValueError, match="saturated must be one of 'cap', 'raise'"):
        tr.CharacterMetric(rows, saturated="drop")


def test_trees_with_pairs_without_a_common_locus() -> None:
    # Two clades of 20 rows that differ at all loci. Rows know 6 of 60 loci.
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.integers(0, 1000, (2, 60)), 20, axis=0)
    known = rng.random(rows.shape).argsort(axis=1) < 6
    m = tr.CharacterMetric(np.where(known, rows, -1), saturated="cap")
    with pytest.raises(tr.MetricError, match="pass saturated='cap'"):
        tr.fit(tr.CharacterMetric(np.where(known, rows, -1)))
    for method in ("auto", "minimum_evolution"):
        clusters = tr.fit(m, method=method).cut(2)
        assert_array_equal(clusters, np.repeat([0, 1], 20))
