"""x[index] and its functional update, with NumPy's meaning; `index_spec` defines the attribute `spec`, the index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import numpy as np

from autoconv.errors import IndexOutOfRangeError, InvalidArgumentError
from autoconv.graph.dtypes import int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import Dimension, Shape, TensorType, Type, are_shapes_compatible, shape_text
from autoconv.ops.gradients import dtype_of
from autoconv.ops.index_spec import (
    INPUT,
    AlignedEntry,
    At,
    Entry,
    Gather,
    Mask,
    NewAxis,
    Rest,
    Slice,
    Spec,
    align,
    indexed_rank,
    is_basic,
)
from autoconv.ops.movement.numpy_index import check_in_range, numpy_index
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.rules import broadcast_shapes
from autoconv.ops.traits import Indexing, Scatter

# ---- the static shape of x[index]


def _get_item_type(x: TensorType, *operands: TensorType, spec: Spec) -> TensorType:
    return x.with_shape(indexed_shape(x.shape, operands, spec))


def indexed_shape(
    shape: Shape, operands: tuple[TensorType, ...], spec: Spec,
    size_of_slice: Callable[[Dimension, tuple[Any, ...]], Dimension] | None = None,
) -> Shape:  # fmt: skip
    """Return the static shape of x[index]; None when the rank is unknown.

    `size_of_slice(size, bounds)` may replace the rule for the length of a slice, for callers with more precise sizes.
    Raises IndexOutOfRangeError for indices that are statically out of range, TypeError for operands of a wrong dtype.
    """
    entries = align(spec, len(shape or ()), operands, lambda mask: mask.rank or 0)
    for entry, operands_of_entry, *_ in entries:
        _check_operands(entry, operands_of_entry)
        if isinstance(entry, Mask) and operands_of_entry[0].rank is None:
            return None
    covered_count = indexed_rank(entries)
    if shape is None:
        return None
    if covered_count > len(shape):
        raise IndexOutOfRangeError(
            f"too many indices: the tensor has {len(shape)} dimensions, but {covered_count} were indexed"
        )
    return _result_shape(_dimensions_of_entries(shape, entries, size_of_slice or _slice_size))


class _EntryDimensions(NamedTuple):
    """The dimensions of the result that come from an entry; if `is_advanced`, the shape of its index array."""

    dimensions: Shape
    is_advanced: bool = False


def _dimensions_of_entries(
    shape: tuple[Dimension, ...], aligned_entries: list[AlignedEntry], size_of_slice: Any
) -> list[_EntryDimensions]:
    """Return the dimensions of the result for each entry; raises IndexOutOfRangeError for an invalid index."""
    has_index_arrays = not is_basic(tuple(aligned.entry for aligned in aligned_entries))
    dimensions: list[_EntryDimensions] = []
    for entry, operands_of_entry, axis, width in aligned_entries:
        covered_sizes = shape[axis : axis + width]
        if isinstance(entry, NewAxis):
            dimensions.append(_EntryDimensions((1,)))
        elif isinstance(entry, Rest):
            dimensions.append(_EntryDimensions(covered_sizes))
        elif isinstance(entry, Slice):
            dimensions.append(_EntryDimensions((size_of_slice(shape[axis], entry.parts),)))
        elif isinstance(entry, Mask):
            if not are_shapes_compatible(covered_sizes, operands_of_entry[0].shape):
                raise IndexOutOfRangeError(
                    f"the boolean index of shape [{shape_text(operands_of_entry[0].shape)}] does not match the indexed "
                    f"dimensions [{shape_text(covered_sizes)}]"
                )
            dimensions.append(_EntryDimensions((None,), is_advanced=True))
        else:
            if isinstance(entry, At) and entry.index != INPUT:
                check_in_range(entry.index, shape[axis], axis)
            if has_index_arrays:
                array_shape = operands_of_entry[0].shape if isinstance(entry, Gather) else ()
                dimensions.append(_EntryDimensions(array_shape, is_advanced=True))
    return dimensions


def _result_shape(entry_dimensions: list[_EntryDimensions]) -> Shape:
    """Return the shape of x[index].

    The common dimensions of index arrays take the place of the arrays if these are adjacent; else they come first.
    """
    advanced_positions = [i for i, each in enumerate(entry_dimensions) if each.is_advanced]
    if not advanced_positions:
        return tuple(size for each in entry_dimensions for size in each.dimensions or ())
    common_shape = broadcast_shapes(*(each.dimensions for each in entry_dimensions if each.is_advanced))
    if common_shape is None:
        return None
    first, last = advanced_positions[0], advanced_positions[-1]
    are_adjacent = all(each.is_advanced for each in entry_dimensions[first:last])
    other_dimensions = [() if each.is_advanced else each.dimensions or () for each in entry_dimensions]
    before = other_dimensions[:first] if are_adjacent else []
    after = other_dimensions[first:] if are_adjacent else other_dimensions
    return (*chain.from_iterable(before), *common_shape, *chain.from_iterable(after))


def _slice_size(size: Dimension, bounds: tuple[Any, ...]) -> Dimension:
    """Return the length of a slice of a dimension; None if unknown."""
    start, stop, step = bounds
    if step == 0:
        raise InvalidArgumentError("slice step cannot be zero")
    takes_all = stop is None and ((start in (None, 0) and step in (None, 1)) or (start is None and step == -1))
    if takes_all:
        return size
    if INPUT in bounds:
        return None
    if isinstance(size, int):
        return len(range(*slice(start, stop, step).indices(size)))
    has_bounds = start is not None and stop is not None
    is_always_empty = has_bounds and (step or 1) > 0 and 0 <= stop <= start
    return 0 if is_always_empty else None


def _check_operands(entry: Entry, types: tuple[TensorType, ...]) -> None:
    """Raise TypeError for operands of an entry with a wrong dtype or rank."""
    for operand in types:
        if isinstance(entry, Mask):
            if not operand.dtype.is_bool:
                raise TypeError(f"a mask has to be of bools, found {operand}")
        elif not operand.dtype.is_integer:
            raise TypeError(f"an index has to be an integer, found {operand}")
        elif isinstance(entry, (At, Slice)) and not are_shapes_compatible(operand.shape, ()):
            raise TypeError(f"a bound or a single index has to be a scalar, found {operand}")


# ---- kernels


def _select_items(x: Any, index: tuple[Any, ...]) -> Any:
    """Return x[index]; raises InvalidArgumentError for index arrays that do not broadcast."""
    try:
        return x[index]
    except IndexError as error:
        raise InvalidArgumentError(f"the index arrays do not go together: {error}").with_plain_error(error) from None


def _get_item(x: Any, *operands: Any, spec: Spec) -> Any:
    x = np.asarray(x)
    selection = _select_items(x, numpy_index(x.shape, operands, spec))
    return selection if isinstance(selection, (np.ndarray, np.generic)) else np.array(selection, x.dtype)


def _set_item(x: Any, value: Any, *operands: Any, spec: Spec) -> Any:
    result = np.array(x)
    index = numpy_index(result.shape, operands, spec)
    item = _broadcast_to_item(np.asarray(value).astype(result.dtype), result, index)
    result[index] = item if item.ndim else item[()]  # a scalar array of strings would be stored itself as an object
    return result


def _add_at_item(x: Any, value: Any, *operands: Any, spec: Spec, may_fail: bool = False) -> Any:
    """Return a copy of x with the value added at the index, several times for positions that an array repeats.

    Without `may_fail`, the op is the gradient of a `get_item` with the same index, which is known to be valid.
    """
    result = np.array(x)
    index = numpy_index(result.shape, operands, spec)
    value = _broadcast_to_item(value, result, index)
    if Gather() in spec:
        np.add.at(result, index, value)
    else:
        result[index] += value
    return result


def _broadcast_to_item(value: Any, x: np.ndarray, index: tuple[Any, ...]) -> Any:
    """Broadcast `value` to the shape of x[index]; raises InvalidArgumentError when it does not fit."""
    item_shape = np.shape(_select_items(x, index))
    shape = np.shape(value)
    while len(shape) > len(item_shape) and shape[0] == 1:
        shape = shape[1:]
    try:
        return np.broadcast_to(np.reshape(value, shape), item_shape)
    except ValueError:
        raise InvalidArgumentError(
            f"could not broadcast a value of shape {list(np.shape(value))} into the indexed part of shape "
            f"{list(item_shape)}"
        ) from None


def _effects(types: Sequence[Type], attributes: Mapping[str, Any]) -> Effects:
    """Return RAISE unless it is known statically that the index is valid for the shape."""
    x, spec = types[0], attributes["spec"]
    operands = types[len(types) - sum(entry.operand_count for entry in spec) :]  # in an update, after the value
    if not isinstance(x, TensorType) or x.shape is None or _may_fail(x.shape, operands, spec):
        return Effects.RAISE
    return Effects.PURE


def _update_effects(types: Sequence[Type], attributes: Mapping[str, Any]) -> Effects:
    """Return RAISE unless it is known statically that the index is valid and the value broadcasts to x[index]."""
    x, value, *operands = types
    effects = _effects(types, attributes)
    if effects is not Effects.PURE or not isinstance(x, TensorType) or not isinstance(value, TensorType):
        return effects
    item_shape = indexed_shape(x.shape, tuple(operands), attributes["spec"])  # type: ignore[arg-type]
    if value.shape is None or item_shape is None:
        return Effects.RAISE
    pairs = zip_longest(reversed(value.shape), reversed(item_shape), fillvalue=1)
    can_broadcast = all(size == 1 or (size is not None and size == item_size) for size, item_size in pairs)
    return Effects.PURE if can_broadcast else Effects.RAISE


def _may_fail(shape: tuple[Dimension, ...], operands: Sequence[Any], spec: Spec) -> bool:
    """Return whether an index may be out of range, or index arrays may not broadcast."""
    if any(isinstance(entry, Gather) or (isinstance(entry, Slice) and entry.step == INPUT) for entry in spec):
        return True  # a step that is known only at run time may be 0
    for entry, operands_of_entry, axis, _ in align(spec, len(shape), operands, lambda mask: mask.rank or 0):
        if isinstance(entry, At) and (entry.index == INPUT or not isinstance(shape[axis], int)):
            return True
        if isinstance(entry, Mask):
            # A mask that is the only entry, and has exactly the shape of the dimensions it covers, cannot fail.
            mask_shape = operands_of_entry[0].shape
            return len(spec) > 1 or mask_shape is None or None in mask_shape or shape[: len(mask_shape)] != mask_shape
    return False


# ---- update


def _set_item_type(x: TensorType, value: TensorType, *operands: TensorType, spec: Spec) -> TensorType:
    """Return the type of `x`; raise TypeError or ValueError for a value that does not fit the indexed part."""
    if value.dtype is not x.dtype:
        if value.dtype.is_complex and not x.dtype.is_complex:
            raise TypeError(
                f"cannot write a {value.dtype.name} value into a {x.dtype.name} tensor; take its real part"
            )
        if value.dtype.is_string or x.dtype.is_string:
            raise TypeError(f"cannot write a {value.dtype.name} value into a {x.dtype.name} tensor")
    item_shape = indexed_shape(x.shape, operands, spec)
    shape = value.shape
    if item_shape is not None and shape is not None:
        while len(shape) > len(item_shape) and shape[0] in (1, None):
            shape = shape[1:]
        can_broadcast = len(shape) <= len(item_shape) and all(
            size == item_size or size == 1 or not isinstance(size, int) or not isinstance(item_size, int)
            for size, item_size in zip(shape[::-1], item_shape[::-1], strict=False)
        )
        if not can_broadcast:
            raise ValueError(
                f"could not broadcast a value of shape [{shape_text(value.shape)}] into the indexed part of "
                f"shape [{shape_text(item_shape)}]"
            )
    return x


def _value_cotangent(b: Builder, cotangent: Any, value: Any) -> Any:
    """Return the cotangent of `value`; `cotangent` is that of the part of x into which the value was broadcast."""
    # Adding zeros restores leading dimensions of size 1 that `value` may have.
    extended_cotangent = b.add(cotangent, b.zeros_like(value, dtype=dtype_of(cotangent)))
    summed_cotangent = b.sum_to_shape_of(extended_cotangent, value)
    dtype = dtype_of(value)
    return summed_cotangent if dtype is dtype_of(cotangent) else b.cast(summed_cotangent, dtype=dtype)


def _get_item_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Add the cotangent to zeros at the index.

    New axes of a basic index are removed by a reshape of the cotangent, which is all if the rest of the index takes x.
    """
    (cotangent,), (x, *operands), spec = cotangents, inputs, attributes["spec"]
    if NewAxis() in spec and is_basic(spec):
        spec = tuple(entry for entry in spec if not isinstance(entry, NewAxis))
        takes_all = all(isinstance(entry, Rest) or (isinstance(entry, Slice) and entry.is_whole) for entry in spec)
        cotangent = b.reshape_like(cotangent, x if takes_all else b.get_item(x, *operands, spec=spec))
        if takes_all:
            return (cotangent,)
    return b.add_at_item(b.zeros_like(x), cotangent, *operands, spec=spec), *(None for _ in operands)


def _set_item_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangent of the tensor, which is zero in the indexed part, and that of the value."""
    (cotangent,), (x, value, *operands), spec = cotangents, inputs, attributes["spec"]
    zeros = b.zeros_like(value, dtype=dtype_of(x))
    if not (dtype_of(value).is_floating or dtype_of(value).is_complex):
        return b.set_item(cotangent, zeros, *operands, spec=spec), None, *(None for _ in operands)
    # Read before `set_item`, so that `set_item` may update `cotangent` in place.
    item_cotangent = b.get_item(cotangent, *operands, spec=spec)
    base_cotangent = b.set_item(cotangent, zeros, *operands, spec=spec)
    if Gather() in spec:
        is_last = _is_written_last(b, cotangent, item_cotangent, operands, spec)
        item_cotangent = b.select(is_last, item_cotangent, b.zeros_like(item_cotangent))
    return base_cotangent, _value_cotangent(b, item_cotangent, value), *(None for _ in operands)


def _is_written_last(b: Builder, x: Any, item: Any, operands: Any, spec: Spec) -> Any:
    """Return the mask of written values that are not overwritten: of two written to one element, the last one."""
    zero, one = (b.constant(value=np.array(number, np.int64)) for number in (0, 1))
    update_numbers = b.reshape_like(b.range(zero, b.size(item, dtype=int64), one), item)
    last_writers = b.set_item(b.zeros_like(x, dtype=int64), update_numbers, *operands, spec=spec)
    return b.equal(b.get_item(last_writers, *operands, spec=spec), update_numbers)


def _add_at_item_type(
    x: TensorType, value: TensorType, *operands: TensorType, spec: Spec, may_fail: bool = False
) -> TensorType:
    if value.dtype is not x.dtype:
        raise TypeError(f"add_at_item: the tensor is {x.dtype.name}, the value {value.dtype.name}")
    return _set_item_type(x, value, *operands, spec=spec)


def _add_at_item_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (_, value, *operands) = cotangents, inputs
    item_cotangent = b.get_item(cotangent, *operands, spec=attributes["spec"])
    return cotangent, _value_cotangent(b, item_cotangent, value), *(None for _ in operands)


_X = np.arange(24.0).reshape(2, 3, 4) / 8
_INDICES = np.array([[0, 2], [2, 0]], np.int32)
_MASK = np.array([[True, False, True], [False, True, True]])
_ROWS: Spec = (Slice(), Gather())
_MIXED: Spec = (At(INPUT), Slice(INPUT, None, 2), NewAxis(), At(-1))
_BOUNDS = (np.array(1, np.int32), np.array(0, np.int64))

get_item = define(
    name="get_item", graphdef="StridedSlice", result=_get_item_type, kernel=_get_item,
    effects=_effects,
    gradient=_get_item_gradient,
    samples=(
        sample(_X, spec=(At(1), Rest(), Slice(None, None, -2))),
        sample(_X, *_BOUNDS, spec=_MIXED, differentiable=(0,)),
        sample(_X, _INDICES, spec=_ROWS, differentiable=(0,)),
        sample(_X, _MASK, spec=(Mask(), Slice(1, 3, None)), differentiable=(0,)),
        sample(_X, np.array([1, 0]), np.array(2), spec=(Gather(), _ROWS[0], At(INPUT))),
    ),
    view=True,
    indexing=Indexing("items"),
)  # fmt: skip
set_item = define(
    name="set_item", graphdef="TensorStridedSliceUpdate", result=_set_item_type, kernel=_set_item,
    effects=_update_effects,
    gradient=_set_item_gradient,
    samples=(
        sample(_X, np.array([1.5, 2.5, 3.5]), spec=(At(1), Slice(), At(0))),
        sample(_X, np.array(0.5), *_BOUNDS, spec=_MIXED, differentiable=(0, 1)),
        sample(_X, np.arange(16.0).reshape(1, 2, 2, 4) / 8, _INDICES, spec=_ROWS, differentiable=(0, 1)),
        sample(_X, np.array([[9.0]]), _MASK, spec=(Mask(), Slice(1, 3, None)), differentiable=(0, 1)),
        sample(_X, np.array([[9.0]]), spec=(At(0), At(1), At(2))),
    ),
    indexing=Indexing("items", 2), scatter=Scatter(1, None, base=0),
)  # fmt: skip
add_at_item = define(
    name="add_at_item", graphdef="TensorStridedSliceAdd", result=_add_at_item_type, kernel=_add_at_item,
    effects=lambda types, attributes: (
        _update_effects(types, attributes) if attributes.get("may_fail") else Effects.PURE
    ),
    gradient=_add_at_item_gradient,
    samples=(
        sample(_X, np.array([1.5, 2.5, 3.5]), spec=(At(1), Slice(), At(0))),
        sample(_X, np.arange(32.0).reshape(2, 2, 2, 4) / 8, _INDICES, spec=_ROWS, differentiable=(0, 1)),
        sample(_X, np.array([[9.0]]), _MASK, spec=(Mask(), Slice(1, 3, None)), differentiable=(0, 1)),
    ),
    indexing=Indexing("items", 2), scatter=Scatter(1, base=0),
)  # fmt: skip
