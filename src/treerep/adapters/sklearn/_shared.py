"""Base class of the estimators: data, seeds and jobs by scikit-learn's conventions."""

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_non_negative, validate_data

from ...metric.base import Metric
from ...metric.matrix import MatrixMetric
from ...metric.points import PointMetric
from ...scores.distortion import average_distortion

if TYPE_CHECKING:
    from sklearn.utils import Tags

#: A seed as scikit-learn accepts it.
RandomState: TypeAlias = "int | np.random.RandomState | None"

# With more points, the distortion is estimated from sampled rows.
_ALL_PAIRS = 2000
_ROWS = 256


class MetricEstimator(BaseEstimator):
    """An estimator for points, or for distances if `metric` is "precomputed"."""

    metric: str
    random_state: RandomState = None
    n_jobs: int | None

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        precomputed = self.metric == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.positive_only = precomputed
        return tags

    def _as_metric(self, X: ArrayLike) -> Metric:
        """Validate the data of `fit` and return them as a metric."""
        checked = self._validated(X, reset=True)
        if self.metric != "precomputed":
            return PointMetric(checked, self.metric)
        check_non_negative(checked, type(self).__name__)
        return MatrixMetric(checked)

    def _validated(self, X: ArrayLike, *, reset: bool) -> NDArray[np.floating]:
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _jobs(self) -> int:
        # In scikit-learn, None means 1 or the joblib setting, and -1 means all cores.
        return int(effective_n_jobs(self.n_jobs))

    def _distortion(self, approx: Metric, truth: Metric) -> float:
        rows: int | Literal["all"] = "all" if len(truth) <= _ALL_PAIRS else _ROWS
        return float(average_distortion(approx, truth, rows=rows, n_jobs=self._jobs()))
