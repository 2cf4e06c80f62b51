"""Writes to items in code that runs while nothing is traced: as they stand, unless what is written turns out to
be a tensor, which cannot be changed and is replaced.

    x[i] = v
    # becomes
    try:
        x[i] = v
    except ag__.ItemAssignmentError:
        x = ag__.set_item(x, (i,), v)
"""

from __future__ import annotations

import copy
from typing import Any

import gast

from autoconv.analysis.escapes import LOOPS
from autoconv.analysis.scopes import bindings, scope_of
from autoconv.passes.base import Context
from autoconv.syntax import build
from autoconv.syntax.names import Namer
from autoconv.syntax.tree import COMPREHENSIONS, FUNCTIONS, Rewritten, Transformer, contains, walk, walk_scope

_ONCE = (gast.Call, gast.Await, gast.Yield, gast.YieldFrom, gast.NamedExpr, *FUNCTIONS, *COMPREHENSIONS)
_CONTAINERS = (gast.List, gast.Dict, gast.Set, gast.ListComp, gast.DictComp, gast.SetComp)


class PlainWrites(Transformer):
    """Rewrites the writes to items in a block of `function`."""

    def __init__(self, context: Context, function: Any, namer: Namer) -> None:
        super().__init__()
        self.context = context
        self.namer = namer
        self.scope = scope_of(function)
        self.containers = _containers(function, self.scope)

    def visit_Assign(self, node: Any) -> Any:
        writes = [t for target in node.targets for t in _items(target) if not self._is_container(t)]
        if not writes:
            return node
        if len(node.targets) > 1:
            return self._rewritten(node)
        target = node.targets[0]
        if isinstance(target, gast.Subscript):
            return self._write(node, target) if _repeats(target) else self._rewritten(node)
        if not all(map(_repeats, writes)) or any(isinstance(item, gast.Starred) for item in target.elts):
            return self._rewritten(node)
        return self._unpacked(node, target)

    def visit_AnnAssign(self, node: Any) -> Any:
        if node.value is None or not any(not self._is_container(t) for t in _items(node.target)):
            return node
        return self._rewritten(node)

    def visit_AugAssign(self, node: Any) -> Any:
        if not any(not self._is_container(t) for t in _items(node.target)):
            return node
        if not _repeats(node.target) or not _repeats(node.value):
            return self._rewritten(node)
        return self._attempt(node, copy.deepcopy(node))

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def _write(self, node: Any, target: Any) -> list[Any]:
        """Python evaluates the value before what it is assigned to: it may have a name of its own."""
        before: list[Any] = []
        value = node.value
        if not _repeats(value):
            temporary = self.namer.fresh("value_")
            before.append(build.placed(build.assign(temporary, value), node))
            value = build.placed(build.name(temporary), node)
        plain = build.placed(gast.Assign([target], value, None), node)
        return [*before, self._attempt(plain, copy.deepcopy(plain))]

    def _unpacked(self, node: Any, target: Any) -> list[Any]:
        """`x[i], x[j] = a, b` writes from left to right."""
        names = [build.store(self.namer.fresh("item_")) for _ in target.elts]
        statements = [build.placed(gast.Assign([type(target)(names, gast.Store())], node.value, None), node)]
        for item, name in zip(target.elts, names, strict=True):
            part = build.placed(gast.Assign([item], build.name(name.id), None), node)
            found = self.visit(part)
            statements += found if isinstance(found, list) else [found]
        return statements

    def _attempt(self, plain: Any, again: Any) -> Any:
        error = build.operator("ItemAssignmentError")
        handler = gast.ExceptHandler(error, None, [self._rewritten(again)])
        return build.placed(gast.Try([plain], [handler], [], []), plain)

    def _rewritten(self, node: Any) -> Any:
        """The statement as the passes make it."""
        return build.placed(Rewritten([node]), node)

    def _is_container(self, target: Any) -> bool:
        return isinstance(target.value, gast.Name) and target.value.id in self.containers


def has_item_target(statement: Any) -> bool:
    """Whether a for or a with assigns to an item by itself."""
    for node in walk_scope(statement):
        targets = [node.target] if isinstance(node, LOOPS[1:]) else []
        targets += [item.optional_vars for item in getattr(node, "items", ()) if item.optional_vars is not None]
        if any(True for target in targets for _ in _items(target)):
            return True
    return False


def _containers(function: Any, scope: Any) -> set[str]:
    """The local names that only ever stand for a list, dict or set made here."""
    nodes = [node for statement in function.body for node in walk(statement)]
    made = {
        id(target): target.id
        for node in nodes
        if isinstance(node, gast.Assign) and isinstance(node.value, _CONTAINERS)
        for target in node.targets
        if isinstance(target, gast.Name)
    }
    others = set(scope.parameters)
    for node in nodes:
        if isinstance(node, gast.Nonlocal):
            others.update(node.names)
        elif id(node) not in made:
            others.update(bindings(node))
    return scope.locals & set(made.values()) - others


def _items(target: Any) -> list[Any]:
    """The items that a target writes."""
    if isinstance(target, gast.Subscript):
        return [target]
    if isinstance(target, (gast.Tuple, gast.List)):
        return [found for item in target.elts for found in _items(item)]
    return _items(target.value) if isinstance(target, gast.Starred) else []


def _repeats(node: Any) -> bool:
    """Whether evaluating an expression a second time gives the same and does nothing else."""
    return not contains(node, _ONCE)
