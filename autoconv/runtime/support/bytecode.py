"""Bytecode in one form for all versions of Python, as the analyses of code read it."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from typing import Any

# Instructions that do nothing by themselves. TO_BOOL belongs to the jump after it.
_IDLE = frozenset({"CACHE", "END_FOR", "EXTENDED_ARG", "NOP", "NOT_TAKEN", "PRECALL", "TO_BOOL"})
_NAMES = {
    "LOAD_FAST_CHECK": "LOAD_FAST",
    "LOAD_FROM_DICT_OR_DEREF": "LOAD_CLASSDEREF",
    "LOAD_FROM_DICT_OR_GLOBALS": "LOAD_NAME",
    "CALL_KW": "CALL",
    "CONVERT_VALUE": "FORMAT_VALUE",
    "FORMAT_SIMPLE": "FORMAT_VALUE",
    "FORMAT_WITH_SPEC": "FORMAT_VALUE",
}  # name of an instruction in later versions -> in Python 3.11


def instructions_of(code: Callable[..., Any] | Any) -> Iterator[dis.Instruction]:
    """Iterate over the instructions of a function or code object, as Python 3.11 has them.

    Each instruction loads or stores one local name, and methods that are called are loaded by LOAD_METHOD. A
    LOAD_SUPER_ATTR is followed by an instruction for the attribute. Idle instructions are left out.
    """
    for instruction in dis.get_instructions(code):
        name, argument = instruction.opname, instruction.arg or 0
        if name in _IDLE:
            continue
        if isinstance(instruction.argval, tuple) and name in _PAIRS:
            for part, local_name in zip(_PAIRS[name], instruction.argval, strict=True):
                yield instruction._replace(opname=part, argval=local_name)
        elif name == "RETURN_CONST":
            yield instruction._replace(opname="LOAD_CONST")
            yield instruction._replace(opname="RETURN_VALUE", argval=None)
        elif name in _ATTRIBUTE_LOADS:
            if name == "LOAD_SUPER_ATTR":
                yield instruction
            yield instruction._replace(opname="LOAD_METHOD" if argument & _METHOD_BIT else "LOAD_ATTR")
        elif name == "CALL_INTRINSIC_1":
            yield instruction._replace(opname=instruction.argrepr.removeprefix("INTRINSIC_"))
        else:
            yield instruction._replace(opname=_NAMES.get(name, name))


_PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
_ATTRIBUTE_LOADS = ("LOAD_ATTR", "LOAD_SUPER_ATTR")
# The bit of the argument of these loads that announces a call; LOAD_METHOD is an instruction in Python 3.11 only.
_METHOD_BIT = 0 if dis.opmap.get("LOAD_METHOD", 256) < 256 else 1
