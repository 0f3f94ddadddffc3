"""Sums and maxima over coordinates, in eight explicit lanes.

The rounding of a sum of floats depends on the order of the terms. A compiler that is free to choose
the order ("fastmath") chooses differently for each CPU and each caller. The same seed would then
give different trees on different machines. A loop that keeps the order is three times slower.

This module therefore fixes the order once, in LLVM vectors of eight. Lane k adds the terms
k, k + 8, k + 16, and so on. The lanes are added pairwise, and then the remaining terms one by one.
Every CPU gives the same bits, at the speed of its vector instructions.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_LANES = 8
_LINE = 64  # bytes that the cache fetches together

Values = Any  # an llvmlite value: a scalar or a vector of lanes


def _squared_difference(builder: Any, x: Values, y: Values) -> Values:
    difference = builder.fsub(x, y)
    return builder.fmul(difference, difference)


def _squared_sum(builder: Any, x: Values, y: Values) -> Values:
    total = builder.fadd(x, y)
    return builder.fmul(total, total)


def _absolute_difference(builder: Any, x: Values, y: Values) -> Values:
    return _larger(builder, builder.fsub(x, y), builder.fsub(y, x))


def _product(builder: Any, x: Values, y: Values) -> Values:
    return builder.fmul(x, y)


def _add(builder: Any, a: Values, b: Values) -> Values:
    return builder.fadd(a, b)


def _larger(builder: Any, a: Values, b: Values) -> Values:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _lane_reduction(term: Callable[..., Values], combine: Callable[..., Values]) -> Any:
    """Return an intrinsic f(points, i, j) that reduces `term` over all coordinates with `combine`."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Values:
        array_type = signature.args[0]
        points = context.make_array(array_type)(context, builder, arguments[0])
        scalar = context.get_data_type(array_type.dtype)
        lanes = ir.VectorType(scalar, _LANES)
        index = arguments[1].type
        width = cgutils.unpack_tuple(builder, points.shape)[1]
        rows = [builder.gep(points.data, [builder.mul(row, width)]) for row in arguments[1:]]
        blocks = builder.udiv(width, ir.Constant(index, _LANES))

        def load(row: Values, position: Values, kind: Any) -> Values:
            pointer = builder.bitcast(builder.gep(row, [position]), kind.as_pointer())
            return builder.load(pointer, align=array_type.dtype.bitwidth // 8)

        def accumulate(total: Values, position: Values, kind: Any) -> None:
            new = term(builder, *(load(row, position, kind) for row in rows))
            builder.store(combine(builder, builder.load(total), new), total)

        wide = cgutils.alloca_once_value(builder, ir.Constant(lanes, [0.0] * _LANES))
        with cgutils.for_range(builder, blocks) as loop:
            accumulate(wide, builder.mul(loop.index, ir.Constant(index, _LANES)), lanes)
        sums = [
            builder.extract_element(builder.load(wide), ir.Constant(ir.IntType(32), k)) for k in range(_LANES)
        ]
        while len(sums) > 1:
            sums = [combine(builder, a, b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
        narrow = cgutils.alloca_once_value(builder, sums[0])
        done = builder.mul(blocks, ir.Constant(index, _LANES))
        with cgutils.for_range(builder, builder.sub(width, done)) as loop:
            accumulate(narrow, builder.add(done, loop.index), scalar)
        return builder.load(narrow)

    @intrinsic
    def reduction(typing_context: Any, points: Any, i: Any, j: Any) -> Any:
        if not (isinstance(points, types.Array) and points.ndim == 2 and points.layout == "C"):
            return None
        return points.dtype(points, types.intp, types.intp), build

    return reduction


def _tile_reduction(
    term: Callable[..., Values], combine: Callable[..., Values], finish: Callable[..., Values]
) -> Any:
    """Return an intrinsic f(points, i, tiles, t, out, a, b) for one point and a tile of columns.

    `tiles` is a table (number of tiles, coordinates, columns) with 32 bytes of columns. The
    reductions of row i with the columns of tile t are written to out[a, b], out[a, b + 1], and
    so on. Every column gets the same bits as in `_lane_reduction`. Here the eight sums of a
    column are in eight vectors, and each vector contains the same sum for all columns.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Values:
        points_type, _, tiles_type, _, out_type, _, _ = signature.args
        points, tiles, out = (
            context.make_array(kind)(context, builder, value)
            for kind, value in (
                (points_type, arguments[0]),
                (tiles_type, arguments[2]),
                (out_type, arguments[4]),
            )
        )
        scalar = context.get_data_type(points_type.dtype)
        index = arguments[1].type
        columns = tile_columns(points_type.dtype.bitwidth // 8)
        lanes = ir.VectorType(scalar, columns)
        width = cgutils.unpack_tuple(builder, points.shape)[1]
        row = builder.gep(points.data, [builder.mul(arguments[1], width)])
        step = ir.Constant(index, columns)
        tile = builder.gep(tiles.data, [builder.mul(builder.mul(arguments[3], width), step)])
        blocks = builder.udiv(width, ir.Constant(index, _LANES))
        same = ir.Constant(ir.VectorType(ir.IntType(32), columns), [0] * columns)
        nothing = ir.Constant(lanes, [0.0] * columns)

        def accumulate(total: Values, position: Values) -> None:
            x = builder.insert_element(nothing, builder.load(builder.gep(row, [position])), ir.IntType(32)(0))
            x = builder.shuffle_vector(x, nothing, same)
            pointer = builder.gep(tile, [builder.mul(position, step)])
            y = builder.load(
                builder.bitcast(pointer, lanes.as_pointer()),
                align=points_type.dtype.bitwidth // 8,
            )
            builder.store(combine(builder, builder.load(total), term(builder, x, y)), total)

        wide = [cgutils.alloca_once_value(builder, nothing) for _ in range(_LANES)]
        with cgutils.for_range(builder, blocks) as loop:
            first = builder.mul(loop.index, ir.Constant(index, _LANES))
            for k, total in enumerate(wide):
                accumulate(total, builder.add(first, ir.Constant(index, k)))
        sums = [builder.load(total) for total in wide]
        while len(sums) > 1:
            sums = [combine(builder, a, b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
        narrow = cgutils.alloca_once_value(builder, sums[0])
        done = builder.mul(blocks, ir.Constant(index, _LANES))
        with cgutils.for_range(builder, builder.sub(width, done)) as loop:
            accumulate(narrow, builder.add(done, loop.index))
        found = builder.load(narrow)
        doubles = ir.VectorType(ir.DoubleType(), columns)
        if scalar != ir.DoubleType():
            found = builder.fpext(found, doubles)
        stride = cgutils.unpack_tuple(builder, out.shape)[1]
        target = builder.gep(out.data, [builder.add(builder.mul(arguments[5], stride), arguments[6])])
        builder.store(finish(builder, found), builder.bitcast(target, doubles.as_pointer()), align=8)
        return context.get_dummy_value()

    @intrinsic
    def reduction(
        typing_context: Any, points: Any, i: Any, tiles: Any, t: Any, out: Any, a: Any, b: Any
    ) -> Any:
        fits = isinstance(points, types.Array) and points.ndim == 2 and points.layout == "C"
        if not (fits and tiles.dtype == points.dtype and out.dtype == types.float64 and out.layout == "C"):
            return None
        return types.void(points, types.intp, tiles, types.intp, out, types.intp, types.intp), build

    return reduction


def tile_columns(itemsize: int) -> int:
    """Return the number of columns in a tile of 32 bytes."""
    return 32 // itemsize


def _root(builder: Any, value: Values) -> Values:
    lanes = value.type
    kind = ir.FunctionType(lanes, [lanes])
    root = cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{lanes.count}f64")
    return builder.call(root, [value])


def _itself(builder: Any, value: Values) -> Values:
    return value


def _fetch(builder: Any, pointer: Values) -> None:
    """Prefetch the cache line at a pointer to bytes."""
    byte = ir.IntType(8).as_pointer()
    whole = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole])
    prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    # 0 for reading, 3 for high locality (use soon), 1 for data.
    builder.call(prefetch, [pointer, *(ir.Constant(whole, number) for number in (0, 3, 1))])


@intrinsic
def prefetch_row(typing_context: Any, points: Any, i: Any) -> Any:
    """Ask the processor to fetch row i into the cache while it continues."""
    if not (isinstance(points, types.Array) and points.ndim == 2 and points.layout == "C"):
        return None

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Values:
        array_type = signature.args[0]
        array = context.make_array(array_type)(context, builder, arguments[0])
        index = arguments[1].type
        width = cgutils.unpack_tuple(builder, array.shape)[1]
        row = builder.gep(array.data, [builder.mul(arguments[1], width)])
        row = builder.bitcast(row, ir.IntType(8).as_pointer())
        size = builder.mul(width, ir.Constant(index, array_type.dtype.bitwidth // 8))
        lines = builder.udiv(builder.add(size, ir.Constant(index, _LINE - 1)), ir.Constant(index, _LINE))
        with cgutils.for_range(builder, lines) as loop:
            _fetch(builder, builder.gep(row, [builder.mul(loop.index, ir.Constant(index, _LINE))]))
        return context.get_dummy_value()

    return types.void(points, types.intp), build


@intrinsic
def prefetch_entry(typing_context: Any, matrix: Any, i: Any, j: Any) -> Any:
    """Prefetch entry (i, j) into the cache."""
    if not (isinstance(matrix, types.Array) and matrix.ndim == 2 and matrix.layout == "C"):
        return None

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Values:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        width = cgutils.unpack_tuple(builder, array.shape)[1]
        entry = builder.gep(array.data, [builder.add(builder.mul(arguments[1], width), arguments[2])])
        _fetch(builder, builder.bitcast(entry, ir.IntType(8).as_pointer()))
        return context.get_dummy_value()

    return types.void(matrix, types.intp, types.intp), build


sum_of_squared_differences = _lane_reduction(_squared_difference, _add)
sum_of_squared_sums = _lane_reduction(_squared_sum, _add)
sum_of_products = _lane_reduction(_product, _add)
sum_of_absolute_differences = _lane_reduction(_absolute_difference, _add)
largest_absolute_difference = _lane_reduction(_absolute_difference, _larger)

#: Euclidean, squared Euclidean, Manhattan and Chebyshev distances from a point to the columns of a tile.
euclidean_tile = _tile_reduction(_squared_difference, _add, _root)
squared_tile = _tile_reduction(_squared_difference, _add, _itself)
manhattan_tile = _tile_reduction(_absolute_difference, _add, _itself)
chebyshev_tile = _tile_reduction(_absolute_difference, _larger, _itself)
