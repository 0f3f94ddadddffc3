"""`LowerBound`: a number that no tree can beat."""

from typing import Any


class LowerBound(float):
    """A float with its confidence and the reason why it is a bound.

    Attributes
    ----------
    confidence : float
        1.0 if the bound is certain. 0.95 if it comes from random subsets of the points: then
        at most one in 20 seeds gives a number above the score of the best tree.
    estimate : float
        The mean over the random subsets, without the allowance for chance. Equal to the value
        if the bound is certain.
    basis : str
        The subsets or quadruples behind the bound, in words.
    witness : tuple of int, or None
        (Largest errors only) Four points that prove the bound, or three points that violate the
        triangle inequality. None if the bound is an average, or trivial.

    See Also
    --------
    lower_bound : Compute the bound.
    Score : The score of one approximation.

    Examples
    --------
    >>> LowerBound(0.031, confidence=0.95, basis="200 random subsets of 32 points")
    0.031 (95% confidence; 200 random subsets of 32 points)
    """

    __slots__ = ("basis", "confidence", "estimate", "witness")

    confidence: float
    estimate: float
    basis: str
    witness: tuple[int, ...] | None

    def __new__(
        cls,
        value: float,
        *,
        confidence: float = 1.0,
        estimate: float | None = None,
        basis: str = "",
        witness: tuple[int, ...] | None = None,
    ) -> "LowerBound":
        """Create a bound. By default, it is certain, and the estimate equals the value."""
        self = super().__new__(cls, value)
        self.confidence = float(confidence)
        self.estimate = float(value if estimate is None else estimate)
        self.basis = basis
        self.witness = witness
        return self

    def __repr__(self) -> str:
        notes = []
        if self.confidence < 1.0:
            notes.append(f"{self.confidence:.0%} confidence")
        if self.basis:
            notes.append(self.basis)
        basis = f" ({'; '.join(notes)})" if notes else ""
        return f"{float(self):.4g}{basis}"

    def __reduce__(self) -> tuple[Any, ...]:
        # float.__reduce__ would call __new__ without the other fields.
        fields = {name: getattr(self, name) for name in self.__slots__}
        return _restore, (type(self), float(self), fields)


def _restore(cls: type[LowerBound], value: float, fields: dict[str, Any]) -> LowerBound:
    return cls(value, **fields)
