"""Checks of the arguments that refinements share."""

from .._core.checks import check_between, check_flag, check_time_limit


def check_arguments(moves: object, balance: object, time_limit: object) -> None:
    """Raise a ValueError that names the first argument out of range."""
    check_flag("moves", moves)
    check_between("balance", balance, 0, 1, "from 0 (distances) to 1 (neighborhoods)")
    check_time_limit(time_limit)
