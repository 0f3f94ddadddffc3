"""Call a compiled function at an address, which computes the distances of another oracle.

See `called.py`. The table of a `CalledOracle` begins with the address of the function. The addresses and
shapes of the oracle's arrays follow.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

Values = Any  # an llvmlite value
# f(address of the table, i, address of the points j, their number, address of the distances)
ARGUMENTS = (types.intp,) * 5


def _call(context: Any, builder: Any, table: Values, rest: list[Values]) -> None:
    """Call the function of a table. Its errors become those of the caller."""
    convention = context.call_conv
    function_type = convention.get_function_type(types.none, ARGUMENTS)
    function = builder.inttoptr(builder.load(table), function_type.as_pointer())
    given = [builder.ptrtoint(table, rest[0].type), *rest]
    status, _ = convention.call_function(builder, function, types.none, ARGUMENTS, given)
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)


def _data(context: Any, builder: Any, array_type: Any, array: Values) -> Values:
    return context.make_array(array_type)(context, builder, array).data


@intrinsic
def call_distance(typing_context: Any, table: Any, i: Any, j: Any) -> Any:
    """Return the distance of points i and j."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Values:
        first = _data(context, builder, signature.args[0], arguments[0])
        word = arguments[1].type
        point = cgutils.alloca_once_value(builder, arguments[2])
        out = cgutils.alloca_once(builder, ir.DoubleType())
        addresses = [builder.ptrtoint(pointer, word) for pointer in (point, out)]
        one = ir.Constant(word, 1)
        _call(context, builder, first, [arguments[1], addresses[0], one, addresses[1]])
        return builder.load(out)

    return types.float64(table, types.intp, types.intp), build


@intrinsic
def call_distances(
    typing_context: Any,
    table: Any,
    i: Any,
    points: Any,
    start: Any,
    count: Any,
    out: Any,
    at: Any,
) -> Any:
    """Write out[at + k] = d(i, points[start + k]) for k < count. Both arrays are contiguous."""
    expected = (points, types.int64), (out, types.float64)
    if any(array.dtype != kind or array.layout != "C" for array, kind in expected):
        return None

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Values:
        kinds = signature.args
        first = _data(context, builder, kinds[0], arguments[0])
        word = arguments[1].type
        addresses = [
            builder.ptrtoint(builder.gep(_data(context, builder, kinds[k], arguments[k]), [offset]), word)
            for k, offset in ((2, arguments[3]), (5, arguments[6]))
        ]
        rest = [arguments[1], addresses[0], arguments[4], addresses[1]]
        _call(context, builder, first, rest)
        return context.get_dummy_value()

    index = types.intp
    return types.void(table, index, points, index, index, out, index), build


@intrinsic
def point_at(typing_context: Any, address: Any, k: Any) -> Any:
    """Return entry k of the points at an address."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Values:
        points = builder.inttoptr(arguments[0], arguments[0].type.as_pointer())
        return builder.load(builder.gep(points, [arguments[1]]))

    return types.intp(types.intp, types.intp), build


@intrinsic
def write_distance(typing_context: Any, address: Any, k: Any, value: Any) -> Any:
    """Write entry k of the distances at an address."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Values:
        out = builder.inttoptr(arguments[0], ir.DoubleType().as_pointer())
        builder.store(arguments[2], builder.gep(out, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.float64), build


def reader(kind: Any) -> Any:
    """Return an intrinsic f(address of a table) that returns an oracle of numba's type `kind`."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Values:
        word = arguments[0].type
        table = builder.inttoptr(arguments[0], word.as_pointer())
        position = 1
        arrays = []
        for array_type in kind.types:
            facts = [
                builder.load(builder.gep(table, [ir.Constant(word, position + k)]))
                for k in range(1 + array_type.ndim)
            ]
            arrays.append(_array(context, builder, array_type, *facts))
            position += len(facts)
        return context.make_tuple(builder, kind, arrays)

    @intrinsic
    def read(typing_context: Any, address: Any) -> Any:
        return kind(types.intp), build

    return read


def _array(context: Any, builder: Any, array_type: Any, address: Values, *shape: Values) -> Any:
    """Return a C-contiguous array that counts no references."""
    array = context.make_array(array_type)(context, builder)
    item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(array_type.dtype)))
    strides = [item]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.inttoptr(address, array.data.type)
    populate_array(array, data, shape, strides, item, meminfo=None)
    return array._getvalue()
