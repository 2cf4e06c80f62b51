"""Side-effect analysis of methods by their bytecode: does a method only read, or may it write?"""

from __future__ import annotations

import builtins
import dis
import inspect
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from random import Random
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from autoconv.runtime.support.bytecode import instructions_of

_BUILTIN_NAMES = "abs bool enumerate float int isinstance iter len max min range reversed round tuple type zip"
_ALLOWED_BUILTINS = frozenset(_BUILTIN_NAMES.split())  # builtins that a reading method may call
# Prefixes of the opcodes without side effects.
_EFFECT_FREE_OPCODES = (
    "BINARY_", "BUILD_", "CALL", "COMPARE_OP", "CONTAINS_OP", "COPY", "COPY_FREE_VARS", "FOR_ITER", "GET_ITER",
    "GET_YIELD_FROM_ITER", "IS_OP", "JUMP_", "KW_NAMES", "LOAD_ATTR", "LOAD_CONST", "LOAD_DEREF", "LOAD_FAST",
    "LOAD_GLOBAL", "POP_JUMP_", "POP_TOP", "PUSH_NULL", "RESUME", "RETURN_", "SEND", "STORE_FAST", "SWAP", "UNARY_",
    "UNPACK_SEQUENCE", "YIELD_VALUE",
)  # fmt: skip
_LOADABLE_CONSTANT_TYPES = (type, int, float, str, type(NotImplemented))


def only_reads(method: Callable[..., Any]) -> bool:
    """Return whether a method only reads attributes, computes and compares. Conservative.

    It may call no functions but builtins without side effects.
    """
    if not isinstance(method, FunctionType):
        return False
    method = inspect.unwrap(method)
    closure = inspect.getclosurevars(method)
    is_allowed_builtin = False
    for instruction in instructions_of(method):
        opcode = instruction.opname
        if not opcode.startswith(_EFFECT_FREE_OPCODES) or (opcode == "PUSH_NULL" and not is_allowed_builtin):
            return False
        is_allowed_builtin = False
        if opcode in ("LOAD_GLOBAL", "LOAD_DEREF"):
            value = {**vars(builtins), **closure.globals, **closure.nonlocals}.get(instruction.argval)
            is_builtin = getattr(builtins, str(instruction.argval), None) is value
            is_allowed_builtin = is_builtin and instruction.argval in _ALLOWED_BUILTINS
            is_called = opcode == "LOAD_GLOBAL" and bool((instruction.arg or 0) & 1)  # the bit announces a call
            if not is_allowed_builtin and (is_called or not isinstance(value, _LOADABLE_CONSTANT_TYPES)):
                return False
        if opcode == "LOAD_METHOD":
            return False
    return True


def only_returns_iter(method: FunctionType) -> bool:
    """Return whether a method is straight-line code that calls nothing but `iter`."""
    names = {x.argval for x in instructions_of(method) if x.opname in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_METHOD")}
    has_branches = any("JUMP" in x.opname or x.opname in _VALUE_DEPENDENT_OPCODES for x in instructions_of(method))
    return not has_branches and names <= {"iter"} and only_reads(method)


# Opcodes, besides jumps, that compare, iterate or yield: their outcome may differ between calls.
_VALUE_DEPENDENT_OPCODES = ("IS_OP", "CONTAINS_OP", "COMPARE_OP", "YIELD_VALUE", "FOR_ITER")


def writes(method: FunctionType) -> bool:
    """Return whether a method's own code assigns to an attribute, an item or an outer name."""
    return _summarise(method.__code__).writes


def may_write(method: FunctionType, classes: Iterable[type]) -> bool:
    """Return whether a method, or a function that it calls, assigns to an attribute, an item or an outer name.

    Conservative: functions are found by their global and outer names. Methods are found by their names in `classes`, in
    Python's own mutable classes, and in generators of random numbers. In an `__init__`,
    assignments to attributes of its first argument do not count as writes, since the object is new.
    """
    seen_methods: set[Any] = set()
    pending_methods = [(method, False)]
    while pending_methods:
        function, is_initialiser = pending_methods.pop()
        function = inspect.unwrap(function)
        if not isinstance(function, FunctionType) or (function.__code__, is_initialiser) in seen_methods:
            continue
        seen_methods.add((function.__code__, is_initialiser))
        summary = _summarise(function.__code__)
        writes = summary.writes_other_objects if is_initialiser else summary.writes
        if writes or summary.calls_writing_method:
            return True
        names_in_scope = {**vars(builtins), **function.__globals__, **_cell_values(function)}
        loaded_values = [names_in_scope.get(name) for name in summary.names]
        if any(isinstance(value, BuiltinFunctionType) and value in _WRITING_BUILTINS for value in loaded_values):
            return True
        loads_module = any(isinstance(value, ModuleType) for value in loaded_values)
        if loads_module and not _WRITING_METHODS.isdisjoint(summary.attributes):
            return True  # such as random.shuffle
        pending_methods += [function_pair for value in loaded_values for function_pair in _functions_run_by(value)]
        members = [vars(base).get(name) for name in summary.attributes for kind in classes for base in kind.__mro__]
        pending_methods += [function_pair for member in members for function_pair in _functions_run_by(member)]
    return False


# Builtins that write to an argument, to files, or to anything at all.
_WRITING_BUILTINS = frozenset({setattr, delattr, print, next, exec, eval, open, input, __import__})
# Methods that write to their object, apart from those of classes written in Python.
_WRITING_METHODS = frozenset(
    name
    for kind in (list, dict, set, bytearray, deque, OrderedDict, Random)
    for name in dir(kind)
    if not name.startswith("_") and not any(hasattr(other, name) for other in (bytes, tuple, frozenset))
) - {"VERSION", "fromkeys", "get", "getstate", "items", "keys", "maxlen", "values"}  # fmt: skip
_WRITING_NAMES = "fill put resize write writelines send throw close rand randn normal integers permutation"
_WRITING_METHODS |= frozenset(_WRITING_NAMES.split())


def _functions_run_by(value: Any) -> list[tuple[Any, bool]]:
    """Return the functions that run when a value is called or read, each with whether it initialises an object."""
    if isinstance(value, type):
        return [(vars(base).get("__init__"), True) for base in value.__mro__ if "__init__" in vars(base)]
    if isinstance(value, property):
        return [(accessor, False) for accessor in (value.fget, value.fset) if accessor is not None]
    function = getattr(value, "__func__", value)
    return [(function, False)] if isinstance(function, FunctionType) else []


def _cell_values(function: FunctionType) -> dict[str, Any]:
    result = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # the cell is empty
            result[name] = cell.cell_contents
    return result


class _Summary(NamedTuple):
    """The assignments of some code, to objects or outer names, and the names that it loads."""

    writes: bool
    writes_other_objects: bool  # apart from attributes of the first argument
    names: tuple[str, ...]
    attributes: tuple[str, ...]
    calls_writing_method: bool  # one of `_WRITING_METHODS` is among the attributes


@lru_cache(maxsize=1024)
def _summarise(code: CodeType) -> _Summary:
    """Return the summary of code, together with the functions nested in it."""
    writes = writes_other_objects = calls_writing_method = False
    names, attributes = [], []
    previous = None
    for instruction in instructions_of(code):
        calls_writing_method |= instruction.opname == "LOAD_METHOD" and instruction.argval in _WRITING_METHODS
        writes_cell = instruction.opname == "STORE_DEREF" and instruction.argval in code.co_freevars
        is_write = writes_cell or instruction.opname in _WRITING_OPCODES
        writes |= is_write
        writes_other_objects |= is_write and not (instruction.opname == "STORE_ATTR" and _loads_self(previous, code))
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME"):
            names.append(instruction.argval)
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.append(instruction.argval)
        previous = instruction
    for nested_code in code.co_consts:
        if isinstance(nested_code, CodeType):
            summary = _summarise(nested_code)
            calls_writing_method |= summary.calls_writing_method
            writes |= summary.writes
            writes_other_objects |= summary.writes
            names += summary.names
            attributes += summary.attributes
    return _Summary(writes, writes_other_objects, tuple(names), tuple(attributes), calls_writing_method)


def _loads_self(instruction: dis.Instruction | None, code: CodeType) -> bool:
    """Return whether an instruction loads, last, a method's first argument, which the method never rebinds."""
    if instruction is None or not code.co_argcount or not instruction.opname.startswith("LOAD_FAST"):
        return False
    rebound_names = {x.argval for x in instructions_of(code) if x.opname in ("STORE_FAST", "DELETE_FAST")}
    return instruction.argval == code.co_varnames[0] and instruction.argval not in rebound_names


# Opcodes that write attributes, items or globals.
_WRITING_OPCODES = frozenset(
    {"DELETE_ATTR", "DELETE_SUBSCR", "STORE_ATTR", "STORE_GLOBAL", "STORE_SLICE", "STORE_SUBSCR"}
)
