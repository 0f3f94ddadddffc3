"""A record of the methods that this process has used, for `citations`."""

# A dictionary keeps the order. Setting a key is atomic, so threads need no lock.
_USED: dict[str, None] = {}


def note(method: str) -> None:
    """Record that a method was used."""
    _USED[method] = None


def used() -> tuple[str, ...]:
    """Return the names of the methods used so far, in the order of their first use."""
    return tuple(_USED)
