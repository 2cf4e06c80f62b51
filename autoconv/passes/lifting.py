"""Assign variables before the regions that take them, so that a region's inputs always exist.
Possibly unassigned names start as Undefined, and their reads are checked.

    def f(c):
        if c:
            y = 1
        return y
    # becomes
    def f(c):
        y = ag__.Undefined('y')
        if c:
            y = 1
        return ag__.ld(y)
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Set
from contextlib import contextmanager
from typing import Any

import gast

from autoconv.analysis.regions import RegionPlan, plan_regions
from autoconv.analysis.scopes import Scope, bindings, clause_names, scope_of
from autoconv.passes.base import Context, FunctionPass
from autoconv.passes.normalise import OPERATOR_BY_AUGMENTATION
from autoconv.syntax import build
from autoconv.syntax.tree import INLINED_COMPREHENSIONS, Transformer, body_start, walk, walk_scope


def transform(tree: gast.AST, context: Context) -> gast.AST:
    """Run the pass on a module or a function."""
    result: gast.AST = Lifting(context).visit(tree)
    if context.outer_names:
        names = set(context.outer_names)
        result = _CheckReads((), names, _deleted_names(tree) & names, context.generated).visit(result)
    return result


class Lifting(FunctionPass, statements_only=True):
    """Give names that may be unassigned a value from the start of their function, and check their reads."""

    def rewrite_function(self, node: Any) -> Any:
        """Assign Undefined to names that are state before their assignment; mark the reads to be checked."""
        node.body = self.visit_list(node.body)
        scope = user_scope(node, self.context)
        plan = make_plan(node, scope, self.context)
        state_names = {
            name
            for region in plan.regions.values()
            for name in (*region.inputs, *region.outputs, *region.cells)
        }
        tracked_names = state_names | plan.undefined_names | _nonlocal_names(node)
        deleted_names = _deleted_names(node) & tracked_names & scope.locals
        undefined_names = sorted(plan.undefined_names - set(scope.parameters))
        if not plan.undefined_names and not plan.assigned_in_try and not deleted_names:
            return node
        checked_names = (plan.undefined_names | plan.assigned_in_try | deleted_names) - self.context.exit_names
        checker = _CheckReads(plan.unsure_reads, checked_names, deleted_names, self.context.generated)
        node.body = checker.visit_list(node.body)
        start = body_start(node.body)
        first = node.body[0]
        node.body[start:start] = [
            build.place(build.assign(name, build.operate("Undefined", build.constant(name))), first)
            for name in undefined_names
        ]
        return node


def make_plan(function: Any, scope: Scope, context: Context) -> RegionPlan:
    """Return the regions of a function, with the names that go in and out."""
    return plan_regions(
        function,
        scope,
        context.statement_forms,
        context.exit_names,
        is_exit_check,
        context.generated,
        context.staged_tries,
    )


def is_exit_check(statement: Any) -> bool:
    """Return whether the statement is the `if ag__.exits_loop(exit_): break` at the end of a loop body."""
    return (
        isinstance(statement, gast.If)
        and build.is_operation(statement.test, "exits_loop")
        and isinstance(statement.body[0], gast.Break)
    )


def user_scope(function: Any, context: Context) -> Scope:
    """Return the scope of a function, without cells for names that only generated lambdas capture."""
    return scope_of(function, context.generated)


class _CheckReads(Transformer):
    """Check the reads that may find a name undefined, also after `del x`.

    `unsure_reads` and `generated` have ids of nodes; `names` are the names whose reads are checked.
    """

    def __init__(
        self, unsure_reads: Container[int], names: set[str], deleted_names: set[str], generated: Container[int]
    ) -> None:
        self.unsure_reads = unsure_reads
        self.names = names
        self.deleted_names = deleted_names
        self.generated = generated
        self.inner_check = ""  # the operator that checks reads in the inner scope being visited

    def visit_Name(self, node: Any) -> Any:
        if not isinstance(node.ctx, gast.Load) or node.id not in self.names:
            return node
        if id(node) in self.unsure_reads or self.inner_check or node.id in self.deleted_names:
            return build.place(self._checked_read(node.id), node)
        return node

    def _checked_read(self, name: str) -> Any:
        return build.operate(self.inner_check or "ld", build.name(name))

    def visit_FunctionDef(self, node: Any) -> Any:
        """Check all reads of an inner function: a name may be undefined at its call."""
        if id(node) in self.generated:
            return self.visit_children(node)
        arguments = node.args
        arguments.defaults = self.visit_list(arguments.defaults)
        arguments.kw_defaults = [default and self.visit(default) for default in arguments.kw_defaults]
        if not isinstance(node, gast.Lambda):
            node.decorator_list = self.visit_list(node.decorator_list)
        with self._inner_scope(scope_of(node).locals):
            node.body = self.visit(node.body) if isinstance(node, gast.Lambda) else self.visit_list(node.body)
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_ClassDef(self, node: Any) -> Any:
        """Visit a class, in whose body its own names hide those of the function."""
        node.bases, node.keywords = self.visit_list(node.bases), self.visit_list(node.keywords)
        node.decorator_list = self.visit_list(node.decorator_list)
        nodes = [n for statement in node.body for n in walk_scope(statement)]
        with self._inner_scope({name for n in nodes for name in bindings(n)}):
            node.body = self.visit_list(node.body)
        return node

    def visit_UntracedStatements(self, node: Any) -> Any:
        """Check only reads of free variables: without a trace, Python itself checks a function's own names."""
        if self.inner_check:
            node.statements = self.visit_list(node.statements)
        return node

    visit_RewrittenStatements = visit_UntracedStatements

    def visit_ListComp(self, node: Any) -> Any:
        """Visit a comprehension of any kind, whose targets hide names of the function."""
        first_clause = node.generators[0]
        first_iterable = first_clause.iter = self.visit(first_clause.iter)
        is_inlined = isinstance(node, INLINED_COMPREHENSIONS) and self.inner_check != "ld_outer"
        with self._inner_scope(clause_names(node), "ld_inlined" if is_inlined else "ld_outer"):
            first_clause.iter = build.constant(None)
            self.visit_children(node)
            first_clause.iter = first_iterable
        return node

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    @contextmanager
    def _inner_scope(self, bound_names: Set[str], check: str = "ld_outer") -> Iterator[None]:
        """Enter a scope that binds some of the names itself; the operator `check` checks its reads of the others."""
        outer_state = self.names, self.inner_check
        self.names, self.inner_check = self.names - bound_names, check
        yield
        self.names, self.inner_check = outer_state

    def visit_AugAssign(self, node: Any) -> Any:
        """Check the read of the target, which may be unassigned."""
        node.value = self.visit(node.value)
        if not isinstance(node.target, gast.Name) or node.target.id not in self.names:
            return node
        name = node.target.id
        if id(node) in self.unsure_reads or self.inner_check or name in self.deleted_names:
            value = build.operate(OPERATOR_BY_AUGMENTATION[type(node.op)], self._checked_read(name), node.value)
            return build.place(build.assign(name, value), node)
        return node

    def visit_Delete(self, node: Any) -> Any:
        """Turn the deletion of a tracked name into an assignment of Undefined."""
        statements: list[Any] = []
        for target in node.targets:
            if isinstance(target, gast.Name) and target.id in self.deleted_names & self.names:
                checked_read = self._checked_read(target.id)
                deletion = build.operate("deleted_name", checked_read, build.constant(target.id))
                statements.append(build.place(build.assign(target.id, deletion), node))
            else:
                statements.append(build.place(gast.Delete([target]), node))
        return statements


def _deleted_names(function: Any) -> set[str]:
    """Return the names in `del` statements of the function and the functions nested in it."""
    return {
        target.id
        for statement in function.body
        for node in walk(statement)
        if isinstance(node, gast.Delete)
        for target in node.targets
        if isinstance(target, gast.Name)
    }


def _nonlocal_names(function: Any) -> set[str]:
    """Return the names that inner functions declare nonlocal."""
    return {
        name
        for statement in function.body
        for node in walk(statement)
        if isinstance(node, gast.Nonlocal)
        for name in node.names
    }
