"""One-sided confidence limits for ratios of means of values that are not negative."""

import math

import numpy as np
from numpy.typing import NDArray

# A bet loses at most this part of the capital, in the words of Waudby-Smith and Ramdas.
_LARGEST_LOSS = 0.75
_BISECTIONS = 60


def lower_limit(values: NDArray[np.float64], counts: NDArray[np.float64], confidence: float) -> float:
    """Return b such that E[value] >= b E[count], with at least this confidence.

    The pairs (value, count) are independent draws; value >= 0 and 0 <= count <= 1. For all counts
    equal to 1, this is a limit of the mean. No distribution is assumed, and no upper bound of
    the values. The limit holds for every sample size.

    If E[value] <= b E[count], then the capital

        K(b) = prod_t (1 + min(lambda_t, c / b) (value_t - b count_t))

    of a gambler is a supermartingale that starts at 1, if lambda_t depends on earlier draws only.
    So K(b) >= 1 / alpha has probability at most alpha. K falls with b, so a bisection finds
    the largest such b.

    Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting (Journal of
    the Royal Statistical Society B, 2024), for values in [0, 1]. The lower limit needs only
    that values are not negative.
    """
    largest = float(values.max())
    total = math.fsum(counts)
    if largest == 0.0 or total == 0.0:
        return 0.0
    # Bets are inverse to the scale of the values, so scaling reveals nothing to the gambler.
    values = values / largest
    bets = _bets(values, 1.0 - confidence)
    target = -math.log(1.0 - confidence)
    low = 0.0
    high = math.fsum(values) / total
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if _log_capital(values, counts, bets, middle) >= target:
            low = middle
        else:
            high = middle
    return low * largest


def _bets(values: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Return lambda_t = sqrt(2 log(1 / alpha) / (variance of the earlier draws * T)).

    The variance starts from a guess, a quarter of the squared mean. The first bet is 0.
    """
    draws = len(values)
    seen = np.arange(1, draws)
    means = np.cumsum(values)[:-1] / seen
    squares = np.cumsum(values * values)[:-1] / seen
    spread = np.maximum(squares - means * means, 0.0)
    variance = (seen * spread + means * means / 4.0) / (seen + 1)
    bets = np.zeros(draws)
    scale = 2.0 * math.log(1.0 / alpha) / draws
    bets[1:] = np.sqrt(scale / np.maximum(variance, 1e-300))
    return bets


def _log_capital(
    values: NDArray[np.float64],
    counts: NDArray[np.float64],
    bets: NDArray[np.float64],
    bound: float,
) -> float:
    stakes = np.minimum(bets, _LARGEST_LOSS / bound)
    return math.fsum(np.log1p(stakes * (values - bound * counts)))
