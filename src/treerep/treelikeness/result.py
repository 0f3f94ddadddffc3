"""`Hyperbolicity`: delta with its bounds and its witness."""

from typing import Any


class Hyperbolicity(float):
    """Gromov's delta as a float, with bounds and a witness.

    The value is the largest four-point value found. The `witness` proves it, so it is never more
    than the true delta.

    Attributes
    ----------
    low, high : float
        Proven bounds of the true delta. Both bounds equal the value if it is exact.
    exact : bool
        True if `low` and `high` are equal.
    witness : tuple of four point numbers, or None
        Points (a, b, c, d) that prove the value. The sum d(a, b) + d(c, d) is the largest of
        their three sums, and exceeds the second largest by 2 delta. None if delta is 0.
    diameter : float
        The largest distance found. "sample" reads all distances of a matrix and of up to 1,000
        points, and a few rows otherwise. A time limit may also end the search for the diameter.
    relative : float
        2 delta / diameter, from 0 for a tree to 1.
    method : str
        "exact" or "sample".
    mean, mean_low, mean_high : float or None
        (`method="sample"` only) Mean four-point value of random quadruples, and its 95%
        interval.

    See Also
    --------
    hyperbolicity : Compute delta.

    Notes
    -----
    With `normalize=True`, delta, its bounds and the mean are divided by the diameter. The diameter
    may only be known up to bounds (method "sample", or a time limit). In this case, delta and the
    mean are divided by the largest distance found, and may be too large. `low` and `high` remain
    valid bounds.

    Examples
    --------
    >>> Hyperbolicity(1.0, high=1.5, witness=(0, 2, 1, 3), diameter=3.0, method="exact")
    1 [1, 1.5] (incomplete, diameter 3)
    """

    __slots__ = (
        "diameter",
        "exact",
        "high",
        "low",
        "mean",
        "mean_high",
        "mean_low",
        "method",
        "relative",
        "witness",
    )

    low: float
    high: float
    exact: bool
    witness: tuple[int, int, int, int] | None
    diameter: float
    relative: float
    method: str
    mean: float | None
    mean_low: float | None
    mean_high: float | None

    def __new__(
        cls,
        value: float,
        *,
        low: float | None = None,
        high: float | None = None,
        exact: bool | None = None,
        witness: tuple[int, int, int, int] | None = None,
        diameter: float = 0.0,
        relative: float | None = None,
        method: str = "exact",
        mean: float | None = None,
        mean_low: float | None = None,
        mean_high: float | None = None,
    ) -> "Hyperbolicity":
        """Create a result. By default, low and high equal the value."""
        self = super().__new__(cls, value)
        self.low = float(value if low is None else low)
        self.high = float(value if high is None else high)
        self.exact = self.low == self.high if exact is None else exact
        self.witness = witness
        self.diameter = float(diameter)
        self.method = method
        self.relative = relative if relative is not None else (2 * value / diameter if diameter > 0 else 0.0)
        self.mean = mean
        self.mean_low = mean_low
        self.mean_high = mean_high
        return self

    @property
    def delta(self) -> float:
        """The value as a plain float."""
        return float(self)

    def __repr__(self) -> str:
        interval = "" if self.exact else f" [{self.low:.4g}, {self.high:.4g}]"
        mean = ""
        how = self.method if self.exact or self.method == "sample" else "incomplete"
        if self.mean is not None:
            mean = f"mean {self.mean:.4g} [{self.mean_low:.4g}, {self.mean_high:.4g}], "
        return f"{float(self):.4g}{interval} ({mean}{how}, diameter {self.diameter:.4g})"

    def __reduce__(self) -> tuple[Any, ...]:
        # float.__reduce__ would call __new__ without the other fields.
        return _restore, (float(self), {name: getattr(self, name) for name in self.__slots__})


def _restore(value: float, fields: dict[str, Any]) -> Hyperbolicity:
    return Hyperbolicity(value, **fields)
