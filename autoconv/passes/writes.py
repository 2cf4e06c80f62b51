"""Rewrite writes to items in untraced code, so that they work for tensors as well.

A write stays as it is for mutable containers. Tensors are immutable: where the container is a tensor, a handler binds
the container's name to a changed tensor.

    x[i] = v
    # becomes
    try:
        x[i] = v
    except ag__.ItemAssignmentError:
        x = ag__.set_item(x, (i,), v)
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.analysis.scopes import bindings, scope_of
from autoconv.passes.base import Context
from autoconv.passes.effects import index_expression
from autoconv.syntax import build
from autoconv.syntax.names import Namer
from autoconv.syntax.tree import (
    COMPREHENSIONS,
    FUNCTIONS,
    RewrittenStatements,
    Transformer,
    contains,
    copy_tree,
    walk,
    walk_scope,
)

# Expressions that may be evaluated only once.
_NOT_REPEATABLE = (gast.Call, gast.Await, gast.Yield, gast.YieldFrom, gast.NamedExpr, *FUNCTIONS, *COMPREHENSIONS)
# Expressions whose value is a new list, dict or set.
_CONTAINER_DISPLAYS = (gast.List, gast.Dict, gast.Set, gast.ListComp, gast.DictComp, gast.SetComp)


class PlainWrites(Transformer, statements_only=True):
    """Rewrite the writes to items in a block of `function`.

    `containers`: the local names that hold only lists, dicts and sets made in the function, and no tensors.
    """

    def __init__(self, context: Context, function: Any, namer: Namer) -> None:
        self.context = context
        self.namer = namer
        self.scope = scope_of(function)
        self.containers = _container_names(function, self.scope)

    def visit_Assign(self, node: Any) -> Any:
        """Route writes to items by an operator; the value and the parts of targets are evaluated once."""
        items = [item for target in node.targets for item in _written_items(target)]
        if all(map(self._is_item_of_container, items)):
            return node
        statements: list[Any] = []
        target, value = node.targets[0], node.value
        is_simple = isinstance(target, gast.Subscript) and _is_repeatable(target) and _is_repeatable(value)
        if len(node.targets) > 1 or (isinstance(target, gast.Subscript) and not is_simple):
            value = self._assign_fresh("value_", value, statements)
        for target in node.targets:
            statements += self._store_target(target, copy_tree(value))
        return [build.place(statement, node) for statement in statements]

    def visit_AnnAssign(self, node: Any) -> Any:
        if node.value is None or not isinstance(node.target, gast.Subscript):
            return node
        return self.visit_Assign(build.place(gast.Assign([node.target], node.value, None), node))

    def visit_AugAssign(self, node: Any) -> Any:
        """Route an augmented write to an item by an operator; its parts are evaluated once."""
        if not isinstance(node.target, gast.Subscript) or self._is_item_of_container(node.target):
            return node
        if _is_repeatable(node.target) and _is_repeatable(node.value):
            return build.place(self._try_write(node, copy_tree(node)), node)
        statements: list[Any] = []
        evaluated_target, original_target = self._evaluate_item(node.target, statements)
        read = gast.Subscript(evaluated_target.value, evaluated_target.slice, gast.Load())
        item = self._assign_fresh("value_", read, statements)
        statements.append(gast.AugAssign(build.store(item.id), node.op, node.value))
        statements.append(self._write_item(evaluated_target, original_target, build.name(item.id)))
        return [build.place(statement, node) for statement in statements]

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def _store_target(self, target: Any, value: Any) -> list[Any]:
        """Store the parts of a target from left to right."""
        if isinstance(target, gast.Subscript) and not self._is_item_of_container(target):
            statements: list[Any] = []
            evaluated_target = original_target = target
            if not _is_repeatable(target):
                evaluated_target, original_target = self._evaluate_item(target, statements)
            return [*statements, self._write_item(evaluated_target, original_target, value)]
        if isinstance(target, gast.Subscript) or not _written_items(target):
            return [build.assign(target, value)]
        name_nodes = [build.store(self.namer.fresh("item_")) for _ in target.elts]
        items = [
            gast.Starred(name, gast.Store()) if isinstance(item, gast.Starred) else name
            for item, name in zip(target.elts, name_nodes, strict=True)
        ]
        result: list[Any] = [build.assign(type(target)(items, gast.Store()), value)]
        for item, name in zip(target.elts, name_nodes, strict=True):
            result += self._store_target(item.value if isinstance(item, gast.Starred) else item, build.name(name.id))
        return result

    def _evaluate_item(self, target: Any, statements: list[Any]) -> tuple[Any, Any]:
        """Evaluate the container and the index of an item once, in Python's order, into fresh names.

        Return two targets: the item of the evaluated container, and the item of the variable or attribute that holds
        the container. The handler for tensors assigns to the second one, and so binds the variable or attribute anew.
        """
        holder = evaluated = target.value
        if isinstance(holder, gast.Subscript):
            evaluated, holder = self._evaluate_item(holder, statements)
            evaluated.ctx = holder.ctx = gast.Load()
        elif isinstance(holder, gast.Attribute) and not isinstance(holder.value, gast.Name):
            holder.value = self._assign_fresh("owner_", holder.value, statements)
        container = self._assign_fresh("target_", copy_tree(evaluated), statements)
        index = target.slice
        if not isinstance(index, gast.Constant):
            index = self._assign_fresh("index_", index_expression(index), statements)
        return gast.Subscript(container, index, gast.Store()), gast.Subscript(holder, copy_tree(index), gast.Store())

    def _assign_fresh(self, stem: str, value: Any, statements: list[Any]) -> Any:
        """Assign the value to a fresh name, and return that."""
        name = self.namer.fresh(stem)
        statements.append(build.assign(name, value))
        return build.name(name)

    def _write_item(self, evaluated_target: Any, original_target: Any, value: Any) -> Any:
        targets = evaluated_target, original_target
        return self._try_write(*[gast.Assign([copy_tree(target)], copy_tree(value), None) for target in targets])

    def _try_write(self, attempt: Any, alternative: Any) -> Any:
        """Return a `try` of `attempt`; its handler is `alternative`, which later passes rewrite like traced code."""
        error = build.operator("ItemAssignmentError")
        return gast.Try([attempt], [gast.ExceptHandler(error, None, [RewrittenStatements([alternative])])], [], [])

    def _is_item_of_container(self, target: Any) -> bool:
        """Return whether a target is an item of one of `containers`, so that its write needs no handler."""
        return isinstance(target.value, gast.Name) and target.value.id in self.containers


def has_item_target(statement: Any) -> bool:
    """Return whether `statement` is or contains a for or with statement with an item as its target."""
    for node in walk_scope(statement):
        targets = [node.target] if isinstance(node, (gast.For, gast.AsyncFor)) else []
        targets += [item.optional_vars for item in getattr(node, "items", ()) if item.optional_vars is not None]
        if any(map(_written_items, targets)):
            return True
    return False


def _container_names(function: Any, scope: Any) -> set[str]:
    """Return the local names that are bound to lists, dicts and sets created in the function, and to nothing else."""
    nodes = [node for statement in function.body for node in walk(statement)]
    names_by_id = {
        id(target): target.id
        for node in nodes
        if isinstance(node, gast.Assign) and isinstance(node.value, _CONTAINER_DISPLAYS)
        for target in node.targets
        if isinstance(target, gast.Name)
    }
    other_names = set(scope.parameters)
    for node in nodes:
        if isinstance(node, gast.Nonlocal):
            other_names.update(node.names)
        elif id(node) not in names_by_id:
            other_names.update(bindings(node))
    return scope.locals & set(names_by_id.values()) - other_names


def _written_items(target: Any) -> list[Any]:
    """Return the items that a target writes."""
    if isinstance(target, gast.Subscript):
        return [target]
    if isinstance(target, (gast.Tuple, gast.List)):
        return [item_target for item in target.elts for item_target in _written_items(item)]
    return _written_items(target.value) if isinstance(target, gast.Starred) else []


def _is_repeatable(node: Any) -> bool:
    """Return whether an expression can be evaluated twice with the same value and no side effects."""
    return not contains(node, _NOT_REPEATABLE)
