"""The state of each region of a function: its inputs, its outputs, and the cells that it accesses.

Computed from liveness and definite assignment; a name is state if a region may modify it and it is live afterwards.
Definite assignment is a forward analysis. Its facts are sets of names: a statement adds the names that it surely writes
and removes those that it may delete. Conservative: a name counts as unassigned if some path leaves it so.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

import gast

from autoconv.analysis.escapes import LOOPS, TRIES
from autoconv.analysis.liveness import NOTHING, Activity, Liveness, expression, handler_name, has_loop_exit
from autoconv.analysis.scopes import Scope, own_names
from autoconv.syntax import build
from autoconv.syntax.tree import INLINED, inner_parts, walk, walk_scope


class Region(NamedTuple):
    """`inputs` and `outputs` are explicit state (the same for a loop); `cells` are names that other functions see too.

    `exit` is the exit code in a loop's state, "" if there is no early exit. `reset` are names that rounds of a try
    change only for themselves.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    cells: tuple[str, ...]
    exit: str = ""
    reset: tuple[str, ...] = ()


class Plan:
    """`regions` by `id(statement)`, and the names that may be unassigned.

    `undefined`: possibly unassigned names that a region takes as input, or that a generated function reads; they start
    as Undefined. `assigned_in_try`: names that a try may leave unassigned and that are read. `unsure`: the reads (ids
    of Name nodes) that may find such a name unassigned.
    """

    def __init__(self) -> None:
        self.regions: dict[int, Region] = {}
        self.undefined: set[str] = set()
        self.assigned_in_try: set[str] = set()
        self.unsure: set[int] = set()


def plan_regions(
    function: Any,
    scope: Scope,
    statement_forms: dict[int, Any],
    exit_names: set[str],
    is_exit_check: Callable[[Any], bool],
    thunks: Container[int] = (),
    tries: Container[int] = (),
) -> Plan:
    """Return the plan of one function whose exits have been lowered.

    `thunks` holds the ids of generated lambdas, `tries` those of the try and with statements recorded in rounds.
    """
    planner = _Planner(scope, statement_forms, exit_names, is_exit_check, thunks, _deletes_names(function), tries)
    start = frozenset(scope.parameters)
    planner.block(function.body, NOTHING, NOTHING, DefinedNames(start, start))
    plan = planner.plan
    unsure = {name for name, _ in planner.unsure_reads}
    plan.undefined = {
        name for name in planner.needed | (unsure & planner.kept_inside) if name in scope.locals
    }
    plan.assigned_in_try = planner.assigned_in_try & unsure - exit_names
    if plan.undefined or plan.assigned_in_try:
        plan.unsure = {key for name, key in planner.unsure_reads if name in plan.undefined | plan.assigned_in_try}
    return plan


def unsure_reads(function: Any, scope: Scope) -> set[int]:
    """Return the reads (ids of Name nodes) in a function as written that may find a name unassigned."""
    planner = _Planner(scope, _Everything(), set(), lambda _: False, (), _deletes_names(function))
    start = frozenset(scope.parameters)
    planner.block(function.body, NOTHING, NOTHING, DefinedNames(start, start))
    return {key for _, key in planner.unsure_reads}


class _Everything(dict[int, Any]):
    """Contains every id: no region becomes a function of its own."""

    def __contains__(self, _: object) -> bool:
        return True


class DefinedNames(NamedTuple):
    """The names that are surely assigned: `anyway`, and `going_on` if no exit code is set."""

    anyway: frozenset[str]
    going_on: frozenset[str]

    def plus(self, names: frozenset[str]) -> DefinedNames:
        return DefinedNames(self.anyway | names, self.going_on | names) if names else self

    def minus(self, names: frozenset[str]) -> DefinedNames:
        return DefinedNames(self.anyway - names, self.going_on - names) if names else self


class _Planner:
    """Forward traversal of one function, which records its regions and the reads of names that may be unassigned."""

    def __init__(
        self,
        scope: Scope,
        forms: dict[int, Any],
        exit_names: set[str],
        is_exit_check: Callable[[Any], bool],
        thunks: Container[int],
        deletes: bool,
        tries: Container[int] = (),
    ) -> None:
        self.tries = tries
        self.scope = scope
        self.forms = forms
        self.exit_names = exit_names
        self.is_exit_check = is_exit_check
        self.thunks = thunks
        self.liveness = Liveness()
        self.going_on = Liveness(_leaves)
        self.plan = Plan()
        self.deletes = deletes
        self.inside = 0  # number of surrounding region functions
        self.kept_inside = (
            NOTHING  # names that regions assign only for themselves: they must stay local outside
        )
        self.live_at_jump = NOTHING  # live at the target of a break or continue that stays one
        self.needed: set[str] = set()
        self.assigned_in_try: set[str] = set()  # names that a try leaves assigned on some paths
        self.unsure_reads: list[tuple[str, int]] = []
        self.shared = scope.captured | scope.globals | scope.nonlocals

    def block(
        self,
        statements: Sequence[Any],
        live_after: frozenset[str],
        protected: frozenset[str],
        defined: DefinedNames,
    ) -> None:
        """Plan the regions of a block; `protected` names are live where an exception may lead."""
        lives = self.liveness.live_after_each(statements, live_after)
        for statement, live in zip(statements, lives, strict=True):
            self.statement(statement, live | self.live_at_jump, protected, defined)
            gone = self._deleted(statement)
            defined = DefinedNames(
                (defined.anyway | self.liveness.statement(statement).killed) - gone,
                (defined.going_on | self.going_on.statement(statement).killed) - gone,
            )

    def statement(self, node: Any, live: frozenset[str], protected: frozenset[str], defined: DefinedNames) -> None:
        functional = id(node) not in self.forms
        if isinstance(node, (*LOOPS, *TRIES)):
            defined = defined.minus(self._deleted(node))
        if isinstance(node, gast.If):
            self._reads(node.test, defined)
            inner = live
            if functional:
                region = self._if_region(node, live, protected)
                self._record(node, region, defined)
                inner = frozenset(region.outputs)
            self.inside += functional
            guarded = DefinedNames(defined.going_on, defined.going_on) if self._is_guard(node.test) else defined
            self.block(node.body, inner, protected, guarded)
            self.block(node.orelse, inner, protected, defined)
            self.inside -= functional
        elif isinstance(node, LOOPS):
            self._loop(node, live, protected, defined, functional)
        elif isinstance(node, (gast.With, gast.AsyncWith)):
            if id(node) in self.tries:
                self.plan.regions[id(node)] = self._rounds(self.liveness.statement(node).modified, live | protected)
            for item in node.items:
                self._reads(item, defined)
                defined = defined.plus(expression(item).killed)
            self.block(node.body, live, protected | live, defined)
        elif isinstance(node, TRIES):
            self._try(node, live, protected, defined)
        elif isinstance(node, gast.Match):
            self._reads(node.subject, defined)
            for case in node.cases:
                bound = defined.plus(expression(case.pattern).killed)
                if case.guard is not None:
                    self._reads(case.guard, bound)
                self.block(case.body, live, protected, bound)
        else:
            self._reads(node, defined)

    def _if_region(self, node: Any, live: frozenset[str], protected: frozenset[str]) -> Region:
        arms = self.liveness.either(node.body, node.orelse)
        cells = self._cells(arms.modified, protected)
        outputs = (arms.modified & live) - cells
        inputs = outputs - arms.killed
        inputs |= (arms.modified & arms.exposed) - cells
        return Region(tuple(sorted(inputs)), tuple(sorted(outputs)), tuple(sorted(cells)))

    def _loop(
        self, node: Any, live: frozenset[str], protected: frozenset[str], defined: DefinedNames, functional: bool
    ) -> None:
        is_for = not isinstance(node, gast.While)
        head = expression(node.target) if is_for else expression(node.test)
        once = head.then(self.liveness.block(node.body))
        carried = live | once.exposed
        self._reads(node.iter if is_for else node.test, defined, inside=functional and not is_for)
        before = self.live_at_jump
        if functional:
            region = self._loop_region(node, once, carried, protected)
            self._record(node, region, defined)
            carried = frozenset(region.outputs)
            self.live_at_jump = NOTHING
        elif has_loop_exit(node.body):
            self.live_at_jump = carried
        self.inside += functional
        self.block(node.body, carried, protected, defined.plus(head.killed))
        self.inside -= functional
        self.live_at_jump = before
        self.block(node.orelse, live, protected, defined)

    def _loop_region(
        self, node: Any, once: Activity, carried: frozenset[str], protected: frozenset[str]
    ) -> Region:
        last = node.body[-1]
        code = last.test.args[0].id if self.is_exit_check(last) else ""
        cells = self._cells(once.modified, protected)
        state = (once.modified & carried) - cells
        if code:
            state |= {code}
        names = tuple(sorted(state))
        return Region(names, names, tuple(sorted(cells)), code)

    def _try(self, node: Any, live: frozenset[str], protected: frozenset[str], defined: DefinedNames) -> None:
        final = self.liveness.block(node.finalbody)
        at_final = final.live_before(live)
        if node.finalbody:
            protected |= final.exposed
        in_handlers = NOTHING
        for handler in node.handlers:
            in_handlers |= self.liveness.block(handler.body).exposed - handler_name(handler)
        if id(node) in self.tries:
            parts = [node.body, *(handler.body for handler in node.handlers), node.finalbody]
            modified = NOTHING.union(*(self.liveness.block(part).modified for part in parts))
            live_outside = live | in_handlers | final.exposed | protected
            unbound = NOTHING.union(*map(handler_name, node.handlers)) & live_outside
            self.plan.regions[id(node)] = self._rounds(modified | unbound, live_outside)
            self.assigned_in_try |= self.scope.locals.intersection(self.plan.regions[id(node)].cells)
        in_body = protected
        if node.handlers:
            in_body |= in_handlers | at_final
        after_body = self.liveness.block(node.orelse).live_before(at_final)
        self.block(node.body, after_body | in_handlers, in_body, defined)
        behind = DefinedNames(
            defined.anyway | self.liveness.block(node.body).killed,
            defined.going_on | self.going_on.block(node.body).killed,
        )
        self.block(node.orelse, at_final, protected, behind)
        for handler in node.handlers:
            if handler.type is not None:
                self._reads(handler.type, defined)
            self.block(handler.body, at_final, protected, defined.plus(handler_name(handler)))
        self.block(node.finalbody, live, protected, defined)

    def _rounds(self, modified: frozenset[str], live: frozenset[str]) -> Region:
        live |= self.shared
        others = (modified - live) & self.scope.locals
        return Region((), (), tuple(sorted(modified & live)), reset=tuple(sorted(others)))

    def _cells(self, modified: frozenset[str], protected: frozenset[str]) -> frozenset[str]:
        return modified & (self.shared | (protected - self.exit_names))

    def _record(self, node: Any, region: Region, defined: DefinedNames) -> None:
        self.plan.regions[id(node)] = region
        self.needed.update(name for name in (*region.inputs, *region.cells) if name not in defined.anyway)
        self.kept_inside |= self.liveness.statement(node).modified.difference(region.outputs, region.cells)

    def _reads(self, node: Any, defined: DefinedNames, inside: bool = False) -> None:
        """Note the reads that may find a name unassigned; in a generated function the name must have a value."""
        waiting: list[tuple[Any, bool, frozenset[str]]] = [(node, inside or self.inside > 0, defined.anyway)]
        while waiting:
            part, closed, bound_names = waiting.pop()
            for child in walk_scope(part):
                if isinstance(child, gast.Name):
                    if isinstance(child.ctx, gast.Load) and child.id not in bound_names:
                        self.unsure_reads.append((child.id, id(child)))
                        if closed:
                            self.needed.add(child.id)
                elif isinstance(child, gast.AugAssign) and isinstance(child.target, gast.Name):
                    if child.target.id not in bound_names:
                        self.unsure_reads.append((child.target.id, id(child)))
                elif isinstance(child, gast.Lambda) and id(child) in self.thunks:
                    waiting.append((child.body, True, bound_names))
                elif isinstance(child, INLINED):
                    inner = bound_names | own_names(child)
                    waiting += [(inner_part, closed, inner) for inner_part in inner_parts(child)]

    def _deleted(self, node: Any) -> frozenset[str]:
        """Return the names that a statement, or one nested in it, may delete."""
        if not self.deletes:
            return NOTHING
        return frozenset(name for part in walk(node) for name in _deleted_name(part))

    def _is_guard(self, test: Any) -> bool:
        """Return whether this is `ag__.no_exit(exit_)`."""
        return build.is_operation(test, "no_exit")


def _leaves(node: Any) -> bool:
    """Return whether a statement sets an exit code, or is a break or continue that stays one."""
    if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Name):
        return build.is_operator(node.value, "CONTINUE", "BREAK", "RETURN")
    return isinstance(node, (gast.Break, gast.Continue))


def _deletes_names(function: Any) -> bool:
    return any(_deleted_name(node) for s in function.body for node in walk(s))


def _deleted_name(node: Any) -> frozenset[str]:
    """Return the name that a node deletes: by `del x`, or at the end of `except E as x`."""
    if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Del):
        return frozenset([node.id])
    return handler_name(node) if isinstance(node, gast.ExceptHandler) else NOTHING
