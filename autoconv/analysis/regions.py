"""The state of each region of a function: its inputs, its outputs, and the cells that it accesses.

They follow from liveness and definite assignment: a name is state if a region may modify it and it is live afterwards.
Definite assignment is a forward analysis. Its facts are sets of names: a statement adds the names that it surely writes
and removes those that it may delete. Conservative: a name counts as unassigned if some path leaves it so.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

import gast

from autoconv.analysis.escapes import LOOPS, TRIES
from autoconv.analysis.liveness import NO_NAMES, Activity, Liveness, expression_activity, handler_name, has_loop_exit
from autoconv.analysis.scopes import Scope, clause_names
from autoconv.syntax import build
from autoconv.syntax.tree import INLINED_COMPREHENSIONS, inner_parts, walk, walk_scope


class Region(NamedTuple):
    """The names through which one region exchanges values with the code around it.

    `inputs` and `outputs` are explicit state, and equal for a loop; `cells` are names that other functions also use.
    `exit` is the name of the exit code in a loop's state, "" if there is no early exit. `round_locals` are names that
    the rounds of a try change and that nothing reads after them.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    cells: tuple[str, ...]
    exit: str = ""
    round_locals: tuple[str, ...] = ()


class RegionPlan:
    """The regions of a function by `id(statement)`, and the names that may be unassigned.

    `undefined_names`: possibly unassigned names that a region takes as input, or that a generated function reads; they
    start as Undefined. `assigned_in_try`: names that a try may leave unassigned and that are read. `unsure_reads`: the
    ids of Name nodes that may read such a name unassigned.
    """

    def __init__(self) -> None:
        self.regions: dict[int, Region] = {}
        self.undefined_names: set[str] = set()
        self.assigned_in_try: set[str] = set()
        self.unsure_reads: set[int] = set()


def plan_regions(
    function: Any,
    scope: Scope,
    kept_forms: dict[int, Any],
    exit_names: set[str],
    is_exit_check: Callable[[Any], bool],
    thunk_ids: Container[int] = (),
    try_ids: Container[int] = (),
) -> RegionPlan:
    """Return the plan of one function whose exits have been lowered.

    The containers hold ids: `kept_forms` of statements that do not become regions, `thunk_ids` of generated lambdas,
    and `try_ids` of the try and with statements recorded in rounds.
    """
    planner = _Planner(scope, kept_forms, exit_names, is_exit_check, thunk_ids, _deletes_names(function), try_ids)
    parameters = frozenset(scope.parameters)
    planner.visit_block(function.body, NO_NAMES, NO_NAMES, DefinedNames(parameters, parameters))
    plan = planner.plan
    unsure_names = {name for name, _ in planner.unsure_reads}
    plan.undefined_names = {
        name for name in planner.names_needing_values | (unsure_names & planner.region_locals) if name in scope.locals
    }
    plan.assigned_in_try = planner.assigned_in_try & (unsure_names - exit_names)
    if plan.undefined_names or plan.assigned_in_try:
        names = plan.undefined_names | plan.assigned_in_try
        plan.unsure_reads = {read_id for name, read_id in planner.unsure_reads if name in names}
    return plan


def unsure_reads(function: Any, scope: Scope) -> set[int]:
    """Return the reads (ids of Name nodes) in a function as written that may find a name unassigned."""
    planner = _Planner(scope, _AllIds(), set(), lambda _: False, (), _deletes_names(function))
    parameters = frozenset(scope.parameters)
    planner.visit_block(function.body, NO_NAMES, NO_NAMES, DefinedNames(parameters, parameters))
    return {read_id for _, read_id in planner.unsure_reads}


class _AllIds(dict[int, Any]):
    """The argument `kept_forms` of a planner for code as written: it contains every id, so nothing becomes a region."""

    def __contains__(self, _: object) -> bool:
        return True


class DefinedNames(NamedTuple):
    """The names that are surely assigned at a point of the program.

    `always`: on all paths to the point; `without_exit`: on those paths on which no exit code has been set.
    """

    always: frozenset[str]
    without_exit: frozenset[str]

    def plus(self, names: frozenset[str]) -> DefinedNames:
        """Return the names and further ones that are surely assigned."""
        return DefinedNames(self.always | names, self.without_exit | names) if names else self

    def minus(self, names: frozenset[str]) -> DefinedNames:
        """Return the names without those that may be deleted."""
        return DefinedNames(self.always - names, self.without_exit - names) if names else self


class _Planner:
    """Forward traversal of one function, which records its regions and the reads of names that may be unassigned."""

    def __init__(
        self,
        scope: Scope,
        kept_forms: dict[int, Any],
        exit_names: set[str],
        is_exit_check: Callable[[Any], bool],
        thunk_ids: Container[int],
        deletes_names: bool,
        try_ids: Container[int] = (),
    ) -> None:
        self.try_ids = try_ids
        self.scope = scope
        self.kept_forms = kept_forms
        self.exit_names = exit_names
        self.is_exit_check = is_exit_check
        self.thunk_ids = thunk_ids
        self.liveness = Liveness()
        self.liveness_without_exit = Liveness(_sets_exit)
        self.plan = RegionPlan()
        self.deletes_names = deletes_names
        self.region_depth = 0  # number of surrounding region functions
        # Names that regions assign and do not return; the surrounding function needs an assignment to keep them local.
        self.region_locals = NO_NAMES
        self.live_at_jump_target = NO_NAMES  # live at the target of a break or continue that keeps its form
        self.names_needing_values: set[str] = set()
        self.assigned_in_try: set[str] = set()  # names that a try leaves assigned on some paths
        self.unsure_reads: list[tuple[str, int]] = []
        self.cell_names = scope.captured | scope.globals | scope.nonlocals

    def visit_block(
        self,
        statements: Sequence[Any],
        live_after: frozenset[str],
        live_on_raise: frozenset[str],
        defined: DefinedNames,
    ) -> None:
        """Plan the regions of a block; `live_on_raise` are the names that are live where an exception may lead."""
        live_sets = self.liveness.live_after_each(statements, live_after)
        for statement, live in zip(statements, live_sets, strict=True):
            self.visit_statement(statement, live | self.live_at_jump_target, live_on_raise, defined)
            defined = DefinedNames(
                defined.always | self.liveness.statement_activity(statement).killed,
                defined.without_exit | self.liveness_without_exit.statement_activity(statement).killed,
            ).minus(self._deleted_names(statement))

    def visit_statement(
        self, node: Any, live: frozenset[str], live_on_raise: frozenset[str], defined: DefinedNames
    ) -> None:
        """Plan the regions of a statement; `live` are the names live after it, `defined` those before it."""
        is_region = id(node) not in self.kept_forms
        if isinstance(node, (*LOOPS, *TRIES)):
            defined = defined.minus(self._deleted_names(node))
        if isinstance(node, gast.If):
            self._note_reads(node.test, defined)
            live_after_arms = live
            if is_region:
                region = self._if_region(node, live, live_on_raise)
                self._record_region(node, region, defined)
                live_after_arms = frozenset(region.outputs)
            self.region_depth += is_region
            body_defined = defined
            if build.is_operation(node.test, "no_exit"):
                body_defined = DefinedNames(defined.without_exit, defined.without_exit)
            self.visit_block(node.body, live_after_arms, live_on_raise, body_defined)
            self.visit_block(node.orelse, live_after_arms, live_on_raise, defined)
            self.region_depth -= is_region
        elif isinstance(node, LOOPS):
            self._visit_loop(node, live, live_on_raise, defined, is_region)
        elif isinstance(node, (gast.With, gast.AsyncWith)):
            if id(node) in self.try_ids:
                modified = self.liveness.statement_activity(node).modified
                self.plan.regions[id(node)] = self._rounds_region(modified, live | live_on_raise)
            for item in node.items:
                self._note_reads(item, defined)
                defined = defined.plus(expression_activity(item).killed)
            self.visit_block(node.body, live, live_on_raise | live, defined)
        elif isinstance(node, TRIES):
            self._visit_try(node, live, live_on_raise, defined)
        elif isinstance(node, gast.Match):
            self._note_reads(node.subject, defined)
            for case in node.cases:
                defined_in_case = defined.plus(expression_activity(case.pattern).killed)
                if case.guard is not None:
                    self._note_reads(case.guard, defined_in_case)
                self.visit_block(case.body, live, live_on_raise, defined_in_case)
        else:
            self._note_reads(node, defined)

    def _if_region(self, node: Any, live: frozenset[str], live_on_raise: frozenset[str]) -> Region:
        """Return the region of an if; it takes names that an arm reads, or may leave unchanged."""
        arms_activity = self.liveness.join_blocks(node.body, node.orelse)
        cells = self._cells_of(arms_activity.modified, live_on_raise)
        outputs = (arms_activity.modified & live) - cells
        inputs = outputs - arms_activity.killed
        inputs |= (arms_activity.modified & arms_activity.exposed) - cells
        return Region(tuple(sorted(inputs)), tuple(sorted(outputs)), tuple(sorted(cells)))

    def _visit_loop(
        self, node: Any, live: frozenset[str], live_on_raise: frozenset[str], defined: DefinedNames, is_region: bool
    ) -> None:
        """Plan the regions of a loop; `is_region` is true if the loop itself is one."""
        is_for = not isinstance(node, gast.While)
        head = expression_activity(node.target) if is_for else expression_activity(node.test)
        iteration = head.then(self.liveness.block_activity(node.body))
        carried_names = live | iteration.exposed
        self._note_reads(node.iter if is_for else node.test, defined, in_region=is_region and not is_for)
        outer_jump_names = self.live_at_jump_target
        if is_region:
            region = self._loop_region(node, iteration, carried_names, live_on_raise)
            self._record_region(node, region, defined)
            carried_names = frozenset(region.outputs)
            self.live_at_jump_target = NO_NAMES
        elif has_loop_exit(node.body):
            self.live_at_jump_target = carried_names
        self.region_depth += is_region
        self.visit_block(node.body, carried_names, live_on_raise, defined.plus(head.killed))
        self.region_depth -= is_region
        self.live_at_jump_target = outer_jump_names
        self.visit_block(node.orelse, live, live_on_raise, defined)

    def _loop_region(
        self, node: Any, iteration: Activity, carried_names: frozenset[str], live_on_raise: frozenset[str]
    ) -> Region:
        """Return the region of a loop; `carried_names` are those live at the beginning of an iteration."""
        last_statement = node.body[-1]  # if it is an exit check, the operand of its test is the exit code
        exit_code = last_statement.test.args[0].id if self.is_exit_check(last_statement) else ""
        cells = self._cells_of(iteration.modified, live_on_raise)
        state = (iteration.modified & carried_names) - cells
        if exit_code:
            state |= {exit_code}
        names = tuple(sorted(state))
        return Region(names, names, tuple(sorted(cells)), exit_code)

    def _visit_try(self, node: Any, live: frozenset[str], live_on_raise: frozenset[str], defined: DefinedNames) -> None:
        """Plan the regions of a try, whose rounds are a region if the graph may record them."""
        final_activity = self.liveness.block_activity(node.finalbody)
        live_before_final = final_activity.live_before(live)
        if node.finalbody:
            live_on_raise |= final_activity.exposed
        read_in_handlers = NO_NAMES
        for handler in node.handlers:
            read_in_handlers |= self.liveness.block_activity(handler.body).exposed - handler_name(handler)
        if id(node) in self.try_ids:
            blocks = [node.body, *(handler.body for handler in node.handlers), node.finalbody]
            modified = NO_NAMES.union(*(self.liveness.block_activity(block).modified for block in blocks))
            live_outside = live | read_in_handlers | final_activity.exposed | live_on_raise
            unbound_names = NO_NAMES.union(*map(handler_name, node.handlers)) & live_outside
            self.plan.regions[id(node)] = self._rounds_region(modified | unbound_names, live_outside)
            self.assigned_in_try |= self.scope.locals.intersection(self.plan.regions[id(node)].cells)
        live_on_raise_in_body = live_on_raise
        if node.handlers:
            live_on_raise_in_body |= read_in_handlers | live_before_final
        live_after_body = self.liveness.block_activity(node.orelse).live_before(live_before_final)
        self.visit_block(node.body, live_after_body | read_in_handlers, live_on_raise_in_body, defined)
        defined_after_body = DefinedNames(
            defined.always | self.liveness.block_activity(node.body).killed,
            defined.without_exit | self.liveness_without_exit.block_activity(node.body).killed,
        )
        self.visit_block(node.orelse, live_before_final, live_on_raise, defined_after_body)
        for handler in node.handlers:
            if handler.type is not None:
                self._note_reads(handler.type, defined)
            self.visit_block(handler.body, live_before_final, live_on_raise, defined.plus(handler_name(handler)))
        self.visit_block(node.finalbody, live, live_on_raise, defined)

    def _rounds_region(self, modified: frozenset[str], live: frozenset[str]) -> Region:
        """Return the region of the rounds of a try; all names that it shares are cells."""
        live |= self.cell_names
        round_locals = (modified - live) & self.scope.locals
        return Region((), (), tuple(sorted(modified & live)), round_locals=tuple(sorted(round_locals)))

    def _cells_of(self, modified: frozenset[str], live_on_raise: frozenset[str]) -> frozenset[str]:
        """Return the modified names that other functions, or the code where an exception leads, may read."""
        return modified & (self.cell_names | (live_on_raise - self.exit_names))

    def _record_region(self, node: Any, region: Region, defined: DefinedNames) -> None:
        """Add a region to the plan, with the names that need values before it."""
        self.plan.regions[id(node)] = region
        self.names_needing_values.update(name for name in (*region.inputs, *region.cells) if name not in defined.always)
        self.region_locals |= self.liveness.statement_activity(node).modified.difference(region.outputs, region.cells)

    def _note_reads(self, node: Any, defined: DefinedNames, in_region: bool = False) -> None:
        """Note the reads that may find a name unassigned; in a generated function the name must have a value."""
        pending: list[tuple[Any, bool, frozenset[str]]] = [(node, in_region or self.region_depth > 0, defined.always)]
        while pending:
            part, in_generated_function, bound_names = pending.pop()
            for child in walk_scope(part):
                if isinstance(child, gast.Name):
                    if isinstance(child.ctx, gast.Load) and child.id not in bound_names:
                        self.unsure_reads.append((child.id, id(child)))
                        if in_generated_function:
                            self.names_needing_values.add(child.id)
                elif isinstance(child, gast.AugAssign) and isinstance(child.target, gast.Name):
                    if child.target.id not in bound_names:
                        self.unsure_reads.append((child.target.id, id(child)))
                elif isinstance(child, gast.Lambda) and id(child) in self.thunk_ids:
                    pending.append((child.body, True, bound_names))
                elif isinstance(child, INLINED_COMPREHENSIONS):
                    names_bound_inside = bound_names | clause_names(child)
                    inner = inner_parts(child)
                    pending += [(inner_part, in_generated_function, names_bound_inside) for inner_part in inner]

    def _deleted_names(self, node: Any) -> frozenset[str]:
        """Return the names that a statement, or one nested in it, may delete."""
        if not self.deletes_names:
            return NO_NAMES
        return frozenset(name for part in walk(node) for name in _deleted_name(part))


def _sets_exit(node: Any) -> bool:
    """Return whether a statement sets an exit code, or is a break or continue that keeps its form."""
    if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Name):
        return build.is_operator(node.value, "CONTINUE", "BREAK", "RETURN")
    return isinstance(node, (gast.Break, gast.Continue))


def _deletes_names(function: Any) -> bool:
    """Return whether a statement of the function may delete a name."""
    return any(_deleted_name(node) for statement in function.body for node in walk(statement))


def _deleted_name(node: Any) -> frozenset[str]:
    """Return the name that a node deletes: by `del x`, or at the end of `except E as x`."""
    if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Del):
        return frozenset([node.id])
    return handler_name(node) if isinstance(node, gast.ExceptHandler) else NO_NAMES
