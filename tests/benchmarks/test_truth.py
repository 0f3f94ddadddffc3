"""Errors of splits: one rule for wrong, missed and false splits."""

import pytest

import treerep as tr
from benchmarks.truth import split_errors

TRUTH = tr.Tree.from_newick("((0:1,1:1):1,((2:1,3:1):1,4:1):1);")  # 01|234 and 23|014


@pytest.mark.parametrize(
    ("text", "wrong", "missed", "false"),
    [
        ("((0:1,1:1):1,((2:1,3:1):1,4:1):1);", 0, 0, 0),
        # An edge of length 0 neither finds a true split nor adds a false one.
        ("((0:1,1:1):1,((2:1,3:1):0,4:1):1);", 1 / 3, 1 / 2, 0),
        ("((0:1,1:1):1,((2:1,4:1):0,3:1):1);", 1 / 3, 1 / 2, 0),
        ("((0:1,1:1):1,((2:1,4:1):1,3:1):1);", 1 / 2, 1 / 2, 1 / 2),
        ("(0:0,1:1,2:1,3:1,4:1);", 1, 1, 0),
    ],
)
def test_by_hand(text: str, wrong: float, missed: float, false: float) -> None:
    tree = tr.Tree.from_newick(text)
    assert split_errors(tree, TRUTH) == pytest.approx((wrong, missed, false))
    assert split_errors(tree, TRUTH).wrong == tree.difference(TRUTH).normalized
