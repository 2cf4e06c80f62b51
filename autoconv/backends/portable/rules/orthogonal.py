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
def qr(w: Control, node: Node, x: Term) -> list[Term] | None:
    shape = static_shape(x.shape)
    if x.dtype not in (float32, float64) or shape is None or 0 in shape:
        return None
    rows, columns = shape[-2:]
    column_count = min(rows, columns)
    identity_matrices = w.expand(w.array(np.eye(rows).astype(x.dtype.numpy), x.dtype), (*x.shape[:-2], rows, rows))
    state = [w.constant(0, int64), x, identity_matrices]

    def has_next(state: list[Term], word: Term) -> Term:
        w.error_word = word
        return state[0] < column_count

    word = w.error_word_or_zero(w.error_word)
    final_state = w.loop(has_next, lambda state, word: _reflect_column(w, state, word), state, word)
    w.error_word = final_state.pop()
    _, r, q = final_state
    if not node.attributes.get("full_matrices"):
        q, r = w.static_slice(q, q.rank - 1, 0, column_count), w.static_slice(r, r.rank - 2, 0, column_count)
    upper_triangle = np.arange(r.shape[-2])[:, None] <= np.arange(columns)
    return [q, r * w.array(upper_triangle.astype(x.dtype.numpy), x.dtype)]


def _reflect_column(w: Control, state: list[Term], word: Term) -> list[Term]:
    """Reflect the matrix so that the column of this iteration is zero below the diagonal."""
    w.error_word = word
    step, x, q = state
    rows, columns = x.shape[-2:]
    row_numbers = w.iota((rows,), 0, int64)
    column = w.reduce(w.select(w.iota((columns,), 0, int64).same(step), x, 0), (x.rank - 1,), "add", 0)
    last_axis = column.rank - 1
    head = insert_axis(w, w.reduce(w.select(row_numbers.same(step), column, 0), (last_axis,), "add", 0), last_axis)
    tail = w.select(row_numbers > step, column, 0)
    tail_square = insert_axis(w, w.reduce(tail * tail, (last_axis,), "add", 0), last_axis)
    norm = w.intrinsic("sqrt", head * head + tail_square)
    beta = w.select(head < 0.0, norm, -norm)
    vector = w.select(row_numbers.same(step), head - beta, tail)
    denominator = w.select(tail_square.same(0.0), 1.0, beta * (beta - head))
    factor = w.select(tail_square.same(0.0), 0.0, 1.0 / denominator)  # 2 / (v·v)
    column_vector = insert_axis(w, vector, last_axis + 1)
    scaled_row = insert_axis(w, vector * factor, last_axis)
    x = x - column_vector * multiply_matrices(w, scaled_row, x)
    q = q - multiply_matrices(w, q, column_vector) * scaled_row
    return [step + 1, x, q]
