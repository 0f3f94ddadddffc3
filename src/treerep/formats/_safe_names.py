"""Unique names made from labels, for formats that restrict names."""

import re
from collections.abc import Sequence


def safe_names(labels: Sequence[str], unsafe: re.Pattern[str]) -> list[str]:
    """Replace unsafe characters by underscores, and number names that would otherwise be equal.

    The first occurrence of a safe label does not change.

    >>> safe_names(["a b", "a_b", "a:b", "", "a_b"], re.compile("[ :]"))
    ['a_b_2', 'a_b', 'a_b_3', '_', 'a_b_4']
    """
    safe = {label for label in labels if label and not unsafe.search(label)}
    taken = set(safe)
    numbers: dict[str, int] = {}
    names = []
    for label in labels:
        name = label
        if label not in safe:
            base = unsafe.sub("_", label) or "_"
            name = base
            while name in taken:
                numbers[base] = numbers.get(base, 1) + 1
                name = f"{base}_{numbers[base]}"
            taken.add(name)
        safe.discard(label)  # the next equal label gets a number
        names.append(name)
    return names
