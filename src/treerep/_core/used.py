"""Which methods this process has used, so that `citations` can say whom to cite."""

# A dictionary for its order. Setting a key is one step, so that threads need no lock.
_USED: dict[str, None] = {}


def note(method: str) -> None:
    """Remember that a method was used."""
    _USED[method] = None


def used() -> tuple[str, ...]:
    """Return the names of the methods used so far, in the order of their first use."""
    return tuple(_USED)
