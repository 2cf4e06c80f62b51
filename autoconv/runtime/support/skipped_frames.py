"""Frames of this package that `warnings.warn` skips, so that its `stacklevel` counts the program's frames alone."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, TypeVar

Item = TypeVar("Item", bound=Callable[..., Any])

_MARK = " (importlib._bootstrap)"  # warnings.warn skips the frames of files with both names in their path


def skipped_by_warnings(item: Item) -> Item:
    """Let `warnings.warn` skip the frames of a function, or of the functions of a class."""
    functions = vars(item).values() if isinstance(item, type) else [item]
    for function in functions:
        if isinstance(function, FunctionType):
            function.__code__ = _marked(function.__code__)
    return item


def is_skipped_by_warnings(code: CodeType) -> bool:
    """Return whether `warnings.warn` skips the frames of a code object."""
    return code.co_filename.endswith(_MARK)


def _marked(code: CodeType) -> CodeType:
    """Return a copy of a code object, and of the code objects in it, whose file's name has the mark."""
    constants = tuple(_marked(value) if isinstance(value, CodeType) else value for value in code.co_consts)
    return code.replace(co_filename=code.co_filename + _MARK, co_consts=constants)
