"""Rules of sorts and searches. NumPy's order: nan comes last, equal elements stay in order."""

from __future__ import annotations

from autoconv.backends.portable.rules.movement import expand_at
from autoconv.backends.portable.rules.registry import lowers, whole
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.graph import Node


@lowers("sort")
def sort(w: Rules, node: Node, x: Term) -> Term | None:
    if x.dtype.is_complex:
        return None
    axis = whole(node.attributes.get("axis", -1), x.rank)
    return w.sort(x, axis, bool(node.attributes.get("descending")))[0]


@lowers("argsort")
def argsort(w: Rules, node: Node, x: Term) -> Term | None:
    if x.dtype.is_complex:
        return None
    axis = whole(node.attributes.get("axis", -1), x.rank)
    return w.cast(w.sort(x, axis, bool(node.attributes.get("descending")))[1], node.results[0].dtype)


@lowers("searchsorted")
def searchsorted(w: Rules, node: Node, ordered: Term, x: Term) -> Term | None:
    """Count the elements before each place: a comparison with all."""
    if x.dtype.is_complex or ordered.dtype is not x.dtype:
        return None
    lead = ordered.rank - 1
    table = ordered
    for _ in range(x.rank - lead):
        table = expand_at(w, table, lead)
    wide = expand_at(w, x, x.rank)
    table, wide = w.broadcast(table, wide)
    before = w.compare("lt" if node.attributes["side"] == "left" else "le", table, wide)
    if x.dtype.is_floating:
        before = before | (w.is_nan(wide) & ~w.is_nan(table))
        if node.attributes["side"] == "right":
            before = before | w.is_nan(wide)
    return w.reduce(w.cast(before, node.attributes["dtype"]), (x.rank,), "add", 0)
