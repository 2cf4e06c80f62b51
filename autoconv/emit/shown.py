"""The converted source of one function, for people to read."""

from __future__ import annotations

import ast
import types

from autoconv.emit.function import rewritten
from autoconv.emit.unparse import unparse


def converted_text(function: types.FunctionType) -> str:
    """The converted source of one function; raises ConversionError as `convert_function` does."""
    definition = rewritten(function)[0]
    return unparse(ast.Module([definition], []))
