"""Newick reader for the comparison. Ours rejects negative lengths, and should not judge itself."""

import re

import numpy as np

_STEP = re.compile(r"\s*('[^']*'|[^\s(),:;']*)\s*(?::\s*([^\s(),:;']+))?\s*([(),;])")


def read_newick(text: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the label of each node, the parent of each node but the first, and the edge lengths.

    A branch without a length has length 0, like one of the two at clearcut's root.

    >>> read_newick("(a:1,(b:2,'c':-3):4);")
    (['', 'a', '', 'b', 'c'], array([0, 0, 2, 2]), array([ 1.,  4.,  2., -3.]))
    """
    names: list[str] = []
    above: list[int] = []
    lengths: list[float] = []
    path = [-1]  # nodes whose parentheses are open
    closed = -1  # the node closed last, whose label and length follow
    at, mark = 0, ""
    while mark != ";":
        step = _STEP.match(text, at)
        if step is None:
            raise ValueError(f"what is at character {at} cannot be read: {text[at : at + 20]!r}")
        at, name, length, mark = step.end(), step[1].strip("'"), step[2], step[3]
        node = closed if closed >= 0 else len(names)
        if closed < 0:
            names.append("")
            above.append(path[-1])
            lengths.append(0.0)
        if mark == "(":
            path.append(node)
            continue
        names[node], lengths[node] = name, float(length or 0)
        closed = path.pop() if mark == ")" else -1
        if not path or (mark == ";" and len(path) > 1):
            raise ValueError(f"the parentheses do not match at character {at}")
    return names, np.array(above[1:], np.int64), np.array(lengths[1:])
