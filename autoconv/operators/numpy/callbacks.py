"""NumPy functions as Python code that is converted: those that call a function of the user, fromiter, eig and eigvals.

A call of a function in `SOURCE_BY_FUNCTION`, or of an object of numpy.vectorize, runs the converted Python code
instead. Arguments that this code does not cover raise StagingError, so that the call runs as plain Python.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from autoconv.operators.numpy.eigenvalues import eig, eigvals
from autoconv.operators.values.library_functions import refuse
from autoconv.operators.values.random_methods import random_source
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.recording.program_reads import treat_as_program
from autoconv.runtime.support.trace_callables import called_unconverted
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor


def convert_callback_function(function: Any, convert: Callable[[Any], Any]) -> Callable[..., Any] | None:
    """Return the converted form of a function in SOURCE_BY_FUNCTION, a random method or a numpy.vectorize object.

    None for others.
    """
    if type(function) is np.vectorize:
        return functools.partial(convert(call_vectorized), function)
    source_and_generator = random_source(function)
    if source_and_generator is not None:
        source, generator = source_and_generator
        return functools.partial(convert(source), generator)
    source_function = SOURCE_BY_FUNCTION.get(function) if isinstance(function, Hashable) else None
    return None if source_function is None else convert(source_function)


@called_unconverted
def may_be_scalar(value: object) -> bool:
    """Return whether the value may be a NumPy scalar, which numpy.vectorize passes on unchanged."""
    tensor = None if type(value) is SymbolicArray else as_tensor(value)
    return isinstance(value, np.generic) or (tensor is not None and not tensor.type.weak and not tensor.type.shape)


def call_vectorized(vectorized: np.vectorize, *args: object, **kwargs: object) -> np.ndarray:
    """Implement a call of a numpy.vectorize object with numbers and arrays.

    NumPy calls the function with the first elements, as NumPy scalars, to find the dtype of the result. Then it calls
    it with all elements as Python numbers.
    """
    function, result_dtypes = vectorized.pyfunc, vectorized.otypes
    dtype: DTypeLike
    if kwargs or vectorized.excluded or vectorized.signature is not None or vectorized.cache or not args:
        refuse("numpy.vectorize is given options, keyword arguments or no arguments")
    for value in args:
        if isinstance(value, (list, tuple, str)) or may_be_scalar(value):
            refuse("a function of numpy.vectorize is given other arguments than arrays and Python's numbers")
    arrays = [value for value in args if isinstance(value, np.ndarray)]
    if not arrays or any(array.shape != arrays[0].shape for array in arrays):
        refuse("a function of numpy.vectorize is given no array, or arrays of several shapes")
    if result_dtypes is None:
        if arrays[0].size == 0:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        first_result = function(*[np.asarray(value).ravel()[0] for value in args])
        if isinstance(first_result, tuple):
            refuse("a function of numpy.vectorize returns a tuple")
        dtype = np.asarray(first_result).dtype
    else:
        if len(result_dtypes) != 1:
            refuse("numpy.vectorize is given the dtypes of several results")
        dtype = result_dtypes[0]
    result = np.empty(arrays[0].size, dtype)
    if result.dtype.kind not in "biufc":
        refuse("a function of numpy.vectorize returns other values than numbers")
    flat_arrays = [value.ravel() if isinstance(value, np.ndarray) else None for value in args]
    for i in range(arrays[0].size):
        elements = [value if array is None else array[i].item() for value, array in zip(args, flat_arrays, strict=True)]
        result[i] = function(*elements)
    shaped_result = np.empty_like(arrays[0], dtype)
    shaped_result[...] = result.reshape(arrays[0].shape)
    return shaped_result


def apply_along_axis(
    func1d: Callable[..., ArrayLike], axis: int, arr: ArrayLike, *args: object, **kwargs: object
) -> np.ndarray:
    """Implement numpy.apply_along_axis for the rows or columns of a matrix."""
    rows = np.asarray(arr)
    if rows.ndim != 2:
        refuse("numpy.apply_along_axis is given another number of dimensions than two")
    if not -2 <= axis < 2:
        raise np.exceptions.AxisError(axis, 2)
    if axis % 2 == 0:
        rows = rows.T
    row_count = rows.shape[0]
    if row_count == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first_result = np.asarray(func1d(rows[0], *args, **kwargs))
    if first_result.ndim > 1:
        refuse("the function of numpy.apply_along_axis returns an array of several dimensions")
    result = np.empty((row_count, *first_result.shape), first_result.dtype)
    result[0] = first_result
    for i in range(1, row_count):
        result[i] = func1d(rows[i], *args, **kwargs)
    return result.T if axis % 2 == 0 else result


def piecewise(
    x: ArrayLike, condlist: Sequence[np.ndarray] | np.ndarray, funclist: Sequence[object], *args: object, **kw: object
) -> np.ndarray:
    """Implement numpy.piecewise for conditions that have the shape of `x`."""
    x = np.asarray(x)
    if not isinstance(condlist, (list, tuple)):
        condlist = [np.asarray(condlist)]
    conditions = [np.asarray(condition, dtype=bool) for condition in condlist]
    for condition in conditions:
        if condition.shape != x.shape:
            refuse("numpy.piecewise is given conditions of another shape")
    condition_count = len(conditions)
    if condition_count == len(funclist) - 1:
        is_remaining = ~conditions[0]
        for condition in conditions[1:]:
            is_remaining = is_remaining & ~condition
        conditions.append(is_remaining)
    elif condition_count != len(funclist):
        raise ValueError(
            f"with {condition_count} condition(s), either {condition_count} or {condition_count + 1} functions are "
            "expected"
        )
    result = np.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        if callable(function):
            values = x[condition]
            if values.size > 0:
                result[condition] = function(values, *args, **kw)
        else:
            result[condition] = function
    return result


def fromiter(iter: Iterable[object], dtype: DTypeLike, count: int = -1) -> np.ndarray:
    """Implement numpy.fromiter; it returns the first `count` items."""
    items = list(iter)
    result = np.array(items, dtype=dtype)
    if result.ndim != 1:
        refuse("numpy.fromiter is given items that are no numbers")
    if may_be_limit(count):
        rerun_plain_unless(len(items) >= count, "there are fewer items than numpy.fromiter is asked for")
        return result[: len(items) if count < 0 else count].copy()
    return result


@called_unconverted
def may_be_limit(count: object) -> bool:
    """Return whether `count` may limit the number of items; a known negative number does not."""
    return as_tensor(count) is not None or operator.index(count) >= 0  # type: ignore[arg-type]


@called_unconverted
def rerun_plain_unless(condition: TensorLike, reason: str) -> None:
    """Record a check of a run-time condition: where it fails, the call is rerun as plain Python."""
    dispatch.apply("assert_true", condition, message=(reason,), failure="assumption")


# Attribute reads by this file count as the program's, since its code replaces the library's.
treat_as_program(__file__)
# Python code that computes what each function of NumPy computes.
SOURCE_BY_FUNCTION: dict[Any, Callable[..., Any]] = {
    np.apply_along_axis: apply_along_axis, np.piecewise: piecewise, np.fromiter: fromiter,
    np.linalg.eig: eig, np.linalg.eigvals: eigvals,
}  # fmt: skip
