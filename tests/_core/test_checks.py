"""Argument checks: what they accept, what they return, and the errors that users see."""

import math
from decimal import Decimal

import numpy as np
import pytest

from treerep._core.checks import (
    check_between,
    check_choice,
    check_flag,
    check_time_limit,
    integer_or_none,
    number_above,
    number_from,
    positive_number,
    positive_scale,
    real_number,
    tolerance_or_none,
    whole_number,
)

NOT_NUMBERS = [True, np.True_, "1", None, [1, 2], math.nan]


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 2.0])
def test_only_integers_are_whole_numbers(value):
    assert integer_or_none(value) is None
    with pytest.raises(TypeError, match="^k must be a whole number, not "):
        whole_number(value, "k")
    with pytest.raises(ValueError, match="^k must be a positive whole number, not "):
        positive_number(value, "k")


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_integers_become_ints(value):
    for number in (
        integer_or_none(value),
        whole_number(value, "k"),
        positive_number(value, "k"),
    ):
        assert (number, type(number)) == (3, int)


def test_zero_is_whole_but_not_positive():
    assert whole_number(0, "k") == 0
    with pytest.raises(ValueError, match="^k must be a positive whole number, not 0$"):
        positive_number(0, "k")


def test_real_numbers_become_floats():
    assert real_number(Decimal("0.5")) == real_number(np.array(0.5)) == 0.5
    for value in (True, "1", b"1", None, np.ones(1), 10**400):
        assert math.isnan(real_number(value))


def test_bounds_of_numbers():
    assert number_from(0, 0, "size is a number of at least 0") == 0.0
    assert number_from(0, 2, "a number from 0 to 2", high=2) == 2.0
    assert number_above(1, 1.5, "a number above 1") == 1.5
    for value in (-1, math.inf, math.nan, "1"):
        with pytest.raises(ValueError, match=f"^size is at least 0, not {value!r}$"):
            number_from(0, value, "size is at least 0")
    with pytest.raises(ValueError, match="^from 0 to 2, not 2.5$"):
        number_from(0, 2.5, "from 0 to 2", high=2)
    for value in (1, math.inf, math.nan):
        with pytest.raises(ValueError, match=f"^above 1, not {value!r}$"):
            number_above(1, value, "above 1")


def test_scales_have_inverses():
    assert positive_scale(np.float32(2)) == 2.0
    for value in (0, -1, 1e-300, 1e300, math.nan, True):
        with pytest.raises(ValueError, match="^scale must be a positive number, not "):
            positive_scale(value)


def test_tolerances():
    assert tolerance_or_none("auto") is None
    assert tolerance_or_none(np.int64(0)) == 0.0
    for value in [*NOT_NUMBERS, -1, math.inf]:
        with pytest.raises(ValueError, match="^tol must be a length of at least 0 or 'auto', not "):
            tolerance_or_none(value)


def test_numbers_between_bounds():
    for value in (0, 1.0, np.float32(0.5)):
        check_between("balance", value, 0, 1)
    for value in [*NOT_NUMBERS, -0.1, 1.1]:
        with pytest.raises(ValueError, match="^balance must be a number from 0 to 1, not "):
            check_between("balance", value, 0, 1)
    with pytest.raises(ValueError, match="^balance must be a number near 0, not 2$"):
        check_between("balance", 2, 0, 1, "near 0")


def test_time_limits():
    for value in (None, 1, 0.5, np.float64(2), math.inf):
        check_time_limit(value)
    for value in [0, -1, True, "1", math.nan]:
        with pytest.raises(
            ValueError, match="^time_limit must be a positive number of seconds or None, not "
        ):
            check_time_limit(value)


def test_flags():
    check_flag("moves", True)
    check_flag("moves", np.False_)
    for value in (1, None, "yes"):
        with pytest.raises(ValueError, match=f"^moves must be True or False, not {value!r}$"):
            check_flag("moves", value)


def test_choices():
    check_choice("norm", "l1", ("l1", "l2"))
    for value in ("l3", 1, None):
        with pytest.raises(ValueError, match=f"^norm must be one of 'l1', 'l2', not {value!r}$"):
            check_choice("norm", value, ("l1", "l2"))
