"""Loops of a function that can run as functions of their own, with names in place of shared variables.

A loop is outlined if its names are assigned before it on every path, as far as it reads them or the code after it does.
Names that each iteration assigns first may be unassigned before. No other code may see the names change while the loop
runs. The analysis is conservative. In the body of a `try` or `with`, a loop may write no name that is read outside of
it, because an exception may leave it half done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import gast

from autoconv.analysis.escapes import TRIES
from autoconv.analysis.liveness import NO_NAMES, Liveness, expression_activity, handler_name, has_loop_exit
from autoconv.analysis.pinned_constructs import calls_debugger, last_part_of_name, pinning_construct
from autoconv.analysis.scopes import bindings, exhausts_arguments, free_names, scope_of
from autoconv.syntax.tree import FUNCTIONS, contains, walk

_LOOPS = (gast.For, gast.While)
_WITHS = (gast.With, gast.AsyncWith)
_FRAME_CELLS = frozenset({"super", "__class__"})  # names that mean the enclosing method
# Statements that end the function, or make functions and classes whose names tell where they were made.
_FIXED_STATEMENTS = (gast.Return, gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)


class OutlinedLoop(NamedTuple):
    """A loop that runs as a function of its own: its parameters, and the names that the function returns.

    `first_assigned` are further names to return, which may be unassigned before the loop. Each iteration assigns them.
    """

    loop: gast.AST
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    first_assigned: tuple[str, ...]


def find_outlined_loops(function: gast.FunctionDef, inner_only: bool = False) -> list[OutlinedLoop]:
    """Return the outermost loops of a function that can be outlined; with `inner_only`, those inside its loops."""
    if pinning_construct(gast.Module(function.body, [])) or calls_debugger(function):
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
        self, statements: Sequence[gast.AST], bound: frozenset[str], live_after: frozenset[str], *,
        may_be_left: bool = False,
    ) -> None:  # fmt: skip
        """Search statements; `bound` are the names assigned on every path to them.

        `may_be_left`: an exception may leave the block for code that reads the function's names.
        """
        live_names = self._liveness.live_after_each(statements, live_after)
        for statement, live in zip(statements, live_names, strict=True):
            # A statement that leaves an enclosing loop goes on where `live_after` is live.
            self._search_statement(statement, bound, live | live_after, may_be_left)
            bound |= self._liveness.statement_activity(statement).killed

    def _search_statement(self, node: gast.AST, bound: frozenset[str], live: frozenset[str], may_be_left: bool) -> None:
        if isinstance(node, _LOOPS):
            outlined = None if self._skipped_levels else self._outline(node, bound, live, may_be_left)
            if outlined is not None:
                self.found.append(outlined)
                return
            self._search_loop(node, bound, live, may_be_left)
        elif isinstance(node, gast.If):
            bound |= expression_activity(node.test).killed
            self.search_block(node.body, bound, live, may_be_left=may_be_left)
            self.search_block(node.orelse, bound, live, may_be_left=may_be_left)
        elif isinstance(node, _WITHS):
            self.search_block(node.body, bound, live, may_be_left=True)
        elif isinstance(node, TRIES):
            self._search_try(node, bound, live, may_be_left)
        elif isinstance(node, gast.Match):
            for case in node.cases:
                self.search_block(case.body, bound, live, may_be_left=may_be_left)

    def _search_loop(self, node: gast.AST, bound: frozenset[str], live: frozenset[str], may_be_left: bool) -> None:
        """Search the body of a loop that is not outlined itself."""
        skipped_levels, self._skipped_levels = self._skipped_levels, max(self._skipped_levels - 1, 0)
        live_in_body = live | self._liveness.statement_activity(node).exposed
        head = node.target if isinstance(node, gast.For) else node.test
        body_bound = bound | expression_activity(head).killed
        self.search_block(node.body, body_bound, live_in_body, may_be_left=may_be_left)
        self.search_block(node.orelse, bound, live, may_be_left=may_be_left)
        self._skipped_levels = skipped_levels

    def _search_try(self, node: gast.AST, bound: frozenset[str], live: frozenset[str], may_be_left: bool) -> None:
        body_bound = bound | self._liveness.block_activity(node.body).killed
        is_left = may_be_left or bool(node.finalbody)
        self.search_block(node.body, bound, live, may_be_left=True)
        self.search_block(node.orelse, body_bound, live, may_be_left=is_left)
        for handler in node.handlers:
            self.search_block(handler.body, bound, live, may_be_left=is_left)
        self.search_block(node.finalbody, bound, live, may_be_left=may_be_left)

    def _outline(
        self, loop: gast.AST, bound: frozenset[str], live: frozenset[str], may_be_left: bool
    ) -> OutlinedLoop | None:
        """Return the outlined loop; None if it has to stay where it is."""
        if contains(loop, _FIXED_STATEMENTS) or has_loop_exit(loop.orelse) or _raises_outer_error(loop):
            return None
        if any(_counts_frames(node) for node in walk(loop)):
            return None
        activity = self._liveness.statement_activity(loop)
        changed = activity.modified & self.scope.locals
        outputs = changed & (self._names_used_outside(loop) if may_be_left else live)
        first_assigned = (outputs - bound) & self._assigned_by_iterations(loop)
        needed = (activity.exposed & self.scope.locals) | (outputs - first_assigned)
        named = needed | changed
        if not needed <= bound or _FRAME_CELLS & named or _mentions(loop, _FRAME_CELLS):
            return None
        if (needed | outputs) & self._deleted_names or (may_be_left and outputs):
            return None
        if any(not self._is_private(name, loop, name in changed) for name in named & self.scope.captured):
            return None
        parts = needed, outputs - first_assigned, first_assigned
        return OutlinedLoop(loop, *(tuple(sorted(names)) for names in parts))

    def _assigned_by_iterations(self, loop: gast.AST) -> frozenset[str]:
        """Return names that every iteration of the loop assigns, whether or not it ends early."""
        names = expression_activity(loop.target).killed if isinstance(loop, gast.For) else NO_NAMES
        for statement in loop.body:
            if has_loop_exit([statement]):
                break
            names |= self._liveness.statement_activity(statement).killed
        # An `else` assigns its names without an iteration, too.
        return names - self._liveness.block_activity(loop.orelse).modified

    def _names_used_outside(self, loop: gast.AST) -> frozenset[str]:
        """Return the names that the function mentions outside of the loop."""
        return frozenset(name for name, is_inside in self._mentions_by_place(loop) if not is_inside)

    def _mentions_by_place(self, loop: gast.AST) -> Iterator[tuple[str, bool]]:
        """Yield each name with whether it is mentioned inside of the loop."""
        inside = {id(node) for node in walk(loop)}
        for statement in self._function.body:
            for node in walk(statement):
                if isinstance(node, gast.Name):
                    yield node.id, id(node) in inside

    def _is_private(self, name: str, loop: gast.AST, is_changed: bool) -> bool:
        """Return whether no function that captures the name sees, or makes, a change of it that the loop does not.

        Generator expressions that are arguments of `sum`, `any` and the like end with the call.
        """
        inside = {id(node) for node in walk(loop)}
        calls = [node for node in walk(self._function) if isinstance(node, gast.Call)]
        ended = {id(argument) for call in calls if exhausts_arguments(call.func) for argument in call.args}
        for statement in self._function.body:
            for node in walk(statement):
                if isinstance(node, gast.Nonlocal) and name in node.names:
                    return False
                if not isinstance(node, (*FUNCTIONS, gast.ClassDef, gast.GeneratorExp)) or name not in free_names(node):
                    continue
                if isinstance(node, gast.GeneratorExp) and id(node) in ended:
                    continue
                if is_changed or (id(node) in inside and self._is_rebound(name)):
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
