"""Base class of backends that divide each operation into many similar tasks."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._core.backend import Backend
from .._core.parallel import Runner
from .._core.typing import MetricLike, RNGLike

if TYPE_CHECKING:
    from ..scores._comparison import Comparison
    from ..scores._sampling import Rows
    from ..scores.mean_average_precision import Ranking


class RunnerBackend(Backend):
    """A backend that scores blocks of rows with a `Runner`."""

    @abstractmethod
    def runner(self) -> AbstractContextManager[Runner]:
        """Return a context with the runner that executes the tasks."""

    @contextmanager
    def compare(
        self,
        approx: MetricLike,
        truth: MetricLike,
        rows: "Rows",
        rng: RNGLike,
    ) -> Iterator["Comparison"]:
        """Yield a comparison whose blocks of rows are summed by the runner."""
        from ..scores._comparison import Comparison

        with self.runner() as runner:
            yield Comparison(approx, truth, rows, rng, runner)

    def average_precisions(self, ranking: "Ranking") -> NDArray[np.float64]:
        """Return the average precision of each point, in the order of the points."""
        from ..scores.mean_average_precision import average_precisions

        with self.runner() as runner:
            return average_precisions(ranking, runner)
