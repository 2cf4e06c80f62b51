"""Ops that make tensors of numbers and sizes: constants, fills, ranges, identity matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, as_dtype, float32, float64
from autoconv.graph.types import Dimension, TensorType, are_shapes_compatible
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import no_cotangents, sum_cotangent
from autoconv.ops.record import Builder, define, no_gradient, sample
from autoconv.ops.rules import broadcast_shapes
from autoconv.ops.traits import SizeOperand


def check_shape(op: str, shape: Any) -> tuple[int, ...]:
    """Return a shape vector as a tuple of ints; raises InvalidArgumentError for a negative size."""
    sizes = tuple(int(size) for size in np.atleast_1d(shape))
    for axis, size in enumerate(sizes):
        if size < 0:
            raise InvalidArgumentError(
                f"{op}: dimension {axis} of the shape is {size}, it must not be negative"
            )
    return sizes


def static_shape(
    op: str, attribute: tuple[int | None, ...] | None, shape_vector: TensorType | None
) -> tuple[Dimension, ...] | None:
    """Return the static shape of a result: None for sizes that `shape_vector` gives at run time, or for all of them.

    Without `shape_vector`, the attribute has all sizes. With it, the attribute has None for sizes that are not static,
    or is None itself. Raises TypeError or ValueError for an invalid shape.
    """
    if shape_vector is None:
        if attribute is None or any(size is None for size in attribute):
            raise ValueError(f"{op}: the shape {attribute} is not known and no tensor gives it")
        if any(isinstance(size, int) and size < 0 for size in attribute):
            raise ValueError(f"{op}: the shape {list(attribute)} has a negative dimension")
        return attribute
    if not shape_vector.dtype.is_integer:
        raise TypeError(f"{op}: a shape has to be of integers, found {shape_vector.dtype.name}")
    if not are_shapes_compatible(shape_vector.shape, (None,)):
        raise ValueError(f"{op}: a shape has to be a vector, found {shape_vector}")
    if attribute is not None:
        return attribute
    length = shape_vector.shape[0] if shape_vector.shape is not None else None
    return (None,) * length if isinstance(length, int) else None


def _constant_type(*, value: np.ndarray, weak: bool = False) -> TensorType:
    return TensorType(as_dtype(value.dtype), value.shape, weak)


def _like_type(x: TensorType, *, dtype: DType | None = None) -> TensorType:
    return x if dtype is None else x.with_dtype(dtype)


def _zeros_like(x: Any, *, dtype: DType | None = None) -> Any:
    if (dtype is None and x.dtype == object) or (dtype is not None and dtype.is_string):
        return np.full(np.shape(x), b"", object)
    return np.zeros(np.shape(x), x.dtype if dtype is None else dtype.numpy)


def _ones_like(x: Any, *, dtype: DType | None = None) -> Any:
    return np.ones(np.shape(x), x.dtype if dtype is None else dtype.numpy)


constant = define(
    name="constant", graphdef="Const", result=_constant_type,
    kernel=lambda *, value, weak=False: value, gradient=no_cotangents,
    samples=(sample(value=np.array([1.5, 2.0])), sample(value=np.array(b"a", object))),
)  # fmt: skip
zeros_like = define(
    name="zeros_like", graphdef="ZerosLike", result=_like_type, kernel=_zeros_like, gradient=no_cotangents,
    shape_only=(0,),
    samples=(sample(np.array([1.5, 2.0])), sample(np.array([[1, 2]]), dtype=float32)),
    generates=True,
)  # fmt: skip
ones_like = define(
    name="ones_like", graphdef="OnesLike", result=_like_type, kernel=_ones_like, gradient=no_cotangents,
    shape_only=(0,),
    samples=(sample(np.array([1.5, 2.0])), sample(np.array([[1, 2]]), dtype=float32)),
    generates=True,
)  # fmt: skip


def _fill_type(
    value: TensorType, shape_vector: TensorType | None = None, *, shape: tuple[int | None, ...] | None
) -> TensorType:
    if not are_shapes_compatible(value.shape, ()):
        raise ValueError(f"fill: the value has to be a scalar, found {value}")
    return value.with_shape(static_shape("fill", shape, shape_vector))


def _fill(value: Any, shape_vector: Any = None, *, shape: Any) -> Any:
    """Return an array of the scalar; the shape is an operand or an attribute."""
    sizes = shape if shape_vector is None else check_shape("fill", shape_vector)
    if np.ndim(value):
        raise InvalidArgumentError(f"fill: the value has to be a scalar, found the shape {list(value.shape)}")
    result = np.empty(sizes, np.asarray(value).dtype)
    result[...] = value
    return result


fill = define(
    name="fill", graphdef="Fill", result=_fill_type, kernel=_fill, gradient=sum_cotangent,
    samples=(
        sample(np.array(2.5), shape=(2, 3)),
        sample(np.array(2.5), np.array([2, 3], np.int32), shape=(None, 3)),
    ),
    generates=True,
    sizes=SizeOperand("shape", 1),
)  # fmt: skip


def _range_type(
    start: TensorType, limit: TensorType, delta: TensorType, *, length: int | None = None
) -> TensorType:
    """Return the type of the vector of numbers; `length` is None if it is known only at run time."""
    for name, bound in (("start", start), ("limit", limit), ("delta", delta)):
        if not are_shapes_compatible(bound.shape, ()):
            raise ValueError(f"range: {name} has to be a scalar, found {bound}")
        if bound.dtype is not start.dtype:
            raise TypeError(f"range: {name} is {bound.dtype.name}, start is {start.dtype.name}")
    if start.dtype.is_complex or not start.dtype.is_numeric:
        raise TypeError(f"range: the bounds have to be real numbers, found {start.dtype.name}")
    return TensorType(start.dtype, (length,), start.weak and limit.weak and delta.weak)


def _range(start: Any, limit: Any, delta: Any, *, length: int | None = None) -> Any:
    """Return the numbers from `start` below `limit`; `length`, which the type needs, is not read."""
    dtype = np.asarray(start).dtype
    if delta == 0:
        error = ZeroDivisionError("division by zero" if dtype.kind in "iu" else "float division by zero")
        raise InvalidArgumentError("Requires delta != 0: 0").with_plain_error(error)
    if dtype.kind in "iu":
        return np.arange(int(start), int(limit), int(delta)).astype(dtype)
    count = max(int(np.ceil((limit - start) / delta)), 0)
    return (np.arange(count).astype(dtype) * delta + start).astype(dtype)


range_ = define(
    name="range", graphdef="Range", result=_range_type, kernel=_range,
    gradient=no_gradient("the length depends on the bounds"), unify="all",
    samples=(
        sample(np.int32(2), np.int32(9), np.int32(3), length=3),
        sample(np.float64(0.0), np.float64(1.0), np.float64(0.25)),
    ),
    element_count_inputs=(0, 1, 2),
)  # fmt: skip


def _eye_type(
    sizes: TensorType | None = None, *, num_rows: int | None, num_columns: int | None, dtype: DType
) -> TensorType:
    return TensorType(dtype, static_shape("eye", (num_rows, num_columns), sizes))


def _eye(sizes: Any = None, *, num_rows: Any, num_columns: Any, dtype: DType) -> Any:
    rows, columns = (num_rows, num_columns) if sizes is None else check_shape("eye", sizes)
    return np.eye(rows, columns, dtype=dtype.numpy)


eye = define(
    name="eye", graphdef="Eye", result=_eye_type, kernel=_eye, gradient=no_cotangents,
    samples=(
        sample(num_rows=2, num_columns=3, dtype=float32),
        sample(np.array([2, 2]), num_rows=None, num_columns=2, dtype=float64),
    ),
    element_count_inputs=(0,),
)  # fmt: skip


def _linspace_type(
    start: TensorType, stop: TensorType, num_tensor: TensorType | None = None, *, num: int | None
) -> TensorType:
    """Return the type of the numbers, in a new first dimension before those of the bounds."""
    if start.dtype is not stop.dtype:
        raise TypeError(f"linspace: start is {start.dtype.name}, stop is {stop.dtype.name}")
    if not (start.dtype.is_floating or start.dtype.is_complex):
        raise TypeError(f"linspace takes floating bounds, found {start.dtype.name}; cast first")
    if num_tensor is None and (num is None or num <= 0):
        raise ValueError(f"linspace: num has to be positive, found {num}")
    bounds_shape = broadcast_shapes(start.shape, stop.shape)
    return TensorType(start.dtype, None if bounds_shape is None else (num, *bounds_shape), start.weak and stop.weak)


def _linspace(start: Any, stop: Any, num_tensor: Any = None, *, num: int | None) -> Any:
    count = int(num_tensor) if num_tensor is not None else int(num or 0)
    if count <= 0:
        raise InvalidArgumentError(f"Requires num > 0: {count}")
    return np.linspace(start, stop, count, dtype=np.asarray(start).dtype)


def _linspace_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the sums of the cotangent weighted by each number's distance from the other end."""
    (cotangent,), (start, stop, *num) = cotangents, inputs
    # Each number is (1 - weight)·start + weight·stop.
    weight = b.linspace(b.zeros_like(start), b.ones_like(stop), *num, **attributes)
    stop_cotangent = b.multiply(cotangent, weight)
    return (
        b.sum_to_shape_of(b.subtract(cotangent, stop_cotangent), start),
        b.sum_to_shape_of(stop_cotangent, stop),
        *(None for _ in num),
    )


linspace = define(
    name="linspace", graphdef="LinSpace", result=_linspace_type, kernel=quiet(_linspace),
    gradient=_linspace_gradient, unify=(0, 1),
    samples=(
        sample(np.array(0.5), np.array(2.0), num=4),
        sample(np.array([0.5, 1.0]), np.array(2.0), np.array(3, np.int32), num=None),
    ),
    sizes=SizeOperand("num", 2, "number"),
)  # fmt: skip
