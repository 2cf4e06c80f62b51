"""Properties of the instruction that a frame executes, on which the meaning of a special method depends."""

from __future__ import annotations

import opcode
import sys
from types import FrameType
from typing import NamedTuple

from autoconv.graph.python_operators import COMPARISONS

_IN_PLACE = range(13, 26)  # arguments of BINARY_OP for in-place operators, which follow the 13 plain ones

# Names of ordering comparisons, such as "lt", by Python's symbols.
_NAME_BY_SYMBOL = {entry.symbol: entry.name for entry in COMPARISONS if entry.name not in ("eq", "ne")}
# How many low bits of COMPARE_OP's argument are flags, in this version of Python.
_COMPARE_FLAG_BITS = 0 if sys.version_info < (3, 12) else 4 if sys.version_info < (3, 13) else 5


class UnpackingTargets(NamedTuple):
    """The targets of an unpacking assignment: their number, and the position of the starred one, or -1."""

    target_count: int
    star_position: int


def is_in_place(frame: FrameType) -> bool:
    """Return whether the frame's current instruction is an in-place operator, such as `x += y`."""
    name, argument = _current_instruction(frame)
    return name == "BINARY_OP" and argument in _IN_PLACE


def merges_mapping(frame: FrameType) -> bool:
    """Return whether the frame's current instruction unpacks a mapping: `f(**x)` or `{**x}`."""
    return _current_instruction(frame)[0] in ("DICT_MERGE", "DICT_UPDATE")


def ordering_comparison(frame: FrameType) -> str:
    """Return the ordering comparison made by the frame's current instruction, such as "lt"; "" for others."""
    name, argument = _current_instruction(frame)
    return _NAME_BY_SYMBOL.get(opcode.cmp_op[argument >> _COMPARE_FLAG_BITS], "") if name == "COMPARE_OP" else ""


def unpacking_targets(frame: FrameType) -> UnpackingTargets | None:
    """Return the targets of the unpacking that the frame executes; None if it executes none, or one of many targets."""
    name, argument = _current_instruction(frame)
    bytecode, position = frame.f_code.co_code, frame.f_lasti
    if position >= 2 and opcode.opname[bytecode[position - 2]] == "EXTENDED_ARG":
        return None  # more than 255 targets, or targets after the starred one
    if name == "UNPACK_SEQUENCE":
        return UnpackingTargets(argument, -1)
    if name == "UNPACK_EX":
        return UnpackingTargets(argument + 1, argument)
    return None


def _current_instruction(frame: FrameType) -> tuple[str, int]:
    """Return the name of the instruction that the frame executes, and the low byte of its argument."""
    bytecode, position = frame.f_code.co_code, frame.f_lasti
    return opcode.opname[bytecode[position]], bytecode[position + 1]
