"""Changes of dtype, and functions that return their input: `identity`, `stop_gradient`, `check_numerics`."""

from __future__ import annotations

import numpy as np

from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.graph.dtype_sets import FLOATING
from autoconv.graph.dtypes import as_dtype
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.objects.variable_updates import IndexedSlices
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """`x` with elements of `dtype`: floats are truncated to integers, integers wrap around, bools are 0 or 1.

    A tensor of that dtype is returned unchanged, IndexedSlices stay slices. Raises TypeError between strings and
    numbers.

    >>> autoconv.cast([1.7, -1.7], autoconv.int32).numpy()
    array([ 1, -1], dtype=int32)
    """
    out_dtype = as_dtype(dtype)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, out_dtype), x.indices, x.dense_shape)  # type: ignore[return-value]
    tensor = as_tensor(x)
    if tensor is None:
        tensor = convert_to_tensor(x)
    elif tensor.weak:
        return apply("python_cast", tensor, dtype=out_dtype, name=name)
    return tensor if tensor.dtype is out_dtype else apply("cast", tensor, dtype=out_dtype, name=name)


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """`cast` with values outside of the dtype's range clipped to its limits.

    >>> autoconv.saturate_cast([300.0, -5.0], autoconv.uint8).numpy()
    array([255,   0], dtype=uint8)
    """
    out_dtype = as_dtype(dtype)
    tensor = convert_to_tensor(value)
    if tensor.dtype.is_complex and not out_dtype.is_complex:
        tensor = apply("real", tensor)
    if tensor.dtype.is_floating and out_dtype.is_integer:
        limit = np.array(out_dtype.max, tensor.dtype.numpy)
        if np.isfinite(limit) and int(limit) > out_dtype.max:  # the maximum was rounded up: use the float below
            tensor = apply("minimum", tensor, np.nextafter(limit, np.zeros_like(limit)))
    return tensor if tensor.dtype is out_dtype else apply("saturate_cast", tensor, dtype=out_dtype, name=name)


def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """The same bits read as another dtype.

    For a dtype of another size, a last dimension is added or removed; raises ValueError if that is impossible.

    >>> autoconv.bitcast([1.0], autoconv.int32).numpy()
    array([1065353216], dtype=int32)
    """
    x, dtype = convert_to_tensor(input), as_dtype(type)
    return apply("bitcast" if x.dtype.size == dtype.size else "bitcast_rows", x, dtype=dtype, name=name)


def identity(input: TensorLike, name: str | None = None) -> Tensor:
    """A tensor with the same value as the input.

    >>> autoconv.identity([1, 2]).numpy()
    array([1, 2], dtype=int32)
    """
    return apply("identity", input, name=name)


def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """The value of the input, treated as a constant by differentiation.

    >>> autoconv.grad(lambda x: x * autoconv.stop_gradient(x))(3.0)
    3.0
    """
    return apply("stop_gradient", input, name=name)


def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """The value of the input; raises InvalidArgumentError with the message if it contains nan or an infinity.

    >>> autoconv.debugging.check_numerics(autoconv.constant([1.0]), "x").numpy()
    array([1.], dtype=float32)
    """
    check_dtype("check_numerics", FLOATING, tensor)
    return apply("check_numerics", tensor, message=message, name=name)
