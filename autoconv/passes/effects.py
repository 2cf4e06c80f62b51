"""Turn writes to attributes and items into operators, which journal writes made in a region.

    def f(self, xs, i):
        self.n = xs[0]
        xs[i] = 0
        del xs[0]
    # becomes
    def f(self, xs, i):
        ag__.set_attr(self, 'n', xs[0])
        xs = ag__.set_item(xs, (i,), 0)
        ag__.del_item(xs, 0)
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import gast

from autoconv.analysis.regions import unsure_reads
from autoconv.analysis.scopes import Scope, scope_of
from autoconv.passes.base import Context, FunctionPass, mangle
from autoconv.syntax import build
from autoconv.syntax.names import Namer
from autoconv.syntax.tree import body_start, walk, walk_scope

# Kinds of nodes whose value is fixed if their parts are.
_FIXED_KINDS = (gast.Constant, gast.UnaryOp, gast.Tuple, gast.Slice)


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Effects(context).visit(tree)


class Effects(FunctionPass, statements_only=True):
    """Route writes to attributes, items and outer names through operators."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.scope = Scope()
        self.order = _EvaluationOrder(None, self.scope, self.namer)

    def rewrite_function(self, node: Any) -> Any:
        """Visit a function, and journal the outer names that it writes at its start."""
        outer_state = self.scope, self.order
        self.scope = scope_of(node)
        self.order = _EvaluationOrder(node, self.scope, self.namer)
        is_journalled = self._mark_existing_journal_call(node)
        node.body = self.visit_list(node.body)
        written_outer_names = sorted((self.scope.globals | self.scope.nonlocals) & self.scope.bound)
        if written_outer_names and not is_journalled:
            start = body_start(node.body)
            node.body[start:start] = self._journal_call(node, written_outer_names)
        self.scope, self.order = outer_state
        return node

    def _mark_existing_journal_call(self, function: Any) -> bool:
        """Mark the getter and setter of a call of `outer_names` in the function as generated; False without a call."""
        for statement in function.body:
            if isinstance(statement, gast.Expr) and build.is_operation(statement.value, "outer_names"):
                names = {argument.id for argument in statement.value.args[:2]}
                for inner in function.body:
                    if isinstance(inner, gast.FunctionDef) and inner.name in names:
                        self.context.mark_generated(inner)
                return True
        return False

    def _journal_call(self, node: Any, names: list[str]) -> list[Any]:
        """Return definitions of a getter and a setter of the outer names, and the call that journals these names."""
        mark, namer = self.context.mark_generated, self.context.namer
        getter, setter, values = (namer.shared_name(stem) for stem in ("get_state", "set_state", "values_"))
        declarations = [
            kind(declared_names)
            for kind, declared_names in (
                (gast.Global, sorted(self.scope.globals & set(names))),
                (gast.Nonlocal, sorted(self.scope.nonlocals & set(names))),
            )
            if declared_names
        ]
        write = build.assign(build.stores(names), build.name(values))
        statements = [
            mark(build.function(getter, (), [gast.Return(build.loads(names))])),
            mark(build.function(setter, (values,), [*declarations, write])),
            gast.Expr(build.operate("outer_names", build.name(getter), build.name(setter), build.strings(names))),
        ]
        return [build.place(statement, node.body[0]) for statement in statements]

    def visit_Assign(self, node: Any) -> Any:
        """Route the writes to attributes and items among the targets through operators."""
        self.visit_children(node)
        if not any(map(_writes_attribute_or_item, node.targets)):
            return node
        if len(node.targets) == 1 and isinstance(node.targets[0], (gast.Attribute, gast.Subscript)):
            return self._write(node.targets[0], node.value, node)
        return self._assign_to_each(node)

    def visit_AnnAssign(self, node: Any) -> Any:
        node = super().visit_AnnAssign(node)
        if node.value is None or isinstance(node.target, gast.Name):
            return node
        return self._write(node.target, node.value, node)

    def visit_With(self, node: Any) -> Any:
        """Wrap context managers: entering and exiting a context are side effects."""
        self.visit_children(node)
        for item in node.items:
            item.context_expr = build.place(build.operate("context", item.context_expr), item.context_expr)
        return node

    def visit_Delete(self, node: Any) -> Any:
        self.visit_children(node)
        return [build.place(self._delete(target), node) for target in node.targets]

    def _delete(self, target: Any) -> Any:
        """Return the statement that deletes one target. Its operator is placed at the target, as Python's errors are.
        """
        if isinstance(target, gast.Attribute):
            attribute = build.constant(mangle(target.attr, self.class_name))
            return gast.Expr(build.place(build.operate("del_attr", target.value, attribute), target))
        if isinstance(target, gast.Subscript):
            operator = build.operate("del_item", target.value, index_expression(target.slice))
            return gast.Expr(build.place(operator, target))
        return gast.Delete([target])

    def _assign_to_each(self, node: Any) -> list[Any]:
        """Rewrite `a = o.x = v`, and targets that unpack into attributes or items."""
        value = node.value
        statements: list[Any] = []
        rebound_names = {n.id for target in node.targets for n in walk(target) if isinstance(n, gast.Name)}
        is_simple = isinstance(value, gast.Constant) or (
            isinstance(value, gast.Name) and value.id not in rebound_names
        )
        if len(node.targets) > 1 and not is_simple:
            temporary = self.namer.fresh("value_")
            statements.append(build.assign(temporary, value))
            value = build.name(temporary)
        for target in node.targets:
            value = _copy_simple_value(value) if len(node.targets) > 1 else value
            statements.extend(self._store(target, value, node))
        return [build.place(statement, node) for statement in statements]

    def _store(self, target: Any, value: Any, statement: Any) -> list[Any]:
        """Store the parts of a target from left to right: `xs[i], i = 1, 2` writes at the old `i`."""
        if isinstance(target, (gast.Attribute, gast.Subscript)):
            return self._write(target, value, statement)
        if not _writes_attribute_or_item(target):
            return [build.assign(target, value)]
        items: list[Any] = []
        item_writes: list[Any] = []
        for item in target.elts:
            if not item_writes and not _writes_attribute_or_item(item):
                items.append(item)
                continue
            temporary = self.namer.fresh("item_")
            is_starred = isinstance(item, gast.Starred)
            items.append(
                gast.Starred(build.store(temporary), gast.Store()) if is_starred else build.store(temporary)
            )
            item_writes += self._store(item.value if is_starred else item, build.name(temporary), statement)
        return [build.assign(type(target)(items, gast.Store()), value), *item_writes]

    def _write(self, target: Any, value: Any, statement: Any) -> list[Any]:
        """Return the operator that writes an attribute or item, and the statements before it.

        The operator is placed at the target, as Python's errors are, and the statements at `statement`.
        """
        statements: list[Any] = []
        if not self.order.may_evaluate_after(value, target):
            temporary = self.namer.fresh("value_")
            statements.append(build.assign(temporary, value))
            value = build.name(temporary)
        if isinstance(target, gast.Attribute):
            attribute = build.constant(mangle(target.attr, self.class_name))
            write: Any = gast.Expr(build.place(build.operate("set_attr", target.value, attribute, value), target))
        else:
            write = self._write_item(target, value)
        return [build.place(new_statement, statement) for new_statement in (*statements, write)]

    def _write_item(self, target: Any, value: Any) -> Any:
        """Rewrite `x[i][j] = v` with its whole path, so that a tensor at any point of it can be replaced.

        `set_item` returns the new value of a local name; `set_item_of` writes it to an attribute; `set_item_in` is for
        a base that cannot be rebound.
        """
        path: list[Any] = []
        base = target
        while isinstance(base, gast.Subscript):
            path.insert(0, index_expression(base.slice))
            base = base.value
        indices = gast.Tuple(path, gast.Load())
        if isinstance(base, gast.Name) and base.id in self.scope.locals:
            return build.assign(
                base.id, build.place(build.operate("set_item", build.name(base.id), indices, value), target)
            )
        if isinstance(base, gast.Attribute):
            attribute = build.constant(mangle(base.attr, self.class_name))
            operator = build.operate("set_item_of", base.value, attribute, indices, value)
        else:
            operator = build.operate("set_item_in", base, indices, value)
        return gast.Expr(build.place(operator, target))


def index_expression(index: Any) -> Any:
    """Return a subscript's index as an expression."""
    if isinstance(index, gast.Slice):
        parts = [part or build.constant(None) for part in (index.lower, index.upper, index.step)]
        return build.operate("slice", *parts)
    if isinstance(index, gast.Tuple):
        return gast.Tuple([index_expression(item) for item in index.elts], gast.Load())
    return index


class _NameFacts(NamedTuple):
    """Facts about the names of a function.

    `unsure_read_ids` are the ids of the nodes of reads that may find a name unassigned; `names_bound_by_inner` are the
    names that inner functions assign.
    """

    unsure_read_ids: set[int]
    names_bound_by_inner: set[str]


class _EvaluationOrder:
    """Decide whether assignments of one function may be evaluated in another order.

    Python evaluates the value before the target; a call of an operator evaluates the target first.
    """

    def __init__(self, function: Any, scope: Scope, namer: Namer) -> None:
        self.function = function
        self.namer = namer
        self.scope = scope
        self._cached_name_facts: _NameFacts | None = None

    def may_evaluate_after(self, value: Any, target: Any) -> bool:
        """Return whether evaluating the parts of the target before the value is unobservable. Conservative."""
        if isinstance(value, gast.Constant):
            return True
        if isinstance(value, gast.Name) and id(value) not in self._name_facts().unsure_read_ids:
            return not self._may_rebind(value.id, target)
        assigned_names = {n.target.id for n in walk_scope(value) if isinstance(n, gast.NamedExpr)}
        parts = [target.value, target.slice] if isinstance(target, gast.Subscript) else [target.value]
        return all(self._is_fixed(part, assigned_names) for part in parts)

    def _may_rebind(self, name: str, target: Any) -> bool:
        """Return whether evaluating the parts of the target may rebind the name."""
        nodes = list(walk_scope(target))
        if any(isinstance(n, gast.NamedExpr) and n.target.id == name for n in nodes):
            return True
        is_private = name in self.scope.locals and name not in self._name_facts().names_bound_by_inner
        return not (is_private or self.namer.has_made(name)) and any(isinstance(n, gast.Call) for n in nodes)

    def _is_fixed(self, expression: Any, assigned_names: set[str]) -> bool:
        """Return whether the expression cannot fail, and its value does not depend on code that runs before it."""
        for node in walk(expression):
            if isinstance(node, gast.Name):
                facts = self._name_facts()
                is_rebound = node.id not in self.scope.locals or node.id in assigned_names | facts.names_bound_by_inner
                if is_rebound or id(node) in facts.unsure_read_ids:
                    return False
            elif isinstance(node, gast.BinOp):
                if not isinstance(node.op, (gast.Add, gast.Sub, gast.Mult)):
                    return False  # may divide by zero
            elif not isinstance(node, _FIXED_KINDS):
                return False
        return True

    def _name_facts(self) -> _NameFacts:
        """Return the facts about the names of the function; they are computed at the first call."""
        if self._cached_name_facts is None:
            if self.function is None:
                return _NameFacts(set(), set())
            nodes = itertools.chain.from_iterable(map(walk, self.function.body))
            nonlocal_statements = [n for n in nodes if isinstance(n, gast.Nonlocal)]
            names_bound_by_inner = {name for statement in nonlocal_statements for name in statement.names}
            self._cached_name_facts = _NameFacts(unsure_reads(self.function, self.scope), names_bound_by_inner)
        return self._cached_name_facts


def _writes_attribute_or_item(target: Any) -> bool:
    if isinstance(target, (gast.Tuple, gast.List)):
        return any(_writes_attribute_or_item(item) for item in target.elts)
    if isinstance(target, gast.Starred):
        return _writes_attribute_or_item(target.value)
    return not isinstance(target, gast.Name)


def _copy_simple_value(value: Any) -> Any:
    """Return a new node for a name or constant, so that no two targets share one."""
    return build.name(value.id) if isinstance(value, gast.Name) else build.constant(value.value)
