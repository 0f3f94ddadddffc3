import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treerep.scores.lower_bounds.confidence import lower_limit

DRAWS = {
    "rare": lambda rng, size: (rng.random(size) < 0.05).astype(float),
    "beta": lambda rng, size: rng.beta(2, 30, size),
    "constant": lambda rng, size: np.full(size, 0.3),
    "heavy": lambda rng, size: rng.pareto(2.5, size),
}
MEANS = {"rare": 0.05, "beta": 2 / 32, "constant": 0.3, "heavy": 1 / 1.5}


def limit(values, confidence=0.95):
    return lower_limit(values, np.ones(len(values)), confidence)


def plain_capital(values, counts, bound, alpha):
    """The gambler's capital, by a loop over the definition."""
    capital = 1.0
    for t in range(1, len(values)):
        seen = values[:t]
        mean = sum(seen) / t
        spread = sum((value - mean) ** 2 for value in seen)
        variance = (spread + mean**2 / 4) / (t + 1)
        bet = math.sqrt(2 * math.log(1 / alpha) / (variance * len(values))) if variance else math.inf
        capital *= 1 + min(bet, 0.75 / bound) * (values[t] - bound * counts[t])
    return capital


@pytest.mark.parametrize("name", DRAWS)
def test_the_limit_is_where_the_capital_reaches_twenty(name):
    rng = np.random.default_rng(3)
    values = DRAWS[name](rng, 40)
    counts = rng.uniform(0.5, 1.0, 40)
    found = lower_limit(values, counts, 0.95)
    assert 0 < found < values.sum() / counts.sum()
    assert plain_capital(values, counts, found, 0.05) == pytest.approx(20, rel=1e-6)


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("size", [5, 50])
def test_the_limit_holds_in_95_percent_of_samples(name, size):
    rng = np.random.default_rng(7)
    above = [limit(DRAWS[name](rng, size)) > MEANS[name] for _ in range(300)]
    assert np.mean(above) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)


def test_the_limit_approaches_the_mean():
    rng = np.random.default_rng(1)
    values = rng.beta(20, 300, 2_000)
    assert 0.97 * values.mean() < limit(values) < values.mean()


def test_constant_values_by_hand():
    # The second bet is limited to 0.75 / b, and 1 + 0.75 (1 / b - 1) = 2 at b = 3 / 7.
    assert limit(np.ones(2), confidence=0.5) == pytest.approx(3 / 7, rel=1e-9)
    # Without an earlier draw, no bet is made.
    assert limit(np.ones(1), confidence=0.5) == 0.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.1, 10))
def test_scales_and_stays_below_the_mean(values, scale):
    array = np.array(values)
    found = limit(array)
    assert 0 <= found <= array.mean() * (1 + 1e-12)
    assert limit(scale * array) == pytest.approx(scale * found, rel=1e-6, abs=1e-12)
    assert limit(array, 0.99) <= found * (1 + 1e-9)


def test_nothing_counted():
    assert lower_limit(np.zeros(3), np.zeros(3), 0.95) == 0.0
