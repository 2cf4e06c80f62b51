"""Special methods that return NotImplemented if a tensor decides so: the method that Python tries next is an arm."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from autoconv.graph.python_operators import BINARY, COMPARISONS
from autoconv.graph.types import ObjectType
from autoconv.operators.control.staging import stage_arms
from autoconv.operators.control.variants import drop_arms, selects_object
from autoconv.operators.regions.layout import Variant
from autoconv.operators.values.type_queries import kind_of
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, record_object

# Operator symbols in Python's error messages.
_SYMBOLS = {op.name: op.symbol for op in BINARY} | {"pow": "** or pow()", "divmod": "divmod()"}
# By comparison: its symbol, and the reflected comparison.
_COMPARISONS = {op.name: (op.symbol, op.mirrored) for op in COMPARISONS}


def resolve_not_implemented(method_result: object, try_next: Callable[[], Any]) -> Any:
    """Return the result of a method; where it is NotImplemented, that of `try_next`."""
    if method_result is NotImplemented:
        return try_next()
    result: Any = method_result
    is_not_implemented: Any = False
    if type(method_result) is Variant:
        is_not_implemented = selects_object(method_result, NotImplemented)
        result = drop_arms(method_result, lambda value: value is NotImplemented, make_error=None)
    elif type(method_result) is SymbolicObject and method_result.value_in_graph.type == ObjectType():
        is_not_implemented = record_object("object_isinstance", [method_result], kinds=type(NotImplemented))
    if is_not_implemented is False:
        return result
    (value,) = stage_arms(is_not_implemented, [lambda: (try_next(),), lambda: (result,)], [], ("value",))
    return value


def wrap_undecided_method(
    name: str, method: FunctionType, run: Callable[..., Any], apply_to_objects: Callable[..., Any]
) -> Any:
    """Wrap `run`, the converted form of `method`, to try the next method where a tensor decides NotImplemented.

    `apply_to_objects(name, instance, other)` handles an operand known only at run time.
    """
    if "NotImplemented" not in method.__code__.co_names or method.__code__.co_argcount != 2:
        return run

    @functools.wraps(run)
    def binary_method(instance: Any, other: object) -> Any:
        """Return what the method returns, or the result of the next method where a tensor decides on NotImplemented."""
        result = run(instance, other)
        if result is NotImplemented:
            return result  # independent of tensors: Python itself tries the next method
        operation = name.strip("_")
        return resolve_not_implemented(
            result, lambda: _continue_after_not_implemented(operation, instance, other, apply_to_objects)
        )

    binary_method.__autoconv_without_fallback__ = run  # type: ignore[attr-defined]
    return binary_method


def unwrap_undecided_method(method: Callable[..., Any]) -> Any:
    """Return the method as it was before `wrap_undecided_method`, for callers that try the next one themselves."""
    return getattr(method, "__autoconv_without_fallback__", method)


def _continue_after_not_implemented(
    name: str, instance: Any, other: object, apply_to_objects: Callable[..., Any]
) -> Any:
    """Continue `instance <operator> other` as Python does after the method of that name returned NotImplemented."""
    is_reflected = name[0] == "r" and name[1:] in _SYMBOLS
    if is_reflected:  # the last attempt
        raise _unsupported_operands(_SYMBOLS[name[1:]], other, instance)
    if type(other) is SymbolicObject:
        return apply_to_objects(name, instance, other)
    if name in _COMPARISONS:
        symbol, mirrored_name = _COMPARISONS[name]
        return resolve_not_implemented(
            _call_method(other, f"__{mirrored_name}__", instance),
            lambda: _compare_by_identity(name, symbol, instance, other),
        )
    is_in_place = name[0] == "i" and name[1:] in _SYMBOLS
    plain_name = name[1:] if is_in_place else name
    # In place, the symbol "** or pow()" becomes "**=".
    symbol = _SYMBOLS[plain_name].partition(" ")[0] + "=" if is_in_place else _SYMBOLS[plain_name]

    def try_reflected() -> Any:
        """Return the result of the other operand's reflected method; raise TypeError without one."""
        has_same_type = type(other) is type(instance)
        result = NotImplemented if has_same_type else _call_method(other, f"__r{plain_name}__", instance)

        def refuse() -> Any:
            raise _unsupported_operands(symbol, instance, other)

        return resolve_not_implemented(result, refuse)

    if not is_in_place:
        return try_reflected()
    return resolve_not_implemented(_call_method(instance, f"__{plain_name}__", other), try_reflected)


def _call_method(value: object, name: str, other: object) -> Any:
    """Call the user-defined method of that name; NotImplemented if there is none."""
    method = getattr(type(value), name, None)
    if not isinstance(method, FunctionType) or not _is_user_object(value):
        return NotImplemented
    return unwrap_undecided_method(method)(value, other)


def _is_user_object(value: object) -> bool:
    return not type(value).__module__.startswith("autoconv.")


def _compare_by_identity(name: str, symbol: str, instance: Any, other: object) -> Any:
    """Return `==` or `!=` by identity, as Python does after both methods; raise TypeError for an ordering."""
    if name in ("eq", "ne"):
        return (instance is other) == (name == "eq")
    class_names = f"{kind_of(instance).__name__!r} and {kind_of(other).__name__!r}"
    raise mark_program_error(TypeError(f"{symbol!r} not supported between instances of {class_names}"))


def _unsupported_operands(symbol: str, first: object, second: object) -> TypeError:
    """Return Python's error for operands that no method takes."""
    class_names = f"{kind_of(first).__name__!r} and {kind_of(second).__name__!r}"
    return mark_program_error(TypeError(f"unsupported operand type(s) for {symbol}: {class_names}"))
