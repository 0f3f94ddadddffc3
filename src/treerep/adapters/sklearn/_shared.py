"""What the estimators share: from X to a Metric, from scikit-learn's seeds and jobs to ours."""

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_non_negative, validate_data

from ...metric.base import Metric
from ...metric.matrix import MatrixMetric
from ...metric.points import PointMetric
from ...scores.distortion import average_distortion

# Up to here the distortion is that of all pairs, beyond that of sampled rows.
_ALL_PAIRS = 2000
_ROWS = 256


class MetricEstimator(BaseEstimator):
    """An estimator of points, or of distances where `metric` is "precomputed"."""

    metric: str
    random_state: Any = None
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        return tags

    def _metric_of(self, X: Any) -> Metric:
        """Check the data that an estimator is fitted to."""
        checked = self._checked(X, reset=True)
        if self.metric != "precomputed":
            return PointMetric(checked, self.metric)
        check_non_negative(checked, type(self).__name__)
        return MatrixMetric(checked)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _jobs(self) -> int:
        # scikit-learn's None is 1 (or what joblib's context says), and -1 all cores.
        return int(effective_n_jobs(self.n_jobs))

    def _distortion(self, approx: Metric, truth: Metric) -> float:
        rows: Any = "all" if len(truth) <= _ALL_PAIRS else _ROWS
        return float(average_distortion(approx, truth, rows=rows, n_jobs=self._jobs()))
