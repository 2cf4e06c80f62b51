"""Ops that read or change a tensor's shape but not its elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, int32, int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import Dimension, Shape, TensorType, are_shapes_compatible, shape_text
from autoconv.ops.gradients import no_cotangents, pass_cotangent
from autoconv.ops.movement.constants import static_shape
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.rules import element_count, normalised_axes, normalised_axis
from autoconv.ops.traits import SizeOperand

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])


def _reshape_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return (b.reshape_like(cotangents[0], inputs[0]), *(None for _ in inputs[1:]))


# ---- reading shapes


def _shape_type(x: TensorType, *, dtype: DType = int32) -> TensorType:
    return TensorType(dtype, (x.rank,))


def _scalar_type(x: TensorType, *, dtype: DType = int32) -> TensorType:
    return TensorType(dtype, ())


def _dimension_type(x: TensorType, *, axis: int, dtype: DType = int32) -> TensorType:
    if x.shape is not None:
        normalised_axis(axis, len(x.shape))
    return TensorType(dtype, ())


def _dimension(x: Any, *, axis: int, dtype: DType = int32) -> Any:
    return dtype.numpy.type(np.shape(x)[axis])


shape = define(
    name="shape", graphdef="Shape", result=_shape_type,
    kernel=lambda x, *, dtype=int32: np.array(np.shape(x), dtype.numpy), gradient=no_cotangents, shape_only=(0,),
    samples=(sample(_X), sample(_X, dtype=int64)),
)  # fmt: skip
size = define(
    name="size", graphdef="Size", result=_scalar_type,
    kernel=lambda x, *, dtype=int32: dtype.numpy.type(np.size(x)), gradient=no_cotangents, shape_only=(0,),
    samples=(sample(_X),),
)  # fmt: skip
rank = define(
    name="rank", graphdef="Rank", result=_scalar_type,
    kernel=lambda x, *, dtype=int32: dtype.numpy.type(np.ndim(x)), gradient=no_cotangents, shape_only=(0,),
    samples=(sample(_X),),
)  # fmt: skip
dimension = define(
    name="dimension", graphdef="Shape", result=_dimension_type, kernel=_dimension, gradient=no_cotangents,
    shape_only=(0,),
    samples=(sample(_X, axis=1), sample(_X, axis=-2, dtype=int64)),
)  # fmt: skip


def _broadcast_shape_type(x: TensorType, y: TensorType) -> TensorType:
    if not x.dtype.is_integer:
        raise TypeError(f"a shape has to be of integers, found {x.dtype.name}")
    lengths = [vector.shape[0] if vector.shape else None for vector in (x, y)]
    static_lengths = [length for length in lengths if isinstance(length, int)]
    return TensorType(x.dtype, (max(static_lengths) if len(static_lengths) == 2 else None,))


def _broadcast_shape(x: Any, y: Any) -> Any:
    try:
        return np.array(np.broadcast_shapes(tuple(x), tuple(y)), x.dtype)
    except ValueError:
        raise InvalidArgumentError(f"Incompatible shapes for broadcasting: {x.tolist()} and {y.tolist()}") from None


broadcast_shape = define(
    name="broadcast_shape", graphdef="BroadcastArgs", result=_broadcast_shape_type, kernel=_broadcast_shape,
    gradient=no_cotangents, effects=Effects.RAISE, unify="all",
    samples=(sample(np.array([2, 1, 3]), np.array([4, 1])),),
)  # fmt: skip


# ---- reshaping


def _reshape_type(
    x: TensorType, shape_vector: TensorType | None = None, *, shape: tuple[int | None, ...] | None,
    infers_without_zeros: bool = False,
) -> TensorType:  # fmt: skip
    """Return the type of the result; if `shape_vector` is passed, `shape` is None or has None for open sizes."""
    if shape_vector is not None:
        sizes = None if shape is None else tuple(None if dimension == -1 else dimension for dimension in shape)
        return x.with_shape(static_shape("reshape", sizes, shape_vector))
    if shape is None or None in shape:
        raise ValueError(f"reshape: the shape {shape} is not known and no tensor gives it")
    if shape.count(-1) > 1:
        raise ValueError(f"reshape: only one dimension of {list(shape)} can be -1")
    if any(dimension is not None and dimension < -1 for dimension in shape):
        raise ValueError(f"reshape: the shape {list(shape)} has a negative dimension")
    if infers_without_zeros and x.shape is not None and None not in x.shape:
        shape = _infer_without_zeros(x.shape, shape)
    return x.with_shape(_infer_sizes(x.shape, shape))


def _infer_sizes(old_shape: Shape, new_shape: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    """Return the new shape with the inferred size (None: unknown) in place of -1.

    Raises ValueError if the old shape has a number of elements that cannot fit.
    """
    new_count = element_count(tuple(dimension for dimension in new_shape if dimension != -1)) or 0
    old_count = element_count(old_shape)
    if old_count is None:
        return _replace_minus_one(new_shape, _remaining_dimension(old_shape, new_count))
    if -1 not in new_shape:
        if new_count != old_count:
            raise ValueError(
                f"reshape: cannot reshape a tensor with {old_count} elements to shape [{shape_text(new_shape)}] "
                f"({new_count} elements)"
            )
        return new_shape
    if new_count == 0:
        raise ValueError(f"reshape cannot infer the missing dimension of {list(new_shape)} for an empty tensor")
    if old_count % new_count:
        raise ValueError(
            f"reshape: dimension size must be evenly divisible by {new_count} but is {old_count} for {list(new_shape)}"
        )
    return _replace_minus_one(new_shape, old_count // new_count)


def _replace_minus_one(shape: tuple[Dimension, ...], inferred: Dimension) -> tuple[Dimension, ...]:
    """Return the shape with the size `inferred` in place of -1."""
    return tuple(inferred if dimension == -1 else dimension for dimension in shape)


def _remaining_dimension(old_shape: Shape, count: int) -> Dimension:
    """Return the size for which -1 stands; None if it is unknown. `count` is the product of the other new sizes.

    It is the only open size of `old_shape` if the product of the other old sizes is `count`.
    """
    unknown_sizes = [dimension for dimension in old_shape or () if not isinstance(dimension, int)]
    static_count = element_count(tuple(dimension for dimension in old_shape or () if isinstance(dimension, int)))
    return unknown_sizes[0] if len(unknown_sizes) == 1 and static_count == count != 0 else None


def _reshape(x: Any, shape_vector: Any = None, *, shape: Any, infers_without_zeros: bool = False) -> Any:
    """Return the elements in another shape; one of its sizes may be -1.

    With `infers_without_zeros`, a size of -1 beside a size of 0 is inferred by `_infer_without_zeros`.
    """
    sizes = tuple(map(int, shape if shape_vector is None else np.atleast_1d(shape_vector)))
    sizes = _infer_without_zeros(np.shape(x), sizes) if infers_without_zeros else sizes
    try:
        if min(sizes, default=0) < -1:
            raise ValueError
        return np.reshape(x, sizes)
    except ValueError as error:
        public_error = InvalidArgumentError(_reshape_message(np.size(x), sizes))
        raise (public_error.with_plain_error(error) if error.args else public_error) from None


def _infer_without_zeros(old_sizes: Any, sizes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the sizes with a number in place of a single -1 beside a 0, if there is one that fits.

    As in TensorFlow, the number is the quotient of the products of the old and the new sizes that are not 0.
    """
    if 0 not in sizes or 0 not in old_sizes or sizes.count(-1) != 1 or min(sizes) < -1:
        return sizes
    quotient, remainder = divmod(math.prod(filter(None, old_sizes)), -math.prod(filter(None, sizes)))
    return sizes if remainder else tuple(quotient if size == -1 else size for size in sizes)


def _reshape_message(count: int, sizes: tuple[int, ...]) -> str:
    """Return TensorFlow's message for `count` elements that do not fit the requested sizes, with these sizes."""
    open_positions = [position for position, size in enumerate(sizes) if size == -1]
    for position, size in enumerate(sizes):
        if size < -1:
            return f"Size {position} must be non-negative, not {size}"
    if len(open_positions) > 1:
        return f"Only one input size may be -1, not both {open_positions[0]} and {open_positions[1]}"
    product = math.prod(size for size in sizes if size != -1)
    requirement = f"requires a multiple of {product}" if open_positions else f"has {product}"
    return f"Input to reshape is a tensor with {count} values, but the requested shape {requirement}: {list(sizes)}"


def _reshape_like(x: Any, like: Any) -> Any:
    return _reshape(x, shape=np.shape(like))


reshape = define(
    name="reshape", graphdef="Reshape", result=_reshape_type, kernel=_reshape, gradient=_reshape_gradient,
    samples=(sample(_X, shape=(3, -1)), sample(_X, np.array([6, 1]), shape=(None, 1))),
    view=True, same_order=True,
    sizes=SizeOperand("shape", 1),
)  # fmt: skip
reshape_like = define(
    name="reshape_like", graphdef="Reshape", result=lambda x, like: x.with_shape(like.shape), shape_only=(1,),
    kernel=_reshape_like, gradient=_reshape_gradient,
    samples=(sample(_X, np.zeros((3, 2)), differentiable=(0,)),),
    may_alias=True, same_order=True,
)  # fmt: skip


def _expand_dims_type(x: TensorType, *, axis: int) -> TensorType:
    if x.shape is None:
        return x
    new_axis = normalised_axis(axis, len(x.shape) + 1)
    return x.with_shape((*x.shape[:new_axis], 1, *x.shape[new_axis:]))


def _expand_dims_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return (b.squeeze(cotangents[0], axis=(attributes["axis"],)),)


def _squeeze_type(x: TensorType, *, axis: tuple[int, ...] | None = None) -> TensorType:
    """Return the type without the dimensions `axis`; with None, without all dimensions of size 1."""
    if x.shape is None:
        return x
    if axis is None:
        is_static = all(isinstance(dimension, int) for dimension in x.shape)
        return x.with_shape(tuple(dimension for dimension in x.shape if dimension != 1) if is_static else None)
    axes = normalised_axes(axis, len(x.shape))
    for i in axes:
        size = x.shape[i]
        if isinstance(size, int) and size != 1:
            raise ValueError(f"Can not squeeze dim[{i}], expected a dimension of 1, got {size}")
    return x.with_shape(tuple(dimension for i, dimension in enumerate(x.shape) if i not in axes))


def _squeeze(x: Any, *, axis: tuple[int, ...] | None = None) -> Any:
    """Drop the axes, by default all of size 1; an axis of another size raises TensorFlow's error."""
    for i in axis or ():
        if np.shape(x)[i] != 1:
            raise InvalidArgumentError(
                f"Can not squeeze dim[{i % np.ndim(x)}], expected a dimension of 1, got {np.shape(x)[i]}"
            )
    return np.squeeze(x, axis)


def _ensure_shape_type(x: TensorType, *, shape: tuple[int | None, ...] | None) -> TensorType:
    """Return the type of `x` with the sizes of `shape` in place of those that are unknown."""
    if not are_shapes_compatible(x.shape, shape):
        raise ValueError(
            f"Shape of tensor [{shape_text(x.shape)}] is not compatible with expected shape "
            f"[{shape_text(shape)}]."
        )
    if x.shape is None:
        return x.with_shape(shape)
    if shape is None:
        return x
    pairs = zip(x.shape, shape, strict=True)
    sizes = (size if isinstance(size, int) or expected is None else expected for size, expected in pairs)
    return x.with_shape(tuple(sizes))


def _ensure_shape(x: Any, *, shape: Any) -> Any:
    """Return x; raise InvalidArgumentError unless the shape of x is compatible with `shape`."""
    if not are_shapes_compatible(np.shape(x), shape):
        raise InvalidArgumentError(
            f"Shape of tensor {list(np.shape(x))} is not compatible with expected shape "
            f"[{shape_text(shape)}]."
        )
    return np.asarray(x)


expand_dims = define(
    name="expand_dims", graphdef="ExpandDims", result=_expand_dims_type,
    kernel=lambda x, *, axis: np.expand_dims(x, axis), gradient=_expand_dims_gradient,
    samples=(sample(_X, axis=0), sample(_X, axis=-1)),
    view=True, same_order=True,
)  # fmt: skip
squeeze = define(
    name="squeeze", graphdef="Squeeze", result=_squeeze_type, kernel=_squeeze, gradient=_reshape_gradient,
    samples=(sample(_X[:, None], axis=None), sample(_X[None, :, None], axis=(-2,))),
    view=True, same_order=True,
)  # fmt: skip
ensure_shape = define(
    name="ensure_shape", graphdef="EnsureShape", result=_ensure_shape_type, kernel=_ensure_shape,
    effects=Effects.RAISE,
    gradient=pass_cotangent,
    samples=(sample(_X, shape=(None, 3)), sample(_X, shape=None)),
    may_alias=True,
)  # fmt: skip


def _same_shape_type(x: TensorType, like: TensorType) -> TensorType:
    if not are_shapes_compatible(x.shape, like.shape):
        raise ValueError(f"the shapes [{shape_text(x.shape)}] and [{shape_text(like.shape)}] differ")
    return x.with_shape(like.shape)


def _same_shape(x: Any, like: Any) -> Any:
    return _ensure_shape(x, shape=np.shape(like))


ensure_same_shape = define(
    name="ensure_same_shape", graphdef="EnsureShape", result=_same_shape_type, kernel=_same_shape,
    shape_only=(1,),
    gradient=lambda b, inputs, results, cotangents, attributes: (cotangents[0], None),
    samples=(sample(_X, np.zeros((2, 3)), differentiable=(0,)),),
    may_alias=True,
)  # fmt: skip
