"""Relocate code objects to the user's file and lines, and restore the names of the user's program in them.

Region functions are named after the function that contains them.

The line table is that of CPython 3.11 and later (Objects/locations.md in its source).
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from autoconv.errors import REGION

# (line, column, last line, last column) of the body of a lambda.
Extent = tuple[int | None, int | None, int | None, int | None]


def relocate(
    code: types.CodeType, lines: Sequence[int], filename: str, generated: Collection[str] = ()
) -> types.CodeType:
    """Return the code, and the code nested in it, relocated to `filename`: line k+1 becomes `lines[k]`.

    Functions named in `generated` get the name of the function that contains them.
    """
    relocated = _relocate(code, lines, filename)
    return rename_regions(relocated, generated) if generated else relocated


def _relocate(code: types.CodeType, lines: Sequence[int], filename: str) -> types.CodeType:
    def user_line(line: int | None) -> int:
        return lines[line - 1] if line is not None and 0 < line <= len(lines) else 0

    first = user_line(code.co_firstlineno) or 1
    constants = tuple(
        _relocate(constant, lines, filename) if isinstance(constant, types.CodeType) else constant
        for constant in code.co_consts
    )
    table = _line_table(first, [user_line(line) for line, *_ in code.co_positions()])
    return code.replace(co_filename=filename, co_firstlineno=first, co_linetable=table, co_consts=constants)


def rename_regions(
    code: types.CodeType, generated: Collection[str], lambdas: Collection[Extent] | None = None, compiled_as: str = ""
) -> types.CodeType:
    """Give the generated functions nested in `code` its own name, so that tracebacks show the user's functions.

    Functions and classes of the user in `code` get the qualified names that they have in the user's program.
    `lambdas` are the extents of the bodies of the user's lambdas; other lambdas are generated. With None, all lambdas
    are the user's. `compiled_as` is the qualified name with which `code` was compiled, if it differs from the present
    one.
    """
    constants: list[Any] = []
    name = code.co_qualname.removesuffix(REGION)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            compiled_name = constant.co_qualname
            is_lambda = lambdas is not None and constant.co_name == "<lambda>"
            is_generated = constant.co_name in generated or (is_lambda and not _has_extent_in(constant, lambdas or ()))
            if is_generated and code.co_name != "<module>":
                constant = constant.replace(co_name=code.co_name, co_qualname=name + REGION)
            elif compiled_name.startswith(f"{compiled_as or name}."):
                constant = _qualify(constant, name + compiled_name.removeprefix(compiled_as or name))
            constant = rename_regions(constant, generated, lambdas, compiled_name)
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
    """Return whether it is the code of a class statement, or of a module."""
    return not code.co_flags & inspect.CO_OPTIMIZED


def _has_extent_in(code: types.CodeType, lambdas: Collection[Extent]) -> bool:
    return any(
        (line, column, last, end) in lambdas for line, last, column, end in code.co_positions() if line is not None
    )


def encode_lines(origins: Sequence[int]) -> str:
    """Return a short text for a map of lines: differences, `count*difference` where they repeat."""
    runs: list[list[int]] = []
    previous = 0
    for line in origins:
        difference, previous = line - previous, line
        if runs and runs[-1][0] == difference:
            runs[-1][1] += 1
        else:
            runs.append([difference, 1])
    return " ".join(f"{count}*{difference}" if count > 1 else str(difference) for difference, count in runs)


def decode_lines(text: str) -> list[int]:
    """Return the map that `encode_lines` encoded; raises ValueError for other text."""
    lines: list[int] = []
    current = 0
    for run in text.split():
        count, star, difference = run.partition("*")
        repeats, step = (int(count), int(difference)) if star else (1, int(count))
        for _ in range(repeats):
            current += step
            lines.append(current)
    return lines


def _line_table(first: int, lines: Sequence[int]) -> bytes:
    """Encode entries of up to eight code units: the difference of lines and no columns, or no position at all."""
    table = bytearray()
    previous = first
    for line, length in _runs_of_lines(lines):
        if not line:
            table.append(0x80 | (15 << 3) | (length - 1))
            continue
        table.append(0x80 | (13 << 3) | (length - 1))
        table += _signed_varint(line - previous)
        previous = line
    return bytes(table)


def _runs_of_lines(lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and end - start < 8 and lines[end] == lines[start]:
            end += 1
        yield lines[start], end - start
        start = end


def _signed_varint(value: int) -> bytes:
    number = (-value << 1) | 1 if value < 0 else value << 1
    encoded = bytearray()
    while number >= 64:
        encoded.append(0x40 | (number & 0x3F))
        number >>= 6
    encoded.append(number)
    return bytes(encoded)
