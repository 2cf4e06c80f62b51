"""Route formatted strings through an operator, so that they can be built when the graph runs.

def f(x, y):
    form = '%d'
    return f'{x}: {y!r:>8}' + '%d' % x + form % y
# becomes
def f(x, y):
    form = '%d'
    return ag__.text(x, ': ', ag__.format_value(y, '>8', 'r')) + ag__.percent('%d', x) + ag__.percent(form, y)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from autoconv.analysis.syntactic_types import is_number_literal, may_be_text, non_text_names
from autoconv.passes.base import Context, FunctionPass
from autoconv.syntax import build
from autoconv.syntax.tree import walk_scope


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Texts(context).visit(tree)


class Texts(FunctionPass):
    """Route formatted strings through an operator."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        # By the id of a function: its node, and the result of `_names`.
        self._names_by_function: dict[int, tuple[Any, tuple[set[str], set[str]]]] = {}

    def visit_JoinedStr(self, node: Any) -> Any:
        """Return `ag__.text` of the pieces of an f-string with fields."""
        self.visit_children(node)
        if not is_formatted(node):
            return node
        # Some versions of Python put an empty piece after the last field of a format specification.
        pieces = [part for part in node.values if not (_is_text(part) and not part.value)]
        return build.place(build.operate("text", *map(_piece_argument, pieces)), node)

    def visit_FormattedValue(self, node: Any) -> Any:
        node.value = self.visit(node.value)
        if node.format_spec is not None:
            node.format_spec = self.visit(node.format_spec)
        return node

    def visit_BinOp(self, node: Any) -> Any:
        is_text = is_formatted(node) or self._is_percent_of_text(node)
        self.visit_children(node)
        if not is_text:
            return node
        return build.place(build.operate("percent", node.left, node.right), node)

    def visit_AugAssign(self, node: Any) -> Any:
        """Route `name %= values` through an operator where the name may be a text."""
        self.visit_children(node)
        if not (isinstance(node.op, gast.Mod) and isinstance(node.target, gast.Name)):
            return node
        if is_number_literal(node.value) or not self._may_be_text(node.target):
            return node
        name = node.target.id
        return build.place(build.assign(name, build.operate("ipercent", build.name(name), node.value)), node)

    def _is_percent_of_text(self, node: Any) -> bool:
        return _is_percent_operation(node) and not is_number_literal(node.right) and self._may_be_text(node.left)

    def _may_be_text(self, node: Any) -> bool:
        text_names, names_without_text = self._names()
        return (isinstance(node, gast.Name) and node.id in text_names) or may_be_text(node, names_without_text)

    def _names(self) -> tuple[set[str], set[str]]:
        """Return the names to which the function assigns a text, and those that hold no text."""
        function = self.function_node
        if function is None:
            return set(), set()
        if id(function) not in self._names_by_function:
            body = function.body if isinstance(function.body, list) else [function.body]
            text_names = {name for statement in body for name in _names_assigned_text(statement)}
            self._names_by_function[id(function)] = function, (text_names, non_text_names(function))
        return self._names_by_function[id(function)][1]


def is_formatted(node: Any) -> bool:
    """Return whether an expression formats values: an f-string with fields, or `'…' % …`."""
    if isinstance(node, gast.JoinedStr):
        return any(isinstance(part, gast.FormattedValue) for part in node.values)
    return _is_percent_operation(node) and _is_text(node.left)


def _is_text(node: Any) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, (str, bytes))


def _names_assigned_text(statement: Any) -> Iterator[str]:
    """Yield the names that a statement assigns a string, in at least one of its branches."""
    for node in walk_scope(statement):
        if isinstance(node, gast.Assign) and _is_text_expression(node.value):
            yield from (target.id for target in node.targets if isinstance(target, gast.Name))
        elif (
            isinstance(node, (gast.AnnAssign, gast.NamedExpr))
            and isinstance(node.target, gast.Name)
            and node.value is not None
            and _is_text_expression(node.value)
        ):
            yield node.target.id


def _is_text_expression(node: Any) -> bool:
    if isinstance(node, gast.IfExp):
        return _is_text_expression(node.body) or _is_text_expression(node.orelse)
    if isinstance(node, gast.BinOp):
        return _is_text_expression(node.left) or _is_text_expression(node.right)
    return isinstance(node, gast.JoinedStr) or _is_text(node)


def _is_percent_operation(node: Any) -> bool:
    return isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mod)


def _piece_argument(piece: Any) -> Any:
    """Return the argument of `ag__.text` for a piece of an f-string."""
    if not isinstance(piece, gast.FormattedValue):
        return piece
    conversion = chr(piece.conversion) if piece.conversion and piece.conversion > 0 else ""
    if piece.format_spec is None and not conversion:
        return piece.value
    format_spec = piece.format_spec
    spec_pieces = format_spec.values if isinstance(format_spec, gast.JoinedStr) else None
    if format_spec is None or spec_pieces == []:
        format_spec = build.constant("")
    elif spec_pieces and len(spec_pieces) == 1 and isinstance(spec_pieces[0], gast.Constant):
        format_spec = spec_pieces[0]
    conversion_arguments = [build.constant(conversion)] if conversion else []
    return build.place(build.operate("format_value", piece.value, format_spec, *conversion_arguments), piece)
