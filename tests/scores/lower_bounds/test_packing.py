import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep.scores.lower_bounds.packing import packing_total

# A cycle of four points: opposite points have distance 2.
CYCLE = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]], dtype=float)


def total(distances, relative=False, weights=None, margin=0.0):
    weights = np.ones_like(distances) if weights is None else weights
    return packing_total(distances, weights, relative=relative, margin=margin)


def inequalities(d):
    """Yield (gap, {(sign, pair): coefficient}) of all quadruples and triples with a gap."""
    n = len(d)
    for q in itertools.combinations(range(n), 4):
        a, b, c, e = q
        matchings = [((a, b), (c, e)), ((a, c), (b, e)), ((a, e), (b, c))]
        ranked = sorted(matchings, key=lambda m: -sum(d[p] for p in m))
        first, second, third = (sum(d[p] for p in m) for m in ranked)
        if first > second:
            share = (first - second) / (first - third)
            yield (
                first - second,
                {
                    **{("-", p): 1.0 for p in ranked[0]},
                    **{("+", p): 1.0 for p in ranked[1]},
                    **{("+", p): share for p in ranked[2]},
                },
            )
    for a, b, c in itertools.combinations(range(n), 3):
        sides = sorted([(a, b), (a, c), (b, c)], key=lambda p: -d[p])
        gap = d[sides[0]] - d[sides[1]] - d[sides[2]]
        if gap > 0:
            yield gap, {("-", sides[0]): 1.0, ("+", sides[1]): 1.0, ("+", sides[2]): 1.0}


def optimum(d, relative):
    """The best packing, by HiGHS."""
    pairs = list(itertools.combinations(range(len(d)), 2))
    number = {key: k for k, key in enumerate(itertools.product("-+", pairs))}
    usable = [
        (gap, row) for gap, row in inequalities(d) if not relative or all(d[pair] > 0 for _, pair in row)
    ]
    if not usable:
        return 0.0
    entries = [(number[key], q, c) for q, (_, row) in enumerate(usable) for key, c in row.items()]
    rows, columns, values = zip(*entries, strict=True)
    A = sparse.csr_array((values, (rows, columns)), shape=(len(number), len(usable)))
    limit = [1 / d[p] if relative and d[p] > 0 else 1.0 for _, p in number]
    solved = linprog([-gap for gap, _ in usable], A_ub=A, b_ub=limit, method="highs")
    return -solved.fun


def test_hand_worked_cycle():
    # One quadruple with sums 4, 2, 2: every tree has errors of 4 - 2 in total.
    assert total(CYCLE) == pytest.approx(2.0, rel=1e-8)
    # The pairs of the sum 4 have weight 1/2, so 2 units of error cost 1.
    assert total(CYCLE, relative=True) == pytest.approx(1.0, rel=1e-8)


def test_hand_worked_share():
    # Sums 10, 6 and 2. A tree may instead lengthen the smallest sum by 8, which must also cost 4
    # or more: with weight 1/10 on the pairs of the smallest sum, 8 units of it cost only 0.8.
    d = np.zeros((4, 4))
    d[0, 1] = d[2, 3] = 5
    d[0, 2] = d[1, 3] = 3
    d[0, 3] = d[1, 2] = 1
    d += d.T
    weights = np.ones((4, 4))
    weights[[0, 3, 1, 2], [3, 0, 2, 1]] = 0.1
    # x * share <= 0.1 with share 1/2: x = 0.2 on the gap 4. The triple 5 > 3 + 1 adds more:
    # it uses the pairs of length 1 as well.
    found = total(d, weights=weights)
    assert found <= 0.1 * 8
    assert found == pytest.approx(0.8, rel=0.01)


def test_hand_worked_triangle():
    # 5 > 1 + 2: every tree pays 2 on three points.
    d = np.array([[0, 5, 1], [5, 0, 2], [1, 2, 0]], dtype=float)
    assert total(d) == pytest.approx(2.0, rel=1e-8)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("kind", ["graph", "points", "any"])
def test_reaches_the_optimal_packing(kind, relative):
    rng = np.random.default_rng(5)
    ratios = []
    for _ in range(8):
        p = rng.normal(size=(11, 3))
        d = np.linalg.norm(p[:, None] - p[None], axis=-1)
        if kind == "graph":
            d = np.ceil(2 * d)
        if kind == "any":
            d = np.triu(rng.uniform(0.2, 1.0, (11, 11)), 1)
            d += d.T
        best = optimum(d, relative)
        ratios.append(total(d, relative) / best)
    assert max(ratios) <= 1 + 1e-9
    assert np.mean(ratios) > 0.96


@given(integer_metrics(max_points=8), st.booleans())
def test_never_above_the_optimal_packing(d, relative):
    assert total(d, relative) <= optimum(d, relative) * (1 + 1e-9) + 1e-12


@given(any_symmetric(max_points=7), st.booleans())
def test_never_above_the_optimal_packing_of_anything(d, relative):
    assert total(d, relative) <= optimum(d, relative) * (1 + 1e-9) + 1e-12


@given(tree_metrics(max_nodes=20), st.booleans())
def test_a_tree_metric_has_the_bound_zero(d, relative):
    found = total(d, relative, margin=8 * np.finfo(float).eps)
    assert 0 <= found <= 1e-13 * len(d) ** 2 * max(1.0, d.max(initial=0.0))


def test_pairs_without_weight_are_not_used():
    weights = np.ones((4, 4))
    weights[0, 2] = weights[2, 0] = 0.0
    assert total(CYCLE, weights=weights) == 0.0
    missing = CYCLE.copy()
    missing[1, 3] = missing[3, 1] = np.nan
    assert total(missing) == 0.0
    assert total(missing, relative=True) == 0.0


@pytest.mark.parametrize("exponent", [-1000, -300, 0, 300, 1000])
def test_any_scale(exponent):
    scaled = CYCLE * 2.0**exponent
    assert total(scaled, relative=True) == total(CYCLE, relative=True)
    assert total(scaled) == total(CYCLE) * 2.0**exponent


def test_extreme_ratios_do_not_overflow():
    d = CYCLE.copy()
    d[0, 1] = d[1, 0] = 1e-300
    found = total(d, relative=True)
    assert 0 <= found <= 6


def test_margin_is_subtracted():
    assert total(CYCLE, margin=0.25) == pytest.approx(1.0, rel=1e-8)  # 4 - 2 - 0.25 * 4
