"""Plain calls that end early where they take long, so that a graph may serve them instead.

The work of a `while` loop over numbers has no bound that its code shows. Such a call runs as plain Python while a trace
function of `sys` counts its lines, and raises an exception in it after `_MAX_LINES`. The call can then run again in
another form, because its code changes nothing from outside: it stores to local names and items of its own values, calls
builtins without effects, and catches no exceptions. Items of lists among its arguments and defaults are restored.
"""

from __future__ import annotations

import dis
import inspect
import itertools
import math
import sys
import types
import weakref
from collections.abc import Iterator
from typing import Any

from autoconv.runtime.support.bytecode import instructions_of
from autoconv.runtime.support.skipped_frames import skipped_by_warnings
from autoconv.tracing.specialise.work_estimate import is_compiled_function

ENDED_EARLY: Any = object()
"""The result of a watched call that took too long."""

_MAX_LINES = 20_000  # lines of a watched call, which take some 2 ms
_MAX_ITEMS = 256  # items of lists and tuples among the arguments
_IMMUTABLE = frozenset({int, float, bool, complex, str, bytes, types.NoneType, range})
_BUILTINS: frozenset[Any] = frozenset(
    {abs, all, any, bool, bytes, chr, complex, dict, divmod, enumerate, float, frozenset, int, isinstance, len, list}
    | {max, min, ord, pow, range, reversed, round, set, sorted, str, sum, tuple, zip}
    | {ArithmeticError, AssertionError, Exception, IndexError, KeyError, OverflowError, RuntimeError, TypeError}
    | {ValueError, ZeroDivisionError}
)  # fmt: skip
_METHODS = frozenset(
    name
    for owner in (list, dict, set, str, bytes, int, float, complex, math)
    for name in dir(owner)
    if not name.startswith("_")
) - {"format", "format_map"}  # these two read any attribute
_OPERATIONS = frozenset(
    {"BINARY_OP", "BINARY_SLICE", "BINARY_SUBSCR", "BUILD_CONST_KEY_MAP", "BUILD_LIST"}
    | {"BUILD_MAP", "BUILD_SET", "BUILD_SLICE", "BUILD_STRING", "BUILD_TUPLE", "CALL"}
    | {"COMPARE_OP", "CONTAINS_OP", "COPY", "COPY_FREE_VARS", "DELETE_FAST", "DELETE_SUBSCR"}
    | {"DICT_UPDATE", "FORMAT_VALUE", "FOR_ITER", "GET_ITER", "IS_OP", "JUMP_BACKWARD"}
    | {"JUMP_FORWARD", "JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP", "KW_NAMES", "LIST_APPEND"}
    | {"LIST_EXTEND", "LIST_TO_TUPLE", "LOAD_ASSERTION_ERROR", "LOAD_CLOSURE", "LOAD_CONST"}
    | {"LOAD_FAST", "LOAD_FAST_AND_CLEAR", "MAKE_CELL", "MAP_ADD", "POP_TOP", "PUSH_NULL"}
    | {"RAISE_VARARGS", "RERAISE", "RESUME", "RETURN_VALUE", "SET_ADD", "SET_UPDATE", "STORE_FAST"}
    | {"STORE_SLICE", "STORE_SUBSCR", "SWAP", "UNARY_INVERT"}
    | {"UNARY_NEGATIVE", "UNARY_NOT", "UNARY_POSITIVE", "UNPACK_EX", "UNPACK_SEQUENCE"}
)  # fmt: skip
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")
_GENERATOR_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class _EndedEarly(BaseException):
    """Ends a watched call."""


@skipped_by_warnings
def call_watched(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a plain call, or ENDED_EARLY after `_MAX_LINES` lines; raise its exceptions."""
    items_before = list(_lists_among(_values_of_call(function, args, kwargs)))
    remaining = _MAX_LINES

    def count_line(frame: Any, event: str, argument: Any) -> Any:
        nonlocal remaining
        remaining -= 1
        if remaining < 0:
            raise _EndedEarly
        return count_line

    sys.settrace(count_line)
    try:
        return function(*args, **kwargs)
    except _EndedEarly:
        for list_, items in items_before:
            list_[:] = items
        return ENDED_EARLY
    finally:
        sys.settrace(None)


def may_be_watched(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether a call can be ended at any line, and run again as if it had not begun."""
    if type(function) is not types.FunctionType or function.__closure__ or sys.gettrace() is not None:
        return False
    is_restorable = _is_restorable(_values_of_call(function, args, kwargs), itertools.count())
    return is_restorable and _is_repeatable(function, {})


def _values_of_call(function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments and the defaults, in whose lists a call may store items."""
    return *args, *kwargs.values(), *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()


def _is_restorable(values: Any, counter: Iterator[int]) -> bool:
    """Return whether all values are immutable or lists of such values; `counter` counts them."""
    for value in values:
        class_ = type(value)
        is_sequence = class_ is list or class_ is tuple
        if next(counter) > _MAX_ITEMS or not (_is_restorable(value, counter) if is_sequence else class_ in _IMMUTABLE):
            return False
    return True


def _lists_among(values: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the lists among the values and in their items, each with its items."""
    for value in values:
        if type(value) is list:
            yield value, list(value)
        if type(value) is list or type(value) is tuple:
            yield from _lists_among(value)


def _is_repeatable(function: types.FunctionType, visited: dict[types.CodeType, None]) -> bool:
    """Return whether a call of the function changes nothing from outside, and catches no exception.

    `visited` has the code visited so far, in order: that of the watched function is the first.
    """
    worklist = [] if function.__code__ in visited else [function.__code__]
    while worklist:
        code = worklist.pop()
        visited[code] = None
        content = _names_and_code(code)
        if content is None:
            return False
        names, comprehensions = content
        if not all(_may_load(name, use, function.__globals__, visited) for name, use in names):
            return False
        worklist += comprehensions
    return True


def _may_load(name: str, use: str, globals_: dict[str, Any], visited: dict[types.CodeType, None]) -> bool:
    """Return whether a global name refers to a constant, to a builtin or function without effects, or to `math`."""
    builtins = globals_.get("__builtins__", {})
    builtins = vars(builtins) if isinstance(builtins, types.ModuleType) else builtins
    value: Any = globals_[name] if name in globals_ else builtins.get(name)
    class_ = type(value)
    if class_ is types.FunctionType:
        defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        is_simple = not value.__closure__ and all(type(default) in _IMMUTABLE for default in defaults)
        return use == "called" and is_simple and _is_repeatable(value, visited)
    if is_compiled_function(value):  # only the watched function itself, whose recursive calls run plain
        watched_code = next(iter(visited))
        return use == "called" and getattr(value.python_function, "__code__", None) is watched_code
    if class_ is types.ModuleType:
        return value is math and use == "attribute"
    if class_ is types.BuiltinFunctionType or class_ is type:
        return value in _BUILTINS or (class_ is types.BuiltinFunctionType and value.__module__ == "math")
    return class_ in _IMMUTABLE


_NAMES_BY_CODE: weakref.WeakKeyDictionary[types.CodeType, Any] = weakref.WeakKeyDictionary()


def _names_and_code(code: types.CodeType) -> tuple[list[tuple[str, str]], list[types.CodeType]] | None:
    """Return (name, use) for each global name that code loads, and the code of its comprehensions.

    A use is "attribute", "called" or "value". Return None for code with other effects than on local values. Of
    converted code, its plain arm is examined.
    """
    if code not in _NAMES_BY_CODE:
        _NAMES_BY_CODE[code] = _find_names_and_code(code)
    return _NAMES_BY_CODE[code]  # type: ignore[no-any-return]


def _find_names_and_code(code: types.CodeType) -> tuple[list[tuple[str, str]], list[types.CodeType]] | None:
    """Find, in the instructions, what `_names_and_code` returns."""
    names: list[tuple[str, str]] = []
    codes: list[types.CodeType] = []
    all_instructions = list(instructions_of(code))
    instructions = _plain_arm(all_instructions)
    is_comprehension = code.co_name in _COMPREHENSIONS
    has_handlers = any(instruction.opname == "PUSH_EXC_INFO" for instruction in all_instructions)
    if has_handlers or code.co_flags & _GENERATOR_FLAGS or not instructions:
        return None
    for instruction, following in itertools.zip_longest(instructions, instructions[1:]):
        operation, value = instruction.opname, instruction.argval
        if operation == "LOAD_GLOBAL":
            is_attribute = following is not None and following.opname in ("LOAD_ATTR", "LOAD_METHOD")
            is_called = bool((instruction.arg or 0) & 1)  # this bit of the argument makes room on the stack for a call
            names.append((value, "attribute" if is_attribute else "called" if is_called else "value"))
        elif operation in ("LOAD_ATTR", "LOAD_METHOD"):
            if value not in _METHODS:
                return None
        elif operation in ("LOAD_DEREF", "STORE_DEREF"):
            if value not in code.co_cellvars and not (is_comprehension and operation == "LOAD_DEREF"):
                return None
        elif operation == "MAKE_FUNCTION":
            if not codes or codes[-1].co_name not in _COMPREHENSIONS:
                return None
        elif operation not in _OPERATIONS and not operation.startswith("POP_JUMP"):
            return None
        if isinstance(value, types.CodeType):
            codes.append(value)
    return names, codes


def _plain_arm(instructions: list[dis.Instruction]) -> list[dis.Instruction]:
    """Return the instructions before those that run under trace; `if ag__.untraced` of converted code is left out."""
    for index in range(len(instructions) - 2):
        first, second, third = instructions[index : index + 3]
        if first.opname == "LOAD_GLOBAL" and first.argval == "ag__" and second.argval == "untraced":
            if "IF_FALSE" not in third.opname:
                return []
            arm = [i for i in instructions[index + 3 :] if i.offset < third.argval]
            is_closed = bool(arm) and arm[-1].opname in ("RETURN_VALUE", "RAISE_VARARGS")
            return [*instructions[:index], *arm] if is_closed else []
    return instructions
