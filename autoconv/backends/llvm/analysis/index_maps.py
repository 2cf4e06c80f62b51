"""Index maps of views: from an index of a node's result to the index in its source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.llvm.analysis.indexing import counted, first_of, is_indexed, place
from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import dimension
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index, Position, below, linear, plus, times, unravelled
from autoconv.backends.llvm.ir.scalars import Element, Pair
from autoconv.graph.dtypes import DType, bool_, int64
from autoconv.graph.graph import Node, Value
from autoconv.ops.index_spec import INPUT, At, NewAxis, Rest, Slice, aligned

# A number that needs no array; or (value, index, function applied to the element found there).
Place = Element | tuple[Value, Index, Callable[[Element], Element] | None]

# Piecewise affine views: a loop over one is split where the next piece begins.
CUT = frozenset({"roll", "pad"})

# Registered index maps of other views, by op name: (b, node, index) -> place.
PLACES: dict[str, Callable[[Any, Node, Index], Place]] = {}


def viewed(b: Any, node: Node, index: Index, picks: Sequence[Position]) -> Place:
    """Return where the element at `index` of a view comes from.

    `picks` are its dynamic indices, normalised; `b.number(value)` is a scalar operand, `b.at(value, index)` an element
    of another one.
    """
    name = node.op.name
    if name == "shape":
        return _shape(b, node, index)
    if name in ("zeros_like", "ones_like", "outline"):
        return _number(b, int(name == "ones_like"), node.results[0].dtype)
    if name == "fill":
        return node.inputs[0], (), None
    if name == "one_hot":
        return _one_hot(b, node, index)
    if name == "pad":
        return _pad(b, node, index)
    if name in PLACES:
        return PLACES[name](b, node, index)
    source = node.inputs[0]
    if name in ("real", "imag"):
        return source, index, (_real if name == "real" else _imag)
    if is_indexed(node):
        return source, place(b, node, index, picks), None
    return source, _MAPS[name](b.out, node, index, picks), None


def _number(b: Any, number: int, dtype: DType) -> Element:
    """Return a constant; for a complex dtype the pair of its parts, as outlines of open sizes are such."""
    if not dtype.is_complex:
        return b.constant(number, dtype)  # type: ignore[no-any-return]
    parts = (b.constant(part, dtype.real_dtype) for part in (number, 0))
    return b.pair(*parts)  # type: ignore[no-any-return]


def _shape(b: Any, node: Node, index: Index) -> Place:
    dtype = node.results[0].dtype
    numbers = [b.cast(b.wrap(int64, str(size)), dtype) for size in sizes(node.inputs[0].type)]
    (position,) = index
    if isinstance(position, int):
        return numbers[position]  # type: ignore[no-any-return]
    found = numbers[0]
    for i, number in enumerate(numbers[1:], 1):
        found = b.select(b.wrap(int64, position).same(i), number, found)
    return found  # type: ignore[no-any-return]


def _real(found: Element) -> Element:
    assert isinstance(found, Pair)
    return found.real


def _imag(found: Element) -> Element:
    assert isinstance(found, Pair)
    return found.imag


def _one_hot(b: Any, node: Node, index: Index) -> Place:
    axis = node.attributes.get("axis", -1) % len(index)
    indices = node.inputs[0]

    def choose(found: Element) -> Element:
        position = b.wrap(int64, _text(index[axis]))
        chosen = b.cast(found, int64).same(position)
        return b.select(chosen, *(b.number(value) for value in node.inputs[1:3]))

    return indices, (*index[:axis], *index[axis + 1 :]), choose


def _pad(b: Any, node: Node, index: Index) -> Place:
    """Return the nearest element inside, replaced by the constant where the index lies outside."""
    source, out = node.inputs[0], b.out
    constant = b.constant(node.attributes.get("constant_values", 0), source.dtype)
    if 0 in sizes(source.type):
        return constant  # type: ignore[no-any-return]
    within = ""
    inner: list[Position] = []
    for position, size, (before, after) in zip(index, sizes(source.type), node.attributes["paddings"], strict=True):
        if not before and not after:
            inner.append(position)
            continue
        at = plus(out, position, times(out, dimension(out, before), -1))
        ends = below(out, at, 0), below(out, at, size)
        if ends[0] is True or ends[1] is False:
            return constant  # type: ignore[no-any-return]
        if ends == (False, True):
            inner.append(at)
            continue
        inside = out.new(f"icmp ult i64 {at}, {size}")
        inner.append(out.new(f"select i1 {inside}, i64 {at}, i64 0"))
        within = out.new(f"and i1 {within}, {inside}") if within else inside
    if not within:
        return source, tuple(inner), None
    return source, tuple(inner), lambda found: b.select(b.wrap(bool_, within), found, constant)


def _text(position: Position) -> str:
    return str(position)


def mapped(out: FunctionText, node: Node, index: Index) -> Index | None:
    """Return the index in the source for a fixed permutation, reshape or broadcast; None for other views."""
    return _MAPS[node.op.name](out, node, index, ()) if node.op.name in _STRAIGHT else None


# ---- index maps


def _transpose(out: FunctionText, node: Node, index: Index, picks: Any) -> Index:
    rank = len(index)
    perm = node.attributes.get("perm")
    order = range(rank)[::-1] if perm is None else [p % rank for p in perm]
    back: list[Position] = [0] * rank
    for position, axis in zip(index, order, strict=True):
        back[axis] = position
    return tuple(back)


def _matrix_transpose(out: FunctionText, node: Node, index: Index, picks: Any) -> Index:
    return (*index[:-2], index[-1], index[-2])


def _reverse(out: FunctionText, node: Node, index: Index, picks: Any) -> Index:
    shape = sizes(node.inputs[0].type)
    axes = {a % len(shape) for a in node.attributes["axis"]}
    return tuple(plus(out, times(out, i, -1), plus(out, shape[d], -1)) if d in axes else i for d, i in enumerate(index))


def _roll(out: FunctionText, node: Node, index: Index, picks: Any) -> Index:
    """Map an index through a rotation: positions shifted below the start wrap around."""
    shape = sizes(node.inputs[0].type)
    found = list(index)
    for shift, axis in zip(node.attributes["shift"], node.attributes["axis"], strict=True):
        size = shape[axis]
        if not isinstance(size, int):
            found[axis] = _rolled(out, found[axis], shift, size)
            continue
        moved = plus(out, found[axis], -shift % size if size else 0)
        verdict = below(out, moved, size) if size else None
        if isinstance(moved, int):
            found[axis] = moved % size if size else 0
        elif verdict is not None:
            found[axis] = moved if verdict else plus(out, moved, -size)
        elif size:
            beyond = out.new(f"icmp sge i64 {moved}, {size}")
            found[axis] = out.new(f"select i1 {beyond}, i64 {plus(out, moved, -size)}, i64 {moved}")
    return tuple(found)


def _rolled(out: FunctionText, position: Position, shift: int, size: str) -> Position:
    """Rotate a position in an open dimension."""
    left = out.new(f"srem i64 {-shift}, {size}")
    moved = plus(out, position, out.new(f"select i1 {out.new(f'icmp slt i64 {left}, 0')}, i64 "
                                        f"{plus(out, left, size)}, i64 {left}"))  # fmt: skip
    beyond = out.new(f"icmp sge i64 {moved}, {size}")
    return out.new(f"select i1 {beyond}, i64 {out.new(f'sub nsw i64 {moved}, {size}')}, i64 {moved}")


def _reshape(out: FunctionText, node: Node, index: Index, picks: Any) -> Index:
    source, result = sizes(node.inputs[0].type), sizes(node.results[0].type)
    if [s for s in source if s != 1] == [s for s in result if s != 1]:
        left = iter([i for i, size in zip(index, result, strict=True) if size != 1])
        return tuple(0 if size == 1 else next(left) for size in source)
    return unravelled(out, linear(out, index, result), source)


def _broadcast(out: FunctionText, node: Node, index: Index, picks: Any) -> Index:
    own = sizes(node.inputs[0].type)
    return tuple(0 if size == 1 else i for size, i in zip(own, index[len(index) - len(own) :], strict=True))


def _get_item(out: FunctionText, node: Node, index: Index, picks: Sequence[Position]) -> Index:
    """Map an index through a subscript: ints drop a dimension, slices keep it, newaxis adds one."""
    shape = sizes(node.inputs[0].type)
    given, dynamic = iter(index), iter(picks)
    found: list[Position] = []
    for entry, _, axis, count in aligned(node.attributes["spec"], len(shape)):
        if isinstance(entry, NewAxis):
            next(given)
        elif isinstance(entry, Rest):
            found += [next(given) for _ in range(count)]
        elif isinstance(entry, At):
            found.append(next(dynamic) if entry.index == INPUT else counted(out, entry.index, shape[axis]))
        elif isinstance(entry, Slice):
            start, step = first_of(out, entry, shape[axis])
            found.append(plus(out, times(out, next(given), step), start))
    return tuple(found)


def item_index(out: FunctionText, node: Node, index: Index, picks: Sequence[Position]) -> Index:
    """Return the index in the whole array of the element at `index` of the subscripted part."""
    return _get_item(out, node, index, picks)


def _gather_one(out: FunctionText, node: Node, index: Index, picks: Sequence[Position]) -> Index:
    axis = node.attributes.get("axis", 0) % len(sizes(node.inputs[0].type))
    return (*index[:axis], picks[0], *index[axis:])


_MAPS: dict[str, Callable[..., Index]] = {
    "transpose": _transpose, "matrix_transpose": _matrix_transpose, "reverse": _reverse, "reshape": _reshape,
    "reshape_like": _reshape, "expand_dims": _reshape, "squeeze": _reshape, "broadcast_to": _broadcast,
    "broadcast_to_shape_of": _broadcast, "get_item": _get_item, "gather": _gather_one, "roll": _roll,
}  # fmt: skip
_STRAIGHT = frozenset(
    {"transpose", "matrix_transpose", "reshape", "reshape_like", "expand_dims", "squeeze", "broadcast_to",
     "broadcast_to_shape_of"}
)  # fmt: skip
