"""Rules of sorts and searches. The order is NumPy's: nan comes last, and equal elements stay in order.

A rule returns None for a node that has no form in other runtimes.
"""

from __future__ import annotations

from autoconv.backends.portable.rules.gathers import take_along
from autoconv.backends.portable.rules.movement import insert_axis
from autoconv.backends.portable.rules.registry import lowers, normalise_axis
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import int32
from autoconv.graph.graph import Node


@lowers("sort")
def sort(writer: Rules, node: Node, x: Term) -> Term | None:
    """Sort along an axis; None for complex numbers in descending order."""
    axis = normalise_axis(node.attributes.get("axis", -1), x.rank)
    if x.dtype.is_complex:
        is_descending = node.attributes.get("descending")
        return None if is_descending else take_along(writer, x, axis, _complex_order(writer, x, axis))
    elements, _ = writer.sort(x, axis, descending=bool(node.attributes.get("descending")))
    return elements


@lowers("argsort")
def argsort(writer: Rules, node: Node, x: Term) -> Term | None:
    """Return the positions of elements in sorted order; None for complex numbers."""
    if x.dtype.is_complex:
        return None
    axis = normalise_axis(node.attributes.get("axis", -1), x.rank)
    _, positions = writer.sort(x, axis, descending=bool(node.attributes.get("descending")))
    return writer.cast(positions, node.results[0].dtype)


def _complex_order(writer: Rules, x: Term, axis: int) -> Term:
    """Return the positions of complex numbers in ascending order: by which parts are nan, then real, then imaginary.

    Three stable sorts, by the least important key first, make this order.
    """
    real, imag = writer.emit_unary("real", x), writer.emit_unary("imag", x)
    is_real_nan, is_imag_nan = (writer.cast(writer.is_nan(part), int32) for part in (real, imag))
    _, order = writer.sort(imag, axis, descending=False)
    for key in (real, is_real_nan * 2 + is_imag_nan):
        _, positions = writer.sort(take_along(writer, key, axis, order), axis, descending=False)
        order = take_along(writer, order, axis, positions)
    return order


@lowers("searchsorted")
def searchsorted(writer: Rules, node: Node, ordered: Term, x: Term) -> Term | None:
    """Count the elements before each value, which is compared to all of them."""
    if x.dtype.is_complex or ordered.dtype is not x.dtype:
        return None
    batch_rank = ordered.rank - 1
    table = ordered
    for _ in range(x.rank - batch_rank):
        table = insert_axis(writer, table, batch_rank)
    values = insert_axis(writer, x, x.rank)
    table, values = writer.broadcast(table, values)
    is_before = writer.compare("lt" if node.attributes["side"] == "left" else "le", table, values)
    if x.dtype.is_floating:
        is_before = is_before | (writer.is_nan(values) & ~writer.is_nan(table))
        if node.attributes["side"] == "right":
            is_before = is_before | writer.is_nan(values)
    return writer.reduce(writer.cast(is_before, node.attributes["dtype"]), (x.rank,), "add", 0)
