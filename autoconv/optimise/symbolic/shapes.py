"""Result shapes that need arithmetic on symbols: one rule per op.

A rule returns the shape of all results, or a list of their shapes; None if they cannot be expressed. It adds what must
hold for the shape to the preconditions of `sizes`. `sizes.numbers` maps values to the dimensions that they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoconv.graph.dimensions import Quotient, floor_quotient, minimum, plus, product, slice_length, times
from autoconv.graph.graph import Value
from autoconv.graph.types import Dimension, Symbol
from autoconv.ops.index_spec import INPUT, At, Mask, NewAxis, Rest, Slice, align, is_basic
from autoconv.ops.movement.indexing import indexed_shape
from autoconv.optimise.symbolic.numbers import Shape, shape_of
from autoconv.optimise.symbolic.sizes import Sizes

_Rule = Callable[["Sizes", Sequence[Value], Mapping[str, Any]], "Shape | list[Shape] | None"]


def _get_item(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Return the shape of the indexed array; positions that are constants are required to be in range."""
    shape, spec = shape_of(inputs[0]), attributes["spec"]
    if shape is None or Mask() in spec:
        return None
    dimensions: list[Dimension] = []
    for entry, operands, axis, width in align(spec, len(shape), inputs[1:]):
        if isinstance(entry, NewAxis):
            dimensions.append(1)
        elif isinstance(entry, Rest):
            dimensions += shape[axis : axis + width]
        elif isinstance(entry, Slice):
            bounds_of_operands = list(map(sizes.numbers.get, operands))
            dimensions.append(
                None if None in bounds_of_operands else _sliced_dimension(
                    sizes, shape[axis], entry.with_operands(bounds_of_operands)
                )
            )
        elif isinstance(entry, At) and isinstance(entry.index, int) and isinstance(size := shape[axis], Symbol):
            smallest_size = entry.index + 1 if entry.index >= 0 else -entry.index
            sizes.require_nonnegative(plus(size, -smallest_size))
    if is_basic(spec):
        return tuple(dimensions)

    def sliced_dimension_if_static(size: Dimension, bounds: Sequence[Any]) -> Dimension:
        return None if INPUT in bounds else _sliced_dimension(sizes, size, bounds)

    types: Any = tuple(value.type for value in inputs[1:])
    return indexed_shape(shape, types, spec, sliced_dimension_if_static)


def _sliced_dimension(sizes: Sizes, size: Dimension, bounds: Sequence[Any]) -> Dimension:
    """Return the length of a slice with these bounds (start, stop, step) of a dimension."""
    nonnegative_sizes: list[Dimension] = []
    result = slice_length(size, bounds, nonnegative_sizes)
    for nonnegative_size in nonnegative_sizes:
        sizes.require_nonnegative(nonnegative_size)
    return result


def _new_array(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    operands = iter(inputs)
    dimensions: list[Any] = [
        sizes.numbers.get(next(operands)) if size == INPUT else size for size in attributes["shape"]
    ]
    return None if any(isinstance(size, int) and size < 0 for size in dimensions) else tuple(dimensions)


def _set_item(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Return the operand's shape; that the index is in bounds becomes a precondition."""
    _get_item(sizes, (inputs[0], *inputs[2:]), attributes)
    return shape_of(inputs[0])


def _concat(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Return the shape with the sizes along the axis added; None if the other sizes differ."""
    shapes = [shape_of(value) for value in inputs]
    first_shape = shapes[0]
    if first_shape is None or any(shape is None or len(shape) != len(first_shape) for shape in shapes):
        return None
    axis = attributes["axis"] % len(first_shape)
    total: Dimension = 0
    for shape in shapes:
        assert shape is not None
        total = plus(total, shape[axis])
        pairs = enumerate(zip(first_shape, shape, strict=True))
        if any(size != other_size for i, (size, other_size) in pairs if i != axis):
            return None
    return (*first_shape[:axis], total, *first_shape[axis + 1 :])


def _pad(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Return the sizes with the amounts of padding added.

    The modes other than CONSTANT require as many elements as are padded, and REFLECT also the edge, which it skips.
    """
    shape, paddings = shape_of(inputs[0]), attributes["paddings"]
    if shape is None or paddings is None or len(inputs) > 1 or len(paddings) != len(shape):
        return None
    for amount in (amount for pair in paddings for amount in pair):
        sizes.require_nonnegative(amount)
    if attributes.get("mode", "CONSTANT") != "CONSTANT":
        skips_edge = attributes["mode"] == "REFLECT"
        for size, pair in zip(shape, paddings, strict=True):
            padded_count = max(pair)
            smallest_size = padded_count + 1 if skips_edge and padded_count > 0 else padded_count
            sizes.require_nonnegative(plus(size, -smallest_size))
    return tuple(plus(plus(size, before), after) for size, (before, after) in zip(shape, paddings, strict=True))


def _reshape(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Return the new shape, with the inferred size in place of -1; None if the element counts are never equal.

    Where they may be equal, it is a precondition that they are.
    """
    shape, requested_shape = shape_of(inputs[0]), _requested_dimensions(sizes, inputs, attributes["shape"])
    if shape is None or requested_shape is None or None in shape or None in requested_shape:
        return None
    inferred_axes = [i for i, size in enumerate(requested_shape) if size == -1]
    if len(inferred_axes) > 1 or 0 in requested_shape:
        return None
    if inferred_axes:
        inferred = _inferred_size(shape, [size for size in requested_shape if size != -1])
        if inferred is None:
            return None
        requested_shape = tuple(inferred if i in inferred_axes else size for i, size in enumerate(requested_shape))
    return requested_shape if _require_equal(sizes, product(requested_shape), product(shape)) else None


def _inferred_size(shape: Shape, requested_sizes: Sequence[Dimension]) -> Dimension:
    """Return the size for -1 in a shape whose other sizes are `requested_sizes`.

    A quotient among the requested sizes is taken as exact: the element count is multiplied by its divisor, and the
    product of the other sizes by its dividend.
    """
    quotients = [size for size in requested_sizes if isinstance(size, Quotient)]
    other_sizes = [size for size in requested_sizes if not isinstance(size, Quotient)]
    total = product((*shape, *(size.divisor for size in quotients)))
    return floor_quotient(total, product((*other_sizes, *(size.dividend for size in quotients))))


def _reshape_like(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape, target = map(shape_of, inputs)
    if shape is None or target is None or None in shape or None in target:
        return None
    return target if _require_equal(sizes, product(target), product(shape)) else None


def _require_equal(sizes: Sizes, first: Dimension, second: Dimension) -> bool:
    """Make it a precondition that two dimensions are equal; return False if they never are."""
    difference = plus(first, times(second, -1))
    if not isinstance(difference, Symbol):
        return difference == 0
    sizes.require_nonnegative(difference)
    sizes.require_nonnegative(times(difference, -1))
    return True


def _flattening_rule(name: str, value: Any) -> _Rule:
    """Return a rule for ops that flatten their operand if the attribute `name` is `value`."""

    def rule(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
        shape = shape_of(inputs[0])
        return None if shape is None or None in shape or attributes.get(name) != value else (product(shape),)

    return rule


def _squeeze(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Drop all dimensions of size 1; a symbol is never 1."""
    shape = shape_of(inputs[0])
    if shape is None or None in shape or attributes.get("axis") is not None:
        return None
    return tuple(size for size in shape if size != 1)


def _fill(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Return the requested shape of a `fill` or `broadcast_to`."""
    return _require_nonnegative(sizes, _requested_dimensions(sizes, inputs, attributes["shape"]))


def _require_nonnegative(sizes: Sizes, shape: Shape | None) -> Shape | None:
    """Require that the sizes of a shape are not negative; return the shape, None if it is not known."""
    if shape is None or None in shape or any(isinstance(size, int) and size < 0 for size in shape):
        return None
    for size in shape:
        sizes.require_nonnegative(size)
    return shape


def _requested_shape_rule(position: int) -> _Rule:
    """Return a rule for ops whose operand at `position` is the result's shape."""

    def rule(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
        if len(inputs) <= position:
            return None
        numbers = sizes.numbers.get(inputs[position])
        return _require_nonnegative(sizes, numbers) if isinstance(numbers, tuple) else None

    return rule


def _added_dimension_rule(position: int, default_axis: int) -> _Rule:
    """Return a rule for ops that add a dimension to the first operand's shape.

    Its size is the operand at `position`; its axis is the attribute `axis`, or `default_axis`.
    """

    def rule(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
        """Return the shape with a new dimension, whose size is an operand that has to be nonnegative."""
        shape = shape_of(inputs[0])
        size = sizes.numbers.get(inputs[position]) if len(inputs) > position else None
        if shape is None or size is None or isinstance(size, tuple) or (isinstance(size, int) and size < 1):
            return None
        sizes.require_nonnegative(size)
        axis = attributes.get("axis", default_axis) % (len(shape) + 1)
        return (*shape[:axis], size, *shape[axis:])

    return rule


def _requested_dimensions(sizes: Sizes, inputs: Sequence[Value], attribute: Any) -> Shape | None:
    """Return the requested dimensions: the last operand's numbers, or the attribute if there is one operand."""
    if len(inputs) < 2:
        return None if attribute is None else tuple(attribute)
    numbers = sizes.numbers.get(inputs[-1])
    if numbers is None:
        return None
    return numbers if isinstance(numbers, tuple) else (numbers,)


def _range(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Return the length of a range with a step of 1 and a symbolic length."""
    bounds = [sizes.numbers.get(value) for value in inputs]
    if len(bounds) != 3 or any(isinstance(bound, tuple) for bound in bounds):
        return None
    start, stop, step = bounds
    if step != 1:
        return None
    length = plus(stop, times(start, -1))  # type: ignore[arg-type]
    if not isinstance(length, Symbol):
        return None
    sizes.require_nonnegative(length)
    return (length,)


def _top_k(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape, count = shape_of(inputs[0]), attributes.get("k")
    if shape is None or count is None or len(inputs) > 1:
        return None
    sizes.require_nonnegative(plus(shape[-1], -count))
    return (*shape[:-1], count)


def _split(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> list[Shape] | None:
    """Return the shapes of the parts: their sizes are an operand or an attribute, or None for equal parts."""
    shape, static_sizes = shape_of(inputs[0]), list(attributes["sizes"])
    numbers = sizes.numbers.get(inputs[1]) if len(inputs) > 1 else None
    if shape is None or (len(inputs) > 1 and not isinstance(numbers, tuple)):
        return None
    axis = attributes.get("axis", 0) % len(shape)
    lengths: list[Dimension] = list(numbers) if isinstance(numbers, tuple) else static_sizes
    if lengths.count(-1) == 1:
        remaining = shape[axis]
        for size in lengths:
            remaining = plus(remaining, times(size, -1) if size != -1 else 0)
        sizes.require_nonnegative(remaining)
        lengths[lengths.index(-1)] = remaining
    elif None in lengths:
        length = floor_quotient(shape[axis], len(lengths))
        sizes.require_nonnegative(plus(times(length, len(lengths)), times(shape[axis], -1)))  # the division is exact
        return [(*shape[:axis], length, *shape[axis + 1 :])] * len(lengths)
    total: Dimension = 0
    for size in lengths:
        total = plus(total, size)
    if total is None or total != shape[axis]:
        return None
    return [(*shape[:axis], size, *shape[axis + 1 :]) for size in lengths]


def _tile(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape, counts = shape_of(inputs[0]), _requested_dimensions(sizes, inputs, attributes["multiples"])
    if shape is None or counts is None or len(counts) != len(shape):
        return None
    return tuple(map(times, shape, counts))


def _repeat(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape, count = shape_of(inputs[0]), attributes.get("repeats")
    if shape is None or count is None or len(inputs) > 1:
        return None
    axis = attributes["axis"] % len(shape)
    return (*shape[:axis], times(shape[axis], count), *shape[axis + 1 :])


def _unpad(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Return the sizes less the paddings."""
    shape, paddings = shape_of(inputs[0]), attributes["paddings"]
    if shape is None or paddings is None or len(inputs) > 1:
        return None
    return tuple(
        plus(size, times(plus(before, after), -1)) for size, (before, after) in zip(shape, paddings, strict=True)
    )


def _diag(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape = shape_of(inputs[0])
    if not shape:
        return None
    size = plus(shape[-1], abs(attributes.get("offset", 0)))
    return (*shape[:-1], size, size)


def _diag_part(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Return the shape with the diagonal's length, which is required to be nonnegative."""
    shape, offset = shape_of(inputs[0]), attributes.get("offset", 0)
    if shape is None or len(shape) < 2:
        return None
    size = minimum(plus(shape[-2], min(offset, 0)), plus(shape[-1], -max(offset, 0)))
    sizes.require_nonnegative(size)
    return None if isinstance(size, int) and size < 0 else (*shape[:-2], size)


# ---- decompositions and Fourier transforms


def _qr(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> list[Shape] | None:
    """Return the shapes of the orthogonal and the triangular factor."""
    shape = shape_of(inputs[0])
    if shape is None or len(shape) < 2:
        return None
    *batch, rows, columns = shape
    inner_size = rows if attributes.get("full_matrices") else minimum(rows, columns)
    return [(*batch, rows, inner_size), (*batch, inner_size, columns)]


def _svd(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> list[Shape] | None:
    """Return the shapes of the singular values, and of the left and right singular vectors if they are computed."""
    shape = shape_of(inputs[0])
    if shape is None or len(shape) < 2:
        return None
    *batch, rows, columns = shape
    inner_size = minimum(rows, columns)
    left_columns, right_columns = (rows, columns) if attributes.get("full_matrices") else (inner_size, inner_size)
    shapes: list[Shape] = [(*batch, inner_size), (*batch, rows, left_columns), (*batch, columns, right_columns)]
    return shapes if attributes.get("compute_uv", True) else shapes[:1]


def _sliding_windows(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    """Return the shape with a window for each position: size + 1 - length along an axis, and the lengths at the end."""
    shape = shape_of(inputs[0])
    if shape is None:
        return None
    dimensions = list(shape)
    for axis, length in zip(attributes["axes"], attributes["lengths"], strict=True):
        dimensions[axis] = plus(dimensions[axis], 1 - length)
    return (*dimensions, *attributes["lengths"])


def _rfft(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape = shape_of(inputs[0])
    return (*shape[:-1], plus(floor_quotient(shape[-1], 2), 1)) if shape else None


def _irfft(sizes: Sizes, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> Shape | None:
    shape, length = shape_of(inputs[0]), attributes.get("length")
    return (*shape[:-1], length if length is not None else times(2, plus(shape[-1], -1))) if shape else None


SHAPE_RULE_BY_OP: dict[str, _Rule] = {
    "get_item": _get_item, "array_view": _get_item, "array_new": _new_array, "concat": _concat, "pad": _pad,
    "reshape": _reshape, "fill": _fill, "broadcast_to": _fill, "range": _range, "set_item": _set_item,
    "add_at_item": _set_item, "top_k": _top_k, "split": _split, "tile": _tile, "repeat": _repeat, "unpad": _unpad,
    "diag": _diag, "diag_part": _diag_part, "reshape_like": _reshape_like, "squeeze": _squeeze, "qr": _qr, "svd": _svd,
    "sliding_windows": _sliding_windows, "rfft": _rfft, "irfft": _irfft,
    "numpy_cumsum": _flattening_rule("axis", value=None), "numpy_cumprod": _flattening_rule("axis", value=None),
    "numpy_copy": _flattening_rule("method", value="flatten"),
    **{
        f"random_{name}": _requested_shape_rule(0) for name in ("uniform", "normal", "bits", "truncated_normal")
    }, "random_uniform_int": _requested_shape_rule(2),
    **{
        f"stateless_random_{name}": _requested_shape_rule(1) for name in ("uniform", "normal", "bits")
    }, "eye": _requested_shape_rule(0),
    "one_hot": _added_dimension_rule(3, -1), "linspace": _added_dimension_rule(2, 0),
    "stateless_truncated_normal": _requested_shape_rule(1),
    "stateless_random_uniform_int": _requested_shape_rule(3),
}  # fmt: skip
