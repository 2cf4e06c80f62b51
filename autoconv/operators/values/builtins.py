"""Python's builtins and the math module on tensors."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.dtypes import bool_, float32, int32, int64
from autoconv.graph.types import number_type
from autoconv.hooks import Hook
from autoconv.operators.control.conditionals import (
    and_,
    condition_value,
    if_exp,
    is_staged,
    length_of,
    or_,
    truth,
    user_defined_method,
)
from autoconv.operators.control.iterables import StagedIterable, StagedRange, as_staged, leading_dimension
from autoconv.operators.control.loops import iterate
from autoconv.operators.control.optional_keys import count_keys
from autoconv.operators.control.staged_iterators import StagedEnumerate, StagedMap, StagedReversed, StagedZip
from autoconv.operators.control.variants import raise_if
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.generator_expressions import binds_outer_names
from autoconv.operators.support.overrides import OVERRIDES, overrides
from autoconv.operators.support.signature_check import call_for_program
from autoconv.operators.support.speculation import emit_output
from autoconv.operators.values.compensated_sums import sum_of_items
from autoconv.operators.values.numbers import as_python_number, is_compiled, math_override, refuse_complex, value_of
from autoconv.operators.values.type_queries import kind_of
from autoconv.ops.program_errors import as_program_error, mark_program_error
from autoconv.runtime.arrays.methods import is_scalar
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import has_optional_keys, items_of
from autoconv.runtime.objects.number_methods import refuse_number, refuse_scalar
from autoconv.runtime.objects.object_conversions import unbox
from autoconv.runtime.objects.symbolic_objects import apply_object, is_object
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor, weak_dtype
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor


def override_for(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return the replacement of a builtin or a function of math; None for others."""
    try:
        result = OVERRIDES.get(function)
    except TypeError:  # unhashable
        return None
    if result is not None:
        return result
    return math_override(function)


def _as_tensor(x: object) -> Any:
    return as_tensor(value_of(x))


def iterated_tensor(x: object) -> Any:
    """Return an iterable as a tensor, None if it is not one; raise TypeError for a number or a scalar."""
    if type(x) is SymbolicArray and x.type.rank == 0:
        raise as_program_error(TypeError("iteration over a 0-d array"))
    tensor = _as_tensor(x)
    if tensor is not None:
        refuse_scalar(tensor, "{!r} object is not iterable")
    return tensor


@overrides(builtins.range)
def _range(*bounds: Any) -> Any:
    bounds = tuple(map(value_of, bounds))
    if any(isinstance(bound, SymbolicTensor) for bound in bounds):
        return StagedRange(*bounds)
    return builtins.range(*(operator.index(bound) for bound in bounds))


@overrides(builtins.len)
def _len(x: Any) -> Any:
    """Return `len(x)`."""
    if type(x) is SymbolicArray and x.ndim:
        return x.size_of(0)
    tensor = _as_tensor(x)
    if tensor is None:
        method = user_defined_method(x, "__len__")
        if method is not None:
            return length_of(x, method)
        if items_of(x) is not None:
            return items_of(x).length()
        if has_optional_keys(x):
            return count_keys(x)
        return _clamp_to_zero(x.length()) if isinstance(x, StagedIterable) else len(value_of(x))
    refuse_number(tensor, "object of type {!r} has no len()")
    if tensor.type.shape == ():
        raise TypeError("len() of unsized object: the tensor has no dimensions")
    return leading_dimension(tensor)


def _clamp_to_zero(length: Any) -> Any:
    """Clamp the length of a range to 0: its end may lie before its start."""
    return dispatch.apply("select", length > 0, length, 0) if isinstance(length, Tensor) else builtins.max(length, 0)


@overrides(builtins.int)
def _int(x: Any = 0, *base: Any) -> Any:
    """Convert a value to an int; under `function`, a tensor that is no integer becomes int32."""
    x = value_of(x)
    if not isinstance(x, SymbolicTensor):
        return builtins.int(x, *base)
    if base:
        call_for_program(builtins.int, 0, 10)  # raises TypeError: only text takes a base
    _refuse_dimensions(x)
    refuse_complex(builtins.int, x)
    region = current_region()
    if x.weak or (region is not None and region.contract.python_numbers):
        return dispatch.apply("python_int", x)
    return x if x.dtype.is_integer else dispatch.apply("cast", x, dtype=int32)


@overrides(builtins.float)
def _float(x: Any = 0.0) -> Any:
    """Convert a value to a float; under `function`, a tensor that is no float becomes float32."""
    x = value_of(x)
    if not isinstance(x, SymbolicTensor):
        return builtins.float(x)
    region = current_region()
    _refuse_dimensions(x)
    refuse_complex(builtins.float, x)
    if x.weak or (region is not None and region.contract.python_numbers):
        return dispatch.apply("python_float", x)
    return x if x.dtype.is_floating else dispatch.apply("cast", x, dtype=float32)


def _refuse_dimensions(x: SymbolicTensor) -> None:
    if is_array(x) and x.type.shape != ():
        raise StagingError("an array with dimensions is converted to a number", current_place(), "its one item: x[0]")


@overrides(builtins.bool)
def _bool(x: object = False) -> Any:
    """Return the truth of a value; the truth of an array is a Python bool of the graph."""
    x = condition_value(x)
    if not is_staged(x):
        return builtins.bool(x)
    result = truth(x)
    if isinstance(result, SymbolicTensor) and not result.weak and is_array(result):
        return dispatch.apply("python_cast", result, dtype=bool_, weak=True)
    return result


def is_array(x: object) -> bool:
    """Return whether `x` stands for a NumPy array or scalar in this trace."""
    region = current_region()
    return isinstance(x, SymbolicTensor) and not x.weak and region is not None and region.trace.uses_arrays


@overrides(builtins.abs)
def _abs(x: object) -> Any:
    return builtins.abs(value_of(x))


@overrides(builtins.round)
def _round(x: Any, digits: Any = None) -> Any:
    """Round a number or a NumPy scalar; `digits` may be a number of the graph."""
    x = value_of(x)
    refuse_complex(builtins.round, x)
    if is_array(x):
        return _round_scalar(x, digits)
    if isinstance(digits, SymbolicTensor) and digits.weak:
        return _round_to(x, digits)
    return builtins.round(x) if digits is None else builtins.round(x, digits)


def is_weak(x: object) -> bool:
    """Return whether a value is a Python number, known at trace time or in the graph."""
    return isinstance(x, (bool, int, float)) or (isinstance(x, Tensor) and x.weak)


def _round_to(x: object, digits: SymbolicTensor) -> Any:
    """Round a number to a symbolic number of digits; the result has the number's own class."""
    number_dtype = weak_dtype(x) if not isinstance(x, SymbolicTensor) else x.dtype if x.weak else None
    result = apply_object("round", x, digits)
    if number_dtype is None:
        return result
    return unbox(result, number_type(int64 if number_dtype.is_bool else number_dtype))


def _round_scalar(x: SymbolicTensor, digits: Any) -> Any:
    """Round a NumPy scalar: to an int without `digits`, else to a scalar of its dtype. Arrays raise TypeError."""
    if not is_scalar(x, "round") or not (x.dtype.is_floating or x.dtype.is_integer):
        raise TypeError("type numpy.ndarray doesn't define __round__ method")
    if digits is not None:
        return x.round(digits)
    return dispatch.apply("python_round", as_python_number(x), digits=None)


@overrides(builtins.pow)
def _pow(x: Any, y: Any, *modulus: Any) -> Any:
    """Return `x ** y`; a modulus is computed in the graph only for compiled Python ints."""
    x, y, *modulus = map(value_of, (x, y, *modulus))  # type: ignore[assignment]
    operands = x, y, *modulus
    has_modulus = bool(modulus) and modulus != [None]
    if has_modulus and any(isinstance(operand, SymbolicTensor) for operand in operands):
        if not is_compiled() or not all(map(is_weak, operands)):
            raise StagingError("pow() with a modulus does not take tensors", current_place(), "x ** y % z")
        return unbox(apply_object("pow", *operands), number_type(int64))
    return builtins.pow(*operands)


@overrides(builtins.divmod)
def _divmod(x: Any, y: Any) -> Any:
    """Return quotient and remainder; compiled Python numbers raise divmod's own ZeroDivisionError."""
    x, y = value_of(x), value_of(y)
    refuse_complex(builtins.divmod, x, y)
    are_python_numbers = is_weak(x) and is_weak(y)
    if are_python_numbers and SymbolicTensor in (type(x), type(y)) and is_compiled():
        _refuse_zero_divisor(x, y)
    return builtins.divmod(x, y)


def _refuse_zero_divisor(x: object, y: object) -> None:
    """Raise divmod's ZeroDivisionError for a zero divisor, where its message differs from that of `//`."""
    samples = [kind_of(value)(number) for value, number in ((x, 1), (y, 0))]
    errors: list[Any] = []
    for divide in (builtins.divmod, operator.floordiv):
        try:
            divide(*samples)
        except ZeroDivisionError as error:
            errors.append(error.with_traceback(None))
    if str(errors[0]) == str(errors[1]):
        return
    if isinstance(y, SymbolicTensor):
        raise_if(y == 0, errors[0])
    elif not y:
        raise mark_program_error(errors[0])


def refuse_rows(name: str, tensor: Any) -> None:
    """Raise StagingError for an array with more than one dimension: Python would compare or test whole rows."""
    if is_array(tensor) and (tensor.type.rank is None or tensor.type.rank > 1):
        raise StagingError(
            f"Python's {name} iterates over the rows of an array",
            current_place(), f"np.{name}, or {name} of one dimension"
        )


@overrides(builtins.sum)
def _sum(iterable: Any, start: Any = 0) -> Any:
    """Sum an iterable; a tensor is summed along its first axis by one op."""
    tensor = iterated_tensor(iterable)
    if tensor is not None:
        length = leading_dimension(tensor)
        if isinstance(length, int) and not length:
            return start
        total = dispatch.apply("reduce_sum", tensor, axis=(0,), keepdims=False)
        total = total if isinstance(start, int) and start == 0 else start + total
        return total if isinstance(length, int) else if_exp(length == 0, lambda: start, lambda: total)
    return sum_of_items(iterable, start)


def _quantifier(deciding_truth: bool, combine: Callable[..., Any], reduction: str) -> Callable[..., Any]:
    """Return any() or all(), which evaluate the elements one by one until the truth of one is `deciding_truth`.

    `combine` is `or_` or `and_`; `reduction` is the op that is applied to a tensor instead.
    """

    def quantify(iterable: Any) -> Any:
        """Reduce a tensor by one op, and any other iterable item by item."""
        tensor = iterated_tensor(iterable)
        if tensor is not None:
            refuse_rows(reduction.removeprefix("reduce_"), tensor)
            flags = tensor if tensor.dtype.is_bool else tensor != 0
            result = dispatch.apply(reduction, flags, axis=None, keepdims=False)
            return _bool(result) if is_array(tensor) else result
        return quantify_remaining(iter(iterable))

    def quantify_remaining(iterator: Any) -> Any:
        """Combine the truths of the remaining items; after a staged one, the others are a branch of the graph."""
        for item in iterator:
            if is_staged(item):
                if binds_outer_names(iterator):
                    raise StagingError(
                        "how many elements are taken depends on a tensor, and each assigns to a name", current_place(),
                        "a for statement with the assignment in its body",
                    )  # fmt: skip
                return combine(truth(item), lambda: quantify_remaining(iterator))
            if builtins.bool(item) is deciding_truth:
                return deciding_truth
        return not deciding_truth

    return quantify


OVERRIDES[builtins.any] = _quantifier(deciding_truth=True, combine=or_, reduction="reduce_any")
OVERRIDES[builtins.all] = _quantifier(deciding_truth=False, combine=and_, reduction="reduce_all")


def is_builtin(function: object, name: str) -> bool:
    """Return whether a function is Python's own of that name."""
    return function is getattr(builtins, name)


def _is_symbolic(x: object) -> bool:
    """Return whether an iterable's items, or their number, are known only at run time."""
    return isinstance(x, (SymbolicTensor, SymbolicArray, StagedIterable, Variant)) or items_of(x) is not None


def _are_iterated_in_graph(*iterables: Any) -> bool:
    """Return whether iterables are traversed together in the graph.

    Arrays of known length take part only beside iterables that all can be staged.
    """
    symbolic_iterables = [x for x in iterables if _is_symbolic(x)]
    if any(type(x) is not SymbolicArray or x.known_shape[:1] == (None,) for x in symbolic_iterables):
        return True
    return bool(symbolic_iterables) and all(as_staged(x) is not None for x in iterables)


@overrides(builtins.enumerate)
def _enumerate(iterable: Any, start: Any = 0) -> Any:
    if _is_symbolic(iterable):
        return StagedEnumerate(iterable, start)
    return builtins.enumerate(iterable, start)


@overrides(builtins.zip)
def _zip(*iterables: Any, strict: bool = False) -> Any:
    """Zip iterables, as a `StagedZip` if one of them is iterated in the graph."""
    if not _are_iterated_in_graph(*iterables):
        return builtins.zip(*iterables, strict=strict)
    result = StagedZip(*iterables)
    if strict:
        lengths = [part.length() for part in result.parts]
        if any(isinstance(length, Tensor) for length in lengths):
            result.set_strict()
        elif len(set(lengths)) > 1:
            return builtins.zip(*map(iterate, iterables), strict=True)
    return result


@overrides(builtins.reversed)
def _reverse(iterable: Any) -> Any:
    refuse_number(value_of(iterable), "{!r} object is not reversible")
    return StagedReversed(iterable) if _is_symbolic(iterable) else builtins.reversed(iterable)


@overrides(builtins.map)
def _map(function: Callable[..., Any], *iterables: Any) -> Any:
    if _are_iterated_in_graph(*iterables):
        return StagedMap(convert_callback(function), *iterables)
    return builtins.map(convert_callback(function), *iterables)


CALL = Hook("autoconv.operators.calls.call")  # `call` of that module, which imports this one


def convert_callback(function: Callable[..., Any]) -> Any:
    """Return the callable to use in place of a function that was passed to a builtin."""
    return CALL(function)


@overrides(builtins.list)
def _list(*iterable: Any) -> Any:
    if iterable and items_of(iterable[0]) is not None:
        return iterable[0].copy()
    return builtins.list(*map(iterate, iterable))


@overrides(builtins.tuple)
def _tuple(*iterable: Any) -> Any:
    return builtins.tuple(*map(iterate, iterable))


@overrides(builtins.print)
def _print(*values: Any, sep: Any = None, end: Any = None, file: Any = None, flush: bool = False) -> None:
    """Record a print in the graph if the contract does so, else print the values while tracing."""
    region = current_region()
    assert region is not None
    for name, text in (("sep", sep), ("end", end)):
        if not (text is None or isinstance(text, str) or is_object(text)):
            raise mark_program_error(TypeError(f"{name} must be None or a string, not {kind_of(text).__name__}"))
    if not region.contract.record_print(values, sep, end, file, flush):
        printed_values = [str(value) if isinstance(value, Tensor) else value for value in values]
        emit_output(region, lambda: builtins.print(*printed_values, sep=sep, end=end, file=file, flush=flush))
