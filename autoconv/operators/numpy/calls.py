"""Calls of NumPy functions in converted code, including those that NumPy does not dispatch on tensors."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import DType
from autoconv.operators.control.variants import distribute_call
from autoconv.operators.regions.layout import Variant
from autoconv.operators.values.builtins import convert_callback
from autoconv.operators.values.created_arrays import convert_created
from autoconv.operators.values.list_arrays import convert_list_arguments, join_list
from autoconv.runtime.objects.containers import heap_of, items_of
from autoconv.runtime.objects.symbolic_objects import SymbolicObject
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.numpy_protocol import (
    CREATION_FUNCTIONS,
    check_options,
    find_numpy_function,
    implementation,
    numpy_refusal,
    qualified_name,
)
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.tensor import Tensor

# Context managers that only set how NumPy warns and prints. They are entered while tracing.
HARMLESS_CONTEXTS: frozenset[Any] = frozenset({np.errstate, np.printoptions})
_PLAIN_CLASSES = (
    bool, int, float, complex, str, bytes, type(None), slice, type, np.generic, np.dtype, DType, TensorShape,
)  # fmt: skip
_FUNCTION_CLASSES = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)
_HARMLESS_CONTEXT_METHODS = frozenset(  # by qualified name
    f"{class_name}.__{name}__" for class_name in ("errstate", "printoptions") for name in ("enter", "exit")
)
# Functions that return arrays under `function`, as in TensorFlow; a graph tensor cannot become one.
_ARRAY_FUNCTIONS = frozenset({np.array, np.asarray, np.asanyarray, np.ascontiguousarray})


def _named_functions(*names: str) -> frozenset[Any]:
    return frozenset(function for function in map(find_numpy_function, names) if function is not None)


# Functions that return 0-d arrays; all others return scalars for results without dimensions.
_ZERO_DIMENSIONAL_FUNCTIONS = _named_functions(
    "array", "asanyarray", "asarray", "block", "broadcast_arrays", "broadcast_to", "choose",
    "copy", "cov", "cross", "empty", "empty_like", "expand_dims", "fft.fftn", "fft.ifftn", "full", "full_like", "i0",
    "isin", "linalg.tensordot", "linalg.tensorsolve", "moveaxis", "ones", "ones_like", "pad", "permute_dims",
    "real_if_close", "resize", "roll", "select", "tensordot", "tile", "unique", "unique_all", "unique_inverse", "where",
    "zeros", "zeros_like",
)
# Functions that return 0-d arrays if they are called with `keepdims=True`.
_KEEPDIMS_FUNCTIONS = _named_functions("median", "nanmedian", "percentile", "nanpercentile", "quantile", "nanquantile")
# Functions that call a method of their argument: they return scalars for NumPy scalars, and arrays for Python numbers.
_METHOD_FUNCTIONS = _named_functions("astype", "reshape", "squeeze", "transpose", "trim_zeros")


def numpy_call(function: Callable[..., Any], region: Any) -> Callable[..., Any] | None:
    """Return the replacement of a NumPy function under trace; None for an unknown one."""
    if type(function) is SymbolicObject:
        return None
    compute = implementation(function)
    is_compiled = region is not None and region.contract.numpy_arrays
    if compute is None and is_compiled and function is np.errstate:
        return _error_state
    if compute is None:
        return function if is_harmless_context(function) else None
    if is_compiled and getattr(function, "__module__", None) != "math":
        region.trace.uses_arrays = True
    if function in _ARRAY_FUNCTIONS and not is_compiled:
        return None
    return functools.partial(_call_implementation, function, compute, region.contract if is_compiled else None)


class _ErrorState(np.errstate):
    """An errstate that may be exited twice: as an exception leaves it while tracing, and as its exit is recorded."""

    def __exit__(self, *error: Any) -> None:
        with contextlib.suppress(RuntimeError):
            super().__exit__(*error)


def _error_state(**modes: Any) -> Any:
    """`np.errstate(**modes)`; raises StagingError for modes other than warning and ignoring, which a graph lacks."""
    if not {"raise", "call", "print", "log"}.isdisjoint(map(str, modes.values())):
        reason = "np.errstate or np.seterr asks for more than warnings"
        raise StagingError(reason, current_place(), 'np.errstate(…="warn"), or a test of the results')
    return _ErrorState(**modes)


def refuse_array_writes(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method of a program's array: while a graph is traced it may not write to another array."""

    @functools.wraps(method)
    def call_method(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None or any(isinstance(value, np.ndarray) for value in args[1:]):
            name = f"numpy.ndarray.{method.__name__}"
            raise numpy_refusal(name, " here: it may be given an array to write to")
        return method(*args, **kwargs)

    return call_method


def is_harmless_context(function: Callable[..., Any]) -> bool:
    """Return whether this is a context manager in HARMLESS_CONTEXTS, or a method of one."""
    if isinstance(function, type):
        return function in HARMLESS_CONTEXTS
    if not isinstance(function, _FUNCTION_CLASSES):  # user-defined objects are not inspected
        return False
    is_method = type(getattr(function, "__self__", None)) in (*HARMLESS_CONTEXTS, _ErrorState)
    return is_method or getattr(function, "__qualname__", "") in _HARMLESS_CONTEXT_METHODS


def _call_implementation(
    function: Any, compute: Callable[..., Any], contract: Contract | None, /, *args: Any, **kwargs: Any
) -> Any:
    """Call `compute`; with a contract, each call makes new arrays, which belong to the program."""
    if any(type(x) is Variant for x in (*args, *kwargs.values())):
        return distribute_call(functools.partial(_call_implementation, function, compute, contract), *args, **kwargs)
    check_options(kwargs)
    kinds = _collect_kinds((*args, *kwargs.values()))
    if object in kinds:  # functions that NumPy calls back are converted
        args = tuple(map(_convert_callback, args))
        kwargs = {name: _convert_callback(value) for name, value in kwargs.items()}
    if SymbolicObject in kinds and contract is not None:
        args, kwargs = convert_list_arguments(function, args, kwargs)
        result = join_list(function, args, kwargs)
        if result is not None:
            return result
        kinds = _collect_kinds((*args, *kwargs.values()))
    if SymbolicObject in kinds:
        if contract is not None:
            is_ufunc = isinstance(function, np.ufunc)
            contract.before_call(function if is_ufunc else UnsupportedCall(function, _GRAPH_OBJECT))
        return function(*args, **kwargs)
    makes_array = function in CREATION_FUNCTIONS or np.ndarray in kinds
    if "tensor" in kinds or (contract is not None and makes_array):
        return _as_zero_dimensional(function, compute(*args, **kwargs), args, contract, kwargs)
    if contract is None:
        return function(*args, **kwargs)
    if object in kinds:
        contract.before_call(UnsupportedCall(function, _CALLBACK_OBJECT))
    result = function(*args, **kwargs)
    new_result = convert_created(result)
    return result if new_result is None else _as_zero_dimensional(function, new_result, args, contract, kwargs)


def _as_zero_dimensional(function: Any, result: Any, args: Any, contract: Contract | None, options: Any) -> Any:
    """Return a result with its scalars as 0-d arrays where NumPy returns those; `options` are the keyword arguments."""
    if contract is None or not gives_array(function, args, options):
        return result
    if type(result) in (tuple, list):
        return type(result)(_as_zero_dimensional(function, part, args, contract, options) for part in result)
    if isinstance(result, tuple) and hasattr(result, "_make"):
        return result._make(_as_zero_dimensional(function, part, args, contract, options) for part in result)
    has_no_dimensions = isinstance(result, Tensor) and not result.type.weak and result.type.shape == ()
    return contract.as_zero_dimensional_array(result) if has_no_dimensions else result


def gives_array(function: Callable[..., Any], args: tuple[Any, ...], options: Any = None) -> bool:
    """Return whether the NumPy function returns a 0-d array, not a scalar, for a result without dimensions."""
    if function in _METHOD_FUNCTIONS:  # calls the argument's method of that name, if there is one
        tensor = as_tensor(args[0]) if args else None
        if tensor is None:
            return bool(args) and not isinstance(args[0], np.generic)
        return tensor.type.weak or tensor.type.shape != ()
    if function in _KEEPDIMS_FUNCTIONS and (options or {}).get("keepdims") is True:
        return True
    return function in _ZERO_DIMENSIONAL_FUNCTIONS


def _convert_callback(value: object) -> Any:
    if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
        return convert_callback(value)
    return value


_GRAPH_OBJECT = "an object that is known only at run time"
_CALLBACK_OBJECT = "an object whose methods it may call"


class UnsupportedCall:
    """A call of a NumPy function with an argument that graphs cannot take."""

    def __init__(self, function: Callable[..., Any], description: str) -> None:
        self.name = qualified_name(function)
        self.description = description


def _collect_kinds(values: Any) -> set[Any]:
    """Return the kinds of the values, at any depth of lists and tuples.

    A kind is "tensor", np.ndarray, SymbolicObject for an object of the graph, or object for anything else that is not
    of a plain class, such as a function.
    """
    kinds: set[Any] = set()
    for value in values:
        if items_of(value) is not None or heap_of(value) is not None:
            kinds.add(SymbolicObject)
        elif isinstance(value, (list, tuple)):
            kinds |= _collect_kinds(value)
        elif type(value) is SymbolicObject:
            kinds.add(SymbolicObject)
        elif isinstance(value, np.ndarray):
            kinds.add(np.ndarray)
        elif as_tensor(value) is not None:
            kinds.add("tensor")
        elif not isinstance(value, _PLAIN_CLASSES):
            kinds.add(object)
    return kinds
