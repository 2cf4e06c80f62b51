"""Shapes by symbols: what the dimensions of arguments say of all others, and of numbers that are computed of shapes.

    before   graph f(%x: float32[n,3]) {
               %part = get_item(%x, spec=(('slice', 1, None, None),)): float32[?,3]
               …
    after    %part is float32[n-1,3]

Result rules say what they can of symbols; what takes arithmetic is said here. What has to hold for it is kept as
dimensions that must not be negative: of `x[:5]`, whose length is 5, that n - 5 is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.graph.dimensions import plus, product, quotient, rounded_down, slice_length, times
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Dimension, Symbol, TensorType, Type
from autoconv.ops.index_spec import INPUT
from autoconv.ops.indexing import indexed_shape

Numbers = Dimension | tuple[Dimension, ...]  # of a number; of a vector of some
Shape = tuple[Dimension, ...]
_MOST = 16  # numbers of a vector that is followed


class Sizes:
    """`numbers` are the integers that values hold, as far as they are dimensions; `needs` what must not be negative."""

    def __init__(self) -> None:
        self.numbers: dict[Value, Numbers] = {}
        self.needs: dict[int | Symbol, None] = {}

    def types(self, node: Node, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> list[Type] | None:
        """What the results are; None for an op of which nothing is known here."""
        rule = _SHAPES.get(node.op.name)
        if rule is None or not inputs or not isinstance(inputs[0].type, TensorType):
            return None
        found = rule(self, inputs, attributes)
        before = [value.type for value in node.results]
        if found is None or not all(isinstance(type_, TensorType) for type_ in before):
            return None
        shapes = found if isinstance(found, list) else [found] * len(before)
        return [type_.with_shape(shape) for type_, shape in zip(before, shapes, strict=True)]  # type: ignore[union-attr]

    def note(self, node: Node) -> None:
        """Keeps in mind what a node's result holds."""
        if len(node.results) != 1 or not isinstance(node.results[0].type, TensorType):
            return
        type_ = node.results[0].type
        if not type_.dtype.is_integer or type_.shape is None or len(type_.shape) > 1:
            return
        rule = _NUMBERS.get(node.op.name)
        found = None if rule is None else rule(self, node)
        if found is not None and (not isinstance(found, tuple) or len(found) <= _MOST):
            self.numbers[node.results[0]] = found

    def share(self, inner: Sequence[Value], outer: Sequence[Value]) -> None:
        """Says that parameters of a region are those values of the graph around it."""
        for parameter, value in zip(inner, outer, strict=True):
            if value in self.numbers:
                self.numbers[parameter] = self.numbers[value]

    def need(self, dimension: Dimension) -> None:
        """Says that it must not be negative."""
        if isinstance(dimension, Symbol):
            self.needs[dimension] = None


def has_symbols(type_: Type) -> bool:
    return isinstance(type_, TensorType) and any(isinstance(d, Symbol) for d in type_.shape or ())


def without_symbols(type_: Type) -> Type:
    """For rules that do arithmetic of their own."""
    if not isinstance(type_, TensorType) or type_.shape is None:
        return type_
    return type_.with_shape(tuple(None if isinstance(d, Symbol) else d for d in type_.shape))


def _shape(value: Value) -> Shape | None:
    return value.type.shape if isinstance(value.type, TensorType) else None


# ---- shapes


def _get_item(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape, spec = _shape(inputs[0]), list(attributes["spec"])
    if shape is None or any(entry[0] == "mask" for entry in spec):
        return None
    covered = sum(entry[0] in ("int", "slice", "array") for entry in spec)
    if not any(entry[0] == "ellipsis" for entry in spec):
        spec.append(("ellipsis",))
    operands = iter(inputs[1:])
    found: list[Dimension] = []
    axis = 0
    for entry in spec:
        if entry[0] == "newaxis":
            found.append(1)
        elif entry[0] == "ellipsis":
            found += shape[axis : axis + len(shape) - covered]
            axis += len(shape) - covered
        elif entry[0] == "array":
            next(operands)
            axis += 1
        else:
            given = [next(operands) if bound == INPUT else bound for bound in entry[1:]]
            size = shape[axis]
            if entry[0] == "slice":
                bounds = [sizes.numbers.get(b) if isinstance(b, Value) else b for b in given]
                open_ = [i for i, b in enumerate(given) if isinstance(b, Value) and bounds[i] is None]
                found.append(None if open_ else _sliced(sizes, size, bounds))
            elif isinstance(size, Symbol) and entry[0] == "int" and isinstance(entry[1], int):
                sizes.need(plus(size, -entry[1] - 1) if entry[1] >= 0 else plus(size, entry[1]))
            axis += 1
    if not any(entry[0] == "array" for entry in attributes["spec"]):
        return tuple(found)

    def sliced(size: Dimension, bounds: Sequence[Any]) -> Dimension:
        return None if INPUT in bounds else _sliced(sizes, size, bounds)

    types: Any = tuple(value.type for value in inputs[1:])
    return indexed_shape(shape, types, attributes["spec"], sliced)


def _sliced(sizes: Sizes, size: Dimension, bounds: Sequence[Any]) -> Dimension:
    needs: list[Dimension] = []
    found = slice_length(size, bounds, needs)
    for need in needs:
        sizes.need(need)
    return found


def _set_item(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """What is changed keeps its shape; its index has to fit."""
    _get_item(sizes, (inputs[0], *inputs[2:]), attributes)
    return _shape(inputs[0])


def _concat(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shapes = [_shape(value) for value in inputs]
    first = shapes[0]
    if first is None or any(shape is None or len(shape) != len(first) for shape in shapes):
        return None
    axis = attributes["axis"] % len(first)
    total: Dimension = 0
    for shape in shapes:
        assert shape is not None
        total = plus(total, shape[axis])
        if any(a != b for i, (a, b) in enumerate(zip(first, shape, strict=True)) if i != axis):
            return None
    return (*first[:axis], total, *first[axis + 1 :])


def _pad(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape, paddings = _shape(inputs[0]), attributes["paddings"]
    if shape is None or paddings is None or len(inputs) > 1 or len(paddings) != len(shape):
        return None
    for amount in (amount for pair in paddings for amount in pair):
        sizes.need(amount)
    if attributes.get("mode", "CONSTANT") != "CONSTANT":
        reflects = attributes["mode"] == "REFLECT"  # an element of the edge is not repeated
        for size, pair in zip(shape, paddings, strict=True):
            sizes.need(plus(size, -max(pair) - (reflects and max(pair) > 0)))
    return tuple(plus(plus(size, before), after) for size, (before, after) in zip(shape, paddings, strict=True))


def _reshape(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape, wanted = _shape(inputs[0]), _given(sizes, inputs, attributes["shape"])
    if shape is None or wanted is None or None in shape:
        return None
    left = [i for i, size in enumerate(wanted) if size == -1]
    total = product(shape)
    known = product([size for size in wanted if size != -1])
    if len(left) == 1:
        rest = quotient(total, known)
        return None if rest is None else tuple(rest if i in left else size for i, size in enumerate(wanted))
    return wanted if not left and known == total else None


def _to_shape(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Of `fill` and `broadcast_to`."""
    found = _given(sizes, inputs, attributes["shape"])
    if found is None or None in found or any(isinstance(size, int) and size < 0 for size in found):
        return None
    for size in found:
        sizes.need(size)
    return found


def _given(sizes: Sizes, inputs: Sequence[Value], attribute: Any) -> Shape | None:
    """Dimensions that come as the last input, or as an attribute."""
    if len(inputs) < 2:
        return None if attribute is None else tuple(attribute)
    found = sizes.numbers.get(inputs[-1])
    if found is None:
        return None
    return found if isinstance(found, tuple) else (found,)


def _range(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    bounds = [sizes.numbers.get(value) for value in inputs]
    if len(bounds) != 3 or bounds[2] != 1 or any(isinstance(bound, tuple) for bound in bounds):
        return None
    length = plus(bounds[1], times(bounds[0], -1))  # type: ignore[arg-type]
    if not isinstance(length, Symbol):
        return None
    sizes.need(length)
    return (length,)


def _top_k(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape, count = _shape(inputs[0]), attributes.get("k")
    if shape is None or count is None or len(inputs) > 1:
        return None
    sizes.need(plus(shape[-1], -count))
    return (*shape[:-1], count)


def _split(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> list[Shape] | None:
    shape, wanted = _shape(inputs[0]), list(attributes["sizes"])
    given = sizes.numbers.get(inputs[1]) if len(inputs) > 1 else None
    if shape is None or (len(inputs) > 1 and not isinstance(given, tuple)):
        return None
    axis = attributes.get("axis", 0) % len(shape)
    parts: list[Dimension] = list(given) if isinstance(given, tuple) else wanted
    if parts.count(-1) == 1:
        left = shape[axis]
        for part in parts:
            left = plus(left, times(part, -1) if part != -1 else 0)
        sizes.need(left)
        parts[parts.index(-1)] = left
    elif None in parts:
        each = rounded_down(shape[axis], len(parts))
        sizes.need(plus(times(each, len(parts)), times(shape[axis], -1)))  # none is left over
        return [(*shape[:axis], each, *shape[axis + 1 :])] * len(parts)
    total: Dimension = 0
    for part in parts:
        total = plus(total, part)
    if total is None or total != shape[axis]:
        return None
    return [(*shape[:axis], part, *shape[axis + 1 :]) for part in parts]


def _tile(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape, counts = _shape(inputs[0]), _given(sizes, inputs, attributes["multiples"])
    if shape is None or counts is None or len(counts) != len(shape):
        return None
    return tuple(map(times, shape, counts))


def _repeat(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape, count = _shape(inputs[0]), attributes.get("repeats")
    if shape is None or count is None or len(inputs) > 1:
        return None
    axis = attributes["axis"] % len(shape)
    return (*shape[:axis], times(shape[axis], count), *shape[axis + 1 :])


def _unpad(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape, paddings = _shape(inputs[0]), attributes["paddings"]
    if shape is None or paddings is None or len(inputs) > 1:
        return None
    return tuple(
        plus(size, times(plus(before, after), -1)) for size, (before, after) in zip(shape, paddings, strict=True)
    )


def _diag(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape = _shape(inputs[0])
    if not shape:
        return None
    size = plus(shape[-1], abs(attributes.get("offset", 0)))
    return (*shape[:-1], size, size)


def _diag_part(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Of matrices that are square."""
    shape = _shape(inputs[0])
    if shape is None or len(shape) < 2 or shape[-1] != shape[-2]:
        return None
    size = plus(shape[-1], -abs(attributes.get("offset", 0)))
    sizes.need(size)
    return (*shape[:-2], size)


_Rule = Callable[[Sizes, Sequence[Value], Mapping[str, Any]], Shape | list[Shape] | None]
_SHAPES: dict[str, _Rule] = {
    "get_item": _get_item, "concat": _concat, "pad": _pad, "reshape": _reshape, "fill": _to_shape,
    "broadcast_to": _to_shape, "range": _range, "set_item": _set_item, "add_at_item": _set_item,
    "top_k": _top_k, "split": _split, "tile": _tile, "repeat": _repeat, "unpad": _unpad, "diag": _diag,
    "diag_part": _diag_part,
}  # fmt: skip


# ---- numbers


def _of_constant(sizes: Sizes, node: Node) -> Numbers | None:
    value = np.asarray(node.attributes["value"])
    if value.size > _MOST:
        return None
    found: Any = value.tolist()
    return tuple(found) if isinstance(found, list) else found


def _of_shape(sizes: Sizes, node: Node) -> Numbers | None:
    return _whole(_shape(node.inputs[0]))


def _of_dimension(sizes: Sizes, node: Node) -> Numbers | None:
    shape = _shape(node.inputs[0])
    return None if shape is None else shape[node.attributes["axis"]]


def _of_size(sizes: Sizes, node: Node) -> Numbers | None:
    shape = _shape(node.inputs[0])
    return None if shape is None else product(shape)


def _of_item(sizes: Sizes, node: Node) -> Numbers | None:
    source, spec = sizes.numbers.get(node.inputs[0]), node.attributes["spec"]
    if not isinstance(source, tuple) or len(spec) != 1 or len(node.inputs) > 1:
        return None
    (entry,) = spec
    if entry[0] == "int":
        return source[entry[1]] if -len(source) <= entry[1] < len(source) else None
    return source[slice(*entry[1:])] if entry[0] == "slice" else None


def _of_parts(sizes: Sizes, node: Node) -> Numbers | None:
    """Of `stack` and `concat`."""
    found: list[Dimension] = []
    for value in node.inputs:
        part = sizes.numbers.get(value)
        if part is None:
            return None
        found += part if isinstance(part, tuple) else (part,)
    return tuple(found)


def _same(sizes: Sizes, node: Node) -> Numbers | None:
    """Of what gives its first input, as another integer or under another shape."""
    found = sizes.numbers.get(node.inputs[0])
    rank = len(_shape(node.results[0]) or ())
    if found is None or isinstance(found, tuple) == (rank == 1):
        return found
    if rank:
        return (found,)  # type: ignore[return-value]
    return found[0] if isinstance(found, tuple) and len(found) == 1 else None


def _arithmetic(compute: Callable[[Dimension, Dimension], Dimension]) -> Callable[[Sizes, Node], Numbers | None]:
    def rule(sizes: Sizes, node: Node) -> Numbers | None:
        x, y = (sizes.numbers.get(value) for value in node.inputs)
        if x is None or y is None:
            return None
        if not isinstance(x, tuple) and not isinstance(y, tuple):
            return compute(x, y)
        count = len(x) if isinstance(x, tuple) else len(y)  # type: ignore[arg-type]
        xs, ys = (each if isinstance(each, tuple) else (each,) * count for each in (x, y))
        return _whole(tuple(map(compute, xs, ys))) if len(xs) == len(ys) else None

    return rule


def _less(x: Dimension, y: Dimension) -> Dimension:
    return plus(x, times(y, -1))


def _floor(x: Dimension, y: Dimension) -> Dimension:
    return rounded_down(x, y) if isinstance(y, int) and y > 0 else quotient(x, y)


def _of_product(sizes: Sizes, node: Node) -> Numbers | None:
    found = sizes.numbers.get(node.inputs[0])
    return product(found) if isinstance(found, tuple) and not _shape(node.results[0]) else None


def _whole(found: Shape | None) -> Shape | None:
    return None if found is None or None in found else found


_NUMBERS: dict[str, Callable[[Sizes, Node], Numbers | None]] = {
    "constant": _of_constant, "shape": _of_shape, "dimension": _of_dimension, "size": _of_size, "get_item": _of_item,
    "stack": _of_parts, "concat": _of_parts, "identity": _same, "cast": _same, "reshape": _same, "expand_dims": _same,
    "squeeze": _same, "python_int": _same, "python_cast": _same, "add": _arithmetic(plus),
    "python_add": _arithmetic(plus), "subtract": _arithmetic(_less), "python_subtract": _arithmetic(_less),
    "multiply": _arithmetic(times), "python_multiply": _arithmetic(times), "floor_divide": _arithmetic(_floor),
    "python_floor_divide": _arithmetic(_floor), "reduce_prod": _of_product,
}  # fmt: skip
