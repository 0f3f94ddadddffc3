"""The union of rows of bits, in one vector.

Numba compiles a loop over the words of a row to eight separate operations. This module spells out
the LLVM vector. Searches from many vertices spend most of their time on such unions.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WORDS = 8  # numbers of 64 bits in a row


@intrinsic
def unite_rows(typing_context: Any, rows: Any, chosen: Any, begin: Any, end: Any, out: Any, v: Any) -> Any:
    """Write the union of rows[chosen[begin:end]] to out[v]. Tables of rows are (n, WORDS) uint64."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, indices, target = (
            context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 1, 4)
        )
        row = ir.VectorType(ir.IntType(64), WORDS)
        total = cgutils.alloca_once_value(builder, ir.Constant(row, [0] * WORDS))
        first, stop = arguments[2:4]
        with cgutils.for_range(builder, builder.sub(stop, first)) as loop:
            index = builder.load(builder.gep(indices, [builder.add(first, loop.index)]))
            place = builder.gep(builder.bitcast(table, row.as_pointer()), [index])
            builder.store(builder.or_(builder.load(total), builder.load(place, align=8)), total)
        place = builder.gep(builder.bitcast(target, row.as_pointer()), [arguments[5]])
        builder.store(builder.load(total), place, align=8)
        return context.get_dummy_value()

    if not all(table.dtype == types.uint64 and table.layout == "C" for table in (rows, out)):
        return None
    return types.void(rows, chosen, types.intp, types.intp, out, types.intp), build
