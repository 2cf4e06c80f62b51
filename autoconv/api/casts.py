"""Changes of dtype, and functions that hand their input on."""

from __future__ import annotations

from typing import Any

from autoconv.graph.dtypes import as_dtype
from autoconv.runtime.convert import as_tensor, convert_to_tensor
from autoconv.runtime.dispatch import apply
from autoconv.runtime.tensor import Tensor


def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`x` with elements of `dtype`: floats become integers by cutting off, integers wrap, bools are 0 or 1.

    A tensor that has the dtype comes back as it is. Raises TypeError between strings and numbers.

    >>> autoconv.cast([1.7, -1.7], autoconv.int32).numpy()
    array([ 1, -1], dtype=int32)
    """
    wanted = as_dtype(dtype)
    tensor = as_tensor(x)
    if tensor is None:
        tensor = convert_to_tensor(x)
    elif tensor.weak:
        return apply("python_cast", tensor, dtype=wanted, name=name)
    return tensor if tensor.dtype is wanted else apply("cast", tensor, dtype=wanted, name=name)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """As `cast`, with what is out of the dtype's range moved to its limits."""
    wanted = as_dtype(dtype)
    tensor = convert_to_tensor(value)
    return tensor if tensor.dtype is wanted else apply("saturate_cast", tensor, dtype=wanted, name=name)


def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The same bits read as another dtype.

    Elements of another size add or take away a last dimension that makes up for it; raises ValueError where
    that does not fit.
    """
    return apply("bitcast", input, dtype=as_dtype(type), name=name)


def identity(input: Any, name: str | None = None) -> Tensor:
    """A tensor of the same value."""
    return apply("identity", input, name=name)


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """The same value, which differentiation takes for a constant.

    >>> autoconv.grad(lambda x: x * autoconv.stop_gradient(x))(3.0)
    3.0
    """
    return apply("stop_gradient", input, name=name)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """The same value; raises InvalidArgumentError with the message for a nan or an infinity in it."""
    return apply("check_numerics", tensor, message=message, name=name)


