"""Defaults that several interfaces share: Python functions, estimators and the command line."""

#: Number of trees to fit, of which the best is kept.
TRIALS = 1
