"""Rules of sorts and searches. The order is NumPy's: nan comes last, and equal elements stay in order."""

from __future__ import annotations

from autoconv.backends.portable.rules.movement import insert_axis
from autoconv.backends.portable.rules.registry import lowers, normalise_axis
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.graph import Node


@lowers("sort")
def sort(w: Rules, node: Node, x: Term) -> Term | None:
    if x.dtype.is_complex:
        return None
    axis = normalise_axis(node.attributes.get("axis", -1), x.rank)
    return w.sort(x, axis, bool(node.attributes.get("descending")))[0]


@lowers("argsort")
def argsort(w: Rules, node: Node, x: Term) -> Term | None:
    if x.dtype.is_complex:
        return None
    axis = normalise_axis(node.attributes.get("axis", -1), x.rank)
    return w.cast(w.sort(x, axis, bool(node.attributes.get("descending")))[1], node.results[0].dtype)


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
    precedes = w.compare("lt" if node.attributes["side"] == "left" else "le", table, values)
    if x.dtype.is_floating:
        precedes = precedes | (w.is_nan(values) & ~w.is_nan(table))
        if node.attributes["side"] == "right":
            precedes = precedes | w.is_nan(values)
    return w.reduce(w.cast(precedes, node.attributes["dtype"]), (x.rank,), "add", 0)
