"""Liveness and definite assignment over structured code, in one backward pass over the tree.

For a statement, `exposed` are the names it may read before writing them (upward-exposed uses), `killed` those it
surely writes, and `modified` those it may write; `falls_through` is whether the next statement is reachable.
The names live before a statement are `exposed | (live after - killed)`. For a loop the fixed point of that equation
has a closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import gast

from autoconv.analysis.escapes import TRIES
from autoconv.analysis.scopes import bindings, free_names
from autoconv.syntax.tree import COMPREHENSIONS, FUNCTIONS, outer_parts, walk, walk_scope

NO_NAMES: frozenset[str] = frozenset()
_LEAVING_STATEMENTS = (gast.Raise, gast.Return)


class Activity(NamedTuple):
    """Reads and writes of a piece of code; the module's docstring defines the fields."""

    exposed: frozenset[str] = NO_NAMES
    killed: frozenset[str] = NO_NAMES
    modified: frozenset[str] = NO_NAMES
    falls_through: bool = True

    def then(self, later: Activity) -> Activity:
        """Return the activity of this piece followed by a later one."""
        if not self.falls_through:
            return Activity(self.exposed, self.killed, self.modified | later.modified, falls_through=False)
        return Activity(
            self.exposed | (later.exposed - self.killed),
            self.killed | later.killed,
            self.modified | later.modified,
            later.falls_through,
        )

    def live_before(self, live_after: frozenset[str]) -> frozenset[str]:
        """Return the names live before the piece, given those live after it."""
        if not self.falls_through:
            return self.exposed
        return self.exposed | (live_after - self.killed)


class Liveness:
    """Analysis that computes the activity of one function's statements, cached by node.

    `is_exit` selects statements, besides raise and return, that end the control flow of a block.
    """

    def __init__(self, is_exit: Callable[[gast.AST], bool] | None = None) -> None:
        self._activities: dict[int, tuple[gast.AST, Activity]] = {}  # by id; the nodes stay alive
        self._is_exit = is_exit

    def block_activity(self, statements: Sequence[gast.AST]) -> Activity:
        """Return the activity of statements that run one after the other."""
        activity = Activity()
        for statement in reversed(statements):
            activity = self.statement_activity(statement).then(activity)
        return activity

    def statement_activity(self, node: gast.AST) -> Activity:
        """Return the activity of a statement, with the statements in it."""
        entry = self._activities.get(id(node))
        if entry is None:
            entry = self._activities[id(node)] = node, self._compute_activity(node)
        _, activity = entry
        return activity

    def live_after_each(
        self, statements: Sequence[gast.AST], live_after: frozenset[str]
    ) -> list[frozenset[str]]:
        """Return the names live after each statement of a block."""
        result: list[frozenset[str]] = []
        live_names = live_after
        for statement in reversed(statements):
            result.append(live_names)
            live_names = self.statement_activity(statement).live_before(live_names)
        return result[::-1]

    def _compute_activity(self, node: gast.AST) -> Activity:
        """Return the activity of a statement that is not in the cache."""
        if isinstance(node, gast.If):
            return expression_activity(node.test).then(self.join_blocks(node.body, node.orelse))
        if isinstance(node, gast.While):
            return self._loop_activity(expression_activity(node.test), node.body, node.orelse)
        if isinstance(node, (gast.For, gast.AsyncFor)):
            head = expression_activity(node.iter)
            target = expression_activity(node.target)
            body = target.then(self.block_activity(node.body))
            orelse = self.block_activity(node.orelse)
            return head.then(_possibly_skipped(body)).then(_possibly_skipped(orelse))
        if isinstance(node, (gast.With, gast.AsyncWith)):
            items = Activity()
            for item in node.items:
                items = items.then(expression_activity(item.context_expr))
                if item.optional_vars is not None:
                    items = items.then(expression_activity(item.optional_vars))
            body = self.block_activity(node.body)
            return items.then(_possibly_skipped(body))
        if isinstance(node, TRIES):
            return self._try_activity(node)
        if isinstance(node, gast.Match):
            cases = [self._case_activity(case) for case in node.cases]
            joined_cases = _join([*cases, Activity()])
            return expression_activity(node.subject).then(joined_cases)
        result = simple_statement_activity(node)
        if isinstance(node, _LEAVING_STATEMENTS) or (self._is_exit is not None and self._is_exit(node)):
            result = result._replace(falls_through=False)
        return result

    def join_blocks(self, *blocks: Sequence[gast.AST]) -> Activity:
        """Join the activities of alternative blocks."""
        return _join([self.block_activity(block) for block in blocks])

    def _loop_activity(self, test: Activity, body: Sequence[gast.AST], orelse: Sequence[gast.AST]) -> Activity:
        """Return the activity of a while: its body and its else may be skipped."""
        iteration = test.then(_possibly_skipped(self.block_activity(body)))
        return iteration.then(_possibly_skipped(self.block_activity(orelse)))

    def _case_activity(self, case: gast.AST) -> Activity:
        """Return the activity of a case: its pattern, its guard and its body."""
        pattern = expression_activity(case.pattern)
        guard = expression_activity(case.guard) if case.guard is not None else Activity()
        return pattern.then(guard).then(self.block_activity(case.body))

    def _try_activity(self, node: gast.AST) -> Activity:
        """Return the activity of a try; a handler may begin after any part of the body."""
        body, orelse, finalbody = (self.block_activity(part) for part in (node.body, node.orelse, node.finalbody))
        exposed = body.exposed | (orelse.exposed - body.killed) | finalbody.exposed
        modified = body.modified | orelse.modified | finalbody.modified
        endings = [body.then(orelse)]
        for handler in node.handlers:
            clause = self.block_activity(handler.body)
            bound_names = handler_name(handler)
            exposed |= clause.exposed - bound_names
            if handler.type is not None:
                exposed |= expression_activity(handler.type).exposed
            modified |= clause.modified | bound_names  # Python deletes the name after the handler
            endings.append(Activity(killed=clause.killed - bound_names, falls_through=clause.falls_through))
        ending = _join(endings)
        falls_through = ending.falls_through and finalbody.falls_through
        return Activity(exposed, ending.killed | finalbody.killed, modified, falls_through)


def simple_statement_activity(node: gast.AST) -> Activity:
    """Return the activity of a statement without a body."""
    if isinstance(node, gast.Assign):
        activity = expression_activity(node.value)
        for target in node.targets:
            activity = activity.then(expression_activity(target))
        return activity
    if isinstance(node, gast.AugAssign):
        target = expression_activity(node.target)
        if isinstance(node.target, gast.Name):
            target_read = Activity(frozenset([node.target.id]))
            return target_read.then(expression_activity(node.value)).then(target)
        return target.then(expression_activity(node.value))
    if isinstance(node, gast.AnnAssign):
        activity = expression_activity(node.value) if node.value is not None else Activity()
        if node.value is None and isinstance(node.target, gast.Name):
            return activity
        return activity.then(expression_activity(node.target))
    if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
        # The code of a function runs after its name is bound, that of a class before.
        exposed = set(free_names(node)) - ({node.name} if not isinstance(node, gast.ClassDef) else set())
        outer_activity = Activity()
        for part in outer_parts(node):
            outer_activity = outer_activity.then(expression_activity(part))
        bound_names = frozenset([node.name])
        return outer_activity.then(Activity(frozenset(exposed), bound_names, bound_names))
    if isinstance(node, gast.Delete):
        names = frozenset(target.id for target in node.targets if isinstance(target, gast.Name))
        reads = expression_activity(node)
        return Activity(reads.exposed | names, reads.killed - names, reads.modified | names)
    return expression_activity(node)


def has_loop_exit(statements: Iterable[gast.AST]) -> bool:
    """Return whether a break or continue is among the statements."""
    nodes = (node for statement in statements for node in walk_scope(statement))
    return any(isinstance(node, (gast.Break, gast.Continue)) for node in nodes)


def expression_activity(node: gast.AST) -> Activity:
    """Return the activity of an expression: reads before writes, since only a walrus writes."""
    reads: set[str] = set()
    writes: set[str] = set()
    for child in walk_scope(node):
        if isinstance(child, gast.Name):
            if isinstance(child.ctx, gast.Load):
                reads.add(child.id)
            else:
                writes.add(child.id)
        elif isinstance(child, (*FUNCTIONS, *COMPREHENSIONS)):
            reads |= free_names(child)
            if isinstance(child, COMPREHENSIONS):
                writes |= {n.target.id for n in walk(child) if isinstance(n, gast.NamedExpr)}
        else:
            writes.update(bindings(child))
    return Activity(frozenset(reads), frozenset(writes - _possibly_skipped_names(node)), frozenset(writes))


def _possibly_skipped_names(node: gast.AST) -> set[str]:
    """Return the names that a walrus of an expression or statement binds, if one of its walruses may be skipped."""
    names = {child.target.id for child in walk(node) if isinstance(child, gast.NamedExpr)}
    skipping_kinds = (gast.BoolOp, gast.IfExp, gast.Compare, *COMPREHENSIONS)
    return names if names and any(isinstance(child, skipping_kinds) for child in walk(node)) else set()


def _possibly_skipped(activity: Activity) -> Activity:
    """Return the activity of code that may be skipped: it kills nothing for sure."""
    return Activity(activity.exposed, NO_NAMES, activity.modified)


def _join(arms: list[Activity]) -> Activity:
    """Join alternative arms: unions, but killed is the intersection over the arms that fall through."""
    falling_through = [arm for arm in arms if arm.falls_through] or arms
    return Activity(
        frozenset().union(*(arm.exposed for arm in arms)),
        falling_through[0].killed.intersection(*(arm.killed for arm in falling_through)),
        frozenset().union(*(arm.modified for arm in arms)),
        falling_through[0].falls_through,
    )


def handler_name(handler: gast.AST) -> frozenset[str]:
    """Return the name that an except clause binds, as a set."""
    if handler.name is None:
        return NO_NAMES
    return frozenset([handler.name if isinstance(handler.name, str) else handler.name.id])
