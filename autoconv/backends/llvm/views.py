"""Views: from an index of what a node makes to the index of what it looks at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.llvm.roles import sizes
from autoconv.backends.llvm.scalars import Element
from autoconv.backends.llvm.text import FunctionText
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node, Value
from autoconv.ops.index_spec import INPUT

Position = int | str  # a number, or the i64 that holds it
Index = tuple[Position, ...]
# An element that needs no array; or the value to look at, where, and what to do with what is found.
Place = Element | tuple[Value, Index, Callable[[Element], Element] | None]


def viewed(b: Any, node: Node, index: Index, picks: Sequence[Position]) -> Place:
    """Where the element at `index` of a view's result comes from. `picks` are its dynamic indices, made positive;
    `b.number(value)` is a scalar operand."""
    name = node.op.name
    if name in ("zeros_like", "ones_like"):
        return b.constant(int(name == "ones_like"), node.results[0].type.dtype)  # type: ignore[union-attr]
    if name == "fill":
        return node.inputs[0], (), None
    if name == "one_hot":
        return _one_hot(b, node, index)
    source = node.inputs[0]
    return source, _MAPS[name](b.out, node, index, picks), None


def _one_hot(b: Any, node: Node, index: Index) -> Place:
    axis = node.attributes.get("axis", -1) % len(index)
    indices = node.inputs[0]

    def choose(found: Element) -> Element:
        position = b.wrap(int64, _text(index[axis]))
        chosen = b.cast(found, int64).same(position)
        return b.select(chosen, *(b.number(value) for value in node.inputs[1:3]))

    return indices, (*index[:axis], *index[axis + 1 :]), choose


def _text(position: Position) -> str:
    return str(position)


# ---- arithmetic on positions


def plus(out: FunctionText, x: Position, y: Position) -> Position:
    if isinstance(x, int) and isinstance(y, int):
        return x + y
    if x == 0:
        return y
    return x if y == 0 else out.new(f"add nsw i64 {x}, {y}")


def times(out: FunctionText, x: Position, factor: int) -> Position:
    if isinstance(x, int):
        return x * factor
    return x if factor == 1 else 0 if factor == 0 else out.new(f"mul nsw i64 {x}, {factor}")


def linear(out: FunctionText, index: Index, shape: Sequence[int]) -> Position:
    """Where the element lies, counted in elements from the first."""
    total: Position = 0
    for position, size in zip(index, shape, strict=True):
        total = plus(out, times(out, total, size), position)
    return total


def unravelled(out: FunctionText, offset: Position, shape: Sequence[int]) -> Index:
    """The index of the element that lies `offset` elements after the first."""
    index: list[Position] = []
    for size in reversed(shape[1:]):
        if isinstance(offset, int):
            index.append(offset % size if size else 0)
            offset = offset // size if size else 0
        else:
            index.append(out.new(f"urem i64 {offset}, {size}") if size > 1 else 0)
            offset = out.new(f"udiv i64 {offset}, {size}") if size > 1 else offset
    return (offset, *reversed(index)) if len(shape) else ()


# ---- maps


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
    return tuple(plus(out, times(out, i, -1), shape[d] - 1) if d in axes else i for d, i in enumerate(index))


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
    """Ints take a dimension away, slices keep it, newaxis makes one."""
    shape = sizes(node.inputs[0].type)
    spec = list(node.attributes["spec"])
    covered = sum(entry[0] in ("int", "slice") for entry in spec)
    if not any(entry[0] == "ellipsis" for entry in spec):
        spec.append(("ellipsis",))
    given, dynamic = iter(index), iter(picks)
    found: list[Position] = []
    for entry in spec:
        size = shape[len(found)] if len(found) < len(shape) else 0
        if entry[0] == "newaxis":
            next(given)
        elif entry[0] == "ellipsis":
            found += [next(given) for _ in range(len(shape) - covered)]
        elif entry[0] == "int":
            found.append(next(dynamic) if entry[1] == INPUT else entry[1] % size)
        else:
            start, _, step = slice(*entry[1:]).indices(size)
            found.append(plus(out, times(out, next(given), step), start))
    return tuple(found)


def item_index(out: FunctionText, node: Node, index: Index, picks: Sequence[Position]) -> Index:
    """Where in what it indexes, or changes, the element at `index` of the indexed part lies."""
    return _get_item(out, node, index, picks)


def _gather_one(out: FunctionText, node: Node, index: Index, picks: Sequence[Position]) -> Index:
    axis = node.attributes.get("axis", 0) % len(sizes(node.inputs[0].type))
    return (*index[:axis], picks[0], *index[axis:])


_MAPS: dict[str, Callable[..., Index]] = {
    "transpose": _transpose, "matrix_transpose": _matrix_transpose, "reverse": _reverse, "reshape": _reshape,
    "reshape_like": _reshape, "expand_dims": _reshape, "squeeze": _reshape, "broadcast_to": _broadcast,
    "broadcast_to_shape_of": _broadcast, "get_item": _get_item, "gather": _gather_one,
}  # fmt: skip
