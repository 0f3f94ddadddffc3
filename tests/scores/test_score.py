import copy
import json
import math
import pickle

import numpy as np
import pytest

from treerep.scores.score import Score


@pytest.fixture
def sampled():
    return Score(
        0.12345678,
        low=0.1211,
        high=0.1259,
        exact=False,
        pairs=14_874_600,
        basis="from 200 of 74,374 rows",
    )


def test_is_a_number():
    score = Score(0.25, pairs=3)
    assert score == 0.25
    assert score + 1 == 1.25
    assert f"{score:.3f}" == "0.250"
    assert math.sqrt(score) == 0.5
    assert np.mean([score, score]) == 0.25
    assert json.dumps({"score": score}) == '{"score": 0.25}'
    assert hash(score) == hash(0.25)


def test_exact_interval_is_the_value():
    score = Score(0.25, pairs=3)
    assert (score.low, score.high, score.exact, score.pairs, score.skipped, score.scale) == (
        0.25,
        0.25,
        True,
        3,
        0,
        1.0,
    )


def test_repr_tells_the_basis(sampled):
    assert repr(Score(0.12344, pairs=101_926, basis="all 101,926 pairs")) == "0.1234 (all 101,926 pairs)"
    assert repr(sampled) == "0.1235 [0.1211, 0.1259] (from 200 of 74,374 rows)"
    assert str(sampled) == repr(sampled)
    full = Score(0.5, pairs=7, skipped=1234, scale=0.75, basis="7 of 1,241 pairs")
    assert repr(full) == "0.5 (7 of 1,241 pairs, 1,234 skipped at true distance 0, scale 0.75)"
    assert repr(Score(0.5)) == "0.5"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(sampled, protocol):
    twin = pickle.loads(pickle.dumps(sampled, protocol))
    assert type(twin) is Score
    assert twin == sampled
    assert all(getattr(twin, name) == getattr(sampled, name) for name in Score.__slots__)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies(sampled, duplicate):
    assert repr(duplicate(sampled)) == repr(sampled)


def test_holds_nothing_else():
    with pytest.raises(AttributeError):
        Score(0.5).hihg = 1.0
