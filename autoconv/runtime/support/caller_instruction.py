"""The instruction that a caller's frame executes, where an operator's meaning depends on it."""

from __future__ import annotations

import opcode
import sys
from typing import Any

from autoconv.graph.python_operators import COMPARISONS


def is_in_place(frame: Any) -> bool:
    """Return whether the frame's current instruction is an in-place operator, such as `x += y`."""
    code, position = frame.f_code.co_code, frame.f_lasti
    return opcode.opname[code[position]] == "BINARY_OP" and code[position + 1] in _IN_PLACE


def merges_mapping(frame: Any) -> bool:
    """Return whether the frame's current instruction unpacks a mapping: `f(**x)` or `{**x}`."""
    return opcode.opname[frame.f_code.co_code[frame.f_lasti]] in ("DICT_MERGE", "DICT_UPDATE")


_IN_PLACE = range(13, 26)  # arguments of BINARY_OP for in-place operators, which follow the 13 plain ones

# Names of comparisons, such as "lt", by Python's symbols.
_NAME_BY_SYMBOL = {entry.symbol: entry.name for entry in COMPARISONS if entry.name not in ("eq", "ne")}
# How many low bits of COMPARE_OP's argument are flags, in this version of Python.
_COMPARE_SHIFT = 0 if sys.version_info < (3, 12) else 4 if sys.version_info < (3, 13) else 5


def comparison_of(frame: Any) -> str:
    """Return the ordering comparison made by the frame's current instruction, such as "lt"; "" for others."""
    code, position = frame.f_code.co_code, frame.f_lasti
    if opcode.opname[code[position]] != "COMPARE_OP":
        return ""
    return _NAME_BY_SYMBOL.get(opcode.cmp_op[code[position + 1] >> _COMPARE_SHIFT], "")


def unpack_counts(frame: Any) -> tuple[int, int] | None:
    """Return (number of unpacking targets, position of the starred one or -1); None where the frame does not unpack."""
    code = frame.f_code.co_code
    position = frame.f_lasti
    name = opcode.opname[code[position]]
    argument = code[position + 1]
    if position >= 2 and opcode.opname[code[position - 2]] == "EXTENDED_ARG":
        return None
    if name == "UNPACK_SEQUENCE":
        return argument, -1
    if name == "UNPACK_EX":  # targets after the starred one need EXTENDED_ARG
        return argument + 1, argument
    return None
