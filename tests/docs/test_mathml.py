"""Formulas become MathML with spaces around the names of functions."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sphinx")

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def mathml() -> Any:
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module("mathml").mathml
    finally:
        sys.path.remove(str(DOCS))


@pytest.mark.parametrize(
    ("tex", "spaces"),
    [("d_T", 0), (r"\sin(x)", 0), (r"\cosh d", 1), (r"\log \cosh x", 2), (r"3 \log_2 n", 2)],
)
def test_functions_are_separated_from_their_neighbors(mathml, tex, spaces):
    assert mathml(tex).count("<mspace") == spaces


def test_a_block_is_displayed(mathml):
    assert 'display="block"' in mathml("x", block=True)


def test_an_unknown_command_is_an_error(mathml):
    with pytest.raises(Exception, match="nonsense"):
        mathml(r"\nonsense")
