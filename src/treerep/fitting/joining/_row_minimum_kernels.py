"""The smallest entries of a row for neighbor joining, sixteen entries at a time.

Numba does not vectorize the search for a minimum, which made this search the slowest part of a join
(4 times slower). This module spells out the search in LLVM vectors. A minimum is the same in any
order, so the lanes do not change the result.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_LANES = 8

# Memory of the smallest and second smallest value so far: scalars, or vectors of lanes.
Slots = list[Any]


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", a, b), b, a)


def _empty(builder: Any, kind: Any) -> Slots:
    infinite = [float("inf")] * _LANES if isinstance(kind, ir.VectorType) else float("inf")
    return [cgutils.alloca_once_value(builder, ir.Constant(kind, infinite)) for _ in range(2)]


def _add(builder: Any, slots: Slots, value: Any) -> None:
    first, second = (builder.load(slot) for slot in slots)
    builder.store(_smaller(builder, value, first), slots[0])
    builder.store(_smaller(builder, _larger(builder, value, first), second), slots[1])


def _add_lanes(builder: Any, slots: Slots, lanes: Slots) -> None:
    for slot in lanes:
        values = builder.load(slot)
        for k in range(_LANES):
            _add(builder, slots, builder.extract_element(values, ir.Constant(ir.IntType(32), k)))


@intrinsic
def row_minima(
    typing_context: Any, matrix: Any, row: Any, means: Any, gone: Any, start: Any, stop: Any
) -> Any:
    """Return the smallest and second smallest d_j - means_j, and the smallest d_j.

    Here d_j = matrix[row, j] + gone_j, for j from start to stop - 1.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, *others = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, arguments, strict=True)
            if isinstance(kind, types.Array)
        )
        entry = signature.args[0].dtype
        index = arguments[1].type
        double = ir.DoubleType()
        width = cgutils.unpack_tuple(builder, table.shape)[1]
        first = builder.gep(table.data, [builder.mul(arguments[1], width)])
        low, high = arguments[4:]

        def load(pointer: Any, position: Any, number: Any, kind: Any) -> Any:
            stored = context.get_data_type(number)
            wide = ir.VectorType(stored, _LANES) if kind is not double else stored
            place = builder.bitcast(builder.gep(pointer, [position]), wide.as_pointer())
            value = builder.load(place, align=number.bitwidth // 8)
            return value if number == types.float64 else builder.fpext(value, kind)

        def look(position: Any, kind: Any, reduced: Slots, plain: Slots) -> None:
            mean, away = (load(array.data, position, types.float64, kind) for array in others)
            distance = builder.fadd(load(first, position, entry, kind), away)
            _add(builder, reduced, builder.fsub(distance, mean))
            _add(builder, plain, distance)

        # Two vectors of lanes each, so that two comparisons run at once.
        lanes = ir.VectorType(double, _LANES)
        halves = [(_empty(builder, lanes), _empty(builder, lanes)) for _ in range(2)]
        step = ir.Constant(index, 2 * _LANES)
        blocks = builder.sdiv(builder.sub(high, low), step)
        with cgutils.for_range(builder, blocks) as loop:
            position = builder.add(low, builder.mul(loop.index, step))
            for reduced, plain in halves:
                look(position, lanes, reduced, plain)
                position = builder.add(position, ir.Constant(index, _LANES))
        totals = _empty(builder, double), _empty(builder, double)
        for half in halves:
            for total, part in zip(totals, half, strict=True):
                _add_lanes(builder, total, part)
        done = builder.add(low, builder.mul(blocks, step))
        with cgutils.for_range(builder, builder.sub(high, done)) as loop:
            look(builder.add(done, loop.index), double, *totals)
        found = [builder.load(slot) for slot in (*totals[0], totals[1][0])]
        return context.make_tuple(builder, signature.return_type, found)

    if not (isinstance(matrix, types.Array) and matrix.ndim == 2 and matrix.layout == "C"):
        return None
    numbers = types.UniTuple(types.float64, 3)
    return numbers(matrix, types.intp, means, gone, types.intp, types.intp), build
