"""Keep a copy of a function's original statements, to run while nothing is traced.
The copy starts at the first statement that needs an operator other than a call. A function that calls a debugger or
sets a tracer keeps all its statements, also where it is converted at run time: the debugger then stops in a frame with
the user's names.

    def f(x, n):
        y = x
        for i in range(n):
            y = y + i
        return y
    # becomes
    def f(x, n):
        y = x
        if ag__.untraced:
            for i in range(n):
                y = y + i
            return y
        for i in range(n):
            y = y + i
        return y
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.analysis.convertibility import first_frame_call
from autoconv.analysis.escapes import LOOPS, TRIES, ExitAnalysis
from autoconv.analysis.pinned_constructs import DEBUGGING_NAMES, calls_debugger
from autoconv.passes.base import Context, FunctionPass
from autoconv.passes.logic import comparison_operator
from autoconv.passes.normalise import hoist_declarations
from autoconv.passes.subscripts import is_static
from autoconv.passes.texts import is_formatted
from autoconv.passes.writes import PlainWrites, has_item_target
from autoconv.syntax import build
from autoconv.syntax.tree import (
    COMPREHENSIONS,
    Transformer,
    UntracedStatements,
    body_start,
    copy_tree,
    walk,
    walk_scope,
)

_BRANCHING = (gast.If, gast.With, gast.AsyncWith, gast.Match, *LOOPS, *TRIES)
_DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)
# Constructs that are slower once rewritten, as they branch or may raise.
_COSTLY_KINDS = (*_BRANCHING, *COMPREHENSIONS, gast.BoolOp, gast.IfExp, gast.NamedExpr, gast.Assert, gast.Raise)
# Statements that affect the whole function, which is then copied as a whole.
_FUNCTION_WIDE = (gast.Global, gast.Nonlocal, gast.Delete)


def save_statements(tree: gast.AST, context: Context) -> gast.AST:
    """Save the statements of functions as they are before any pass; `transform` inserts them under a test.

    In this copy the passes rewrite only functions and lambdas, which may be called under trace later, and writes to
    items, which replace a tensor (see `writes`).
    """
    return _SaveStatements(context).visit(tree)


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return _InsertSaved().visit(tree)


class _SaveStatements(FunctionPass, statements_only=True):
    """Save the statements of each function before any pass."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.mentions_debugger = any(name in line for line in context.lines for name in DEBUGGING_NAMES)

    def rewrite_function(self, node: Any) -> Any:
        """Put a copy of the function's statements, from the first costly one on, under `if ag__.untraced`."""
        if any(_is_untraced_test(statement) for statement in node.body):
            node.body = [_as_untraced(statement) for statement in node.body]
        elif self.mentions_debugger and calls_debugger(node) and not any(map(has_item_target, node.body)):
            node.body = hoist_declarations(node.body)
            self._save_from(node, body_start(node.body))
        elif not self.context.at_run_time and _gains_from_copy(node):
            self._save_costly_part(node)
        node.body = self.visit_list(node.body)
        return node

    def _save_costly_part(self, node: Any) -> None:
        """Save the statements from the first costly one on, if that is possible for this function."""
        node.body = hoist_declarations(node.body)
        start = body_start(node.body)
        if not any(isinstance(n, _FUNCTION_WIDE) for statement in node.body for n in walk(statement)):
            start = _index_after_definitions(node.body, _first_costly_index(node.body, start))
        statements = node.body[start:]
        if statements and not any(_contains_branching_function(statement) for statement in statements):
            self._save_from(node, start)

    def _save_from(self, node: Any, start: int) -> None:
        """Insert the copy of the statements from `start` on in front of them; it returns where they end."""
        statements = node.body[start:]
        plain_writes = PlainWrites(self.context, node, self.namer)
        untraced_block = UntracedStatements(plain_writes.visit_list(copy_tree(statements)))
        _wrap_calls_with_stacklevel(untraced_block.statements)
        if ExitAnalysis().falls_through(statements):
            untraced_block.statements.append(build.place(gast.Return(None), statements[-1]))
        node.body.insert(start, build.place(untraced_block, statements[0]))


class _InsertSaved(Transformer, statements_only=True):
    """Insert the saved statements under their test."""

    def visit_UntracedStatements(self, node: Any) -> Any:
        test = build.operator("untraced")
        return build.place(gast.If(test, self.visit_list(node.statements), []), node)

    def visit_RewrittenStatements(self, node: Any) -> Any:
        return node.statements


def _gains_from_copy(function: Any) -> bool:
    """Return whether a part of a function is slower once rewritten, and the function does not inspect its frame."""
    if first_frame_call(function):
        return False
    own_statements = [statement for statement in function.body if not isinstance(statement, _DEFINITIONS)]
    return any(_is_costly(statement) for statement in own_statements) and not any(map(has_item_target, own_statements))


def _wrap_calls_with_stacklevel(statements: list[Any]) -> None:
    """Wrap calls with `stacklevel`, which counts frames, since frames of operators may lie in between."""
    for statement in statements:
        for node in walk_scope(statement):
            if isinstance(node, gast.Call) and any(keyword.arg == "stacklevel" for keyword in node.keywords):
                node.func = build.wrap("call", node.func)


def _first_costly_index(body: list[Any], start: int) -> int:
    """Return the index of the first costly statement; definitions before it are not duplicated."""
    for index in range(start, len(body)):
        if not isinstance(body[index], _DEFINITIONS) and _is_costly(body[index]):
            return index
    return len(body)


def _index_after_definitions(body: list[Any], start: int) -> int:
    """Return the index after the last function from `start` on that would have its own copy.

    It is `start` if there is none, or if a statement up to there branches or returns.
    """
    function_indices = [index for index in range(start, len(body)) if _contains_branching_function(body[index])]
    leading = body[start : function_indices[-1] + 1] if function_indices else []
    executed = [statement for statement in leading if not isinstance(statement, _DEFINITIONS)]
    has_branches = any(isinstance(n, _BRANCHING) for statement in executed for n in walk(statement))
    returns = any(isinstance(statement, gast.Return) for statement in leading)
    return start if has_branches or returns else start + len(leading)


def _is_costly(statement: Any) -> bool:
    """Return whether a statement branches, writes attributes or items, or computes through operators."""
    return any(_needs_operator(node) for node in walk_scope(statement))


def _needs_operator(node: Any) -> bool:
    """Return whether a pass rewrites the node to an operator other than `call`."""
    if isinstance(node, _COSTLY_KINDS):
        return True
    if isinstance(node, gast.Compare):
        return len(node.ops) > 1 or comparison_operator(node) is not None
    if isinstance(node, gast.Subscript):
        return not isinstance(node.ctx, gast.Load) or not is_static(node.slice)
    if isinstance(node, gast.Attribute):
        return not isinstance(node.ctx, gast.Load)
    return isinstance(getattr(node, "op", None), gast.Not) or is_formatted(node)


def _contains_branching_function(statement: Any) -> bool:
    """Return whether a nested function would have a copy too, so that text would grow exponentially with nesting."""
    return any(
        isinstance(node, _DEFINITIONS) and any(isinstance(descendant, _BRANCHING) for descendant in walk(node))
        for node in walk(statement)
    )


def _is_untraced_test(statement: Any) -> bool:
    return isinstance(statement, gast.If) and build.is_operator(statement.test, "untraced")


def _as_untraced(statement: Any) -> Any:
    return build.place(UntracedStatements(statement.body), statement) if _is_untraced_test(statement) else statement
