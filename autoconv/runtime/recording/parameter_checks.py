"""Conditions on the arguments of public functions: dtypes with a kernel in TensorFlow, ranks, and kinds of values.

The ops behind the functions accept more than TensorFlow's, which NumPy's functions and this package itself rely on. So
the conditions are checked by the wrappers of the public functions only, before the call.

A function such as `dtypes` returns a condition. Its docstring describes the arguments that fulfil the condition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.errors import (
    DtypeError,
    InvalidArgumentError,
    MissingKernelError,
    TensorConversionError,
    UnconvertibleError,
)
from autoconv.graph.dtypes import DTYPES, DType, as_dtype, bool_, complex128, float32, int32, int64, string
from autoconv.runtime.recording.regions import current_region

Values = Mapping[str, Any]  # parameter -> value; parameters that a call leaves out are absent
Check = Callable[[str, Values], None]  # it takes the name of the function and the values of the parameters


class ParameterCondition(NamedTuple):
    """A check of the values of some parameters.

    holds_in_graphs_only: True if it is checked inside of `function` only
    passing_dtypes: if the first of the parameters is a tensor of such a dtype, the check is skipped
    """

    parameters: tuple[str, ...]
    check: Check
    holds_in_graphs_only: bool = False
    passing_dtypes: frozenset[DType] = frozenset()


Table = dict[str, tuple[ParameterCondition, ...]]  # by the path and the name of a public function

# The dtypes of tensors of Python's values.
_PYTHON_DTYPES = {bool: bool_, int: int32, float: float32, complex: complex128, str: string, bytes: string}


def dtypes(
    parameters: str, accepted: frozenset[DType], kernel_dtypes: frozenset[DType] | None = None,
    tensors_only: bool = False, error: type[Exception] = DtypeError,
    missing_error: type[Exception] = MissingKernelError,
) -> ParameterCondition:  # fmt: skip
    """Operands of one dtype, among `accepted`, and among `kernel_dtypes` if an op accepts more than it computes.

    The dtype is that of the first tensor, else of the first NumPy array, else of the first Python value. With
    `tensors_only`, other operands are not checked: they are cast to the default dtype of their parameter. `error` is
    raised for a dtype that is not accepted, `missing_error` for one without a kernel.
    """
    def check(function: str, values: Values) -> None:
        dtype = _operand_dtype(list(values.values()), tensors_only)
        check_dtype(function, dtype, accepted, kernel_dtypes, error, missing_error)

    passing_dtypes = accepted if kernel_dtypes is None else accepted & kernel_dtypes
    return ParameterCondition(tuple(parameters.split()), check, passing_dtypes=passing_dtypes)


def check_dtype(
    function: str, dtype: DType | None, accepted: frozenset[DType], kernel_dtypes: frozenset[DType] | None = None,
    error: type[Exception] = DtypeError, missing_error: type[Exception] = MissingKernelError,
) -> None:  # fmt: skip
    """Raise `error` for a dtype that an op does not accept, `missing_error` for one without a kernel.

    A dtype of None passes, as no condition applies to it.
    """
    if dtype is None or (dtype in accepted and (kernel_dtypes is None or dtype in kernel_dtypes)):
        return
    if dtype not in accepted:
        raise error(
            f"Value for attr 'T' of {dtype.name} is not in the list of allowed values: {_names(accepted)} [{function}]"
        )
    assert kernel_dtypes is not None
    raise missing_error(f"{function} has no kernel for {dtype.name}: cast the tensor to {_names(kernel_dtypes)}")


def first_decides_dtype(first: str, second: str, error: type[Exception] = DtypeError) -> ParameterCondition:
    """A tensor as the second operand has the dtype of the first one, an array or number that is converted alone."""
    def check(function: str, values: Values) -> None:
        """Raise `error` if the second operand is a tensor of another dtype than the converted first one."""
        if len(values) < 2 or isinstance(getattr(values[first], "dtype", None), DType):
            return  # two tensors are compared by the op
        dtype, other = (_operand_dtype([values[name]], tensors_only=False) for name in (first, second))
        if dtype is None or other is None or not isinstance(getattr(values[second], "dtype", None), DType):
            return
        if dtype is not other:
            raise error(
                f"cannot compute {function} as input #1(zero-based) was expected to be a {dtype.name} tensor but is a "
                f"{other.name} tensor. Cast one of them: autoconv.cast(value, autoconv.{dtype.name})."
            )

    any_dtype = frozenset(DTYPES.values())  # with a tensor first, the op itself compares the dtypes
    return ParameterCondition((first, second), check, passing_dtypes=any_dtype)


def dtypes_checked_in_python(parameters: str, accepted: frozenset[DType]) -> ParameterCondition:
    """Operands of the dtypes `accepted`, where TensorFlow checks them in Python code, by a TypeError."""
    def check(function: str, values: Values) -> None:
        dtype = _operand_dtype(list(values.values()), tensors_only=False)
        if dtype is not None and dtype not in accepted:
            raise DtypeError(f"Invalid dtype {dtype.name} [{function}]; supported are {_names(accepted)}")

    return ParameterCondition(tuple(parameters.split()), check)


def integers(parameters: str, accepted: frozenset[DType] = frozenset({int32})) -> ParameterCondition:
    """Integers that an op takes as tensors: those of the accepted dtypes, Python's ints, or arrays, which are cast."""
    def check(function: str, values: Values) -> None:
        """Raise DtypeError for a tensor of another dtype, or for a float or string."""
        for value in values.values():
            dtype = _operand_dtype([value], tensors_only=True)
            if dtype is not None and dtype not in accepted:
                raise DtypeError(
                    f"cannot compute {function} as an input was expected to be a {_names(accepted)} tensor but is a "
                    f"{dtype.name} tensor. Cast it: autoconv.cast(value, autoconv.{min(map(_name, accepted))})."
                )
            if isinstance(value, (float, str)) and not isinstance(value, np.generic):
                raise DtypeError(f"Cannot convert {value!r} to EagerTensor of dtype {min(map(_name, accepted))}")

    return ParameterCondition(tuple(parameters.split()), check)


def flags(parameters: str) -> ParameterCondition:
    """Options that are Python's or NumPy's bools, or None."""
    def check(function: str, values: Values) -> None:
        for name, flag in values.items():
            if flag is not None and not isinstance(flag, (bool, np.bool_)):
                raise TypeError(f"Expected bool for argument '{name}' not {flag!r} [{function}]")

    return ParameterCondition(tuple(parameters.split()), check)


def numbers(parameters: str) -> ParameterCondition:
    """Attributes of ops that are numbers, not tensors, lists or strings."""
    def check(function: str, values: Values) -> None:
        for name, number in values.items():
            if isinstance(number, (list, tuple, str)) or isinstance(getattr(number, "dtype", None), DType):
                raise TypeError(f"Expected float for argument '{name}' not {number!r} [{function}]")

    return ParameterCondition(tuple(parameters.split()), check)


def string_attributes(parameters: str) -> ParameterCondition:
    """Attributes of ops that are strings or None."""
    def check(function: str, values: Values) -> None:
        for name, text in values.items():
            if text is not None and not isinstance(text, (str, bytes)):
                raise TypeError(f"Expected string for argument '{name}' not {text!r} [{function}]")

    return ParameterCondition(tuple(parameters.split()), check)


def ranks(
    parameters: str, least: int, most: int | None = None, error: type[Exception] = InvalidArgumentError
) -> ParameterCondition:
    """Operands of `least` to `most` dimensions; without `most`, of `least` or more."""
    expected_ranks = f"at least {least}" if most is None else str(least) if most == least else f"{least} to {most}"

    def check(function: str, values: Values) -> None:
        for name, value in values.items():
            rank = known_rank(value)
            if rank is not None and (rank < least or (most is not None and rank > most)):
                raise error(f"'{name}' of {function} must have {expected_ranks} dimensions, found {rank}")

    return ParameterCondition(tuple(parameters.split()), check)


def result_dtypes(parameter: str, accepted: frozenset[DType]) -> ParameterCondition:
    """An attribute of an op that is the dtype of a result; None stands for the default."""
    def check(function: str, values: Values) -> None:
        """Raise DtypeError for a dtype that is not accepted."""
        dtype = values[parameter]
        if dtype is not None and as_dtype(dtype) not in accepted:
            raise DtypeError(
                f"Value for attr '{parameter}' of {as_dtype(dtype).name} is not in the list of allowed values: "
                f"{_names(accepted)} [{function}]"
            )

    return ParameterCondition((parameter,), check)


def keeps_dtype(value: str, dtype: str) -> ParameterCondition:
    """A tensor that the function does not cast: the argument `dtype`, if given, must be the tensor's dtype."""
    def check(function: str, values: Values) -> None:
        """Raise DtypeError if the tensor's dtype is not the one asked for."""
        tensor_dtype = _operand_dtype([values.get(value)], tensors_only=True)
        requested_dtype = None if values.get(dtype) is None else as_dtype(values[dtype])
        if tensor_dtype is not None and requested_dtype is not None and requested_dtype is not tensor_dtype:
            raise DtypeError(
                f"{function} does not cast tensors: expected {requested_dtype.name}, found a {tensor_dtype.name} "
                f"tensor. Write autoconv.cast(value, autoconv.{requested_dtype.name})."
            )

    return ParameterCondition((value, dtype), check)


def lists(parameter: str, *refused_classes: type) -> ParameterCondition:
    """A list of tensors, not a NumPy array or a value of one of the `refused_classes`."""
    def check(function: str, values: Values) -> None:
        value = values[parameter]
        if isinstance(value, (np.ndarray, *refused_classes)):
            raise UnconvertibleError(
                f"Expected a list of tensors for '{parameter}' of {function}, not {type(value).__name__}"
            )

    return ParameterCondition((parameter,), check)


def has_attribute(parameters: str, attribute: str) -> ParameterCondition:
    """Arguments that need an attribute: AttributeError for values without it, such as lists and arrays."""
    def check(function: str, values: Values) -> None:
        """Raise AttributeError for the first argument without the attribute."""
        for name, value in values.items():
            if not hasattr(value, attribute):
                raise AttributeError(
                    f"'{name}' of {function} needs the attribute {attribute!r}, which {type(value).__name__!r} lacks"
                )

    return ParameterCondition(tuple(parameters.split()), check)


def refuses(parameters: str, *classes: type, error: type[Exception] = TypeError) -> ParameterCondition:
    """Arguments that are no values of these classes; bools are allowed even if `int` is refused."""
    def check(function: str, values: Values) -> None:
        for name, value in values.items():
            if isinstance(value, classes) and not isinstance(value, bool):
                raise error(f"'{name}' of {function} cannot be a value of {type(value).__name__}, found {value!r}")

    return ParameterCondition(tuple(parameters.split()), check)


def same_dtype(
    first: str, second: str, error: type[Exception] = DtypeError, tensors_only: bool = False
) -> ParameterCondition:
    """Two operands whose dtypes are equal; with `tensors_only`, arrays are not checked, as they are cast."""
    def check(function: str, values: Values) -> None:
        dtypes_of_operands = [_operand_dtype([values.get(name)], tensors_only) for name in (first, second)]
        if None not in dtypes_of_operands and dtypes_of_operands[0] is not dtypes_of_operands[1]:
            names = " and ".join(dtype.name for dtype in dtypes_of_operands if dtype is not None)
            raise error(f"'{first}' and '{second}' of {function} have different dtypes: {names}. Cast one of them.")

    return ParameterCondition((first, second), check)


def constants(parameter: str) -> ParameterCondition:
    """A value of Python or NumPy, or a Python number of the graph, not a symbolic tensor."""
    def check(function: str, values: Values) -> None:
        """Raise TypeError for a symbolic tensor."""
        value = values[parameter]
        if hasattr(value, "value_in_graph") and not value.weak:
            raise TypeError(
                f"Expected any non-tensor type for '{parameter}' of {function}, but got a tensor instead: "
                f"convert_to_tensor takes tensors"
            )

    return ParameterCondition((parameter,), check)


def in_graphs(*conditions: ParameterCondition) -> tuple[ParameterCondition, ...]:
    """Conditions that hold inside of `function` only, where operands are symbolic."""
    return tuple(condition._replace(holds_in_graphs_only=True) for condition in conditions)


def scalars(parameters: str, error: type[Exception] = InvalidArgumentError) -> ParameterCondition:
    """Operands without dimensions."""
    return ranks(parameters, 0, 0, error)


def at_least(parameter: str, least: int) -> ParameterCondition:
    """A number of `least` or more; a value that is known only at run time passes."""
    def check(function: str, values: Values) -> None:
        value = values[parameter]
        number = value if isinstance(value, (int, np.integer)) else getattr(value, "_array", None)
        if number is not None and np.ndim(number) == 0 and number < least:
            raise InvalidArgumentError(f"'{parameter}' of {function} must be at least {least}, found {number}")

    return ParameterCondition((parameter,), check)


def ascending(start: str, limit: str, step: str) -> ParameterCondition:
    """The bounds of a range: if all are known, the step leads from `start` towards `limit`."""
    def check(function: str, values: Values) -> None:
        """Raise InvalidArgumentError if the step leads away from the limit."""
        first: Any = values.get(start)
        last: Any = values.get(limit)
        delta: Any = values.get(step, 1)
        if last is None:  # a single argument is the limit
            first, last, delta = 0, first, 1
        if all(isinstance(bound, (int, float)) for bound in (first, last, delta)) and (last - first) * delta < 0:
            raise InvalidArgumentError(f"Requires start <= limit when delta > 0: {first}/{last} [{function}]")

    return ParameterCondition((start, limit, step), check)


def string_tensors(parameters: str) -> ParameterCondition:
    """Tensors of strings, to which numbers are not converted."""
    def check(function: str, values: Values) -> None:
        """Raise TensorConversionError for a tensor of another dtype, and UnconvertibleError for other values."""
        for name, value in values.items():
            dtype = _operand_dtype([value], tensors_only=False)
            if dtype is None or dtype is string:
                continue
            message = f"'{name}' of {function} takes strings, found {dtype.name}: strings.as_string converts it"
            raise TensorConversionError(message) if hasattr(value, "dtype") else UnconvertibleError(message)

    return ParameterCondition(tuple(parameters.split()), check)


def shared_conditions(functions: str, *conditions: ParameterCondition) -> Table:
    """Return the part of a table for functions, separated by spaces, that have the same conditions."""
    return dict.fromkeys(functions.split(), conditions)


def bind(conditions: Sequence[ParameterCondition], function: str, parameters: Sequence[str]) -> Callable[..., None]:
    """Return a function that checks the conditions on a call, given its positional and its named arguments."""
    eager_conditions = [condition for condition in conditions if not condition.holds_in_graphs_only]
    graph_checks, eager_checks = (
        [([(parameters.index(name), name) for name in condition.parameters], condition) for condition in group]
        for group in (conditions, eager_conditions)
    )

    def check_call(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise the first error of the conditions that apply to a call with these arguments."""
        region = current_region()
        is_in_function = region is not None and not region.contract.numpy_arrays
        for positions_and_names, condition in graph_checks if is_in_function else eager_checks:
            first_position, _ = positions_and_names[0]
            if condition.passing_dtypes and first_position < len(args):
                dtype = getattr(args[first_position], "dtype", None)
                if isinstance(dtype, DType) and dtype in condition.passing_dtypes:
                    continue
            values = {
                name: args[i] if i < len(args) else kwargs[name]
                for i, name in positions_and_names
                if i < len(args) or name in kwargs
            }
            if values:
                condition.check(function, values)

    return check_call


def _operand_dtype(values: Sequence[Any], tensors_only: bool) -> DType | None:
    """Return the dtype of the first tensor, else of the first NumPy array, else of a tensor of the first Python value.

    None if no condition applies: to a weak tensor, to values without a dtype, and with `tensors_only` without a tensor.
    """
    typed_values = [(value, value.dtype) for value in values if hasattr(value, "dtype")]
    for value, dtype in typed_values:
        if isinstance(dtype, DType):
            return None if getattr(value, "weak", False) else dtype
    if tensors_only:
        return None
    for _value, dtype in typed_values:
        if isinstance(dtype, np.dtype):
            return as_dtype(dtype)
    for value in values:
        while isinstance(value, (list, tuple)) and value:
            value = value[0]
        if type(value) in _PYTHON_DTYPES:
            return int64 if type(value) is int and not -(2**31) <= value < 2**31 else _PYTHON_DTYPES[type(value)]
    return None


def known_rank(value: Any) -> int | None:
    """Return the number of dimensions; None if it is unknown."""
    shape = getattr(value, "shape", None)
    if shape is None:
        return np.ndim(value) if isinstance(value, (bool, int, float, complex)) else _list_rank(value)
    return shape.rank if hasattr(shape, "rank") else len(shape)


def _list_rank(value: Any) -> int | None:
    """Return the number of dimensions of nested lists of numbers; None for other values."""
    rank = 0
    while isinstance(value, (list, tuple)) and value:
        value, rank = value[0], rank + 1
    return rank if isinstance(value, (bool, int, float, complex)) else None


def _names(accepted: frozenset[DType]) -> str:
    return ", ".join(sorted(map(_name, accepted)))


def _name(dtype: DType) -> str:
    return dtype.name
