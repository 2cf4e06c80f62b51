"""Relocate code objects to the user's file and lines, and restore the names of the user's program in them.

Region functions are named after the function that contains them.

The line table is that of CPython 3.11 and later (Objects/locations.md in its source).
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from autoconv.errors import REGION_SUFFIX

_NO_COLUMNS, _NO_LOCATION = 13, 15  # kinds of entries of CPython's line table


class Extent(NamedTuple):
    """The place of the body of a lambda: lines from 1, columns in bytes from 0."""

    line: int | None
    column: int | None
    last_line: int | None
    end_column: int | None


def relocate(
    code: types.CodeType, user_lines: Sequence[int], filename: str, generated: Collection[str] = ()
) -> types.CodeType:
    """Return the code, and the code nested in it, relocated to `filename`: line k+1 becomes `user_lines[k]`.

    Functions named in `generated` get the name of the function that contains them.
    """
    relocated_code = _relocate(code, user_lines, filename)
    return rename_regions(relocated_code, generated) if generated else relocated_code


def _relocate(code: types.CodeType, user_lines: Sequence[int], filename: str) -> types.CodeType:
    """Return the code and the code nested in it with the user's file name and lines."""
    def user_line(line: int | None) -> int:
        return user_lines[line - 1] if line is not None and 0 < line <= len(user_lines) else 0

    first_line = user_line(code.co_firstlineno) or 1
    constants = tuple(
        _relocate(constant, user_lines, filename) if isinstance(constant, types.CodeType) else constant
        for constant in code.co_consts
    )
    table = _line_table(first_line, [user_line(line) for line, *_ in code.co_positions()])
    return code.replace(co_filename=filename, co_firstlineno=first_line, co_linetable=table, co_consts=constants)


def rename_regions(
    code: types.CodeType,
    generated: Collection[str],
    lambda_extents: Collection[Extent] | None = None,
    compiled_qualname: str = "",
) -> types.CodeType:
    """Give the generated functions nested in `code` the name of `code`, so that tracebacks show the user's functions.

    Functions and classes of the user in `code` get the qualified names that they have in the user's program.
    `lambda_extents` has the extents of the bodies of the user's lambdas; other lambdas are generated. With None, all
    lambdas are the user's. `compiled_qualname` is the qualified name that `code` had when it was compiled, "" if it
    still has that name.
    """
    constants: list[Any] = []
    name = code.co_qualname.removesuffix(REGION_SUFFIX)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            compiled_name = constant.co_qualname
            is_generated = constant.co_name in generated
            if lambda_extents is not None and constant.co_name == "<lambda>":
                is_generated = not _has_extent_in(constant, lambda_extents)
            if is_generated and code.co_name != "<module>":
                constant = constant.replace(co_name=code.co_name, co_qualname=name + REGION_SUFFIX)
            elif compiled_name.startswith(f"{compiled_qualname or name}."):
                constant = _qualify(constant, name + compiled_name.removeprefix(compiled_qualname or name))
            constant = rename_regions(constant, generated, lambda_extents, compiled_name)
        constants.append(constant)
    return code.replace(co_consts=tuple(constants))


def _qualify(code: types.CodeType, name: str) -> types.CodeType:
    """Return the code of a function or class with another qualified name. A class has that name as a constant."""
    if name == code.co_qualname:
        return code
    constants = code.co_consts
    if is_class_body(code):
        constants = tuple(name if constant == code.co_qualname else constant for constant in constants)
    return code.replace(co_qualname=name, co_consts=constants)


def is_class_body(code: types.CodeType) -> bool:
    """Return whether `code` is that of a class statement, or of a module."""
    return not code.co_flags & inspect.CO_OPTIMIZED


def _has_extent_in(code: types.CodeType, extents: Collection[Extent]) -> bool:
    """Return whether one of the code's positions is among the extents.

    Python 3.12 gives no columns to code that returns a constant; then the line is compared.
    """
    positions = [position for position in code.co_positions() if position[0] is not None]
    if not any(column or end_column for _, _, column, end_column in positions):
        return any(line == code.co_firstlineno for line, *_ in extents)
    return any(
        Extent(line, column, last_line, end_column) in extents
        for line, last_line, column, end_column in positions
    )


def encode_lines(origins: Sequence[int]) -> str:
    """Return a short text for a map of lines: differences, `count*difference` where they repeat."""
    runs: list[list[int]] = []  # [difference, count]
    previous_line = 0
    for line in origins:
        difference, previous_line = line - previous_line, line
        if runs and runs[-1][0] == difference:
            runs[-1][1] += 1
        else:
            runs.append([difference, 1])
    return " ".join(f"{count}*{difference}" if count > 1 else str(difference) for difference, count in runs)


def decode_lines(text: str) -> list[int]:
    """Return the map that `encode_lines` encoded; raises ValueError for other text."""
    lines: list[int] = []
    current_line = 0
    for run in text.split():
        count, difference = map(int, run.split("*") if "*" in run else ("1", run))
        for _ in range(count):
            current_line += difference
            lines.append(current_line)
    return lines


def _line_table(first_line: int, lines: Sequence[int]) -> bytes:
    """Return a line table for the lines of all code units, where 0 means no position; entries have no columns.

    An entry begins with a byte: a set bit, four bits of its kind, three bits of its number of code units less one.
    """
    table = bytearray()
    previous_line = first_line
    for line, length in _runs_of_lines(lines):
        if not line:
            table.append(0x80 | (_NO_LOCATION << 3) | (length - 1))
            continue
        table.append(0x80 | (_NO_COLUMNS << 3) | (length - 1))
        table += _signed_varint(line - previous_line)
        previous_line = line
    return bytes(table)


def _runs_of_lines(lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (line, number of code units) for runs of one line, of at most eight units, as an entry holds."""
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and end - start < 8 and lines[end] == lines[start]:
            end += 1
        yield lines[start], end - start
        start = end


def _signed_varint(value: int) -> bytes:
    """Encode an integer by six bits a byte, lowest first; the lowest bit of all is the sign.

    The bit 0x40 of a byte states that another one follows.
    """
    number = (-value << 1) | 1 if value < 0 else value << 1
    encoding = bytearray()
    while number >= 64:
        encoding.append(0x40 | (number & 0x3F))
        number >>= 6
    encoding.append(number)
    return bytes(encoding)
