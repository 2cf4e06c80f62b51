"""Functions for parts of tensors: slices and masks. Python's x[...] works on tensors as well."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.api.tensors.arguments import static_int
from autoconv.api.tensors.axis_choice import accepts_run_time_axes
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtype_sets import LARGE_INTEGERS
from autoconv.graph.dtypes import bool_
from autoconv.ops.index_spec import Mask, Slice
from autoconv.runtime.annotations import AxisLike, ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor

newaxis = None  # stands for a new dimension in an index


def slice(input_: Any, begin: TensorLike, size: ShapeLike, name: str | None = None) -> Tensor:
    """size[i] elements of dimension i from begin[i] on; a size of -1 takes all elements up to the end.

    Raises InvalidArgumentError for a slice out of bounds: while tracing if shape, begin and size are known; at run
    time if only `size` is known.

    >>> autoconv.slice([1, 2, 3, 4], [1], [2]).numpy()
    array([2, 3], dtype=int32)
    """
    check_dtype("slice", LARGE_INTEGERS, begin, size)
    tensor = convert_to_tensor(input_)
    starts, sizes = _ints_or_scalars(begin, _static_length(size)), _ints_or_scalars(size, _static_length(begin))
    if len(starts) != len(sizes):
        raise InvalidArgumentError(f"slice: begin has {len(starts)} numbers, size {len(sizes)}")
    shape = tensor.shape
    slices = tuple(
        _axis_slice(i, start, count, shape[i] if shape.rank is not None and i < shape.rank else None)
        for i, (start, count) in enumerate(zip(starts, sizes, strict=True))
    )
    part = get_item(tensor, slices)
    are_checked = [isinstance(start, int) and _is_known(shape, i) for i, start in enumerate(starts)]
    sizes_to_check = tuple(
        count if isinstance(count, int) and count >= 0 and not is_checked else None
        for count, is_checked in zip(sizes, are_checked, strict=True)
    )
    needs_no_check = sizes_to_check.count(None) == len(sizes_to_check)
    return part if needs_no_check else apply("ensure_shape", part, shape=sizes_to_check)


def _is_known(shape: Any, axis: int) -> bool:
    """Return whether the size of an axis is static."""
    return shape.rank is not None and axis < shape.rank and shape[axis] is not None


def _static_length(values: Any) -> int | None:
    """Return the length of a list or vector, None if it is not known while tracing."""
    if as_tensor(values) is None:
        return len(values)
    shape = convert_to_tensor(values).shape
    return shape[0] if shape.rank is not None else None


def _ints_or_scalars(values: Any, default_length: int | None = None) -> list[Any]:
    """Return the elements of a list or vector: ints if they are known, else scalar tensors.

    A vector of unknown length is assumed to have `default_length` elements; raises ValueError without one.
    """
    constant = static_value(values)
    if constant is not None:
        return [int(number) for number in np.ravel(constant)]
    if as_tensor(values) is None:
        return [_int_or_scalar(number) for number in values]
    known_length = _static_length(values)
    if known_length is None and default_length is None:
        raise ValueError("the number of sliced dimensions has to be known while tracing")
    vector = convert_to_tensor(values)
    length = known_length if known_length is not None else default_length or 0
    return [get_item(vector, i) for i in builtins.range(length)]


def _int_or_scalar(value: TensorLike) -> Any:
    """Return a number that is known while tracing as an int, another one as a scalar tensor."""
    constant = static_value(value)
    return convert_to_tensor(value) if constant is None else int(constant)


def _axis_slice(axis: int, start: Any, count: Any, axis_size: int | None) -> builtins.slice:
    """Return the slice of `count` elements from `start` on; a count of -1 takes all elements up to the end.

    `axis_size` is the size of the axis, None if it is not static. Raises InvalidArgumentError if the slice is known to
    be out of bounds.
    """
    if not isinstance(count, int):
        beyond_end = np.array(np.iinfo(np.int32).max, count.dtype.numpy)
        return builtins.slice(start, apply("select", count < 0, beyond_end, start + count))
    if isinstance(start, int) and axis_size is not None:
        if not 0 <= start <= axis_size:
            raise InvalidArgumentError(f"Expected begin[{axis}] in [0, {axis_size}], but got {start}")
        if count != -1 and not 0 <= count <= axis_size - start:
            raise InvalidArgumentError(f"Expected size[{axis}] in [0, {axis_size - start}], but got {count}")
    return builtins.slice(start, None if count == -1 else start + count)


def strided_slice(
    input_: Any, begin: TensorLike, end: TensorLike, strides: ShapeLike | None = None, begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """input_[begin[0]:end[0]:strides[0], …], where entry i of the index is changed if bit i of a mask is set.

    `begin_mask` omits the start of the entry, and `end_mask` its end. The entry is `...` by `ellipsis_mask`, a new
    dimension by `new_axis_mask`, and the single number begin[i] by `shrink_axis_mask`. `var` has no effect.

    >>> autoconv.strided_slice([1, 2, 3, 4], [0], [4], [2]).numpy()
    array([1, 3], dtype=int32)
    """
    starts, stops = _ints_or_scalars(begin, _static_length(end)), _ints_or_scalars(end, _static_length(begin))
    steps = [1] * len(starts) if strides is None else _ints_or_scalars(strides, len(starts))
    entries: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            entries.append(Ellipsis)
        elif new_axis_mask & bit:
            entries.append(None)
        elif shrink_axis_mask & bit:
            entries.append(start)
        else:
            entries.append(
                builtins.slice(None if begin_mask & bit else start, None if end_mask & bit else stop, step)
            )
    return get_item(convert_to_tensor(input_), tuple(entries))


@accepts_run_time_axes()
def boolean_mask(tensor: TensorLike, mask: TensorLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """The rows for which `mask` is True. The mask covers as many dimensions as its rank, from `axis` (default 0) on.

    Raises ValueError when the shapes do not match.

    >>> autoconv.boolean_mask([1, 2, 3], [True, False, True]).numpy()
    array([1, 3], dtype=int32)
    """
    x, mask_tensor = convert_to_tensor(tensor), convert_to_tensor(mask)
    if mask_tensor.shape.rank == 0:
        raise ValueError("boolean_mask cannot take a scalar mask")
    if not mask_tensor.dtype.is_string:
        mask_tensor = apply("cast", mask_tensor, dtype=bool_)
    first_axis = 0 if axis is None else static_int(axis, "axis")
    if first_axis < 0:
        if x.shape.rank is None:
            raise ValueError("boolean_mask with a negative axis needs a tensor of known rank")
        first_axis += x.shape.rank
    return apply("get_item", x, mask_tensor, spec=(Slice(),) * first_axis + (Mask(),), name=name)
