"""Rules of sorts and searches. The order is NumPy's: nan comes last, and equal elements stay in order."""

from __future__ import annotations

from autoconv.backends.portable.rules.gathers import take_along
from autoconv.backends.portable.rules.movement import insert_axis
from autoconv.backends.portable.rules.registry import lowers, normalise_axis
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import int32
from autoconv.graph.graph import Node


@lowers("sort")
def sort(w: Rules, node: Node, x: Term) -> Term | None:
    axis = normalise_axis(node.attributes.get("axis", -1), x.rank)
    if x.dtype.is_complex:
        return None if node.attributes.get("descending") else take_along(w, x, axis, _complex_order(w, x, axis))
    return w.sort(x, axis, bool(node.attributes.get("descending")))[0]


@lowers("argsort")
def argsort(w: Rules, node: Node, x: Term) -> Term | None:
    if x.dtype.is_complex:
        return None
    axis = normalise_axis(node.attributes.get("axis", -1), x.rank)
    return w.cast(w.sort(x, axis, bool(node.attributes.get("descending")))[1], node.results[0].dtype)


def _complex_order(w: Rules, x: Term, axis: int) -> Term:
    """Return the positions of complex numbers in ascending order: by which parts are nan, then real, then imaginary.

    Three stable sorts, by the least important key first, make this order.
    """
    real, imag = w.emit_unary("real", x), w.emit_unary("imag", x)
    real_class, imag_class = (w.cast(w.is_nan(part), int32) for part in (real, imag))
    order = w.sort(imag, axis, False)[1]
    for key in (real, real_class * 2 + imag_class):
        positions = w.sort(take_along(w, key, axis, order), axis, False)[1]
        order = take_along(w, order, axis, positions)
    return order


@lowers("searchsorted")
def searchsorted(w: Rules, node: Node, ordered: Term, x: Term) -> Term | None:
    """Count the elements before each value, which is compared to all of them."""
    if x.dtype.is_complex or ordered.dtype is not x.dtype:
        return None
    batch_rank = ordered.rank - 1
    table = ordered
    for _ in range(x.rank - batch_rank):
        table = insert_axis(w, table, batch_rank)
    values = insert_axis(w, x, x.rank)
    table, values = w.broadcast(table, values)
    is_before = w.compare("lt" if node.attributes["side"] == "left" else "le", table, values)
    if x.dtype.is_floating:
        is_before = is_before | (w.is_nan(values) & ~w.is_nan(table))
        if node.attributes["side"] == "right":
            is_before = is_before | w.is_nan(values)
    return w.reduce(w.cast(is_before, node.attributes["dtype"]), (x.rank,), "add", 0)
