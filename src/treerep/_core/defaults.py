"""Defaults that several interfaces share: Python functions, estimators and the command line."""

from typing import Literal

#: Method of `fit`.
METHOD: Literal["auto"] = "auto"
#: Number of trees to fit, of which the best is kept.
TRIALS = 1
