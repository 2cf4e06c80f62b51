"""Print the converted source of one function, for human readers."""

from __future__ import annotations

import ast
import types

from autoconv.emit.function import rewrite_definition
from autoconv.emit.unparse import unparse


def converted_text(function: types.FunctionType) -> str:
    """Return the converted source of one function; raises ConversionError like `convert_function`."""
    definition = rewrite_definition(function).definition
    return unparse(ast.Module([definition], []))
