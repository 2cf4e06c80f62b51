"""Views whose elements are determined by their positions: identity matrices, ranges, diagonals and bands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.analysis.classify import ROLES
from autoconv.backends.llvm.analysis.index_maps import PLACES, Place
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.ir.index_arith import Index, Position, plus
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.graph import Node


def _view(name: str, fits: Callable[[Node], bool]) -> Callable[[Any], Any]:
    """Register a function `(b, node, index) -> Place` as the index map of an op's views."""

    def register(place: Callable[[Any, Node, Index], Place]) -> Any:
        PLACES[name] = place
        ROLES[name] = lambda node: "view" if is_dense(node.results[0].type) and fits(node) else "kernel"
        return place

    return register


def _of_arrays(node: Node) -> bool:
    return all(is_dense(value.type) for value in node.inputs)


def _of_numbers(node: Node) -> bool:
    """Return whether bounds are scalars; an operand that holds lengths is not read, as the type contains them."""
    named = {"range": 3, "linspace": 2, "eye": 0}[node.op.name]
    return all(is_scalar(value.type) for value in node.inputs[:named])


def _number(b: Any, position: Position) -> Element:
    return b.wrap(int64, str(position))  # type: ignore[no-any-return]


@_view("eye", _of_numbers)
def _eye(b: Any, node: Node, index: Index) -> Place:
    same = _number(b, index[0]).same(_number(b, index[1]))
    return b.cast(same, node.results[0].dtype)  # type: ignore[no-any-return, union-attr]


@_view("range", _of_numbers)
def _range(b: Any, node: Node, index: Index) -> Place:
    start, _, step = (b.number(value) for value in node.inputs)
    return b.cast(_number(b, index[0]), start.dtype) * step + start  # type: ignore[no-any-return]


@_view("linspace", _of_numbers)
def _linspace(b: Any, node: Node, index: Index) -> Place:
    """Follow NumPy: where the step underflows, scale the distance for each element instead."""
    start, stop = (b.number(value) for value in node.inputs[:2])
    (count,) = sizes(node.results[0].type)
    place = b.cast(_number(b, index[0]), start.dtype)
    distance = stop - start
    if count == 1:
        return place * distance + start  # type: ignore[no-any-return]
    last = _number(b, plus(b.out, count, -1))
    steps = b.cast(last, start.dtype)
    step = distance / steps
    element = b.select(step.same(0.0), place / steps * distance, place * step) + start
    return b.select(_number(b, index[0]).same(last), stop, element)  # type: ignore[no-any-return]


def _on_diagonal(b: Any, index: Index, offset: int, length: Position) -> tuple[Element, str]:
    """Return whether the last two positions are on a diagonal of that length, and the position on it (0 if outside)."""
    out = b.out
    row, column = plus(out, index[-2], -max(-offset, 0)), plus(out, index[-1], -max(offset, 0))
    met = _number(b, row).same(_number(b, column))
    inside = b.wrap(bool_, out.new(f"icmp ult i64 {row}, {length}"))
    return met & inside, b.select(inside, _number(b, row), 0).ir


@_view("diag", _of_arrays)
def _diag(b: Any, node: Node, index: Index) -> Place:
    (x,) = node.inputs
    length = sizes(x.type)[-1]
    zero = b.constant(0, x.dtype)
    if not length:
        return zero  # type: ignore[no-any-return]
    met, where = _on_diagonal(b, index, node.attributes.get("offset", 0), length)
    return x, (*index[:-2], where), lambda element: b.select(met, element, zero)


@_view("diag_part", _of_arrays)
def _diag_part(b: Any, node: Node, index: Index) -> Place:
    offset = node.attributes.get("offset", 0)
    place = (plus(b.out, index[-1], max(-offset, 0)), plus(b.out, index[-1], max(offset, 0)))
    return node.inputs[0], (*index[:-1], *place), None


@_view("set_diag", _of_arrays)
def _set_diag(b: Any, node: Node, index: Index) -> Place:
    x, diagonal = node.inputs
    length = sizes(diagonal.type)[-1]
    if not length:
        return x, index, None
    met, where = _on_diagonal(b, index, node.attributes.get("offset", 0), length)
    return x, index, lambda element: b.select(met, b.at(diagonal, (*index[:-2], where)), element)


@_view("matrix_band_part", _of_arrays)
def _band(b: Any, node: Node, index: Index) -> Place:
    row, column = (_number(b, position) for position in index[-2:])
    lower, upper = node.attributes["num_lower"], node.attributes["num_upper"]
    inside = b.constant(True, bool_)
    if lower >= 0:
        inside = inside & (row - column <= lower)
    if upper >= 0:
        inside = inside & (column - row <= upper)
    zero = b.constant(0, node.inputs[0].dtype)
    return node.inputs[0], index, lambda element: b.select(inside, element, zero)
