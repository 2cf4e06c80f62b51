"""Announce what a class statement in a function calls implicitly: bases, metaclass, decorators, and code of its body.

class Point(Base): ...      # is announced by  ag__.class_statement(Base)
class Point(Base):          # is announced by  ag__.class_statement(): its body may call anything
    registry.append(1)
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.syntax import build
from autoconv.syntax.tree import copy_tree

# Expressions that call nothing by themselves.
_CALL_FREE_KINDS = (
    gast.Constant, gast.Name, gast.Attribute, gast.Tuple, gast.List, gast.Set, gast.Dict, gast.BinOp, gast.UnaryOp,
    gast.Subscript,
)  # fmt: skip


def announcement(node: Any) -> gast.Expr | None:
    """Return the statement to insert before a class statement; None if the class statement calls nothing."""
    callees: list[Any] = [*node.bases, *(keyword.value for keyword in node.keywords), *node.decorator_list]
    only_binds = _collect_callees_of_body(node.body, callees)
    innermost_callees = list(map(_innermost_callee, callees))
    if not innermost_callees and only_binds:
        return None
    can_be_listed = only_binds and all(map(_is_dotted_name, innermost_callees))
    return gast.Expr(build.operate("class_statement", *(copy_tree(innermost_callees) if can_be_listed else ())))


def _innermost_callee(node: Any) -> Any:
    """Return `name` of `name(…)` and `name[…]`."""
    while isinstance(node, (gast.Call, gast.Subscript)):
        node = node.func if isinstance(node, gast.Call) else node.value
    return node


def _is_dotted_name(node: Any) -> bool:
    """Return whether an expression is a name or a chain of attributes of one: `a`, `a.b.c`."""
    while isinstance(node, gast.Attribute):
        node = node.value
    return isinstance(node, gast.Name)


def _collect_callees_of_body(body: list[Any], callees: list[Any]) -> bool:
    """Return whether a class body only binds names; append its callees to `callees`."""
    for statement in body:
        if isinstance(statement, (gast.FunctionDef, gast.AsyncFunctionDef)):
            callees += [decorator for decorator in statement.decorator_list if not _is_builtin_decorator(decorator)]
        elif isinstance(statement, gast.Assign):
            if not all(isinstance(target, gast.Name) for target in statement.targets):
                return False
            if not _collect_callees_of_expression(statement.value, callees):
                return False
        elif isinstance(statement, gast.AnnAssign):
            if not isinstance(statement.target, gast.Name):
                return False
            if statement.value is not None and not _collect_callees_of_expression(statement.value, callees):
                return False
        elif not (isinstance(statement, gast.Pass) or _is_constant_statement(statement)):
            return False
    return True


def _is_builtin_decorator(node: Any) -> bool:
    """Return whether a decorator is one of Python's own: `property`, `staticmethod`, `x.setter` and the like."""
    decorators = ("property", "staticmethod", "classmethod")
    return (isinstance(node, gast.Name) and node.id in decorators) or (
        isinstance(node, gast.Attribute) and node.attr in ("setter", "getter", "deleter")
    )


def _is_constant_statement(statement: Any) -> bool:
    return isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Constant)


def _collect_callees_of_expression(node: Any, callees: list[Any]) -> bool:
    """Return whether an expression runs no other code than that of its calls; append their callees to `callees`."""
    if isinstance(node, gast.Lambda):
        return True
    if isinstance(node, gast.Call):
        callees.append(node.func)
        operands = [*node.args, *(keyword.value for keyword in node.keywords)]
    elif isinstance(node, _CALL_FREE_KINDS):
        operands = [operand for operand in gast.iter_child_nodes(node) if isinstance(operand, gast.expr)]
    else:
        return False
    return all(_collect_callees_of_expression(operand, callees) for operand in operands)
