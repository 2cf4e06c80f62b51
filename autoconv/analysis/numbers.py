"""Syntactic type inference: expressions that cannot be tuples, lists, sets or objects.

Conservative: a name may hold anything unless every assignment to it in the function excludes that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container
from typing import Any

import gast

from autoconv.analysis.scopes import bindings, parameter_names
from autoconv.syntax import build
from autoconv.syntax.tree import walk

# Builtins that return numbers or strings.
_SIMPLE = frozenset({"abs", "bool", "chr", "float", "hash", "id", "int", "len", "ord", "repr", "round", "str", "sum"})


def may_have_parts(node: Any, numbers: Container[str] = ()) -> bool:
    """Return whether an expression may be a tuple, list, object or complex number.

    False for other constants, strings, most arithmetic and the names in `numbers`.
    """
    return _may_be(_has_parts, node, numbers)


def has_complex_constant(node: Any) -> bool:
    """Return whether an expression holds a complex constant."""
    return any(isinstance(part, gast.Constant) and type(part.value) is complex for part in walk(node))


def _has_parts(node: Any, numbers: Container[str]) -> bool:
    if isinstance(node, gast.BinOp):
        if not isinstance(node.op, (gast.Add, gast.Mult)):
            return False
        return may_have_parts(node.left, numbers) and may_have_parts(node.right, numbers)
    if isinstance(node, gast.Constant):
        return type(node.value) is complex
    return not isinstance(node, (gast.UnaryOp, gast.JoinedStr, gast.Compare))


def _may_be(kind: Callable[[Any, Container[str]], bool], node: Any, others: Container[str]) -> bool:
    """Return whether an expression may be of a kind.

    `kind` decides for operators and displays; a name may be unless it is among `others`.
    """
    if isinstance(node, gast.Name):
        return node.id not in others
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
        return node.func.id not in _SIMPLE
    if isinstance(node, gast.NamedExpr):
        return _may_be(kind, node.value, others)
    if isinstance(node, gast.IfExp):
        return _may_be(kind, node.body, others) or _may_be(kind, node.orelse, others)
    return kind(node, others)


def number_names(function: Any) -> set[str]:
    """Return the names whose assignments are all of values without parts: counters and the like."""
    body = function.body if isinstance(function.body, list) else [function.body]
    others = set(parameter_names(function.args))
    follows: defaultdict[str, set[str]] = defaultdict(set)  # from a name to the names that it is assigned to
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
        elif isinstance(node, gast.For) and isinstance(node.target, gast.Name) and _iterates_over_numbers(node.iter):
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


def _iterates_over_numbers(iterable: Any) -> bool:
    return isinstance(iterable, gast.Call) and isinstance(iterable.func, gast.Name) and iterable.func.id == "range"


_OF_SETS = (gast.BitOr, gast.BitAnd, gast.BitXor, gast.Sub)


def may_be_sets(node: Any, arithmetic: Container[str] = ()) -> bool:
    """Return whether both operands of an operator may be sets; for `arithmetic` see `arithmetic_names`."""
    sides = node.left, node.right
    return isinstance(node.op, _OF_SETS) and all(_may_be(_set, side, arithmetic) for side in sides)


def _set(node: Any, arithmetic: Container[str]) -> bool:
    if isinstance(node, gast.BinOp):
        return may_be_sets(node, arithmetic)
    if isinstance(node, gast.Subscript):  # a value indexed by several numbers or slices is an array or a sequence
        return not isinstance(node.slice, (gast.Tuple, gast.Slice))
    return isinstance(node, (gast.Attribute, gast.Call, gast.Set, gast.SetComp, gast.BoolOp))


def arithmetic_names(function: Any) -> set[str]:
    """Return the names used in operations that sets lack: `2 * x`, `-x`, `x + 1`, `x -= 1` with a number."""
    body = function.body if isinstance(function.body, list) else [function.body]
    result = number_names(function)
    for node in [node for statement in body for node in walk(statement)]:
        sides: list[Any] = []
        if isinstance(node, gast.BinOp) and not isinstance(node.op, _OF_SETS):
            sides = [node.left, node.right]
        elif isinstance(node, (gast.BinOp, gast.AugAssign)):
            pair = [node.left, node.right] if isinstance(node, gast.BinOp) else [node.target, node.value]
            sides = pair if any(isinstance(side, gast.Constant) for side in pair) else []
        elif isinstance(node, gast.UnaryOp) and isinstance(node.op, (gast.USub, gast.UAdd, gast.Invert)):
            sides = [node.operand]
        elif isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Name):
            sides = [node.slice]
        elif isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in ("range", "abs"):
            sides = node.args
        result.update(side.id for side in sides if isinstance(side, gast.Name))
    return result


_OF_NUMBERS = (
    gast.Sub, gast.Div, gast.FloorDiv, gast.Pow, gast.LShift, gast.RShift, gast.BitAnd, gast.BitOr, gast.BitXor,
    gast.MatMult,
)  # fmt: skip


def numeric_names(function: Any) -> set[str]:
    """Return the names used in operations that text lacks: `x - y`, `-x`, `x + 1`, `x < 1`, `range(x)`."""
    body = function.body if isinstance(function.body, list) else [function.body]
    result: set[str] = set()
    for node in [node for statement in body for node in walk(statement)]:
        sides: list[Any] = []
        if isinstance(node, (gast.BinOp, gast.AugAssign)):
            pair = [node.left, node.right] if isinstance(node, gast.BinOp) else [node.target, node.value]
            added = isinstance(node.op, gast.Add) and any(map(is_number, pair))
            sides = pair if added or isinstance(node.op, _OF_NUMBERS) else []
        elif isinstance(node, gast.UnaryOp) and isinstance(node.op, (gast.USub, gast.UAdd, gast.Invert)):
            sides = [node.operand]
        elif isinstance(node, gast.Compare) and not any(isinstance(op, (gast.In, gast.NotIn)) for op in node.ops):
            pair = [node.left, *node.comparators]
            sides = pair if any(map(is_number, pair)) else []
        elif isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in ("range", "abs"):
            sides = node.args
        elif isinstance(node, gast.For) and _iterates_over_numbers(node.iter):
            sides = [node.target]
        result.update(side.id for side in sides if isinstance(side, gast.Name))
    return result


def is_number(node: Any) -> bool:
    """Return whether an expression is a number as it stands there."""
    if isinstance(node, gast.UnaryOp):
        node = node.operand
    return isinstance(node, gast.Constant) and isinstance(node.value, (int, float, complex))


def may_be_text(node: Any, computed: Container[str]) -> bool:
    """Return whether an expression may be text; `computed` are the function's `numeric_names`."""
    if isinstance(node, gast.BinOp):
        if isinstance(node.op, gast.Mod):
            return may_be_text(node.left, computed)
        if isinstance(node.op, gast.Mult):  # text times a count
            sides = [node.left, node.right]
            counted = [side for side in sides if not may_be_text(side, computed)]
            return len(counted) < 2 and not any(is_number(side) and not _is_count(side) for side in sides)
        return isinstance(node.op, gast.Add) and may_be_text(node.left, computed) and may_be_text(node.right, computed)
    if isinstance(node, gast.Name):
        return node.id not in computed
    if isinstance(node, gast.Constant):
        return isinstance(node.value, (str, bytes))
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
        return node.func.id not in _NUMBERS
    if isinstance(node, gast.IfExp):
        return may_be_text(node.body, computed) or may_be_text(node.orelse, computed)
    return not isinstance(node, (gast.UnaryOp, gast.Compare, gast.Tuple, gast.List, gast.Dict, gast.Set))


def _is_count(node: Any) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, int)


_NUMBERS = frozenset({"abs", "bool", "float", "hash", "id", "int", "len", "ord", "round", "sum"})


def may_change_in_place(node: Any, arithmetic: Container[str], numbers: Container[str]) -> bool:
    """Return whether `x += y`, with a name on the left, may mutate a list, dict or set."""
    if isinstance(node.op, _OF_SETS):
        return node.target.id not in arithmetic and _may_be(_set, node.value, arithmetic)
    if not isinstance(node.op, (gast.Add, gast.Mult)) or node.target.id in numbers:
        return False
    if isinstance(node.op, gast.Mult):
        return not (isinstance(node.value, gast.Constant) and not isinstance(node.value.value, int))
    if isinstance(node.value, gast.Constant):
        return isinstance(node.value.value, (str, bytes))
    return isinstance(node.value, gast.JoinedStr) or may_have_parts(node.value, numbers)


def shared_names(function: Any) -> set[str]:
    """Return the names that may hold an aliased array, which `x += y` would change for its aliases.

    These are parameters, and names assigned from attributes, items and calls, without evident single numbers.
    """
    body = function.body if isinstance(function.body, list) else [function.body]
    nodes = [node for statement in body for node in walk(statement)]
    names = set(parameter_names(function.args))
    follows: defaultdict[str, set[str]] = defaultdict(set)  # from a name to the names that it is assigned to
    bound: set[str] = set()
    seen: set[int] = set()
    for node in nodes:
        bound.update(bindings(node))
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            names.update(node.names)
        elif isinstance(node, gast.Assign):
            for target, value in [pair for written in node.targets for pair in _pairs(written, node.value)]:
                if not isinstance(target, gast.Name):
                    continue
                seen.add(id(target))
                if isinstance(value, gast.Name):
                    follows[value.id].add(target.id)
                elif not _is_new(value):
                    names.add(target.id)
        elif isinstance(node, gast.AugAssign) or (isinstance(node, gast.For) and _iterates_over_numbers(node.iter)):
            seen.add(id(node.target))
        elif id(node) not in seen:
            names.update(bindings(node))
    pending = [*names, *(follows.keys() - bound)]
    while pending:
        for name in follows.pop(pending.pop(), ()):
            names.add(name)
            pending.append(name)
    return names - _single_numbers(nodes)


def _pairs(target: Any, value: Any) -> list[tuple[Any, Any]]:
    """Return (target, value) pairs, taken apart where both are tuples."""
    tuples = isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple) and len(target.elts) == len(value.elts)
    if not tuples or any(isinstance(part, gast.Starred) for part in (*target.elts, *value.elts)):
        return [(target, value)]
    return [pair for parts in zip(target.elts, value.elts, strict=True) for pair in _pairs(*parts)]


# NumPy functions and methods that return a new array.
_RETURNING_NEW = frozenset(
    {
        "arange", "array", "copy", "empty", "empty_like", "eye", "full", "full_like", "linspace", "ones", "ones_like",
        "zeros", "zeros_like", "sum", "mean", "min", "max",
    }
)  # fmt: skip


def _is_new(node: Any) -> bool:
    """Return whether the value of an expression is not an existing array."""
    if isinstance(node, gast.Call):
        if isinstance(node.func, gast.Name):
            return node.func.id in _SIMPLE
        return isinstance(node.func, gast.Attribute) and node.func.attr in _RETURNING_NEW
    return not isinstance(node, _EXISTING)


# Expressions whose value may be an existing object.
_EXISTING = (
    gast.Attribute, gast.Await, gast.BoolOp, gast.IfExp, gast.Name, gast.NamedExpr, gast.Starred, gast.Subscript,
    gast.Yield, gast.YieldFrom,
)  # fmt: skip


_ORDERING = (gast.Eq, gast.NotEq, gast.Lt, gast.LtE, gast.Gt, gast.GtE)


def _single_numbers(nodes: list[Any]) -> set[str]:
    """Return the names used as no array of two elements can be: `while n > 1`, `range(n)`, `x[:n]`."""
    result: set[str] = set()
    for node in nodes:
        sides: list[Any] = []
        if isinstance(node, (gast.If, gast.While, gast.IfExp, gast.Assert)):
            sides = _compared_operands(node.test)
        elif build.is_operation(node, "and_", "or_", "not_"):
            sides = _compared_operands(*node.args[: None if build.is_operation(node, "not_") else -1])
        elif build.is_operation(node, "slice") or _iterates_over_numbers(node):
            sides += node.args
        elif isinstance(node, gast.Slice):
            sides = [node.lower, node.upper, node.step]
        while sides:
            side = sides.pop()
            if isinstance(side, gast.Name):
                result.add(side.id)
            elif isinstance(side, gast.BinOp):
                sides += [side.left, side.right]
    return result


def _compared_operands(*conditions: Any) -> list[Any]:
    """Return the operands of the comparisons in conditions."""
    result: list[Any] = []
    pending = [*conditions]
    while pending:
        part = pending.pop()
        if isinstance(part, gast.Compare) and isinstance(part.ops[0], _ORDERING):
            result += [part.left, *part.comparators]
        elif build.is_operation(part, "eq", "ne", "lt", "le", "gt", "ge"):
            result += part.args
        elif isinstance(part, gast.BoolOp):
            pending += part.values
        elif isinstance(part, gast.UnaryOp) and isinstance(part.op, gast.Not):
            pending.append(part.operand)
        elif build.is_operation(part, "and_", "or_", "not_", "test"):
            pending += part.args
        elif isinstance(part, gast.Lambda):
            pending.append(part.body)
    return result


def computed_names(function: Any) -> set[str]:
    """Return the names used in operations that lists lack: `-x`, `x / 2`, `x - y`."""
    body = function.body if isinstance(function.body, list) else [function.body]
    result = number_names(function)
    for node in [node for statement in body for node in walk(statement)]:
        sides: list[Any] = []
        if isinstance(node, gast.BinOp) and not isinstance(node.op, (gast.Add, gast.Mult, gast.Mod)):
            sides = [node.left, node.right]
        elif isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not):
            sides = [node.operand]
        result.update(side.id for side in sides if isinstance(side, gast.Name))
    return result
