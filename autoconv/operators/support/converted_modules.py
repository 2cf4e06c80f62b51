"""`__autoconv__`, the object in converted modules that maps their code to the original file."""

from __future__ import annotations

import functools
import hashlib
import linecache
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoconv.emit.columns import instruction_columns, register_columns
from autoconv.emit.converted import register_code
from autoconv.emit.relocate import decode_lines, relocate
from autoconv.runtime.support.spans import mark_user_file, register_column_finder

register_column_finder(instruction_columns)


class ConvertedModule:
    """The value of `__autoconv__` in a module whose functions are converted already."""

    def __init__(self, name: str) -> None:
        self.name = name

    def came_from(self, source: str, digest: str, lines: str, generated: str) -> None:
        """Relocate the module's code to the lines of its original file, if that is still there unchanged.

        Generated modules call this at their end. `source` is relative to the converted file; `digest` is a prefix of
        the SHA-256 of its bytes in hexadecimal.
        `lines` encodes the original line of each line, and `generated` has the names of generated functions.
        """
        module = sys.modules.get(self.name)
        converted_file = getattr(module, "__file__", None)
        if converted_file is None:
            return
        original_file = (Path(converted_file).parent / source).resolve()
        for file in (converted_file, str(original_file)):
            mark_user_file(file)
        try:
            if not hashlib.sha256(original_file.read_bytes()).hexdigest().startswith(digest):
                return
        except OSError:
            return
        original_lines = decode_lines(lines)
        names = frozenset(generated.split())
        relocated_codes: dict[types.CodeType, types.CodeType] = {}
        for function in _functions(vars(module), converted_file):
            code = function.__code__
            if code not in relocated_codes:
                relocated_codes[code] = relocate(code, original_lines, str(original_file), names)
                register_code(relocated_codes[code])
                register_columns(relocated_codes[code], code, functools.partial(linecache.getline, converted_file))
            function.__code__ = relocated_codes[code]


def module(name: str) -> ConvertedModule:
    """Return the value of `__autoconv__` in the module of that name."""
    return ConvertedModule(name)


def _functions(namespace: Any, file: str) -> Iterator[types.FunctionType]:
    """Yield the functions of a module: its own, those of its classes, and those that decorators wrap."""
    pending_values: list[Any] = list(namespace.values())
    seen_ids: set[int] = set()
    while pending_values:
        value = pending_values.pop()
        if id(value) in seen_ids:
            continue
        seen_ids.add(id(value))
        if isinstance(value, types.FunctionType):
            if value.__code__.co_filename == file:
                yield value
            pending_values += [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
        elif isinstance(value, type):
            if value.__module__ == namespace.get("__name__"):
                pending_values += list(vars(value).values())
        elif isinstance(value, (staticmethod, classmethod)):
            pending_values.append(value.__func__)
        elif isinstance(value, property):
            pending_values += [value.fget, value.fset, value.fdel]
        for name in ("__wrapped__", "python_function"):
            wrapped_function = getattr(value, name, None) if not isinstance(value, type) else None
            if wrapped_function is not None:
                pending_values.append(wrapped_function)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
