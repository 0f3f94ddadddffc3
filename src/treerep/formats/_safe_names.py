"""Names that a format takes: made of the labels, and as different from each other as they are."""

import re
from collections.abc import Sequence


def safe_names(labels: Sequence[str], unsafe: re.Pattern[str]) -> list[str]:
    """Put an underscore for every unsafe character, and a number behind names that would be equal.

    A label that is safe stays what it is where it first occurs.

    >>> safe_names(["a b", "a_b", "a:b", "", "a_b"], re.compile("[ :]"))
    ['a_b_2', 'a_b', 'a_b_3', '_', 'a_b_4']
    """
    safe = {label for label in labels if label and not unsafe.search(label)}
    taken = set(safe)
    tried: dict[str, int] = {}
    names = []
    for label in labels:
        name = label
        if label not in safe:
            stem = name = unsafe.sub("_", label) or "_"
            while name in taken:
                tried[stem] = tried.get(stem, 1) + 1
                name = f"{stem}_{tried[stem]}"
            taken.add(name)
        safe.discard(label)  # the next one that is equal gets a number
        names.append(name)
    return names
