"""Conversion of arguments that have to be known while tracing, such as axes and shapes, to ints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from autoconv.errors import DtypeError, InvalidArgumentError
from autoconv.graph.dtypes import int32, int64
from autoconv.runtime.annotations import AxisLike, ShapeLike, TensorLike
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import computed_value, partial_value, static_sizes, static_value
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor


def static_axes(axis: AxisLike) -> tuple[int, ...] | None:
    """Return an int, a list or tuple of ints, or a tensor of constants as a tuple of ints; None unchanged.

    Raises UnknownAxis for a tensor of a graph whose value is not known while tracing, and another TypeError for floats.
    """
    if axis is None:
        return None
    if isinstance(axis, (list, tuple)):
        return tuple(static_int(element, "axis") for element in axis)
    value = _known_value(axis)
    if value is None:
        message = f"axis has to be known while tracing, found {axis!r}; pass Python ints"
        raise _unknown_value_error(message, axis)
    if np.asarray(value).dtype.kind == "f" and not isinstance(axis, (np.ndarray, np.generic)):  # arrays are cast
        raise DtypeError(f"axis is an int or a list of ints, found {axis!r}")
    return tuple(int(number) for number in np.ravel(value))


def static_int(value: TensorLike, name: str) -> int:
    """Return an int given as a number or a constant tensor; else raise TypeError, with the parameter's `name`."""
    known_value = _known_value(value)
    if known_value is None or isinstance(known_value, (float, str, bytes, np.floating)) or np.ndim(known_value):
        message = f"{name} has to be an int that is known while tracing, found {value!r}"
        raise _unknown_value_error(message, value)
    return int(known_value)


def axis_in_range(axis: int, rank: int) -> int:
    """Return an axis counted from the start; raises InvalidArgumentError unless it is from -rank to rank - 1."""
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"axis {axis} is out of range for a tensor of {rank} dimensions")
    return axis % rank


def static_text(value: TensorLike, name: str) -> str:
    """Return a text given as a Python string or a constant tensor; raises DtypeError for one that is not known."""
    known_value = value if isinstance(value, (str, bytes)) else static_value(value)
    if known_value is None:
        raise DtypeError(f"{name} has to be a string that is known while tracing, found {value!r}")
    text = np.asarray(known_value, object).item()
    return text.decode() if isinstance(text, bytes) else str(text)


class UnknownAxis(TypeError):
    """Error for an axis that is known only at run time: `axis` is its tensor, `argument` the object that was passed."""

    def __init__(self, message: str, axis: SymbolicTensor, argument: object) -> None:
        super().__init__(message)
        self.axis, self.argument = axis, argument

    def is_axis(self, argument: object) -> bool:
        """Return whether an argument of a function is the unknown axis, or a list with only this item."""
        elements = argument if isinstance(argument, (list, tuple)) else ()
        return argument is self.argument or (len(elements) == 1 and elements[0] is self.argument)


def _unknown_value_error(message: str, value: object) -> TypeError:
    """Return the error for a value that is not known while tracing: UnknownAxis for a tensor of the graph."""
    tensor = as_tensor(value)
    return UnknownAxis(message, tensor, value) if isinstance(tensor, SymbolicTensor) else DtypeError(message)


def _known_value(value: object) -> Any:
    """Return the value of a number, or of a tensor computed from constants and known shapes alone; else None."""
    constant = static_value(value)
    if constant is None and not isinstance(value, SymbolicTensor):
        value = as_tensor(value)  # of a variable, the tensor of its value
        constant = static_value(value)
    if constant is None and isinstance(value, SymbolicTensor):
        return computed_value(value.value_in_graph)
    return constant


def convert_pair(x: TensorLike, y: TensorLike) -> tuple[Any, Any]:
    """Return both operands as tensors of one dtype: the tensor's if only one is a tensor, else that of the first.

    Raises ValueError for two tensors of different dtypes.
    """
    y_tensor = as_tensor(y) if as_tensor(x) is None else None
    first = convert_to_tensor(x) if y_tensor is None else convert_to_tensor(x, y_tensor.dtype)
    return first, convert_to_tensor(y, first.dtype)


def shape_argument(shape: ShapeLike) -> tuple[tuple[Any, ...], tuple[int | None, ...] | None]:
    """Return a shape as (extra operands, static shape).

    The extra operands are none if every size is known, else one vector of all sizes at run time. The static shape has
    None for unknown sizes, and is None if the rank is unknown, too. Raises DtypeError for sizes that are floats.
    """
    if as_tensor(shape) is None and isinstance(shape, (int, np.integer)):
        shape = (shape,)
    if isinstance(shape, (list, tuple)):
        shape = [_truncate(size) for size in shape]
    elif (tensor := as_tensor(shape)) is not None and tensor.dtype not in (int32, int64):
        raise DtypeError(f"sizes of a shape are int32 or int64, found {tensor.dtype.name}")
    known_shape = static_value(shape)
    if known_shape is not None:
        return (), tuple(map(_as_size, np.ravel(known_shape).tolist()))
    if as_tensor(shape) is None and isinstance(shape, Iterable):
        # TensorFlow 1's shapes hold sizes as Dimensions.
        sizes = [getattr(size, "value", size) if type(size).__name__ == "Dimension" else size for size in shape]
        static_shape = tuple(_known_size(size) for size in sizes)
        if None not in static_shape:
            return (), static_shape
        if any(size is None for size in sizes):
            raise ValueError(f"the shape {sizes} has an unknown size; take it from autoconv.shape(…)")
        return (convert_to_tensor(sizes),), static_shape
    vector = convert_to_tensor(shape)
    if vector.shape.rank == 0:  # a single size, as Python's int is
        vector = apply("reshape", vector, shape=(1,))
    return (vector,), static_sizes(vector)


def vector_argument(shape: ShapeLike) -> tuple[tuple[Any, ...], tuple[int | None, ...] | None]:
    """Return the result of `shape_argument`; raises InvalidArgumentError for a size below 0, or in place of a shape."""
    if isinstance(shape, (int, np.integer)) or (isinstance(shape, Tensor) and shape.type.shape == ()):
        raise InvalidArgumentError(f"shape must be a vector of int32 or int64, found {shape!r}")
    operands, sizes = shape_argument(shape)
    negative_sizes = [size for size in sizes or () if size is not None and size < 0]
    if negative_sizes:
        raise InvalidArgumentError(f"Dimension {negative_sizes[0]} must be >= 0")
    return operands, sizes


def known_sizes(shape: ShapeLike) -> tuple[int | None, ...] | None:
    """Return the sizes of a shape, None for those that are not known while tracing; None if its rank is not known."""
    if as_tensor(shape) is None and isinstance(shape, Iterable):
        return tuple(map(_known_size, shape))
    _, static_shape = shape_argument(shape)
    return static_shape


def _known_size(dimension: Any) -> int | None:
    """Return a size as an int; None if it is not known while tracing."""
    value = None if dimension is None else static_value(dimension)
    if value is None and isinstance(dimension, SymbolicTensor):
        size, is_known = partial_value(dimension.value_in_graph) or (None, None)
        value = size if size is not None and size.ndim == 0 and is_known else None
    return None if value is None else _as_size(value)


def _truncate(size: Any) -> Any:
    """Return a tensor of floats cast to int32, as TensorFlow casts them among sizes in a list; others unchanged."""
    tensor = as_tensor(size)
    return size if tensor is None or not tensor.dtype.is_floating else apply("cast", tensor, dtype=int32)


def _as_size(value: Any) -> int:
    """Return a known size as an int; raise DtypeError for a float."""
    if isinstance(value, (float, np.floating)) or getattr(value, "dtype", np.dtype(int)).kind == "f":
        raise DtypeError(f"sizes of a shape are integers, found {value}")
    return int(value)
