"""The rule of QR factors: Householder reflections, one column in each iteration of a loop.

The reflections are those of LAPACK's geqrf, so that signs are the same (Golub and Van Loan, Matrix Computations,
section 5.2): in iteration k, v = x - b·e with b = -sign(x[k])·‖x[k:]‖, where x is column k without the elements above
the diagonal, and e is 1 at k. There is no reflection where the column is zero below its diagonal.
"""

from __future__ import annotations

import numpy as np

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.linear import multiply_matrices
from autoconv.backends.portable.rules.movement import insert_axis
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.graph.dtypes import float32, float64, int64
from autoconv.graph.graph import Node


@lowers("qr")
def qr(writer: Control, node: Node, x: Term) -> list[Term] | None:
    """Return Q and R, from reflections of one column after the other."""
    shape = static_shape(x.shape)
    if x.dtype not in (float32, float64) or shape is None or 0 in shape:
        return None
    rows, columns = shape[-2:]
    column_count = min(rows, columns)
    identity_matrix = writer.array(np.eye(rows).astype(x.dtype.numpy), x.dtype)
    identity_matrices = writer.expand(identity_matrix, (*x.shape[:-2], rows, rows))
    state = [writer.constant(0, int64), x, identity_matrices]

    _, r, q = writer.loop_while(
        lambda state: state[0] < column_count, lambda state: _reflect_column(writer, state), state
    )
    if not node.attributes.get("full_matrices"):
        q, r = writer.static_slice(q, q.rank - 1, 0, column_count), writer.static_slice(r, r.rank - 2, 0, column_count)
    upper_triangle = np.arange(r.shape[-2])[:, None] <= np.arange(columns)
    return [q, r * writer.array(upper_triangle.astype(x.dtype.numpy), x.dtype)]


def _reflect_column(writer: Control, state: list[Term]) -> list[Term]:
    """Reflect the matrix so that the column of this iteration is zero below the diagonal."""
    step, x, q = state
    rows, columns = x.shape[-2:]
    row_numbers = writer.iota((rows,), 0, int64)
    column = writer.reduce(writer.select(writer.iota((columns,), 0, int64).same(step), x, 0), (x.rank - 1,), "add", 0)
    last_axis = column.rank - 1
    head = writer.reduce(writer.select(row_numbers.same(step), column, 0), (last_axis,), "add", 0)
    head = insert_axis(writer, head, last_axis)
    tail = writer.select(row_numbers > step, column, 0)
    tail_square = insert_axis(writer, writer.reduce(tail * tail, (last_axis,), "add", 0), last_axis)
    norm = writer.intrinsic("sqrt", head * head + tail_square)
    beta = writer.select(head < 0.0, norm, -norm)
    vector = writer.select(row_numbers.same(step), head - beta, tail)
    denominator = writer.select(tail_square.same(0.0), 1.0, beta * (beta - head))
    factor = writer.select(tail_square.same(0.0), 0.0, 1.0 / denominator)  # 2 / (v·v)
    column_vector = insert_axis(writer, vector, last_axis + 1)
    scaled_row = insert_axis(writer, vector * factor, last_axis)
    x = x - column_vector * multiply_matrices(writer, scaled_row, x)
    q = q - multiply_matrices(writer, q, column_vector) * scaled_row
    return [step + 1, x, q]
