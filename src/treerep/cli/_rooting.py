"""Roots named on the command line: the midpoint, or an outgroup."""

import treerep as tr

MIDPOINT = "midpoint"


def rerooted(what: tr.Tree | tr.TreeSum, root: str | None) -> tr.Tree | tr.TreeSum:
    """Return a tree, or all trees of a sum, with the root that --root names."""
    if root is None:
        return what
    if isinstance(what, tr.TreeSum):
        return tr.TreeSum([_rerooted(tree, root) for tree in what.trees])
    return _rerooted(what, root)


def _rerooted(tree: tr.Tree, root: str) -> tr.Tree:
    labels = tree.labels or tuple(map(str, range(len(tree))))
    known = {label: point for point, label in enumerate(labels)}
    if root not in known and root == MIDPOINT:
        return tree.root_at_midpoint()[0]
    # A label may contain a comma.
    names = [root] if root in known else [name.strip() for name in root.split(",")]
    for name in names:
        if name not in known:
            raise ValueError(
                f"--root: the tree has no point {name!r}: use labels separated by commas, or {MIDPOINT}"
            )
    return tree.root_at_outgroup([known[name] for name in names])[0]
