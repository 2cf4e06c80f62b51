"""Binary, unary and indexing operators on values: choose the rules that apply, and the op."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError, StagingError
from autoconv.graph.dtypes import bool_, float64, int64
from autoconv.ops.index_spec import NotAnIndex, Spec, parse_index
from autoconv.ops.program_errors import mark_program_error
from autoconv.ops.rules import element_count
from autoconv.runtime.recording.numpy_protocol import implementation
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor, is_tensor, to_array, unsupported_error
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.foreign_operands import apply_to_foreign
from autoconv.runtime.tensors.numpy_behaviour import is_numpy_behaviour_enabled
from autoconv.runtime.tensors.operator_dtypes import (
    as_index_operand,
    has_python_numbers,
    is_bool_tensor,
    refuse_bools,
    true_division_operands,
)
from autoconv.runtime.tensors.remote_ops import NUMBERS
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.symbolic import set_size_function
from autoconv.runtime.tensors.tensor import ArrayTensor, EagerTensor, Tensor
from autoconv.runtime.tensors.tensor_methods import BINARY_DISPATCH


def binary(op_name: str, x: object, y: object) -> Any:
    """Apply an operator to two values, at least one of them a tensor.

    Returns NotImplemented if tensors do not compute with the class of the other value, or for a number and a sequence.
    """
    if op_name == "multiply" and _is_repetition(x, y):
        return _repeat(x, y)
    for operand in (x, y):
        apply_binary = getattr(type(operand), "__autoconv_binary__", None)
        if apply_binary is not None:  # a SymbolicArray, an array in memory: the result is a new array
            return apply_binary(operand, op_name, (x, y))
    return elementwise(op_name, x, _right_operand_of_complex(op_name, x, y))


def elementwise(op_name: str, x: object, y: object) -> Any:
    """Apply an operator, as `binary` does, where no operand is an array in memory of the graph."""
    if not (_is_operand(x) and _is_operand(y)) or _is_number_and_sequence(x, y):
        if (x is None or y is None) and not has_python_numbers():
            raise unsupported_error(None)
        return apply_to_foreign(op_name, x, y)
    if op_name == "multiply" and _are_scalar_and_list(x, y):
        return NotImplemented  # the list repeats itself
    _mark_trace_of_arrays(x, y)
    if _is_array_and_taped_number(x, y):  # as tensors both, so that the tape follows the number
        x, y = (ArrayTensor(value) if isinstance(value, np.ndarray) else value for value in (x, y))
    if _follows_numpy(x, y) and not _are_numbers(x, y):
        return _apply_ufunc(op_name, x, y)
    if not has_python_numbers():
        refuse_bools(op_name, x, y)
    has_bool_operand = is_bool_tensor(x) or (is_bool_tensor(y) and not isinstance(x, _WEAK_TYPES))
    if op_name == "multiply" and has_bool_operand:  # in TensorFlow, the product of bools is `and`
        op_name, x, y = "logical_and", *(apply("cast", value, dtype=bool_) for value in (x, y))
    elif op_name == "divide":
        x, y = true_division_operands(x, y)
    elif op_name in ("floor_divide", "modulo"):
        check_divisor(x, y)
    elif op_name.startswith("bitwise") and _is_bool(x) and _is_bool(y):
        op_name = op_name.replace("bitwise", "logical")
    return apply(op_name, x, y)


def _right_operand_of_complex(op_name: str, x: object, y: object) -> Any:
    """Return `y`, or a Python float for a float64 of NumPy's to the right of a Python complex number.

    np.float64 is a subclass of float. So `complex.__add__` and `complex.__eq__` accept it, and give Python's result.
    """
    if op_name not in _COMPLEX_OPS or not _follows_numpy(x, y):
        return y
    is_complex = type(x) is complex or (isinstance(x, Tensor) and x.weak and x.type.dtype.is_complex)
    if not is_complex:
        return y
    if type(y) is np.float64:
        return float(y)
    is_number = isinstance(y, Tensor) and not y.weak and y.type.shape == () and y.type.dtype == float64
    return apply("python_float", y) if is_number else y


_COMPLEX_OPS = frozenset({"add", "subtract", "multiply", "divide", "power", "equal", "not_equal"})


def compare_with_none(op_name: str, x: object) -> bool:
    """Return the value of `x == None` or `x != None`: True for "not_equal".

    Raises StagingError for an array that `compile` traces. Other comparisons raise ValueError.
    """
    refuse_elementwise_comparison(x, None, "None", remedy="`x is None`")
    if op_name not in ("equal", "not_equal"):
        raise unsupported_error(None)
    return op_name == "not_equal"


def refuse_elementwise_comparison(
    x: object, other: object, other_text: str, remedy: str = "np.equal(x, other)"
) -> None:
    """Raise StagingError for an array compared with a value that is no number; NumPy compares its elements.

    Raise it also for a NumPy number that is compared with a sequence. `other_text` describes `other` in the message.
    """
    if not traces_arrays() or getattr(x, "weak", False):
        return
    is_sequence = isinstance(other, Sequence) or hasattr(type(other), "__array__")
    if getattr(x, "ndim", 0) > 0 or (is_sequence and not isinstance(other, (str, bytes))):
        message = f"an array is compared with {other_text}, which NumPy does element by element"
        raise StagingError(message, current_place(), remedy)


def check_divisor(x: object, y: object) -> None:
    """Raise InvalidArgumentError if an integer tensor is divided by zero; in a graph, record the check.

    NumPy's arrays give 0 there, and Python's numbers have an error of their own.
    """
    divisor = as_tensor(y)
    operands = [operand for operand in (as_tensor(x), divisor) if operand is not None and not operand.weak]
    if not operands or not all(operand.dtype.is_integer for operand in operands):
        return
    static_divisor = static_value(y if divisor is None else divisor)
    if type(y) is int and not has_python_numbers():
        y = static_divisor = to_array(y, operands[0].dtype)  # an int out of range wraps around, perhaps to 0
    if static_divisor is not None and np.all(static_divisor):
        return
    if current_region() is None:
        raise InvalidArgumentError("Integer division by zero")
    is_nonzero = apply("reduce_all", apply("not_equal", y, 0), axis=None, keepdims=False)
    apply("assert_true", is_nonzero, message="Integer division by zero", failure="check")


def unary(op_name: str, x: Any) -> Any:
    """Apply an operator to one tensor."""
    return _apply_ufunc(op_name, x) if _follows_numpy(x) and not x.weak else apply(op_name, x)


def positive(x: Any) -> Any:
    """`+x`: under `compile` a copy of an array, and an int for a Python bool; NumPy has no such operator for bools."""
    contract = current_contract()
    if not contract.python_numbers or not x.type.dtype.is_bool:
        is_copied = contract.numpy_arrays and not x.weak and x.type.shape != ()
        return apply("numpy_copy", x, method="copy", copy_id=0) if is_copied else x
    if not x.weak:
        raise StagingError("`+` is applied to a bool of NumPy", current_place())
    return apply("python_int", x)


def get_item(x: object, index: object) -> Any:
    """`x[index]` with NumPy's meaning, except that a list counts as a tuple unless operators on `x` follow NumPy."""
    if isinstance(index, list) and not _follows_numpy(x):
        index = tuple(index)
    return item_at(x, index, *parse_program_index(index))


def item_at(x: Any, index: Any, spec: Spec, operands: list[Any]) -> Any:
    """`x[index]` for an index that is already parsed."""
    try:
        return apply("get_item", x, *operands, spec=spec)
    except IndexError:
        if not _follows_numpy(x) or x.weak:
            raise
    raise _numpy_error(x.type.shape, index)  # outside the handler, so that it has no other error as its context


def parse_program_index(index: object) -> tuple[Spec, list[Any]]:
    """Parse an index as `parse_index` does; in a program of arrays, invalid ones raise NumPy's error."""
    try:
        spec, operands = parse_index(index, is_tensor)
        return spec, list(map(as_index_operand, operands))
    except NotAnIndex as error:
        if not traces_arrays():
            raise
        if error.numpy_error is None:
            raise StagingError("a float known only at run time is used as an index", current_place()) from None
        numpy_error = error.numpy_error
    raise mark_program_error(numpy_error)


def _numpy_error(shape: Any, index: Any) -> Exception:
    """Return NumPy's error for an invalid index into an array of the shape.

    If the error depends on positions known only at run time, a StagingError is returned.
    """
    error, other_error = _error_of_sample(shape, index, number=0), _error_of_sample(shape, index, number=None)
    if error is not None and str(error) == str(other_error):
        return mark_program_error(error)
    return StagingError("an index is out of range", current_place(), "an index that fits")


def _error_of_sample(shape: Any, index: Any, number: int | None) -> IndexError | None:
    """Return NumPy's error for an index with `number` in place of symbolic elements; None if there is no IndexError.

    If `number` is None, the greatest value of the dtype takes the place.
    """
    entries = [_sample_entry(entry, number) for entry in (index if type(index) is tuple else (index,))]
    try:
        # A broadcast scalar, which takes no memory.
        sample_array: Any = np.broadcast_to(np.False_, shape) if shape else np.False_
        sample_array[tuple(entries) if type(index) is tuple else entries[0]]
    except IndexError as error:
        return error.with_traceback(None)
    except Exception:  # the index or the shape is symbolic
        pass
    return None


def _sample_entry(entry: object, number: int | None) -> Any:
    """Return an entry of an index with `number` in place of all elements of a tensor; other entries unchanged.

    If `number` is None, the greatest value of the dtype takes the place, and 0 for floats.
    """
    tensor = as_tensor(entry)
    if tensor is None:
        return entry
    dtype = tensor.type.dtype
    if number is None:
        number = int(dtype.max) if dtype.is_integer else 0
    return np.full(tensor.type.shape, number, dtype.numpy)  # type: ignore[arg-type]


def set_item(x: object, index: object, value: object) -> Any:
    """Return a copy of `x` (a tensor or array) with `value` stored at `index`."""
    spec, operands = parse_index(index, is_tensor)
    tensor = convert_to_tensor(x)
    return apply("set_item", tensor, _cast_to_dtype_of(tensor, value), *operands, spec=spec)


def round_to(x: object, digits: int | None) -> Any:
    """Python's `round` on a tensor: half to even; a Python number without digits gives a weak integer."""
    tensor = as_tensor(x)
    assert tensor is not None
    if tensor.weak:
        return apply("python_round", tensor, digits=digits)
    if not digits:
        return apply("round", tensor)
    scale = 10.0**digits
    return apply("round", tensor * scale) / scale


def register_repetition(repeat: Callable[[Any, Any], Any]) -> None:
    """Register `repeat(x, y)` for text, a list or a tuple multiplied by a symbolic number."""
    global _repeat
    _repeat = repeat


_repeat: Callable[[Any, Any], Any] = lambda x, y: NotImplemented
_REPEATED_TYPES = frozenset({str, bytes, list, tuple})


def _is_repetition(x: object, y: object) -> bool:
    """Return whether one operand is a sequence of Python's own, to be repeated under `compile`."""
    return (type(x) in _REPEATED_TYPES or type(y) in _REPEATED_TYPES) and current_contract().python_numbers


def _are_scalar_and_list(x: object, y: object) -> bool:
    """Return whether a list in the graph is multiplied by a NumPy scalar, the number of its repetitions."""
    if not traces_arrays() or getattr(type(y), "__autoconv_plain__", None) is not list:
        return False
    return isinstance(x, Tensor) and x.type.shape == ()


def traces_arrays() -> bool:
    """Return whether tensors of the current trace stand for NumPy's arrays."""
    region = current_region()
    return region is not None and region.trace.uses_arrays


def _follows_numpy(*operands: object) -> bool:
    """Return whether an operator on the operands follows NumPy.

    True if the trace or the program treats tensors as arrays, or if an operand of an eager operator is an ArrayTensor.
    """
    region = current_region()
    if region is None:
        return is_numpy_behaviour_enabled() or any(type(x) is ArrayTensor for x in operands)
    return region.trace.uses_arrays or (is_numpy_behaviour_enabled() and not region.contract.numpy_arrays)


def _is_array_and_taped_number(x: object, y: object) -> bool:
    """Return whether an array of the program meets a Python number that a tape follows, as a weak eager tensor."""
    return any(
        isinstance(array, np.ndarray) and isinstance(number, EagerTensor) and number.weak
        for array, number in ((x, y), (y, x))
    )


def _mark_trace_of_arrays(x: object, y: object) -> None:
    """Under `compile`, make the trace one of arrays where an operand is an array or scalar of NumPy's."""
    if isinstance(x, (np.ndarray, np.generic)) or isinstance(y, (np.ndarray, np.generic)):
        region = current_region()
        if region is not None and region.contract.numpy_arrays:
            region.trace.uses_arrays = True


def _are_numbers(x: object, y: object) -> bool:
    """Return whether both are Python numbers, whose arithmetic differs from NumPy's."""
    return all(
        value.weak if isinstance(value, Tensor) else isinstance(value, NUMBERS) and not isinstance(value, np.generic)
        for value in (x, y)
    )


def _apply_ufunc(op_name: str, *operands: Any) -> Any:
    """Apply the NumPy ufunc of the operator, with NumPy's dtypes and errors."""
    if op_name == "power":
        _refuse_power_of_bools(*operands)
        if _is_square_of_complex(*operands):
            operands, op_name = operands[:1], "square"
    function = implementation(_UFUNCS.get(op_name) or getattr(np, op_name))
    assert function is not None
    return function(*operands)


def _is_square_of_complex(x: object, y: object) -> bool:
    """Return whether NumPy squares an array of complex numbers, which it does for the int 2 and no other exponent."""
    tensor = as_tensor(x)
    return type(y) is int and y == 2 and tensor is not None and tensor.dtype.is_complex and tensor.shape != ()


def _refuse_power_of_bools(x: object, y: object) -> None:
    """Raise StagingError for an array of bools to the power of an int that is 2 or symbolic.

    The dtype depends on the exponent: int8 for 2, int64 for all others.
    """
    exponent = as_tensor(y)
    is_int = type(y) is int if exponent is None else exponent.weak and exponent.dtype.is_integer
    if is_int and _is_bool(x) and getattr(x, "ndim", None) and static_value(y) in (None, 2):
        raise StagingError("the type of a power of bools depends on the exponent", current_place())


_UFUNCS = {"modulo": np.remainder, "abs": np.absolute}


def _is_operand(x: object) -> bool:
    """Return whether tensors compute with the object."""
    return (
        isinstance(x, (Tensor, bool, int, float, complex, np.ndarray, np.generic, str, bytes, list, tuple))
        or as_tensor(x) is not None
    )


# Classes of left operands that take the dtype of a tensor to their right.
_WEAK_TYPES = (int, float, complex, list, tuple)


def _is_number_and_sequence(x: object, y: object) -> bool:
    """True for a Python number and a sequence, which are not elementwise: `3 * [0]` repeats, `3 == "3"` is False."""
    for number, other in ((x, y), (y, x)):
        if isinstance(number, Tensor) and number.weak and isinstance(other, (str, bytes, list, tuple)):
            return True
    return False


def _is_bool(x: object) -> bool:
    """Return whether the operand is a bool tensor, or a bool of Python or NumPy."""
    tensor = as_tensor(x)
    return not tensor.weak and tensor.dtype.is_bool if tensor is not None else isinstance(x, (bool, np.bool_))


def _cast_to_dtype_of(tensor: Tensor, value: object) -> Any:
    """Cast a value to the dtype of `tensor`, as NumPy does for assignments."""
    other = as_tensor(value)
    if other is None:
        is_number = isinstance(value, NUMBERS)
        return to_array(value, tensor.dtype) if is_number else to_array(value).astype(tensor.dtype.numpy)
    if other.dtype is tensor.dtype and not other.weak:
        return other
    return apply("python_cast" if other.weak else "cast", other, dtype=tensor.dtype)


def dimension_of(x: object, axis: int) -> Any:
    """Return the size of a dimension, as a weak scalar."""
    size = apply("dimension", x, axis=axis, dtype=int64)
    return apply("python_cast", size, dtype=int64, weak=True)


set_size_function(dimension_of)


def count_of(x: Any) -> Any:
    """Return the number of elements: an int where static, else a weak scalar."""
    static_count = element_count(x.type.shape)
    if static_count is not None:
        return static_count
    return apply("python_cast", apply("size", x, dtype=int64), dtype=int64, weak=True)


# tensor_methods calls this module by a hook, since this module imports it.
BINARY_DISPATCH.set(lambda: sys.modules[__name__])
