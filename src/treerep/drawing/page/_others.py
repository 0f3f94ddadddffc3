"""Further trees on the same points, which a page compares with the first tree."""

from collections.abc import Iterable, Mapping

from ...metric._matching import matched
from ...tree.tree import Tree
from ...tree.tree_sum import TreeSum
from ._content import Fields, encode, support_fields
from ._first_view import first_view


def named_others(
    tree: Tree | TreeSum, other: Tree | Iterable[Tree] | Mapping[str, Tree] | None
) -> dict[str, Tree]:
    """Return the trees to compare with, by name. A sum is compared with its own trees."""
    if other is None:
        rest = tree.trees[1:] if isinstance(tree, TreeSum) else ()
        return {f"tree {number}": part for number, part in enumerate(rest, start=2)}
    if isinstance(other, Tree):
        return {"the other tree": other}
    if not isinstance(other, Mapping):
        other = {f"tree {number}": part for number, part in enumerate(other, start=2)}
    for name, part in other.items():
        if not isinstance(part, Tree):
            kind = type(part).__name__
            raise TypeError(f"other must contain trees, but {name!r} is a {kind}")
    return {str(name): part for name, part in other.items()}


def other_fields(tree: Tree, others: Mapping[str, Tree]) -> list[Fields]:
    """Return the trees in preorder, with points in the order of the first tree."""
    fields: list[Fields] = []
    for name, part in others.items():
        same = matched(part, tree, (name, "the tree"))
        view = same._view_from(first_view(same, None, None, None).root)
        fields.append(
            {
                "name": name,
                "points": tree.n_points,
                "node": encode(view.order, "<i4"),
                "up": encode(view.up, "<i4"),
                "length": encode(view.length, "<f8"),
                **support_fields(same, view.position),
            }
        )
    return fields
