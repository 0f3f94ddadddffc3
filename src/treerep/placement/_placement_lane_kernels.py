"""The two steps of a placement for eight points at once, in explicit vectors.

A table (nodes, 5, 8) contains five sums of every node for eight points. The compiler does not
vectorize plain loops over eight lanes: it unrolls them first, or checks at every node whether
arrays overlap. This module therefore spells out the steps, operation by operation. Each lane
rounds like `_edge_fit_kernels.shifted` and `_placement_kernels.beside`.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8
# Values of a node: W, S, Q of the points below, and S, Q of all points, all measured at the
# node.
W, S, Q, ALL_S, ALL_Q = range(FIELDS := 5)

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_SAME = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)


def _row(context: Any, builder: Any, kind: Any, array: Any, position: Any) -> Any:
    """Return a pointer to the lanes of a row of a table."""
    data = context.make_array(kind)(context, builder, array).data
    size = FIELDS * LANES if kind.ndim == 3 else LANES
    first = builder.gep(data, [builder.mul(position, position.type(size))])
    return builder.bitcast(first, _VECTOR.as_pointer())


def _load(builder: Any, row: Any, field: int) -> Any:
    return builder.load(builder.gep(row, [ir.IntType(64)(field)]), align=8)


def _store(builder: Any, value: Any, row: Any, field: int) -> None:
    builder.store(value, builder.gep(row, [ir.IntType(64)(field)]), align=8)


def _in_all_lanes(builder: Any, value: Any) -> Any:
    empty = ir.Constant(_VECTOR, ir.Undefined)
    return builder.shuffle_vector(builder.insert_element(empty, value, ir.IntType(32)(0)), empty, _SAME)


def _shifted(builder: Any, w: Any, f: Any, q: Any, length: Any) -> tuple[Any, Any]:
    # g = f - length w;  q - length (f + g)
    g = builder.fsub(f, builder.fmul(length, w))
    return g, builder.fsub(q, builder.fmul(length, builder.fadd(f, g)))


def _is_table(lanes: Any) -> bool:
    return isinstance(lanes, types.Array) and lanes.layout == "C" and lanes.dtype == types.float64


@intrinsic
def add_to_parent(typing_context: Any, lanes: Any, k: Any, parent: Any, length: Any) -> Any:
    """Add W, S, Q of node k, measured `length` farther away, to those of its parent."""
    if not _is_table(lanes):
        return None

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, k, parent, length = arguments
        below = _row(context, builder, signature.args[0], table, k)
        above = _row(context, builder, signature.args[0], table, parent)
        w, f, q = (_load(builder, below, field) for field in (W, S, Q))
        g, r = _shifted(builder, w, f, q, _in_all_lanes(builder, length))
        for field, value in ((W, w), (S, g), (Q, r)):
            _store(builder, builder.fadd(_load(builder, above, field), value), above, field)
        return context.get_dummy_value()

    return types.void(lanes, types.intp, types.intp, types.float64), build


@intrinsic
def carry_down(typing_context: Any, lanes: Any, k: Any, parent: Any, length: Any, least: Any) -> Any:
    """Compute S, Q of all points at node k from its parent, and compare the edge.

    Bit l of the returned number tells whether the edge may have a place of cost below least[l].
    If the distances on both sides could be chosen freely, the errors would be at least
    q - f^2 / w + r - a^2 / v.
    """
    if not (_is_table(lanes) and _is_table(least)):
        return None

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, k, parent, length, least = arguments
        at, above, root = (
            _row(context, builder, signature.args[0], table, position)
            for position in (k, parent, ir.Constant(k.type, 0))
        )
        add = builder.fadd
        sub = builder.fsub
        mul = builder.fmul
        length = _in_all_lanes(builder, length)
        w, f, q = (_load(builder, at, field) for field in (W, S, Q))
        g, h = _shifted(builder, w, f, q, length)
        v = sub(_load(builder, root, W), w)
        a = sub(_load(builder, above, ALL_S), g)
        r = sub(_load(builder, above, ALL_Q), h)
        # f + a - length v;  q + r - length (2 a - length v)
        farther = mul(length, v)
        _store(builder, sub(add(f, a), farther), at, ALL_S)
        twice = mul(ir.Constant(_VECTOR, [2.0] * LANES), a)
        _store(builder, sub(add(q, r), mul(length, sub(twice, farther))), at, ALL_Q)
        # (q + r - least) w v < f^2 v + a^2 w
        best = _load(builder, _row(context, builder, signature.args[4], least, ir.Constant(k.type, 0)), 0)
        left = mul(mul(sub(add(q, r), best), w), v)
        right = add(mul(mul(f, f), v), mul(mul(a, a), w))
        promising = builder.fcmp_ordered("<", left, right)
        return builder.zext(builder.bitcast(promising, ir.IntType(LANES)), cgutils.intp_t)

    return types.intp(lanes, types.intp, types.intp, types.float64, least), build
