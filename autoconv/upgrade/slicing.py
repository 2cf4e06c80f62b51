"""Program slicing: the graph statements that a `Session.run` call needs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence, Set

from autoconv.upgrade.program import Kind, Statement


def select_needed_statements(
    statements: Sequence[Statement], fetched_names: set[str], parameters: set[str],
    makes_variables: Callable[[ast.AST], bool],
) -> list[Statement]:  # fmt: skip
    """Return the statements, in order, that compute the names in `fetched_names` from those in `parameters`.

    Statements that make variables are kept if they precede a needed statement: a `VariableStore` matches
    variables by the order in which layers create them.
    """
    functions = {
        statement.node.name: statement.uses for statement in statements
        if statement.kind is Kind.GRAPH and isinstance(statement.node, ast.FunctionDef)
    }  # fmt: skip
    names = _include_closures(fetched_names, functions) - parameters
    needed_statements: list[Statement] = []
    for statement in reversed(statements):
        if statement.kind is Kind.PLACEHOLDER:
            continue
        is_rebound = statement.kind is Kind.PLAIN and _is_rebound(statement, statements)
        defines_needed_name = bool(statement.defines & names) and (statement.kind is Kind.GRAPH or is_rebound)
        precedes_needed_statement = bool(needed_statements) and statement.kind is Kind.GRAPH
        if not defines_needed_name and not (precedes_needed_statement and makes_variables(statement.node)):
            continue
        needed_statements.append(statement)
        if isinstance(statement.node, ast.Assign):
            names -= statement.defines
        names |= _include_closures(statement.uses | _names_of_scopes(statement), functions) - parameters
    return needed_statements[::-1]


def _include_closures(names: Set[str], functions: Mapping[str, Set[str]]) -> set[str]:
    """Return `names`, and the names that functions among them read, themselves or by other functions."""
    result: set[str] = set()
    worklist = list(names)
    while worklist:
        name = worklist.pop()
        if name not in result:
            result.add(name)
            worklist += functions.get(name, ())
    return result


def _is_rebound(plain: Statement, statements: Sequence[Statement]) -> bool:
    """Return whether the name that a plain statement assigns is assigned several times.

    Functions then need the assignment, for the value that the name has at the run.
    """
    if not isinstance(plain.node, ast.Assign):
        return False
    return sum(statement.kind is Kind.PLAIN and bool(statement.defines & plain.defines) for statement in statements) > 1


def _names_of_scopes(statement: Statement) -> set[str]:
    """Return the names that the enclosing `with` statements use."""
    return {
        name.id for node in statement.enclosing for item in node.items for name in ast.walk(item.context_expr)
        if isinstance(name, ast.Name)
    }  # fmt: skip
