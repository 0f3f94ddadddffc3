"""Texts with the support of edges, or the names of clades."""

import numpy as np

from ...tree.tree import Tree


def support_texts(tree: Tree, root: int) -> list[str]:
    """Return the label of each point, and at each Steiner node the support of the edge above it.

    Support is given in percent. Points without labels have their numbers.
    """
    names = map(str, range(tree.n_points)) if tree.labels is None else tree.labels
    texts = [*names, *[""] * (tree.n_nodes - tree.n_points)]
    if tree.support is None:
        return texts
    parent = tree.rooted(root).parent
    for (u, v), support in zip(tree.edges.tolist(), tree.support.tolist(), strict=True):
        below = u if parent[u] == v else v
        if below >= tree.n_points and not np.isnan(support):
            texts[below] = f"{100 * support:.0f}"
    return texts


def clade_texts(tree: Tree) -> list[str]:
    """Return the label of each point, and the names of clades at Steiner nodes."""
    names = [*map(str, range(tree.n_points))] if tree.labels is None else [*tree.labels]
    known = tree.clade_names
    return names + [known.get(node, "") for node in range(tree.n_points, tree.n_nodes)]
