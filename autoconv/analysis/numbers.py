"""Which expressions cannot be tuples, lists or objects, as far as the text of a function says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container
from typing import Any

import gast

from autoconv.analysis.scopes import bindings, parameter_names
from autoconv.syntax.tree import walk

# Builtins that give numbers or text.
_SIMPLE = frozenset({"abs", "bool", "chr", "float", "hash", "id", "int", "len", "ord", "repr", "round", "str", "sum"})


def may_have_parts(node: Any, numbers: Container[str] = ()) -> bool:
    """Whether an expression may be a tuple, list or object: not constants, text, most arithmetic and the `numbers`."""
    if isinstance(node, gast.Name):
        return node.id not in numbers
    if isinstance(node, gast.BinOp):
        if not isinstance(node.op, (gast.Add, gast.Mult)):
            return False
        return may_have_parts(node.left, numbers) and may_have_parts(node.right, numbers)
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
        return node.func.id not in _SIMPLE
    if isinstance(node, gast.NamedExpr):
        return may_have_parts(node.value, numbers)
    if isinstance(node, gast.IfExp):
        return may_have_parts(node.body, numbers) or may_have_parts(node.orelse, numbers)
    return not isinstance(node, (gast.Constant, gast.UnaryOp, gast.JoinedStr, gast.Compare))


def number_names(function: Any) -> set[str]:
    """The names that a function assigns nothing to but what has no parts: counters and the like."""
    body = function.body if isinstance(function.body, list) else [function.body]
    others = set(parameter_names(function.args))
    follows: defaultdict[str, set[str]] = defaultdict(set)  # a name, and those that it is assigned to
    found: set[str] = set()
    numbered: set[int] = set()
    for node in [node for statement in body for node in walk(statement)]:
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            others.update(node.names)
        elif isinstance(node, gast.Assign) and all(isinstance(target, gast.Name) for target in node.targets):
            names = [target.id for target in node.targets]
            if isinstance(node.value, gast.Name):
                follows[node.value.id].update(names)
            elif may_have_parts(node.value):
                others.update(names)
            numbered.update(map(id, node.targets))
            found.update(names)
        elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            numbered.add(id(node.target))
        elif isinstance(node, gast.For) and isinstance(node.target, gast.Name) and _counts(node.iter):
            numbered.add(id(node.target))
            found.add(node.target.id)
        elif id(node) not in numbered:
            others.update(bindings(node))
    pending = [*others, *(name for name in follows if name not in found)]
    while pending:
        for name in follows.pop(pending.pop(), ()):
            others.add(name)
            pending.append(name)
    return found - others


def _counts(iterable: Any) -> bool:
    return isinstance(iterable, gast.Call) and isinstance(iterable.func, gast.Name) and iterable.func.id == "range"
