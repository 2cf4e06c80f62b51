"""Views whose elements are determined by their positions: identity matrices, ranges, diagonals and bands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.analysis.classify import CLASSIFIERS
from autoconv.backends.llvm.analysis.index_maps import ELEMENT_SOURCES, ElementSource, SourceElement
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.ir.index_arith import Index, Position, plus
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.graph import Node


def _register_view(name: str, fits: Callable[[Node], bool]) -> Callable[[Any], Any]:
    """Register a function `(b, node, index) -> ElementSource` for the views of an op."""

    def register(function: Callable[[Any, Node, Index], ElementSource]) -> Any:
        ELEMENT_SOURCES[name] = function
        CLASSIFIERS[name] = lambda node: "view" if is_dense(node.results[0].type) and fits(node) else "kernel"
        return function

    return register


def _has_dense_operands(node: Node) -> bool:
    """Return whether all operands are dense arrays."""
    return all(is_dense(value.type) for value in node.inputs)


def _has_scalar_bounds(node: Node) -> bool:
    """Return whether start, stop and step are scalars. Operands for lengths are not read: result types have them."""
    bound_count = {"range": 3, "linspace": 2, "eye": 0}[node.op.name]
    return all(is_scalar(value.type) for value in node.inputs[:bound_count])


def _to_integer(b: Any, position: Position) -> Element:
    """Return a position as an int64."""
    return b.wrap(int64, str(position))  # type: ignore[no-any-return]


@_register_view("eye", _has_scalar_bounds)
def _eye(b: Any, node: Node, index: Index) -> ElementSource:
    """Return an element of an identity matrix."""
    is_diagonal = _to_integer(b, index[0]).same(_to_integer(b, index[1]))
    return b.cast(is_diagonal, node.results[0].dtype)  # type: ignore[no-any-return, union-attr]


@_register_view("range", _has_scalar_bounds)
def _range(b: Any, node: Node, index: Index) -> ElementSource:
    """Return an element of a range: the start, plus the position times the step."""
    start, _, step = (b.number(value) for value in node.inputs)
    return b.cast(_to_integer(b, index[0]), start.dtype) * step + start  # type: ignore[no-any-return]


@_register_view("linspace", _has_scalar_bounds)
def _linspace(b: Any, node: Node, index: Index) -> ElementSource:
    """Compute an element as NumPy does: if the step underflows, the distance is scaled for each element instead."""
    start, stop = (b.number(value) for value in node.inputs[:2])
    (count,) = sizes(node.results[0].type)
    position = b.cast(_to_integer(b, index[0]), start.dtype)
    distance = stop - start
    if count == 1:
        return position * distance + start  # type: ignore[no-any-return]
    last = _to_integer(b, plus(b.out, count, -1))
    step_count = b.cast(last, start.dtype)
    step = distance / step_count
    element = b.select(step.same(0.0), position / step_count * distance, position * step) + start
    return b.select(_to_integer(b, index[0]).same(last), stop, element)  # type: ignore[no-any-return]


def _locate_on_diagonal(b: Any, index: Index, offset: int, length: Position) -> tuple[Element, str]:
    """Return whether the last two positions of an index are on a diagonal, and the position along the diagonal, or 0.

    `offset` is the diagonal's offset from the main one, `length` its number of elements.
    """
    out = b.out
    row, column = plus(out, index[-2], -max(-offset, 0)), plus(out, index[-1], -max(offset, 0))
    is_on_line = _to_integer(b, row).same(_to_integer(b, column))
    is_inside = b.wrap(bool_, out.new(f"icmp ult i64 {row}, {length}"))
    return is_on_line & is_inside, b.select(is_inside, _to_integer(b, row), 0).ir


@_register_view("diag", _has_dense_operands)
def _diag(b: Any, node: Node, index: Index) -> ElementSource:
    """Return an element of a matrix with `x` on a diagonal, and zeros elsewhere."""
    (x,) = node.inputs
    length = sizes(x.type)[-1]
    zero = b.constant(0, x.dtype)
    if not length:
        return zero  # type: ignore[no-any-return]
    is_on_diagonal, position = _locate_on_diagonal(b, index, node.attributes.get("offset", 0), length)
    return SourceElement(x, (*index[:-2], position), lambda element: b.select(is_on_diagonal, element, zero))


@_register_view("diag_part", _has_dense_operands)
def _diag_part(b: Any, node: Node, index: Index) -> ElementSource:
    """Return an element of a matrix's diagonal."""
    offset = node.attributes.get("offset", 0)
    matrix_index = (plus(b.out, index[-1], max(-offset, 0)), plus(b.out, index[-1], max(offset, 0)))
    return SourceElement(node.inputs[0], (*index[:-1], *matrix_index))


@_register_view("set_diag", _has_dense_operands)
def _set_diag(b: Any, node: Node, index: Index) -> ElementSource:
    """Return an element of `x` with another diagonal."""
    x, diagonal = node.inputs
    length = sizes(diagonal.type)[-1]
    if not length:
        return SourceElement(x, index)
    is_on_diagonal, position = _locate_on_diagonal(b, index, node.attributes.get("offset", 0), length)

    def select_diagonal(element: Element) -> Element:
        return b.select(is_on_diagonal, b.at(diagonal, (*index[:-2], position)), element)  # type: ignore[no-any-return]

    return SourceElement(x, index, select_diagonal)


@_register_view("matrix_band_part", _has_dense_operands)
def _band(b: Any, node: Node, index: Index) -> ElementSource:
    """Return an element of `x` within the band around the diagonal, else zero; a negative width is unlimited."""
    row, column = (_to_integer(b, position) for position in index[-2:])
    lower, upper = node.attributes["num_lower"], node.attributes["num_upper"]
    is_inside = b.constant(True, bool_)
    if lower >= 0:
        is_inside = is_inside & (row - column <= lower)
    if upper >= 0:
        is_inside = is_inside & (column - row <= upper)
    zero = b.constant(0, node.inputs[0].dtype)
    return SourceElement(node.inputs[0], index, lambda element: b.select(is_inside, element, zero))
