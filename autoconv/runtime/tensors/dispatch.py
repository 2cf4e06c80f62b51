"""Apply an op after operand conversion: run its kernel eagerly, or record a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.config import SETTINGS
from autoconv.config.placement import other_device_request
from autoconv.errors import AutoconvError, IndexOutOfRangeError, InvalidArgumentError
from autoconv.graph.dtypes import DType, as_dtype, float64, int64, string
from autoconv.graph.graph import Value
from autoconv.graph.python_operators import ARITHMETIC, OPERATORS
from autoconv.graph.types import TensorType, can_adopt_dtype, number_kind_order
from autoconv.ops import OPS
from autoconv.ops.control.resources import VARIABLE_OPS
from autoconv.ops.record import Op
from autoconv.ops.values.list_value import ListValue
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.regions import Region, current_contract, current_region
from autoconv.runtime.recording.value_names import display_name
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import native_eager
from autoconv.runtime.tensors.conversion import (
    APPLY,
    as_tensor,
    constant,
    convert_to_tensor,
    record_constant,
    to_array,
    weak_constant,
    weak_dtype,
)
from autoconv.runtime.tensors.dtype_checks import (
    check_dtypes,
    kernel_dtype_error,
    mismatch_error,
    operand_name,
    type_rule_error,
    unconvertible_error,
)
from autoconv.runtime.tensors.number_operands import NumberList, dtype_of, dtype_of_numbers, holds_numbers, is_typed
from autoconv.runtime.tensors.remote_ops import NUMBERS, array_of, home_of_variable, run_remotely, type_of_operand
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import ArrayTensor, EagerTensor, Tensor

# Ops that have Python's meaning for operands that are all Python numbers: exact, checked ints and Python's errors.
_NUMBER_OP_BY_TENSOR_OP = {entry.tensor_op: entry.number_op for entry in OPERATORS if entry.number_op is not None}
_ARITHMETIC_OPS = frozenset(entry.tensor_op for entry in ARITHMETIC)


def apply(op_name: str, *operands: Any, name: str | None = None, **attributes: Any) -> Any:
    """Apply the op to tensors and to values that convert to tensors.

    Return one Tensor, or a tuple of them. A trace records a node; otherwise the kernel runs. Raises TypeError for
    operands whose dtypes do not agree, and the errors of the op's type rule or kernel.
    """
    op = OPS[op_name]
    region = current_region()
    values = [_convert_operand(x) for x in operands]
    if any(isinstance(value, NumberList) for value in values):
        values = _convert_number_lists(op, values)
    if op_name in _NUMBER_OP_BY_TENSOR_OP and _are_python_numbers(values):
        op = OPS[_NUMBER_OP_BY_TENSOR_OP[op_name]]
        if op_name in _ARITHMETIC_OPS:
            values = _convert_large_ints(values)
    else:
        values = _unify_dtypes(op, values, region)
    if region is None:
        output = _run_kernel(op, values, attributes)
        if tape_recorders.active_recorders():
            tape_recorders.record_op(op, values, attributes, output, EagerTensor)
    else:
        output = record(region, op, values, attributes, name)
    return _check_numerics(op, output) if SETTINGS.check_numerics else output


tape_recorders.APPLY.set(apply)
APPLY.set(apply)


def _convert_number_lists(op: Op, values: list[Any]) -> list[Any]:
    """Convert lists of numbers among the operands to arrays."""
    unified_positions = range(len(values)) if op.unify == "all" else op.unify
    result = list(values)
    for position, value in enumerate(values):
        if isinstance(value, NumberList):
            operands_to_match = [other for i, other in enumerate(values) if i != position and i in unified_positions]
            try:
                result[position] = value.as_array(operands_to_match, position in unified_positions)
            except TypeError:
                target = next(dtype_of(other) for other in operands_to_match if is_typed(other))
                raise unconvertible_error(op, target, to_array(value.values), position, current_region()) from None
    return result


def _check_numerics(op: Op, output: object) -> Any:
    """Check the results for nan and infinity, at once or by a node of the graph."""
    if op.name == "check_numerics":
        return output
    results = output if isinstance(output, tuple) else (output,)
    execution = "eagerly-executing" if current_region() is None else "graph"
    checked_results = []
    for position, result in enumerate(results):
        if isinstance(result, Tensor) and result.type.dtype.is_differentiable:
            message = (
                f'!!! Detected Infinity or NaN in output {position} of {execution} op "{op.graphdef}" '
                f"(# of outputs: {len(results)}) !!!"
            )
            result = apply("check_numerics", result, message=message)
        checked_results.append(result)
    return tuple(checked_results) if isinstance(output, tuple) else checked_results[0]


def record(region: Region, op: Op, values: Sequence[Any], attributes: dict[str, Any], name: str | None = None) -> Any:
    """Append a node for the op, and return its results; `values` are tensors, constants and graph values."""
    node_name = name or display_name(op.name)
    inputs = [graph_value(region, value, f"{node_name}/{operand_name(i)}") for i, value in enumerate(values)]
    home = home_of_variable(values) if op.name in VARIABLE_OPS else ""
    try:
        node = region.record(op.name, inputs, attributes, node_name=node_name, device=home or region.trace.device)
    except (TypeError, ValueError) as error:
        raise type_rule_error(error, region) from error.__cause__
    return wrap_results(node.results)


def wrap_results(results: Sequence[Value]) -> Any:
    """Wrap a node's tensor results as symbolic tensors: one bare, several as a tuple; other values stay unchanged."""
    tensors = tuple(SymbolicTensor(value) if isinstance(value.type, TensorType) else value for value in results)
    return tensors[0] if len(tensors) == 1 else tensors


def graph_value(region: Region, value: object, name: str = "Const") -> Value:
    """Return the region's value for `value`: a capture for an eager tensor, else a constant called `name`."""
    if isinstance(value, SymbolicTensor):
        return value.value_in_graph
    if isinstance(value, Value):
        return value
    if isinstance(value, EagerTensor):
        return region.trace.capture(value, value.type, region.trace.scope + name)
    if isinstance(value, np.generic) and region.contract.numpy_arrays:
        region.trace.uses_arrays = True  # tested before NUMBERS, as np.float64 is a subclass of float
        return record_constant(region, to_array(value), name=name).value_in_graph
    if isinstance(value, NUMBERS):
        return weak_constant(region, value, name).value_in_graph
    resource = getattr(value, "__autoconv_resource__", None)
    if resource is not None:
        return resource(region)
    return record_constant(region, to_array(value), name=name).value_in_graph


def _convert_operand(x: object) -> Any:
    """Return tensors, Python numbers and graph values unchanged; convert everything else to an array or tensor."""
    if isinstance(x, np.generic):
        region = current_region()
        if region is not None and region.contract.numpy_arrays:
            region.trace.uses_arrays = True
            return to_array(x)
    if isinstance(x, (Tensor, bool, int, float, complex, Value)):
        return x
    tensor = as_tensor(x)
    if tensor is not None:
        return tensor
    if hasattr(x, "__autoconv_resource__") or isinstance(x, ListValue):
        return x
    if isinstance(x, (list, tuple)):
        is_in_graph = getattr(x, "_items", None) is not None  # such a list appears empty to Python
        if is_in_graph:
            return convert_to_tensor(x)
        takes_numpy_numbers = not current_contract().numpy_arrays
        return NumberList(x) if holds_numbers(x, takes_numpy_numbers) else convert_to_tensor(x)
    if isinstance(x, (np.ndarray, np.generic)):
        return to_array(x)
    return to_array(x) if isinstance(x, str) and current_region() is None else constant(x)


def _are_python_numbers(values: Sequence[Any]) -> bool:
    """Return whether all operands are Python numbers or weak tensors, and at least one is a tensor."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    non_tensors = [value for value in values if not isinstance(value, Tensor)]
    return bool(tensors) and all(tensor.weak for tensor in tensors) and all(isinstance(x, NUMBERS) for x in non_tensors)


def _convert_large_ints(values: list[Any]) -> list[Any]:
    """Convert ints beyond 64 bits to float as Python does, where another operand is a float or complex."""
    are_large = list(map(_is_large_int, values))
    if not any(are_large):
        return values
    dtypes = [weak_dtype(value) if isinstance(value, NUMBERS) else value.dtype for value in values]
    if max(map(number_kind_order, dtypes)) < number_kind_order(float64):
        return values
    return [float(value) if is_large else value for value, is_large in zip(values, are_large, strict=True)]


def _is_large_int(value: object) -> bool:
    """Return whether the value is an int beyond 64 bits."""
    return type(value) is int and not int64.min <= value <= int64.max


def _unify_dtypes(op: Op, values: list[Any], region: Region | None) -> list[Any]:
    """Convert the operands that the op unifies to one dtype; Python numbers adopt the dtype of typed operands."""
    positions: Any = range(len(values)) if op.unify == "all" else op.unify
    # Values of the graph, such as lists, have no dtype to unify.
    unified_positions = [i for i in positions if i < len(values) and not isinstance(values[i], Value)]
    unified_values = [values[i] for i in unified_positions]
    target_dtype, is_weak = _common_dtype(op, unified_values, region) if unified_values else (None, False)
    if is_weak and region is None and all(isinstance(value, NUMBERS) for value in unified_values):
        target_dtype, is_weak = dtype_of_numbers(unified_values), False  # eager ops make tensors of plain numbers
    result = list(values)
    for i, value in enumerate(values):
        if i in unified_positions and target_dtype is not None:
            if target_dtype.is_string and isinstance(value, NUMBERS) and region is None:
                raise unconvertible_error(op, target_dtype, constant(value), i, region) from None
            try:
                result[i] = _convert_to_dtype(value, target_dtype, is_weak, region, op)
            except TypeError:
                if isinstance(value, Tensor):
                    raise
                number = EagerTensor(to_array(value)) if isinstance(value, NUMBERS) else value
                raise unconvertible_error(op, target_dtype, number, i, region) from None
        elif isinstance(value, NUMBERS) and (region is None or not op.name.startswith("python")):
            result[i] = to_array(value)  # in graphs, ops on Python's numbers take them as weak constants
    return result


def _common_dtype(op: Op, values: list[Any], region: Region | None) -> tuple[DType | None, bool]:
    """Return the dtype for all of the values, and whether it is weak; raise an error for dtypes that do not agree."""
    typed_dtypes = [dtype_of(value) for value in values if is_typed(value)]
    if typed_dtypes:
        if region is not None and region.contract.numpy_arrays:
            return _numpy_result_dtype(values), False
        tensor_dtypes = [value.dtype for value in values if isinstance(value, Tensor) and not value.weak]
        target_dtype = (tensor_dtypes or typed_dtypes)[0]
        for position, value in enumerate(values):
            if is_typed(value) and not _is_convertible(value, target_dtype):
                if region is None and tensor_dtypes and not isinstance(value, Tensor):
                    raise unconvertible_error(op, target_dtype, value, position, region)
                # The message has the dtypes in the order of the operands.
                expected_dtype = typed_dtypes[0] if position else target_dtype
                found_dtype = dtype_of(value) if position else typed_dtypes[-1]
                raise mismatch_error(op, expected_dtype, found_dtype, position or 1, region)
        return target_dtype, False
    weak_dtypes = [value.type.dtype if isinstance(value, Tensor) else weak_dtype(value) for value in values]
    return max(weak_dtypes, key=number_kind_order), True


def _is_convertible(value: object, target_dtype: DType) -> bool:
    """Return whether an operand has the target dtype, or is an array of numbers, which is cast as in TensorFlow."""
    own_dtype = dtype_of(value)
    if own_dtype is target_dtype:
        return True
    return not (isinstance(value, Tensor) or own_dtype.is_string or target_dtype.is_string)


def _numpy_result_dtype(values: list[Any]) -> DType:
    """Return the result dtype by NumPy's rule of NEP 50: typed values promote, Python numbers adapt."""
    dtypes_and_numbers: list[Any] = []
    for value in values:
        if is_typed(value):
            dtype = dtype_of(value)
            if dtype.is_string:
                return string
            dtypes_and_numbers.append(dtype.numpy)
        else:
            number_dtype = weak_dtype(value) if isinstance(value, NUMBERS) else value.type.dtype
            dtypes_and_numbers.append((False, 0, 0.0, 0j)[number_kind_order(number_dtype)])
    return as_dtype(np.result_type(*dtypes_and_numbers))


def _convert_to_dtype(value: object, target_dtype: DType, is_weak: bool, region: Region | None, op: Op) -> Any:
    """Convert an operand of an op; raises TypeError for a Python number that does not fit a tensor's dtype."""
    if isinstance(value, Tensor):
        if value.type.dtype is target_dtype and (is_weak or not value.weak):
            return value
        if value.weak:
            if not is_weak and not can_adopt_dtype(value.type.dtype, target_dtype):
                raise TypeError(
                    f"{op.graphdef}: the Python {_number_class_name(value.type.dtype)} does not fit the "
                    f"{target_dtype.name} tensor it meets; cast the tensor first."
                )
            return apply("python_cast", value, dtype=target_dtype, weak=is_weak)
        return apply("cast", value, dtype=target_dtype)
    if isinstance(value, NUMBERS):
        if is_weak and region is not None:
            number = value if weak_dtype(value) is target_dtype else target_dtype.numpy.type(value).item()
            return weak_constant(region, number)
        if _is_large_int(value) and not is_weak and (target_dtype.is_floating or target_dtype.is_complex):
            value = float(value.real)
        return to_array(value, None if is_weak else target_dtype)
    array = to_array(value)
    return array if as_dtype(array.dtype) is target_dtype else array.astype(target_dtype.numpy)


def _number_class_name(dtype: DType) -> str:
    return ("bool", "int", "float", "complex")[number_kind_order(dtype)]


def _run_kernel(op: Op, values: Sequence[Any], attributes: dict[str, Any]) -> Any:
    """Run an op on operands outside of graphs, and return its result as a tensor, or several as a tuple."""
    assert op.kernel is not None
    home = home_of_variable(values) if op.name in VARIABLE_OPS else ""
    if home or other_device_request():
        remote_result = run_remotely(op, values, attributes, home)
        if remote_result is not None:
            return remote_result
    arrays = list(map(array_of, values))
    check_dtypes(op, values, arrays, attributes)
    try:
        results = (
            native_eager.run(op, arrays, attributes)
            if op.traits.compiles_eager_calls
            else op.kernel(*arrays, **attributes)
        )
    except ValueError as error:
        raise _with_place(error, op) from error.__cause__
    except IndexError as error:
        raise _with_place(IndexOutOfRangeError(str(error)).with_plain_error(error), op) from None
    except TypeError as error:
        raise kernel_dtype_error(error, op, arrays) from None
    gives_numbers = op.name.startswith("python_") and (op.name != "python_cast" or attributes.get("weak", False))
    if not gives_numbers and any(isinstance(value, EagerTensor) and value._weak for value in values):
        types = op.result_types(list(map(type_of_operand, values)), attributes)
        are_weak = [isinstance(type_, TensorType) and type_.weak for type_ in types]
    else:
        are_weak = [gives_numbers] * (len(results) if isinstance(results, tuple) else 1)
    tensor_class = ArrayTensor if any(type(value) is ArrayTensor for value in values) else EagerTensor
    if isinstance(results, tuple):
        return tuple(_wrap(result, is_weak, tensor_class) for result, is_weak in zip(results, are_weak, strict=True))
    return _wrap(results, are_weak[0], tensor_class)


def _with_place(error: ValueError, op: Op) -> ValueError:
    """Return a kernel's error as InvalidArgumentError with place and op name; another AutoconvError stays unchanged."""
    if not isinstance(error, InvalidArgumentError):
        if isinstance(error, AutoconvError) or not op.graphdef:
            return error
        error = InvalidArgumentError(str(error)).with_plain_error(error)
    if error.place is None:
        error.place = current_place()
        error.name_op(op.graphdef)
    return error


def _wrap(result: Any, is_weak: bool, tensor_class: type[EagerTensor]) -> Any:
    if isinstance(result, bytes):  # NumPy unwraps the item of an array of objects without dimensions
        result = np.array(result, object)
    return tensor_class(result, is_weak) if isinstance(result, (np.ndarray, np.generic)) else result
