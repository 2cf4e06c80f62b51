"""Side-effect analysis of methods by their bytecode: whether one only reads, or writes."""

from __future__ import annotations

import builtins
import dis
import inspect
from types import FunctionType
from typing import Any

_NAMES = "abs bool enumerate float int isinstance iter len max min range reversed round tuple type zip"
_CALLED = frozenset(_NAMES.split())  # builtins that a reading method may call
# Prefixes of the opcodes without side effects.
_FREE_OF_EFFECTS = (
    "BINARY_", "BUILD_", "CACHE", "CALL", "COMPARE_OP", "CONTAINS_OP", "COPY", "COPY_FREE_VARS", "END_FOR",
    "EXTENDED_ARG", "FOR_ITER", "GET_ITER", "GET_YIELD_FROM_ITER", "IS_OP", "JUMP_", "KW_NAMES", "LOAD_ATTR",
    "LOAD_CONST", "LOAD_DEREF", "LOAD_FAST", "LOAD_GLOBAL", "NOP", "NOT_TAKEN", "POP_JUMP_", "POP_TOP", "PRECALL",
    "PUSH_NULL", "RESUME", "RETURN_", "SEND", "STORE_FAST", "SWAP", "TO_BOOL", "UNARY_", "UNPACK_SEQUENCE",
    "YIELD_VALUE",
)  # fmt: skip
_FREE = (type, int, float, str, type(NotImplemented))


def only_reads(method: Any) -> bool:
    """Return whether a method only reads attributes, computes and compares. Conservative.

    It may call no functions but builtins without side effects.
    """
    if not isinstance(method, FunctionType):
        return False
    method = inspect.unwrap(method)
    known = inspect.getclosurevars(method)
    called = False
    for instruction in dis.get_instructions(method):
        name = instruction.opname
        if not name.startswith(_FREE_OF_EFFECTS) or (name == "PUSH_NULL" and not called):
            return False
        called = False
        if name in ("LOAD_GLOBAL", "LOAD_DEREF"):
            found = {**vars(builtins), **known.globals, **known.nonlocals}.get(instruction.argval)
            is_builtin = getattr(builtins, str(instruction.argval), None) is found
            called = is_builtin and instruction.argval in _CALLED
            calls = name == "LOAD_GLOBAL" and bool((instruction.arg or 0) & 1)
            if not called and (calls or not isinstance(found, _FREE)):
                return False
        if name == "LOAD_ATTR" and (instruction.arg or 0) & 1 and _is_method_load():
            return False
    return True


def only_gives(method: FunctionType) -> bool:
    """Return whether a method is straight-line code that calls nothing but `iter`."""
    names = {x.argval for x in dis.get_instructions(method) if x.opname in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_METHOD")}
    decides = any("JUMP" in x.opname or x.opname in _DECIDING for x in dis.get_instructions(method))
    return not decides and names <= {"iter"} and only_reads(method)


# Opcodes, besides jumps, that depend on values.
_DECIDING = ("IS_OP", "CONTAINS_OP", "COMPARE_OP", "YIELD_VALUE", "FOR_ITER")


def writes(method: FunctionType) -> bool:
    """Return whether a method's own code assigns to an attribute, an item or an outer name."""
    return any(
        instruction.opname in _WRITES or (instruction.opname == "STORE_DEREF" and instruction.argval in _outer(method))
        for instruction in dis.get_instructions(method)
    )


def _outer(method: FunctionType) -> tuple[str, ...]:
    return method.__code__.co_freevars


# Opcodes that write attributes, items or globals.
_WRITES = frozenset({"DELETE_ATTR", "DELETE_SUBSCR", "STORE_ATTR", "STORE_GLOBAL", "STORE_SLICE", "STORE_SUBSCR"})


def _is_method_load() -> bool:
    """Return whether the lowest bit of LOAD_ATTR's argument marks a method call: true from Python 3.12 on."""
    return "LOAD_METHOD" not in dis.opmap


__all__ = ["only_gives", "only_reads", "writes"]
