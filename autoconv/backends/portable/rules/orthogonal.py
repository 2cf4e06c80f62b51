"""The rule of QR factors: Householder reflections, a column in each turn of a loop.

The reflections are those of LAPACK's geqrf, so that signs are the same (Golub and Van Loan, Matrix Computations,
section 5.2): v = x - b·e with b = -sign(x[k])·‖x[k:]‖, and none where the column is zero below its diagonal.
"""

from __future__ import annotations

import numpy as np

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.linear import matmul_of
from autoconv.backends.portable.rules.movement import expand_at
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
    least = min(rows, columns)
    eye = w.expanded(w.array(np.eye(rows).astype(x.dtype.numpy), x.dtype), (*x.shape[:-2], rows, rows))
    state = [w.constant(0, int64), x, eye]

    def go_on(now: list[Term], word: Term) -> Term:
        w.word = word
        return now[0] < least

    state_after = w.loop(go_on, lambda now, word: _turn(w, now, word), state, w.sure(w.word))
    w.word = state_after.pop()
    _, r, q = state_after
    if not node.attributes.get("full_matrices"):
        q, r = w.part(q, q.rank - 1, 0, least), w.part(r, r.rank - 2, 0, least)
    above = np.arange(r.shape[-2])[:, None] <= np.arange(columns)
    return [q, r * w.array(above.astype(x.dtype.numpy), x.dtype)]


def _turn(w: Control, now: list[Term], word: Term) -> list[Term]:
    """Reflect so that the column is zero below the diagonal."""
    w.word = word
    step, x, q = now
    rows, columns = x.shape[-2:]
    place = w.iota((rows,), 0, int64)
    column = w.reduce(w.select(w.iota((columns,), 0, int64).same(step), x, 0), (x.rank - 1,), "add", 0)
    last = column.rank - 1
    head = expand_at(w, w.reduce(w.select(place.same(step), column, 0), (last,), "add", 0), last)
    tail = w.select(place > step, column, 0)
    rest = expand_at(w, w.reduce(tail * tail, (last,), "add", 0), last)
    norm = w.intrinsic("sqrt", head * head + rest)
    beta = w.select(head < 0.0, norm, -norm)
    vector = w.select(place.same(step), head - beta, tail)
    size = w.select(rest.same(0.0), 1.0, beta * (beta - head))
    factor = w.select(rest.same(0.0), 0.0, 1.0 / size)  # 2 / (v·v)
    tall = expand_at(w, vector, last + 1)
    wide = expand_at(w, vector * factor, last)
    x = x - tall * matmul_of(w, wide, x)
    q = q - matmul_of(w, q, tall) * wide
    return [step + 1, x, q]
