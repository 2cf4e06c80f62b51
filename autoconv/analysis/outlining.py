"""Loops of a function that can run as functions of their own, with names in place of shared variables.

A loop is outlined if its names are assigned before it on every path, as far as it reads them or the code after it does.
Names that each iteration assigns first may be unassigned before. No other code may see the names change while the loop
runs. The analysis is conservative. In the body of a `try` or `with`, an exception may leave the loop half done: names
that are live where it is caught, or in a `finally`, are results of the loop then, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import gast

from autoconv.analysis.escapes import TRIES
from autoconv.analysis.liveness import NO_NAMES, Liveness, expression_activity, handler_name, has_loop_exit
from autoconv.analysis.pinned_constructs import calls_debugger, frame_call, last_part_of_name, pinning_construct
from autoconv.analysis.scopes import bindings, exhausts_arguments, free_names, scope_of
from autoconv.syntax.tree import FUNCTIONS, contains, walk, walk_scope

_LOOPS = (gast.For, gast.While)
_WITHS = (gast.With, gast.AsyncWith)
_FRAME_CELLS = frozenset({"super", "__class__"})  # names that mean the enclosing method
# Statements that make functions and classes, whose names tell where they were made.
_FIXED_STATEMENTS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)


class OutlinedLoop(NamedTuple):
    """A loop that runs as a function of its own: its parameters, and the names that the function returns.

    `first_assigned` are further names to return, which may be unassigned before the loop. Each iteration assigns them.
    `returns`: the loop has `return` statements. `catches`: exceptions are results, too, as names are live after them.
    """

    loop: gast.AST
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    first_assigned: tuple[str, ...]
    returns: bool
    catches: bool


def find_outlined_loops(function: gast.FunctionDef, inner_only: bool = False) -> list[OutlinedLoop]:
    """Return the outermost loops of a function that can be outlined; with `inner_only`, those inside its loops."""
    body = gast.Module(function.body, [])
    if any(frame_call(node) for node in walk_scope(body)) or calls_debugger(function):
        return []
    search = _Search(function, inner_only)
    search.search_block(function.body, frozenset(search.scope.parameters), NO_NAMES)
    return search.found


class _Search:
    """The search of one function for loops that can be outlined."""

    def __init__(self, function: gast.FunctionDef, inner_only: bool) -> None:
        self.found: list[OutlinedLoop] = []
        self.scope = scope_of(function)
        self._function = function
        self._skipped_levels = 1 if inner_only else 0  # levels of loops that are searched only inside
        self._liveness = Liveness()
        self._deleted_names = frozenset(_deleted_names(function))

    def search_block(
        self, statements: Sequence[gast.AST], bound: frozenset[str], live_after: frozenset[str],
        live_on_error: frozenset[str] = NO_NAMES,
    ) -> None:  # fmt: skip
        """Search statements; `bound` are the names assigned on every path to them.

        `live_on_error` are the names that the function may read after an exception or `return` in the block.
        """
        live_names = self._liveness.live_after_each(statements, live_after)
        for statement, live in zip(statements, live_names, strict=True):
            # A statement that leaves an enclosing loop goes on where `live_after` is live.
            self._search_statement(statement, bound, live | live_after | live_on_error, live_on_error)
            bound |= self._liveness.statement_activity(statement).killed

    def _search_statement(
        self, node: gast.AST, bound: frozenset[str], live: frozenset[str], live_on_error: frozenset[str]
    ) -> None:
        """Search a statement for loops; `live` are the names that are read after it, or after an exception."""
        if isinstance(node, _LOOPS):
            outlined = None if self._skipped_levels else self._outline(node, bound, live, live_on_error)
            if outlined is not None:
                self.found.append(outlined)
                return
        if isinstance(node, (*_LOOPS, gast.AsyncFor)):
            self._search_loop(node, bound, live, live_on_error)
        elif isinstance(node, gast.If):
            bound |= expression_activity(node.test).killed
            self.search_block(node.body, bound, live, live_on_error)
            self.search_block(node.orelse, bound, live, live_on_error)
        elif isinstance(node, _WITHS):
            for item in node.items:
                bound |= expression_activity(item).killed
            self.search_block(node.body, bound, live, live_on_error | live)  # `__exit__` may swallow the exception
        elif isinstance(node, TRIES):
            self._search_try(node, bound, live, live_on_error)
        elif isinstance(node, gast.Match):
            for case in node.cases:
                self.search_block(case.body, bound, live, live_on_error)

    def _search_loop(
        self, node: gast.AST, bound: frozenset[str], live: frozenset[str], live_on_error: frozenset[str]
    ) -> None:
        """Search the body of a loop that is not outlined itself."""
        skipped_levels, self._skipped_levels = self._skipped_levels, max(self._skipped_levels - 1, 0)
        live_in_body = live | self._liveness.statement_activity(node).exposed
        head = node.test if isinstance(node, gast.While) else node.target
        body_bound = bound | expression_activity(head).killed
        self.search_block(node.body, body_bound, live_in_body, live_on_error)
        self.search_block(node.orelse, bound, live, live_on_error)
        self._skipped_levels = skipped_levels

    def _search_try(
        self, node: gast.AST, bound: frozenset[str], live: frozenset[str], live_on_error: frozenset[str]
    ) -> None:
        """Search the blocks of a try statement, each with the names that are live after it."""
        final, orelse = self._liveness.block_activity(node.finalbody), self._liveness.block_activity(node.orelse)
        self.search_block(node.finalbody, bound, live, live_on_error)
        live_on_error |= final.exposed | (live if has_loop_exit(node.finalbody) else NO_NAMES)
        live |= final.exposed
        live_in_body = live_on_error
        for handler in node.handlers:
            self.search_block(handler.body, bound, live, live_on_error)
            clause = self._liveness.block_activity(handler.body)
            live_in_body |= clause.exposed | (expression_activity(handler.type).exposed if handler.type else NO_NAMES)
            if clause.falls_through or has_loop_exit(handler.body):
                live_in_body |= live
        body_bound = bound | self._liveness.block_activity(node.body).killed
        self.search_block(node.orelse, body_bound, live, live_on_error)
        self.search_block(node.body, bound, live | orelse.exposed, live_in_body)

    def _outline(
        self, loop: gast.AST, bound: frozenset[str], live: frozenset[str], live_on_error: frozenset[str]
    ) -> OutlinedLoop | None:
        """Return the outlined loop; None if it has to stay where it is."""
        if contains(loop, _FIXED_STATEMENTS) or has_loop_exit(loop.orelse) or _raises_outer_error(loop):
            return None
        if pinning_construct(loop) or any(_counts_frames(node) for node in walk(loop)):
            return None
        returns = contains(loop, gast.Return)
        if returns and isinstance(self._function, gast.AsyncFunctionDef):
            return None  # the call of the outlined loop returns a value, which asynchronous generators may not
        activity = self._liveness.statement_activity(loop)
        changed = activity.modified & self.scope.locals
        outputs = changed & live
        first_assigned = (outputs - bound - live_on_error) & self._assigned_by_iterations(loop)
        catches = bool(changed & live_on_error)
        needed = (activity.exposed & self.scope.locals) | (outputs - first_assigned)
        named = needed | changed
        if not needed <= bound or _FRAME_CELLS & named or _mentions(loop, _FRAME_CELLS):
            return None
        if named & self._names_compared_by_identity(loop, outputs):
            return None
        if (needed | outputs) & self._deleted_names or (returns and catches and _returns_through_finally(loop)):
            return None
        if any(not self._is_private(name, loop, name in changed) for name in named & self.scope.captured):
            return None
        inputs, bound_outputs = tuple(sorted(needed)), tuple(sorted(outputs - first_assigned))
        return OutlinedLoop(loop, inputs, bound_outputs, tuple(sorted(first_assigned)), returns, catches)

    def _names_compared_by_identity(self, loop: gast.AST, outputs: frozenset[str]) -> set[str]:
        """Return the names in comparisons by identity outside of the loop: of its results, and of indexed containers.

        Numbers and tuples that a graph returns are equal to those of plain Python, but they are other objects.
        """
        ids_in_loop = {id(node) for node in walk(loop)}
        names: set[str] = set()
        for node in walk(self._function):
            if not isinstance(node, gast.Compare) or id(node) in ids_in_loop:
                continue
            operands = [node.left, *node.comparators]
            by_identity = any(isinstance(operator, (gast.Is, gast.IsNot)) for operator in node.ops)
            if not by_identity or any(isinstance(operand, gast.Constant) for operand in operands):
                continue
            for operand in operands:
                if isinstance(operand, gast.Name) and operand.id in outputs:
                    names.add(operand.id)
                while isinstance(operand, gast.Subscript):
                    operand = operand.value
                    names.update([operand.id] if isinstance(operand, gast.Name) else [])
        return names

    def _assigned_by_iterations(self, loop: gast.AST) -> frozenset[str]:
        """Return names that every iteration of the loop assigns, whether or not it ends early."""
        names = expression_activity(loop.target).killed if isinstance(loop, gast.For) else NO_NAMES
        for statement in loop.body:
            if has_loop_exit([statement]):
                break
            names |= self._liveness.statement_activity(statement).killed
        # An `else` assigns its names without an iteration, too.
        return names - self._liveness.block_activity(loop.orelse).modified

    def _is_private(self, name: str, loop: gast.AST, is_changed: bool) -> bool:
        """Return whether the loop may use a copy of a captured name: no inner function changes it, or sees a change.

        Generator expressions that are arguments of `sum`, `any` and the like do not count, as they end with the call.
        """
        ids_in_loop = {id(node) for node in walk(loop)}
        calls = [node for node in walk(self._function) if isinstance(node, gast.Call)]
        exhausted_ids = {id(argument) for call in calls if exhausts_arguments(call.func) for argument in call.args}
        for statement in self._function.body:
            for node in walk(statement):
                if isinstance(node, gast.Nonlocal) and name in node.names:
                    return False
                if not isinstance(node, (*FUNCTIONS, gast.ClassDef, gast.GeneratorExp)) or name not in free_names(node):
                    continue
                if isinstance(node, gast.GeneratorExp) and id(node) in exhausted_ids:
                    continue
                if is_changed or (id(node) in ids_in_loop and self._is_rebound(name)):
                    return False
        return True

    def _is_rebound(self, name: str) -> bool:
        """Return whether the function assigns to the name more than once; a parameter is assigned once by the call."""
        count = int(name in self.scope.parameters)
        for statement in self._function.body:
            count += sum(list(bindings(node)).count(name) for node in walk(statement))
        return count > 1


def _raises_outer_error(loop: gast.AST) -> bool:
    """Return whether a bare `raise` in the loop raises an exception that is handled around the loop."""
    handlers = [node for node in walk(loop) if isinstance(node, gast.ExceptHandler)]
    inner_ids = {id(node) for handler in handlers for node in walk(handler)}
    return any(isinstance(node, gast.Raise) and node.exc is None and id(node) not in inner_ids for node in walk(loop))


def _returns_through_finally(loop: gast.AST) -> bool:
    """Return whether a `finally` may change names after a `return` in the loop has been evaluated."""
    return any(isinstance(node, TRIES) and node.finalbody and contains(node, gast.Return) for node in walk(loop))


def _counts_frames(node: gast.AST) -> bool:
    """Return whether a call names a frame around it by its distance, as `warnings.warn(text, category, 2)` does."""
    if not isinstance(node, gast.Call):
        return False
    is_warning = last_part_of_name(node.func) == "warn"
    return (is_warning and len(node.args) > 2) or any(keyword.arg == "stacklevel" for keyword in node.keywords)


def _mentions(node: gast.AST, names: frozenset[str]) -> bool:
    return any(isinstance(child, gast.Name) and child.id in names for child in walk(node))


def _deleted_names(function: gast.AST) -> Iterator[str]:
    """Yield the names that `del` statements and the ends of handlers may leave unassigned."""
    for node in walk(function):
        if isinstance(node, gast.Delete):
            yield from (target.id for target in node.targets if isinstance(target, gast.Name))
        elif isinstance(node, gast.ExceptHandler):
            yield from handler_name(node)
