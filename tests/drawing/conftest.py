"""Pictures are made without a screen."""

import matplotlib as mpl

mpl.use("Agg")
