"""Conversion of the arguments of NumPy's functions to tensors: NumPy's dtypes, and promotion.

Python's numbers are weak (NEP 50): beside an array they take its dtype, alone they are int64, float64, complex128.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.process_state import recorded_warnings
from autoconv.runtime.annotations import AxisLike, DTypeLike, TensorLike
from autoconv.runtime.arrays.assigned_values import (
    cast_checked_number,
    convert_plain_numbers,
    holds_numbers,
    refuse_warned_conversion,
)
from autoconv.runtime.recording.numpy_protocol import (
    FUNCTIONS,
    find_numpy_function,
    numpy_refusal,
    qualified_name,
    tensors_to_arrays,
)
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.recording.tracebacks import present_errors
from autoconv.runtime.support.structure import flat_leaves
from autoconv.runtime.tensors.binary_dispatch import dimension_of
from autoconv.runtime.tensors.conversion import as_tensor, constant
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor

MISSING: Any = np._NoValue  # type: ignore[attr-defined]
_SUPPORTED_KINDS = "biufcV"  # of NumPy's dtypes; "V" is the kind of bfloat16 and of other small floats
# Class of Python's numbers -> the operand in NumPy's promotion.
_PROMOTION_OPERANDS = {bool: np.dtype(bool), int: int, float: float, complex: complex}


class NotStaged(Exception):
    """Raised for a call that cannot be part of a graph; `reason` is what follows "it" in the message."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def refuse(reason: str) -> NoReturn:
    """Refuse the call for a reason that completes "it …", such as "is given a scalar".

    A trace raises an error that names the function; eagerly, NumPy itself is called.
    """
    raise NotStaged(reason)


def refuse_unknown(reason: str, values: object) -> NoReturn:
    """Refuse a call that needs the value, or structure of values, known only at run time, or open sizes of arrays.

    If integer arguments of the traced function determine all of them, these become constants of another trace.
    """
    current_contract().specialise(*flat_leaves(values))
    refuse(reason)


def refusal(name: str, error: NotStaged) -> StagingError:
    """Return the error for users, with the name of the function."""
    return numpy_refusal(name, f" here: it {error.reason}")


def is_under_compile() -> bool:
    """Return whether the trace is one under `compile`, with the contract of plain Python."""
    return current_contract().numpy_arrays


def computes(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register an implementation on tensors for NumPy's functions, which are given by name or as objects.

    Names that the installed NumPy lacks are skipped.
    """

    def register(compute: Callable[..., Any]) -> Callable[..., Any]:
        for function_or_name in functions:
            function = find_function(function_or_name) if isinstance(function_or_name, str) else function_or_name
            if function is not None:
                FUNCTIONS[function] = _with_fallback(function, compute)
        return compute

    return register


find_function = find_numpy_function


def _with_fallback(function: Callable[..., Any], compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return `compute` with a fallback for calls that it refuses: eagerly NumPy's function, in a trace an error."""
    @functools.wraps(compute)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return compute(*args, **kwargs)
        except NotStaged as error:
            if current_region() is None:
                return function(*tensors_to_arrays(args), **tensors_to_arrays(kwargs))
            raise refusal(qualified_name(function), error) from None

    return present_errors(run)


# ---- tensors


def is_weak(x: TensorLike) -> bool:
    """Return whether the value is a Python number, or a weak tensor that represents one in a graph."""
    if type(x) in _PROMOTION_OPERANDS:
        return True
    x_tensor = as_tensor(x)
    return x_tensor is not None and x_tensor.weak


def refuse_deprecated(name: str, argument: object) -> None:
    """Refuse a call under `compile` of a function of NumPy's whose use warns, as a call with `argument` shows."""
    if is_under_compile() and _is_deprecated(name, argument):
        refuse("warns that it is deprecated")


@functools.cache
def _is_deprecated(name: str, argument: Any) -> bool:
    """Return whether a call of NumPy's function of that name warns that it is deprecated."""
    with recorded_warnings() as caught:
        getattr(np, name)(argument)
    return any(issubclass(warning.category, DeprecationWarning) for warning in caught)


def tensor(x: Any, dtype: Any = None) -> Tensor:
    """Return `np.asarray(x)` as a tensor, of that dtype if given."""
    x_tensor = as_tensor(x)
    if x_tensor is None:
        return _tensor_of_plain(x, dtype)
    if x_tensor.weak:
        return cast_checked_number(x_tensor, as_dtype(numpy_dtype(dtype)) if dtype is not None else x_tensor.type.dtype)
    return x_tensor if dtype is None else cast(x_tensor, as_dtype(numpy_dtype(dtype)))


def tensors(*values: Any) -> list[Tensor]:
    """Return each value as a tensor, all of the dtype that NumPy promotes them to."""
    dtype = common_dtype(*values)
    return [tensor(x, dtype) for x in values]


def select_operands(*values: Any) -> list[Tensor]:
    """Return tensors of one dtype, as `tensors` does, for functions that select elements from several operands.

    Such functions of NumPy first make arrays of Python ints, and cast these as in C, without a range check.
    """
    dtype = common_dtype(*values)
    return [_with_wraparound(x, dtype) if dtype.kind in "iu" and is_weak(x) else tensor(x, dtype) for x in values]


def _with_wraparound(x: TensorLike, dtype: np.dtype[Any]) -> Tensor:
    """Return a Python number as an integer of the dtype, by a C cast."""
    if type(x) is int:
        return tensor(np.asarray(x).astype(dtype), dtype)
    return cast(tensor(x), dtype)


def _tensor_of_plain(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """Return `np.asarray(x)` as a tensor, of that dtype if given, for an `x` that is no tensor."""
    if isinstance(x, (list, tuple)) and holds_tensors(x):
        return _stack_rows(x, dtype)
    if type(x) in _PROMOTION_OPERANDS:
        array = np.asarray(x, None if dtype is None else numpy_dtype(dtype))
    elif dtype is not None and isinstance(x, (list, tuple)) and holds_numbers(x):
        array = convert_plain_numbers(x, as_dtype(numpy_dtype(dtype)))
    else:
        array = np.asarray(x)
        if array.dtype == object or array.dtype.kind not in _SUPPORTED_KINDS:
            refuse(f"is given {array.dtype} elements")
        if dtype is not None:
            array = array.astype(numpy_dtype(dtype))
    return EagerTensor(array) if current_region() is None else constant(array)


def _stack_rows(values: Any, dtype: DTypeLike) -> Tensor:
    """Stack a nested list with tensors, as NumPy makes an array of a list: the list's Python numbers are not weak."""
    result_dtype = numpy_dtype(dtype) if dtype is not None else np.result_type(*map(numpy_dtype_of, _leaves(values)))
    rows = [
        _stack_rows(row, result_dtype) if isinstance(row, (list, tuple)) else tensor(row, result_dtype)
        for row in values
    ]
    shapes = {row.type.shape for row in rows}
    if len(shapes) != 1:
        refuse("is given rows whose shapes differ, or are not known while tracing")
    return apply("stack", *rows, axis=0)


def _leaves(values: Any) -> list[Any]:
    """Return the values in a nested list, in order."""
    return [leaf for value in values for leaf in (_leaves(value) if isinstance(value, (list, tuple)) else [value])]


def holds_tensors(x: TensorLike) -> bool:
    """Return whether `x` is a tensor, or a list or tuple that contains one."""
    return any(map(holds_tensors, x)) if isinstance(x, (list, tuple)) else as_tensor(x) is not None


def cast(x: Any, dtype: Any) -> Tensor:
    """Return the tensor with elements of another dtype, converted as by NumPy."""
    target_dtype = as_dtype(dtype)
    if x.weak:
        return apply("python_cast", x, dtype=target_dtype, weak=False)
    refuse_warned_conversion(x, target_dtype)
    return x if x.dtype is target_dtype else apply("cast", x, dtype=target_dtype)


def argument_or_default(value: TensorLike, default: object = None) -> Any:
    """Return an argument, or the default if it is NumPy's marker for a missing one (`MISSING`)."""
    return default if value is MISSING else value


# ---- dtypes


def numpy_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """Return NumPy's dtype for anything that names a dtype; Python's `float` means float64."""
    if isinstance(dtype, DType):
        return dtype.numpy
    if isinstance(dtype, np.ndarray) or as_tensor(dtype) is not None:
        refuse("is given an array as a dtype")
    result = np.dtype(dtype)
    is_duplicate = result.kind in "iu" and result.num != np.dtype(result.name).num  # such as long long beside int64
    if result.kind not in _SUPPORTED_KINDS or not result.isnative or is_duplicate:
        refuse(f"is given the dtype {result}")
    return result


def numpy_dtype_of(x: TensorLike) -> np.dtype[Any]:
    """Return the dtype of `np.asarray(x)`."""
    x_tensor = as_tensor(x)
    if x_tensor is not None:
        return x_tensor.type.dtype.numpy
    if isinstance(x, (list, tuple)) and holds_tensors(x):
        return np.result_type(*map(numpy_dtype_of, _leaves(x)))
    return x.dtype if isinstance(x, (np.ndarray, np.generic)) else np.asarray(x).dtype


def promotion_operand(x: TensorLike) -> Any:
    """Return x's operand in NumPy's promotion: `int`, `float` or `complex` for a Python number, else its dtype."""
    if type(x) in _PROMOTION_OPERANDS:
        return _PROMOTION_OPERANDS[type(x)]
    x_tensor = as_tensor(x)
    if x_tensor is not None and x_tensor.weak:
        return _PROMOTION_OPERANDS[type(np.zeros((), x_tensor.type.dtype.numpy).item())]
    return numpy_dtype_of(x)


def common_dtype(*values: Any) -> np.dtype[Any]:
    """Return the dtype that NumPy promotes the values to."""
    operands = [promotion_operand(x) for x in values]
    return np.result_type(*(operand(0) if isinstance(operand, type) else operand for operand in operands))


# ---- facts needed while tracing


def as_new_array(result: Any, *operands: Any) -> Any:
    """Return a result that is a new array in NumPy: a copy, in a graph, where it is one of the operands itself."""
    is_operand = any(result is operand for operand in operands)
    if not is_operand or not isinstance(result, SymbolicTensor) or result.weak or result.type.shape == ():
        return result
    return apply("numpy_copy", result, method="copy", copy_id=0)


def refuse_column_major(order: str, rank: int | None) -> None:
    """Refuse column-major order under `compile`: memory layout is not part of a graph, but results show it.

    The order matters for two dimensions or more; `rank` is None if it is unknown.
    """
    if order not in (None, "C", "K", "A") and rank not in (0, 1) and is_under_compile():
        refuse(f"is given order {order!r}")


def require_known_shape(x: Tensor) -> tuple[int, ...]:
    """Return the shape; refuse one known only at run time."""
    shape = x.type.shape
    if shape is None or not all(isinstance(size, int) for size in shape):
        refuse_unknown("depends on a shape known only at run time", x)
    return shape  # type: ignore[return-value]


def has_known_shape(x: Tensor) -> bool:
    return x.type.shape is not None and all(isinstance(size, int) for size in x.type.shape)


def check(condition: TensorLike, message: str, error: type[Exception] = ValueError) -> None:
    """Record a check of a run-time condition; where it fails, the call raises an error of NumPy's class and text."""
    apply("assert_true", condition, message=(message,), failure=error.__name__)


def rerun_plain_unless(condition: TensorLike, reason: str) -> None:
    """Record a check of a run-time condition, on which the graph's results rely.

    Where it fails, the call is rerun as plain Python; `explain()` shows the reason, such as "an index is out of range".
    """
    apply("assert_true", condition, message=(reason,), failure="assumption")


def rerun_with_warning_unless(condition: TensorLike, reason: str) -> None:
    """Record a check of a run-time condition, without which NumPy warns; the graph's results are NumPy's in any case.

    Where it fails, the call is rerun as plain Python, which warns; `explain()` shows the reason. An exported graph has
    no such check.
    """
    apply("assert_true", condition, message=(reason,), failure="warning")


def have_equal_shapes(x: Tensor, y: Tensor) -> bool:
    """Return whether two shapes are equal; the graph assumes that open sizes are equal."""
    if rank_of(x) != rank_of(y):
        return False
    pairs = list(zip(sizes_of(x), sizes_of(y), strict=True))
    known_pairs = [pair for pair in pairs if all(isinstance(size, int) for size in pair)]
    if any(size != other for size, other in known_pairs):
        return False
    for size, other in pairs:
        if (size, other) not in known_pairs:
            rerun_plain_unless(apply("equal", tensor(size, np.int64), tensor(other, np.int64)), "two shapes differ")
    return True


def sizes_of(x: Tensor) -> tuple[Any, ...]:
    """Return the shape: ints, and weak scalars for sizes known only at run time."""
    if x.type.shape is None:
        refuse("depends on a number of dimensions known only at run time")
    return tuple(size if isinstance(size, int) else dimension_of(x, axis) for axis, size in enumerate(x.type.shape))


def positions_along(x: Tensor, axis: int) -> Any:
    """Return the positions along an axis, in a shape that broadcasts with the array."""
    rank, size = rank_of(x), sizes_of(x)[axis]
    positions = np.arange(size) if isinstance(size, int) else apply("range", tensor(0), tensor(size), tensor(1))
    shape = tuple(-1 if i == axis else 1 for i in range(rank))
    return positions.reshape(shape) if isinstance(positions, np.ndarray) else apply("reshape", positions, shape=shape)


def rank_of(x: Tensor) -> int:
    if x.type.rank is None:
        refuse("depends on a number of dimensions known only at run time")
    return x.type.rank  # type: ignore[return-value]


def integer(value: Any) -> int:
    """Return an int known at trace time; under `compile`, an argument is specialised to its value."""
    known_value = static_value(value)
    return operator.index(known_value if known_value is not None and np.ndim(known_value) == 0 else value)


def computed_integer(value: Any) -> Any:
    """Return an int, or a scalar tensor of an integer dtype whose value only the run has."""
    is_computed = isinstance(value, Tensor) and static_value(value) is None and value.dtype.is_integer
    return value if is_computed and rank_of(value) == 0 else integer(value)


def axis_of(axis: AxisLike, rank: int) -> int:
    """Return the axis counted from the front; raises AxisError for one out of range."""
    return np.lib.array_utils.normalize_axis_index(integer(axis), rank)


def axes_of(axis: AxisLike, rank: int) -> tuple[int, ...]:
    """Return the axes counted from the front, all of them for None; raises AxisError or ValueError as NumPy does."""
    if axis is None:
        return tuple(range(rank))
    indices = tuple(map(integer, axis)) if isinstance(axis, (tuple, list)) else integer(axis)
    return np.lib.array_utils.normalize_axis_tuple(indices, rank)


def refuse_options(**options: Any) -> None:
    """Refuse each option that is not None."""
    for name, value in options.items():
        if value is not None:
            refuse(f"is given {name}")


def size_of(x: Tensor, axes: Sequence[int] | None = None) -> Any:
    """Return the number of elements along the axes: an int, or a weak symbolic number if a size is open."""
    shape = x.type.shape
    counted_axes = range(rank_of(x)) if axes is None else axes
    if shape is not None and all(isinstance(shape[axis], int) for axis in counted_axes):
        return math.prod(shape[axis] for axis in counted_axes)  # type: ignore[misc]
    total: Any = 1
    for axis in counted_axes:
        total = total * apply("dimension", x, axis=axis, dtype=as_dtype(np.int64))
    return total
