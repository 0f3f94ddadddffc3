"""Estimators for scikit-learn around `fit`, `place`, `Tree.cut` and `embed`.

Importing this package imports sklearn.
"""

from ..._core.extras import require

require("sklearn", "sklearn")
