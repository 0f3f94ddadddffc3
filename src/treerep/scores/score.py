"""`Score`: a number with its confidence interval."""

from typing import Any


class Score(float):
    """A float with a confidence interval and the number of pairs used.

    Attributes
    ----------
    low, high : float
        Bounds of the 95% confidence interval (see Notes). Both equal the value if the score is
        exact.
    exact : bool
        True if all pairs (or points) were compared.
    pairs : int
        Number of pairs used, or of points for scores of points such as mean average precision.
        A sample of rows uses the pairs of each sampled point with all other points.
    skipped : int
        Number of pairs at true distance 0. They are left out, because their relative error is
        not defined.
    scale : float
        Factor applied to the approximation before the comparison.
    basis : str
        The pairs used, in words.

    See Also
    --------
    average_distortion : Mean relative error.
    distance_error : Absolute error.
    mean_average_precision : Precision of neighborhoods.

    Notes
    -----
    The interval is Student's, from the spread of the sampled rows. On ordinary data it contains
    the exact score in 91 to 96% of samples of 20 to 100 rows.

    The interval is too narrow if few points cause most of the error, because a sample may not
    contain them. For example, take 400 points, four of them 50 times as far from the center as
    the others. The interval of `distance_error` then contained the exact score in 26 to 39% of
    samples of 20 rows, and in 62 to 68% of samples of 100. The interval of `average_distortion`
    contained it in 94 to 96%. Use all rows if your data has such points.

    Examples
    --------
    >>> score = Score(0.125, pairs=10, basis="all 10 pairs")
    >>> score
    0.125 (all 10 pairs)
    >>> score + 1, score.exact, score.high
    (1.125, True, 0.125)
    """

    __slots__ = ("basis", "exact", "high", "low", "pairs", "scale", "skipped")

    low: float
    high: float
    exact: bool
    pairs: int
    skipped: int
    scale: float
    basis: str

    def __new__(
        cls,
        value: float,
        *,
        low: float | None = None,
        high: float | None = None,
        exact: bool = True,
        pairs: int = 0,
        skipped: int = 0,
        scale: float = 1.0,
        basis: str = "",
    ) -> "Score":
        """Create a score. By default, low and high equal the value."""
        self = super().__new__(cls, value)
        self.low = float(value if low is None else low)
        self.high = float(value if high is None else high)
        self.exact = bool(exact)
        self.pairs = int(pairs)
        self.skipped = int(skipped)
        self.scale = float(scale)
        self.basis = basis
        return self

    def __repr__(self) -> str:
        interval = "" if self.exact else f" [{self.low:.4g}, {self.high:.4g}]"
        notes = [self.basis] if self.basis else []
        if self.skipped:
            notes.append(f"{self.skipped:,} skipped at true distance 0")
        if self.scale != 1.0:
            notes.append(f"scale {self.scale:.4g}")
        basis = f" ({', '.join(notes)})" if notes else ""
        return f"{float(self):.4g}{interval}{basis}"

    def __reduce__(self) -> tuple[Any, ...]:
        # float.__reduce__ would call __new__ without the other fields.
        return _restore, (
            type(self),
            float(self),
            {name: getattr(self, name) for name in self.__slots__},
        )


def _restore(cls: type[Score], value: float, fields: dict[str, Any]) -> Score:
    return cls(value, **fields)
