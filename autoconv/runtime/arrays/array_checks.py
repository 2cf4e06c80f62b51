"""Checks of shapes, dtypes, sizes and indices before a node is recorded; their errors are NumPy's."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.types import ArrayType, Shape, TensorType
from autoconv.ops.program_errors import as_program_error, errors_of_program
from autoconv.runtime.annotations import DTypeLike, ShapeLike
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.conversion import as_tensor

_ADDRESS_SPACE = 2**47  # bytes of address space of a process
_TYPES_WITH_SHAPE = (np.ndarray, np.generic, bool, int, float, complex)


def check_broadcast(
    op: str, operands: Sequence[Any], output_shape: Any = None, output_dtype: DTypeLike | None = None
) -> None:
    """Raise NumPy's ValueError if the static shapes of two operands do not broadcast.

    Raise its TypeError instead if the dtypes do not fit either, as NumPy checks these first. `output_shape` and
    `output_dtype` are those of the output array, if there is one.
    """
    shapes: list[Any] = []
    for operand in operands:
        tensor = as_tensor(operand)
        is_plain = tensor is None and has_plain_shape(operand)
        shapes.append(np.shape(operand) if is_plain else None if tensor is None else tensor.type.shape)
    if op == "matmul" and output_shape is not None and None not in shapes:  # `@=` has errors of its own for ranks
        check_as_numpy(lambda: operator.imatmul(*(np.ones((1,) * len(shape)) for shape in shapes)))
    if op == "matmul" or any(shape is None for shape in shapes):
        return
    size_pairs = zip(reversed(shapes[0]), reversed(shapes[1]), strict=False)
    if any(1 not in sizes and sizes[0] != sizes[1] and all(isinstance(x, int) for x in sizes) for sizes in size_pairs):
        check_types(op, operands, output_dtype)
        shapes += [] if output_shape is None else [output_shape]
        shapes_text = " ".join(map(_numpy_shape_text, shapes))
        raise as_program_error(ValueError(f"operands could not be broadcast together with shapes {shapes_text} "))


def check_types(op: str, operands: Sequence[Any], output_dtype: Any = None) -> None:
    """Raise NumPy's TypeError if its function has no loop for the dtypes of the operands.

    Raise it also if the result cannot be cast to `output_dtype`, when that is given.
    """
    function: Any = np.remainder if op == "modulo" else getattr(np, op)
    try:
        function(*map(_sample_operand, operands), out=None if output_dtype is None else np.zeros(1, output_dtype))
    except TypeError as error:
        as_program_error(error)
        raise
    except Exception:  # errors about the samples' elements or shapes
        pass


def _sample_operand(other: object) -> Any:
    """Return a small operand with the dtype and weakness of `other`, whose elements are zeros."""
    if isinstance(other, (list, tuple)):
        return [_sample_operand(item) for item in other]
    tensor = as_tensor(other)
    if tensor is None:
        return other
    return np.zeros((), tensor.type.dtype.numpy).item() if tensor.weak else np.zeros(1, tensor.type.dtype.numpy)


def check_depth(value: Any, rank: int) -> None:
    """Raise NumPy's ValueError for a nested list with more dimensions than `rank`, that of its target."""
    if isinstance(value, (list, tuple)) and rank < _depth(value):
        detail = f"The requested array would exceed the maximum number of dimension of {rank}."
        raise as_program_error(ValueError(f"setting an array element with a sequence. {detail}"))


def _depth(value: Any) -> int:
    """Return the number of dimensions that NumPy gives a value; 0 if it is unknown."""
    if isinstance(value, (list, tuple)):
        return 1 + max(map(_depth, value), default=0)
    if isinstance(value, np.ndarray):
        return value.ndim
    type_ = getattr(value, "type", None)
    return type_.rank or 0 if isinstance(type_, (TensorType, ArrayType)) else 0


def check_index_rank(indexed_rank: int, rank: int) -> None:
    """Raise NumPy's error if an index covers `indexed_rank` dimensions, more than the array has."""
    if indexed_rank > rank:
        detail = f"array is {rank}-dimensional, but {indexed_rank} were indexed"
        raise as_program_error(IndexError(f"too many indices for array: {detail}"))


def check_scalar(value: object, dtype: Any) -> None:
    """Raise NumPy's error if the value, which is assigned to one element of the dtype, has dimensions."""
    tensor = as_tensor(value)
    shape: Any = None if tensor is None else tensor.type.shape
    if isinstance(value, (list, tuple)):
        if np.dtype(dtype).kind == "b":
            raise StagingError("the truth of a list is assigned to an element", current_place())
        _try_assignment(dtype, [0] * min(len(value), 2))  # the error is the same for any two or more items
    elif isinstance(value, np.ndarray):
        shape = value.shape
    if shape and all(isinstance(size, int) for size in shape):
        _try_assignment(dtype, np.ones(shape))


def _try_assignment(dtype: Any, value: Any) -> None:
    """Assign a value to one element of an array of NumPy, whose error is the program's."""
    with errors_of_program(TypeError, ValueError):
        np.zeros(1, dtype)[0] = value


def check_sizes(shape: ShapeLike) -> None:
    """Raise NumPy's TypeError for sizes that are bools, floats or strings."""
    sizes = tuple(map(_sample_size, shape)) if isinstance(shape, (list, tuple)) else _sample_size(shape)
    check_as_numpy(lambda: np.empty(sizes))


def _sample_size(size: ShapeLike) -> Any:
    """Return a size of a type that NumPy refuses, with its error; 0 in place of a size of any other type."""
    return 0 if as_tensor(size) is not None or not isinstance(size, (bool, np.bool_, float, complex, str)) else size


def check_as_numpy(call: Callable[[], object]) -> None:
    """Make a call of NumPy that checks arguments; its error is the program's."""
    with errors_of_program(TypeError, ValueError, OverflowError):
        call()


def is_beyond_memory(sizes: Sequence[int | None], item_size: int) -> bool:
    """Return whether an array of these sizes (None: unknown) exceeds the address space, so that NumPy raises."""
    return math.prod(size for size in sizes if size) * item_size > _ADDRESS_SPACE


def is_static_mask(mask: Any, shape: Sequence[int | None]) -> bool:
    """Return whether the mask is known while tracing to have the shape."""
    tensor = as_tensor(mask)
    mask_shape = np.shape(mask) if tensor is None else tensor.type.shape
    return None not in shape and tuple(mask_shape or ()) == tuple(shape)


def may_broadcast(target_shape: Sequence[int | None], shape: Sequence[Any]) -> bool:
    """Return whether a value of the shape may broadcast to `target_shape`; unknown sizes count as a match."""
    if len(shape) > len(target_shape):
        return False
    size_pairs = zip(reversed(shape), reversed(target_shape), strict=False)
    return all(size in (1, target) or None in (size, target) for size, target in size_pairs)


def check_assigned_shape(shape: Shape, target_shape: Sequence[int | None]) -> None:
    """Raise NumPy's ValueError if no value of the shape can be assigned to an array of `target_shape`."""
    if shape is None or not may_broadcast(target_shape, shape):
        texts = f"shape {_numpy_shape_text(shape)} into shape {_numpy_shape_text(target_shape)}"
        raise as_program_error(ValueError(f"could not broadcast input array from {texts}"))


def check_output_shape(shape: Shape, output_shape: Sequence[int | None]) -> None:
    """Raise NumPy's ValueError if no result of the shape fills an output of `output_shape`, which is not broadcast."""
    if shape is None or not _may_have_shape(output_shape, shape):
        texts = f"{_numpy_shape_text(output_shape)} doesn't match the broadcast shape {_numpy_shape_text(shape)}"
        raise as_program_error(ValueError(f"non-broadcastable output operand with shape {texts}"))


def _may_have_shape(target_shape: Sequence[int | None], shape: Sequence[Any]) -> bool:
    """Return whether both shapes may be equal; unknown sizes count as a match."""
    return len(target_shape) == len(shape) and all(
        size == target or None in (size, target) for size, target in zip(shape, target_shape, strict=True)
    )


def has_plain_shape(value: object) -> bool:
    """Return whether `np.shape` gives the shape of a value: of numbers, NumPy's arrays, and lists of these."""
    if isinstance(value, (list, tuple)):
        return all(map(has_plain_shape, value))
    return isinstance(value, _TYPES_WITH_SHAPE)


def _numpy_shape_text(shape: Any) -> str:
    """Format a shape as NumPy's error messages do."""
    sizes = ["?" if size is None else str(size) for size in shape or ()]
    return f"({','.join(sizes)}{',' if len(sizes) == 1 else ''})"
