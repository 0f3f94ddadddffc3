"""Estimators for scikit-learn based on `fit`, `place`, `Tree.cut` and `embed`.

Importing this package imports sklearn.
"""

from ..._core.extras import require

require("sklearn", "sklearn")
