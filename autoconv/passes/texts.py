"""Formatted strings go through an operator, so that they can be made when the graph runs.

    def f(x, y):
        return f'{x}: {y!r:>8}' + '%d' % x
    # becomes
    def f(x, y):
        return ag__.text(x, ': ', ag__.formatted(y, '>8', 'r')) + ag__.percent('%d', x)
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.passes.base import Context, FunctionPass
from autoconv.syntax import build


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Texts(context).visit(tree)


class Texts(FunctionPass):
    def visit_JoinedStr(self, node: Any) -> Any:
        self.generic(node)
        if not is_formatted(node):
            return node
        return build.placed(build.operate("text", *map(_piece, node.values)), node)

    def visit_FormattedValue(self, node: Any) -> Any:
        node.value = self.visit(node.value)
        if node.format_spec is not None:
            node.format_spec = self.visit(node.format_spec)
        return node

    def visit_BinOp(self, node: Any) -> Any:
        self.generic(node)
        if not is_formatted(node):
            return node
        return build.placed(build.operate("percent", node.left, node.right), node)


def is_formatted(node: Any) -> bool:
    """Whether an expression puts values into text: an f-string that has any, or `'…' % …`."""
    if isinstance(node, gast.JoinedStr):
        return any(isinstance(part, gast.FormattedValue) for part in node.values)
    if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Mod):
        return False
    return isinstance(node.left, gast.Constant) and isinstance(node.left.value, (str, bytes))


def _piece(part: Any) -> Any:
    if not isinstance(part, gast.FormattedValue):
        return part
    conversion = chr(part.conversion) if part.conversion and part.conversion > 0 else ""
    if part.format_spec is None and not conversion:
        return part.value
    spec = part.format_spec
    if spec is None or (isinstance(spec, gast.JoinedStr) and not spec.values):
        spec = build.constant("")
    elif isinstance(spec, gast.JoinedStr) and len(spec.values) == 1 and isinstance(spec.values[0], gast.Constant):
        spec = spec.values[0]
    extra = [build.constant(conversion)] if conversion else []
    return build.placed(build.operate("formatted", part.value, spec, *extra), part)
