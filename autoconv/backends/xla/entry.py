"""The entry of a graph compiled by XLA, which takes a user's call in the form that a CallForm describes.

The entry consists of functions that are made once: checks of arguments and guards, and a builder of the result. If a
check fails, the entry returns NotImplemented, before anything has run.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.call_form import (
    ABSENT,
    BY_COLUMNS,
    BY_STRIDES,
    CalledResult,
    CallForm,
    Captured,
    CellGuard,
    ConstantResult,
    ContainerResult,
    Guard,
    OutputResult,
    ResultForm,
)
from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import ArrayType, TensorType

Run = Callable[[Sequence[Any]], list[Any] | None]
_MAX_PAIRS = 28  # pairs of arrays that are tested for an overlap in each call
_PYTHON_TYPES: dict[str, type] = {"b": bool, "i": int, "f": float}


class _NoEntry(Exception):
    """There is no entry for calls of this form: Python binds their arguments."""


def make_entry(graph: Graph, form: CallForm, run: Run) -> Callable[..., Any] | None:
    """Return the entry, or None if there is none for calls of this form.

    `run` returns the results for the graph's arguments, or None if it cannot; then it has changed nothing.
    """
    try:
        readers = [_argument_reader(form, graph, i) for i in range(len(form.parameters))]
        build = _result_builder(form.result, graph, form.tensor_class)
        guards = [check for guard in form.guards for check in _guard_checks(guard)]
        if form.donated or any(type(value) is float for _, value in form.fixed_arguments):
            return None
    except _NoEntry:
        return None
    fixed = dict(form.fixed_arguments)
    positions = [i for i in range(len(form.parameters) + len(fixed)) if i not in fixed]
    varying_readers = [
        read for read, kind in zip(readers, form.parameters, strict=True) if not isinstance(kind, Captured)
    ]  # fmt: skip
    fixed_items = list(fixed.items())
    captured = [parameter.value for parameter in form.parameters if isinstance(parameter, Captured)]
    argument_count, busy = len(varying_readers) + len(fixed), form.busy
    memory_positions = [i for i, value in enumerate(graph.parameters) if isinstance(value.type, ArrayType)]
    memory_pairs = list(itertools.combinations(memory_positions, 2))
    if len(memory_pairs) > _MAX_PAIRS:
        return None

    def entry(*call_arguments: Any) -> Any:  # written for speed: these steps take a third of a short call's time
        """Return the result of a call, or NotImplemented if the arguments or a guard do not fit."""
        if len(call_arguments) != argument_count or busy.value:
            return NotImplemented
        if fixed_items:
            if not _are_equal(fixed_items, call_arguments):
                return NotImplemented
            call_arguments = tuple([call_arguments[i] for i in positions])
        for check in guards:
            if not check():
                return NotImplemented
        arguments = []
        for read_argument, call_argument in zip(varying_readers, call_arguments):  # noqa: B905 - their numbers are equal
            argument = read_argument(call_argument)
            if argument is None:
                return NotImplemented
            arguments.append(argument)
        arguments += captured
        for i, j in memory_pairs:
            if np.may_share_memory(arguments[i], arguments[j]):
                return NotImplemented
        result = run(arguments)
        return NotImplemented if result is None else build(result)

    return entry


def _are_equal(fixed_items: Sequence[tuple[int, Any]], arguments: Sequence[Any]) -> bool:
    """Return whether the arguments at these positions have these values."""
    return all(type(arguments[i]) is type(value) and arguments[i] == value for i, value in fixed_items)


# ---- arguments


def _argument_reader(form: CallForm, graph: Graph, position: int) -> Callable[[Any], Any]:
    """Return a function that takes the user's argument and returns the graph's; it returns None if that does not fit.
    """
    parameter_form, type_ = form.parameters[position], graph.parameters[position].type
    if isinstance(parameter_form, Captured):
        return lambda argument: argument
    if not isinstance(parameter_form, str) or not isinstance(type_, (TensorType, ArrayType)) or type_.dtype.is_string:
        raise _NoEntry
    dtype, shape = np.dtype(type_.dtype.numpy), type_.shape
    if parameter_form == "number":
        return _number_reader(dtype)
    if parameter_form == "array":
        return lambda argument: (
            argument if type(argument) is np.ndarray and argument.dtype == dtype and argument.shape == shape else None
        )
    if parameter_form == BY_COLUMNS:

        def read_transposed(argument: Any) -> Any:
            if type(argument) is not np.ndarray or argument.dtype != dtype or not argument.flags.f_contiguous:
                return None
            array = argument.T
            return array if array.shape == shape else None

        return read_transposed
    if parameter_form in ("memory", BY_STRIDES):
        return _memory_reader(type_)
    tensor_class: Any = form.tensor_class
    is_weak = form.weak[sum(other_form == "tensor" for other_form in form.parameters[:position])]

    def read_tensor(argument: Any) -> Any:
        if type(argument) is not tensor_class or argument._weak is not is_weak:
            return None
        array = argument._array
        return array if array.dtype == dtype and array.shape == shape else None

    return read_tensor


def _number_reader(dtype: np.dtype) -> Callable[[Any], Any]:
    """Return the function that returns a Python number of the dtype's kind, None for other arguments."""
    python_type = _PYTHON_TYPES.get(dtype.kind)
    if python_type is None:
        raise _NoEntry
    min_int, max_int = -(2**63), 2**63 - 1
    if python_type is int:
        return lambda argument: argument if type(argument) is int and min_int <= argument <= max_int else None
    return lambda argument: argument if type(argument) is python_type else None


def _memory_reader(type_: TensorType | ArrayType) -> Callable[[Any], Any]:
    """Return the function that returns an array in C order of the type, None for other arguments."""
    if not isinstance(type_, ArrayType) or type_.shared or type_.read_only or not type_.is_dense:
        raise _NoEntry
    dtype, shape = np.dtype(type_.dtype.numpy), type_.shape

    def read_memory(argument: Any) -> Any:
        is_match = type(argument) is np.ndarray and argument.dtype == dtype and argument.shape == shape
        return argument if is_match and argument.flags.carray else None

    return read_memory


def _guard_checks(guard: Guard) -> list[Callable[[], bool]]:
    """Return the checks of a guard: functions that return true while it holds."""
    value = guard.value
    result: list[Callable[[], bool]] = []
    if isinstance(guard, CellGuard):
        cell = guard.cell

        def is_unchanged() -> bool:
            try:
                return cell.cell_contents is value
            except ValueError:
                return False

        result.append(is_unchanged)
    else:
        read, name = guard.namespace.get, guard.name
        result.append(lambda: read(name, ABSENT) is value)
    for offset, expected in guard.fields:
        word = ctypes.c_void_p.from_address(id(value) + offset)
        address = None if expected is None else id(expected)
        result.append(lambda word=word, address=address: word.value == address)  # type: ignore[misc]
    if guard.empty_dict is not None:
        result.append(lambda contents=guard.empty_dict: not contents)  # type: ignore[misc]
    return result


# ---- results


def _result_builder(form: ResultForm, graph: Graph, tensor_class: type) -> Callable[[Sequence[Any]], Any]:
    """Return a function that builds the user's result from the graph's results."""
    if isinstance(form, ConstantResult):
        return lambda results: form.value
    if isinstance(form, OutputResult):
        return _output_builder(form, graph.outputs[form.position], tensor_class)
    if isinstance(form, ContainerResult):
        parts = [_result_builder(part, graph, tensor_class) for part in form.parts]
        if form.container_type is dict:
            keys = form.keys or ()
            return lambda results: {key: part(results) for key, part in zip(keys, parts, strict=True)}
        container_type = form.container_type
        return lambda results: container_type([part(results) for part in parts])
    if isinstance(form, CalledResult):
        function, parts = form.function, [_result_builder(part, graph, tensor_class) for part in form.parts]
        return lambda results: function(*[part(results) for part in parts])
    arms = [_result_builder(arm, graph, tensor_class) for arm in form.arms]
    return lambda results: arms[int(results[form.tag_position])](results)


def _output_builder(form: OutputResult, output: Value, tensor_class: type) -> Callable[[Sequence[Any]], Any]:
    """Return the function that makes the result of the form from XLA's results; other forms have no entry."""
    kind, position = form.kind, form.position
    if kind == "tensor" and isinstance(output.type, TensorType):
        weak = output.type.weak
        return lambda results: tensor_class(results[position], weak)
    if kind == "number":
        return lambda results: results[position].item()
    if kind == "array" and getattr(output.type, "shape", None) == ():
        return lambda results: results[position][()]
    if kind in ("array", "memory"):
        return lambda results: results[position]
    raise _NoEntry
