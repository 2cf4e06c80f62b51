"""Functions that need no conversion: straight-line arithmetic and calls of this package's own functions.

They are recognised by their text, before any part of the converter is imported.

    def f(x, y):
        z = x @ y + 1
        return autoconv.tanh(z)
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
import weakref
from typing import Any

from autoconv.emit.locate import source_lines
from autoconv.process_state import without_warnings

_MAX_LINES = 200  # lines of a function that is examined; longer ones are converted
_MISSING = object()  # marker for a missing value
# By code: the statements of its function, parsed once, since a trace may call a function many times.
_BODIES: weakref.WeakKeyDictionary[types.CodeType, list[ast.stmt]] = weakref.WeakKeyDictionary()


def is_unchanged(function: types.FunctionType, allows_package_calls: bool) -> bool:
    """Return whether conversion would leave the function as it is.

    With `allows_package_calls`, calls of this package's own functions count as unchanged, although conversion wraps
    them.
    """
    code = function.__code__
    if code.co_name == "<lambda>" or code.co_cellvars or code.co_flags & inspect.CO_GENERATOR:
        return False
    body = _BODIES.get(code)
    if body is None:
        body = _BODIES[code] = _body_statements(code, function.__globals__)
    return bool(body) and all(_is_statement_kept(statement, function, allows_package_calls) for statement in body)


def _body_statements(code: types.CodeType, namespace: dict[str, Any]) -> list[ast.stmt]:
    """Return the statements of the function; the list is empty if its text is not found or too long."""
    last_line = max((end for _, end, _, _ in code.co_positions() if end is not None), default=0)
    if last_line - code.co_firstlineno > _MAX_LINES:
        return []
    lines = source_lines(code, namespace)[code.co_firstlineno - 1 : last_line]
    try:
        with without_warnings():
            tree = ast.parse(textwrap.dedent("".join(lines)))
    except (SyntaxError, ValueError):  # the file has changed, or the last line of the function has no instruction
        return []
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        return []
    return tree.body[0].body if tree.body[0].name == code.co_name else []


def _is_statement_kept(statement: ast.stmt, function: types.FunctionType, allows_package_calls: bool) -> bool:
    """Return whether a statement is an assignment to names, a return or a docstring that no pass changes."""
    if isinstance(statement, ast.Assign):
        binds_names = all(isinstance(target, ast.Name) for target in statement.targets)
        value = statement.value
        is_text = isinstance(value, ast.Constant) and isinstance(value.value, (str, bytes))  # may be a template
        return binds_names and not is_text and _is_expression_kept(value, function, allows_package_calls)
    if isinstance(statement, ast.Return):
        return statement.value is None or _is_expression_kept(statement.value, function, allows_package_calls)
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)  # a docstring


def _is_expression_kept(node: ast.expr, function: types.FunctionType, allows_package_calls: bool) -> bool:
    """Return whether no pass changes the expression."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.BinOp):
        if isinstance(node.left, ast.Constant) and isinstance(node.left.value, (str, bytes)):
            return False  # a template of `%`
        if isinstance(node.op, ast.Mod) and not isinstance(node.right, ast.Constant):
            return False  # the left operand may be a template
        operands = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        operands = [node.operand]
    elif isinstance(node, ast.Tuple):
        operands = node.elts
    elif isinstance(node, ast.Attribute) and node.attr != "__class__":
        operands = [node.value]
    elif isinstance(node, ast.Call) and allows_package_calls and _is_of_this_package(_value_of(node.func, function)):
        if any(keyword.arg is None for keyword in node.keywords):
            return False
        operands = [*node.args, *(keyword.value for keyword in node.keywords)]
    else:
        return False
    return all(_is_expression_kept(operand, function, allows_package_calls) for operand in operands)


def _value_of(node: ast.expr, function: types.FunctionType) -> Any:
    """Return the value of a free or global name, or of an attribute of one of this package's modules."""
    if isinstance(node, ast.Attribute):
        owner = _value_of(node.value, function)
        is_module = isinstance(owner, types.ModuleType) and _is_of_this_package(owner)
        return getattr(owner, node.attr, _MISSING) if is_module else _MISSING
    if not isinstance(node, ast.Name):
        return _MISSING
    code = function.__code__
    if node.id in code.co_freevars:
        try:
            return (function.__closure__ or ())[code.co_freevars.index(node.id)].cell_contents
        except ValueError:  # unassigned
            return _MISSING
    return function.__globals__.get(node.id, _MISSING) if node.id in code.co_names else _MISSING


def _is_of_this_package(value: Any) -> bool:
    """Return whether the value is a module of this package, or a function of one."""
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] == "autoconv"
    return isinstance(value, types.FunctionType) and (value.__module__ or "").partition(".")[0] == "autoconv"
