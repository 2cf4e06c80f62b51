"""Comparisons, maximum and minimum, clipping, and logic on bools. Operands broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.api.tensors.accepted_dtypes import with_default_dtype
from autoconv.api.tensors.arguments import static_axes
from autoconv.graph.dtypes import bool_
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.variable_updates import IndexedSlices
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x == y, element by element; bool.

    >>> autoconv.equal([1, 2], [1, 3]).numpy()
    array([ True, False])
    """
    return apply("equal", x, y, name=name)


def not_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x != y, element by element; bool.

    >>> autoconv.not_equal([1, 2], [1, 3]).numpy()
    array([False,  True])
    """
    return apply("not_equal", x, y, name=name)


def less(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x < y, element by element; bool.

    >>> autoconv.less([1, 5], 3).numpy()
    array([ True, False])
    """
    return apply("less", x, y, name=name)


def less_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x <= y, element by element; bool.

    >>> autoconv.less_equal([1, 5], 1).numpy()
    array([ True, False])
    """
    return apply("less_equal", x, y, name=name)


def greater(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x > y, element by element; bool.

    >>> autoconv.greater([1, 5], 3).numpy()
    array([False,  True])
    """
    return apply("greater", x, y, name=name)


def greater_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x >= y, element by element; bool.

    >>> autoconv.greater_equal([1, 5], 5).numpy()
    array([False,  True])
    """
    return apply("greater_equal", x, y, name=name)


def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The larger of two, element by element; nan where either is nan.

    >>> autoconv.maximum([1, 5], [3, 4]).numpy()
    array([3, 5], dtype=int32)
    """
    return apply("maximum", x, y, name=name)


def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The smaller of two, element by element; nan where either is nan.

    >>> autoconv.minimum([1, 5], [3, 4]).numpy()
    array([1, 4], dtype=int32)
    """
    return apply("minimum", x, y, name=name)


def clip_by_value(t: TensorLike, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Tensor:
    """`t` clipped to the range between the two values, which broadcast to the shape of `t`.

    Raises ValueError for values that would make the shape another one.

    >>> autoconv.clip_by_value([-2.0, 0.5, 2.0], -1.0, 1.0).numpy()
    array([-1. ,  0.5,  1. ], dtype=float32)
    """
    result = apply("maximum", apply("minimum", t, clip_value_max), clip_value_min, name=name)
    shape = t.shape if hasattr(t, "shape") else convert_to_tensor(t).shape
    TensorShape(shape).assert_is_compatible_with(result.shape)
    return result


def clip_by_norm(t: TensorLike, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """`t` scaled down so that its Euclidean norm over `axes` is at most `clip_norm`.

    >>> autoconv.clip_by_norm([3.0, 4.0], 1.0).numpy()
    array([0.6, 0.8], dtype=float32)
    """
    if isinstance(t, IndexedSlices):
        return t.with_values(clip_by_norm(t.values, clip_norm, axes, name))
    tensor = convert_to_tensor(t)
    if isinstance(clip_norm, (int, float)):
        clip_norm = max(clip_norm, 0)
    else:
        clip_norm = apply("cast", apply("maximum", clip_norm, 0), dtype=tensor.dtype)
    square_sum = apply("reduce_sum", apply("square", tensor), axis=static_axes(axes), keepdims=True)
    is_positive = apply("greater", square_sum, 0)
    # The square root has no derivative at 0, so that ones take the place of zeros in its argument.
    nonzero_sum = apply("select", is_positive, square_sum, apply("ones_like", square_sum))
    norm = apply("select", is_positive, apply("sqrt", nonzero_sum), square_sum)
    return apply("divide", apply("multiply", tensor, clip_norm), apply("maximum", norm, clip_norm), name=name)


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """The Euclidean norm of all tensors of the list together; None entries are skipped.

    >>> autoconv.global_norm([autoconv.constant([3.0]), autoconv.constant([4.0])]).numpy()
    np.float32(5.0)
    """
    square_sums = [
        apply("reduce_sum", apply("square", _dense_values(tensor)), axis=None, keepdims=False)
        for tensor in t_list
        if tensor is not None
    ]
    if not square_sums:
        raise ValueError("global_norm takes at least one tensor, found none")
    square_sum = square_sums[0]
    for addend in square_sums[1:]:
        square_sum = apply("add", square_sum, addend)
    return apply("sqrt", square_sum, name=name)


def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """(tensors, norm): the tensors scaled so that their joint norm is at most `clip_norm`.

    >>> clipped, norm = autoconv.clip_by_global_norm([autoconv.constant([3.0]), autoconv.constant([4.0])], 1.0)
    >>> [c.numpy().round(3) for c in clipped], norm.numpy()
    ([array([0.6], dtype=float32), array([0.8], dtype=float32)], np.float32(5.0))
    """
    norm = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    # An infinite norm makes all results nan, as in TensorFlow.
    zero_or_nan = apply("subtract", norm, norm)
    scale = apply("add", apply("divide", clip_norm, apply("maximum", norm, clip_norm)), zero_or_nan)
    return [None if tensor is None else _scale(tensor, scale) for tensor in t_list], norm


def _dense_values(tensor: Any) -> Any:
    """Return the values of IndexedSlices, or a tensor unchanged."""
    return tensor.values if isinstance(tensor, IndexedSlices) else tensor


def _scale(tensor: Any, scale: Tensor) -> Any:
    """Return a tensor or IndexedSlices multiplied by a number."""
    if isinstance(tensor, IndexedSlices):
        return tensor.with_values(_scale(tensor.values, scale))
    return apply("multiply", tensor, scale)


def _cast_arrays_to_bools(*operands: TensorLike) -> list[Any]:
    """Return the operands of a logical function; NumPy's arrays are cast to bools, as TensorFlow does."""
    return [with_default_dtype(operand, bool_) for operand in operands]


def logical_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x and y of bool tensors, element by element.

    >>> autoconv.logical_and([True, True], [True, False]).numpy()
    array([ True, False])
    """
    return apply("logical_and", *_cast_arrays_to_bools(x, y), name=name)


def logical_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x or y of bool tensors, element by element.

    >>> autoconv.logical_or([True, False], [False, False]).numpy()
    array([ True, False])
    """
    return apply("logical_or", *_cast_arrays_to_bools(x, y), name=name)


def logical_not(x: TensorLike, name: str | None = None) -> Tensor:
    """not x of a bool tensor, element by element.

    >>> autoconv.logical_not([True, False]).numpy()
    array([False,  True])
    """
    return apply("logical_not", *_cast_arrays_to_bools(x), name=name)


def logical_xor(x: TensorLike, y: TensorLike, name: str | None = "LogicalXor") -> Tensor:
    """True where exactly one of two bool tensors is true, element by element.

    >>> autoconv.logical_xor([True, True], [True, False]).numpy()
    array([False,  True])
    """
    return apply("logical_xor", *_cast_arrays_to_bools(x, y), name=name)
