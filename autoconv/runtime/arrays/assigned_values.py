"""Conversion of values that are assigned to array elements, and checks of broadcasting, as in NumPy."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import DType, as_dtype, int64
from autoconv.graph.types import ArrayType, Shape, TensorType
from autoconv.ops.index_spec import Mask, Spec
from autoconv.ops.program_errors import as_program_error
from autoconv.runtime.annotations import DTypeLike, ShapeLike
from autoconv.runtime.objects.symbolic_objects import is_object, record_object
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor, record_constant, to_array
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor

_ADDRESS_SPACE = 2**47  # bytes of address space of a process


def is_beyond_memory(sizes: Sequence[int | None], item_size: int) -> bool:
    """Return whether an array of these sizes (None: unknown) exceeds the address space, so that NumPy raises."""
    return math.prod(size for size in sizes if size) * item_size > _ADDRESS_SPACE


def convert_assigned(value: object, type_: ArrayType) -> Tensor:
    """Convert a value assigned to an array, or to a view of one, as NumPy does."""
    if is_object(value) and type_.shape == ():
        return convert_element(value, type_.dtype)
    return convert_elements(value, type_.dtype)


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


def convert_elements(value: object, dtype: DType, is_basic: bool = True) -> Tensor:
    """Convert Python's numbers to elements of the dtype; arrays keep their dtype, for `cast_to` to convert later.

    With `is_basic` (the target is one element or a slice), NumPy's scalars are converted and checked like Python's.
    """
    tensor = as_tensor(value)
    if tensor is not None:
        is_checked = tensor.weak or (is_basic and _is_range_checked(value, dtype))
        return convert_number(tensor, dtype) if is_checked else tensor
    if isinstance(value, (bool, int, float, complex)):
        region, number = current_region(), convert_numbers(value, dtype)
        return EagerTensor(number) if region is None else record_constant(region, number)
    if isinstance(value, (list, tuple)):
        value = _convert_nested(value, dtype)
        if isinstance(value, Tensor):
            return value
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
        return EagerTensor(to_array(value))
    description = "value known only at run time" if is_object(value) else value.__class__.__name__
    raise StagingError(f"a {description} is assigned to elements of an array", current_place())


def convert_elements_at(value: object, array: ArrayType, spec: Spec, operands: Sequence[Any]) -> Tensor:
    """Convert the elements assigned at an index of masks or arrays; errors of a mask precede those of the value."""
    try:
        return convert_elements(value, array.dtype, is_basic=False)
    except (TypeError, ValueError, OverflowError):
        mask = as_tensor(operands[0]) if spec == (Mask(),) else None
        mask_sizes = None if mask is None else _static_sizes(mask.type.shape)
        array_sizes = _static_sizes(array.shape)
        if mask_sizes is not None and array_sizes is not None:
            np.broadcast_to(0, array_sizes)[np.broadcast_to(False, mask_sizes)]  # raises NumPy's error
        raise


def _static_sizes(shape: Shape) -> list[int] | None:
    """Return the sizes of a shape; None if one of them is not known while tracing."""
    sizes = [size for size in shape or () if isinstance(size, int)]
    return sizes if shape is not None and len(sizes) == len(shape) else None


def _is_range_checked(value: object, dtype: DType) -> bool:
    """Return whether NumPy checks the range of a NumPy scalar like that of a Python number: only for signed dtypes."""
    if not isinstance(value, SymbolicTensor) or value.type.shape != () or not dtype.is_integer or dtype.is_unsigned:
        return False
    value_dtype = value.type.dtype
    return value_dtype.is_floating or (value_dtype.is_integer and not np.can_cast(value_dtype.numpy, dtype.numpy))


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
    try:
        np.zeros(1, dtype)[0] = value
    except (TypeError, ValueError) as error:
        as_program_error(error)
        raise


def check_sizes(shape: ShapeLike) -> None:
    """Raise NumPy's TypeError for sizes that are bools, floats or strings."""
    sizes = tuple(map(_sample_size, shape)) if isinstance(shape, (list, tuple)) else _sample_size(shape)
    check_as_numpy(lambda: np.empty(sizes))


def check_as_numpy(call: Callable[[], object]) -> None:
    """Make a call of NumPy that checks arguments; its error is the program's."""
    try:
        call()
    except (TypeError, ValueError, OverflowError) as error:
        as_program_error(error)
        raise


def _sample_size(size: ShapeLike) -> Any:
    """Return a size of a type that NumPy refuses, with its error; 0 in place of a size of any other type."""
    return 0 if as_tensor(size) is not None or not isinstance(size, (bool, np.bool_, float, complex, str)) else size


def convert_element(value: object, dtype: DType) -> Tensor:
    """Convert a number to an element of an array of the dtype."""
    if is_object(value):
        return record_object("object_element", [value], dtype=dtype)  # type: ignore[no-any-return]
    tensor = as_tensor(value)
    if tensor is None:
        return EagerTensor(np.asarray(value).astype(dtype.numpy))
    return convert_number(tensor, dtype) if tensor.weak else cast_to(tensor, dtype)  # type: ignore[no-any-return]


def convert_numbers(value: object, dtype: DType) -> np.ndarray:
    """Convert Python numbers, or lists of them, to elements of the dtype; raise NumPy's errors as the program's."""
    try:
        with np.errstate(all="ignore"):
            return np.array(value, dtype.numpy)
    except (OverflowError, TypeError, ValueError) as error:
        as_program_error(error)
        raise


def convert_number(number: Tensor, dtype: DType) -> Tensor:
    """Convert a number that is checked as Python's: ints out of range raise, as do nan and inf for integers."""
    if dtype.is_bool:
        number = dispatch.apply("python_bool", number)
    refuse_complex(number, dtype)
    if dtype.is_integer and (number.type.dtype.is_floating or not number.weak):
        number = dispatch.apply("python_int", number)
    return dispatch.apply("python_cast", number, dtype=dtype)  # type: ignore[no-any-return]


def refuse_complex(number: object, dtype: DType) -> None:
    """Raise Python's TypeError where a Python complex number would become a real element."""
    if loses_imaginary_parts(number, dtype):
        number_type: Any = int if dtype.is_integer else float
        try:
            number_type(0j)  # raises the error
        except TypeError as error:
            as_program_error(error)
            raise


def refuse_warned_conversion(value: Any, dtype: DType) -> None:
    """Refuse under `compile` the conversion of NumPy's complex numbers to real elements, for which NumPy warns."""
    if loses_imaginary_parts(value, dtype) and not value.weak and current_contract().numpy_arrays:
        raise StagingError("complex numbers are converted to real ones, for which NumPy warns", current_place())


def loses_imaginary_parts(number: object, dtype: DType) -> bool:
    """Return whether a number is complex and the dtype real."""
    tensor = as_tensor(number)
    is_complex = isinstance(number, complex) if tensor is None else tensor.type.dtype.is_complex
    return is_complex and not dtype.is_complex and not dtype.is_bool


def is_stored_item_by_item(value: object, type_: ArrayType) -> bool:
    """Return whether an assigned list must be stored item by item: some numbers in it may be out of range.

    NumPy stores the items before such a number, and then raises.
    """
    if not isinstance(value, (list, tuple)) or not type_.dtype.is_integer or type_.shape != (len(value),):
        return False
    items_and_tensors = [(item, as_tensor(item)) for item in value]
    if not all(np.ndim(item) == 0 if tensor is None else tensor.type.shape == () for item, tensor in items_and_tensors):
        return False
    return any(_may_overflow(item, tensor, type_.dtype) for item, tensor in items_and_tensors)


def _may_overflow(value: object, tensor: Tensor | None, dtype: DType) -> bool:
    """Return whether a number may be out of the range of an integer dtype; `tensor` is `as_tensor(value)`."""
    if tensor is not None:
        is_wider = tensor.weak and (dtype is not int64 or not tensor.type.dtype.is_integer)
        return is_wider or _is_range_checked(value, dtype)
    is_checked = isinstance(value, (int, float, complex)) and not isinstance(value, bool)
    return is_checked and not _is_representable(value, dtype)


def _is_representable(number: Any, dtype: DType) -> bool:
    """Return whether the dtype holds the number."""
    try:
        return dtype.min <= int(number) <= dtype.max
    except (OverflowError, TypeError, ValueError):
        return False


def _convert_nested(value: Any, dtype: DType) -> Any:
    """Convert a list, or a list of lists, to an array as NumPy does for elements of the dtype."""
    if holds_numbers(value):
        return convert_numbers(value, dtype)
    if all(as_tensor(item) is None for item in value) and not any(isinstance(item, (list, tuple)) for item in value):
        return np.asarray(value)
    items = [_convert_item(item, dtype) for item in value]
    if not any(isinstance(as_tensor(item), SymbolicTensor) for item in items):
        return np.asarray([item.numpy() if isinstance(item, EagerTensor) else item for item in items])
    return stack_items(items)


def _convert_item(item: object, dtype: DType) -> Any:
    """Convert an item of an assigned list."""
    if isinstance(item, (list, tuple)):
        return _convert_nested(item, dtype)
    if isinstance(item, (bool, int, float, complex)):
        return convert_numbers(item, dtype)
    tensor = as_tensor(item)
    if tensor is None or not (tensor.weak or _is_range_checked(item, dtype)):
        return item
    return convert_number(tensor, dtype)


def holds_numbers(value: Any) -> bool:
    """Return whether a nested list holds only Python numbers, np.float64 included."""
    return all(
        holds_numbers(item) if isinstance(item, (list, tuple)) else isinstance(item, (bool, int, float, complex))
        for item in value
    )


def stack_items(items: Sequence[Any]) -> Any:
    """Stack numbers and arrays into one array of NumPy's result dtype."""
    items_and_tensors = [(item, as_tensor(item)) for item in items]
    tensors = [EagerTensor(np.asarray(item)) if tensor is None else tensor for item, tensor in items_and_tensors]
    dtype = as_dtype(np.result_type(*(tensor.type.dtype.numpy for tensor in tensors)))
    return dispatch.apply("stack", *(cast_to(tensor, dtype) for tensor in tensors), axis=0)


def cast_to(tensor: Any, dtype: DType) -> Any:
    """Cast the tensor to the dtype."""
    refuse_warned_conversion(tensor, dtype)
    if tensor.type.weak:
        return dispatch.apply("python_cast", tensor, dtype=dtype)
    return tensor if tensor.type.dtype is dtype else dispatch.apply("cast", tensor, dtype=dtype)


def sample_operand(other: object) -> Any:
    """Return a small operand with the dtype and weakness of `other`, whose elements are zeros."""
    if isinstance(other, (list, tuple)):
        return [sample_operand(item) for item in other]
    tensor = as_tensor(other)
    if tensor is None:
        return other
    return np.zeros((), tensor.type.dtype.numpy).item() if tensor.weak else np.zeros(1, tensor.type.dtype.numpy)


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


_TYPES_WITH_SHAPE = (np.ndarray, np.generic, bool, int, float, complex)


def _has_plain_shape(value: object) -> bool:
    """Return whether `np.shape` gives the shape of a value: of numbers, NumPy's arrays, and lists of these."""
    if isinstance(value, (list, tuple)):
        return all(map(_has_plain_shape, value))
    return isinstance(value, _TYPES_WITH_SHAPE)


def convert_plain_sequence(value: Any) -> Any:
    """Return a list or tuple of plain numbers as a tensor of the dtype that NumPy gives it; other values unchanged."""
    is_plain = isinstance(value, (list, tuple)) and _has_plain_shape(value)
    return convert_to_tensor(np.asarray(value)) if is_plain else value


def check_types(op: str, operands: Sequence[Any], output_dtype: Any = None) -> None:
    """Raise NumPy's TypeError if its function has no loop for the dtypes of the operands.

    Raise it also if the result cannot be cast to `output_dtype`, when that is given.
    """
    function: Any = np.remainder if op == "modulo" else getattr(np, op)
    try:
        function(*map(sample_operand, operands), out=None if output_dtype is None else np.zeros(1, output_dtype))
    except TypeError as error:
        as_program_error(error)
        raise
    except Exception:  # errors about the samples' elements or shapes
        pass


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
        is_plain = tensor is None and _has_plain_shape(operand)
        shapes.append(np.shape(operand) if is_plain else None if tensor is None else tensor.type.shape)
    if op == "matmul" and output_shape is not None and None not in shapes:  # `@=` has errors of its own for ranks
        check_as_numpy(lambda: operator.imatmul(*(np.ones((1,) * len(shape)) for shape in shapes)))
    if op == "matmul" or any(shape is None for shape in shapes):
        return
    size_pairs = zip(reversed(shapes[0]), reversed(shapes[1]), strict=False)
    if any(1 not in sizes and sizes[0] != sizes[1] and all(isinstance(x, int) for x in sizes) for sizes in size_pairs):
        check_types(op, operands, output_dtype)
        shapes += [] if output_shape is None else [output_shape]
        shapes_text = " ".join(map(numpy_shape_text, shapes))
        raise as_program_error(ValueError(f"operands could not be broadcast together with shapes {shapes_text} "))


def may_have_shape(target_shape: Sequence[int | None], shape: Sequence[Any]) -> bool:
    """Return whether a result of the shape may fill `target_shape` unbroadcast; unknown sizes count as a match."""
    return len(target_shape) == len(shape) and all(
        size == target or None in (size, target) for size, target in zip(shape, target_shape, strict=True)
    )


def numpy_shape_text(shape: Any) -> str:
    """Format a shape as NumPy's error messages do."""
    sizes = ["?" if size is None else str(size) for size in shape or ()]
    return f"({','.join(sizes)}{',' if len(sizes) == 1 else ''})"
