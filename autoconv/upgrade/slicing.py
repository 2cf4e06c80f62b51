"""The statements of a graph that a run needs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence, Set

from autoconv.upgrade.program import Kind, Statement


def needed(
    statements: Sequence[Statement], wanted: set[str], parameters: set[str], makes_variables: Callable[[ast.AST], bool],
    graph: set[str],
) -> list[Statement]:  # fmt: skip
    """Return the statements, in order, that compute the names in `wanted` where those in `parameters` are parameters.

    What makes variables is kept wherever it stands before a needed statement: the variables of a store are told apart
    by the order of the layers.
    """
    functions = {
        each.node.name: each.uses for each in statements
        if each.kind is Kind.GRAPH and isinstance(each.node, ast.FunctionDef)
    }  # fmt: skip
    names = _with_closures(wanted, functions) - parameters
    needed_statements: list[Statement] = []
    for each in reversed(statements):
        if each.kind is Kind.PLACEHOLDER:
            continue
        rebinds = each.kind is Kind.PLAIN and _is_rebound(each, statements)
        takes = each.kind is Kind.GRAPH and (each.defines & names or (needed_statements and makes_variables(each.node)))
        if not takes and not (rebinds and each.defines & names):
            continue
        needed_statements.append(each)
        if isinstance(each.node, ast.Assign):
            names -= each.defines
        names |= _with_closures(each.uses | _of_scopes(each), functions) - parameters
    return needed_statements[::-1]


def _with_closures(names: Set[str], functions: Mapping[str, Set[str]]) -> set[str]:
    """Return names with those that the functions among them read, which may be given later than the function."""
    result: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in result:
            result.add(name)
            waiting += functions.get(name, ())
    return result


def _is_rebound(plain: Statement, statements: Sequence[Statement]) -> bool:
    """Return whether a plain name gets several values, so that functions need that of the moment."""
    if not isinstance(plain.node, ast.Assign):
        return False
    return sum(each.kind is Kind.PLAIN and bool(each.defines & plain.defines) for each in statements) > 1


def _of_scopes(statement: Statement) -> set[str]:
    """Return the names that the enclosing `with` statements use."""
    return {
        name.id for node in statement.enclosing for item in node.items for name in ast.walk(item.context_expr)
        if isinstance(name, ast.Name)
    }  # fmt: skip
