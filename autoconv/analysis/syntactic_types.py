"""Syntactic type inference: which expressions and names may be containers, sets, text or aliased arrays.

Conservative: an expression may be of a kind unless its syntax, or each assignment to the name, excludes that kind.
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
_SCALAR_BUILTINS = frozenset(
    {"abs", "bool", "chr", "float", "hash", "id", "int", "len", "ord", "repr", "round", "str", "sum"}
)


def may_have_parts(node: Any, scalars: Container[str] = ()) -> bool:
    """Return whether an expression may be a tuple, list, object or complex number.

    False for other constants, strings, most arithmetic, and names in `scalars`, the function's `number_names`.
    """
    return _may_satisfy(_may_have_parts, node, scalars)


def has_complex_constant(node: Any) -> bool:
    """Return whether an expression holds a complex constant."""
    return any(isinstance(part, gast.Constant) and type(part.value) is complex for part in walk(node))


def _may_have_parts(node: Any, scalars: Container[str]) -> bool:
    """Return whether an operator, a constant or a display may have parts, as `may_have_parts` does."""
    if isinstance(node, gast.BinOp):
        if not isinstance(node.op, (gast.Add, gast.Mult)):
            return False
        return may_have_parts(node.left, scalars) and may_have_parts(node.right, scalars)
    if isinstance(node, gast.Constant):
        return type(node.value) is complex
    return not isinstance(node, (gast.UnaryOp, gast.JoinedStr, gast.Compare))


def _may_satisfy(predicate: Callable[[Any, Container[str]], bool], node: Any, excluded_names: Container[str]) -> bool:
    """Return whether the value of an expression may satisfy a predicate.

    `predicate` decides for operators and displays; a name may satisfy it unless it is among `excluded_names`.
    """
    if isinstance(node, gast.Name):
        return node.id not in excluded_names
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
        return node.func.id not in _SCALAR_BUILTINS
    if isinstance(node, gast.NamedExpr):
        return _may_satisfy(predicate, node.value, excluded_names)
    if isinstance(node, gast.IfExp):
        return any(_may_satisfy(predicate, branch, excluded_names) for branch in (node.body, node.orelse))
    return predicate(node, excluded_names)


def number_names(function: Any) -> set[str]:
    """Return the names to which a function assigns only scalars, such as counters."""
    other_names = set(parameter_names(function.args))
    copies_by_name: defaultdict[str, set[str]] = defaultdict(set)  # from a name to the names that get its value
    candidates: set[str] = set()
    handled_target_ids: set[int] = set()
    for node in _body_nodes(function):
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            other_names.update(node.names)
        elif isinstance(node, gast.Assign) and all(isinstance(target, gast.Name) for target in node.targets):
            names = [target.id for target in node.targets]
            if isinstance(node.value, gast.Name):
                copies_by_name[node.value.id].update(names)
            elif may_have_parts(node.value):
                other_names.update(names)
            handled_target_ids.update(map(id, node.targets))
            candidates.update(names)
        elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            handled_target_ids.add(id(node.target))
        elif isinstance(node, gast.For) and isinstance(node.target, gast.Name) and _is_range_call(node.iter):
            handled_target_ids.add(id(node.target))
            candidates.add(node.target.id)
        elif id(node) not in handled_target_ids:
            other_names.update(bindings(node))
    return candidates - other_names - _copies_of(other_names | (copies_by_name.keys() - candidates), copies_by_name)


def _copies_of(names: set[str], copies_by_name: dict[str, set[str]]) -> set[str]:
    """Return the names that some of `names` are assigned to, directly or by way of other names."""
    copies: set[str] = set()
    pending = [*names]
    while pending:
        new_copies = copies_by_name.get(pending.pop(), set()) - copies
        copies |= new_copies
        pending += new_copies
    return copies


def _body_nodes(function: Any) -> list[Any]:
    """Return the nodes in the body of a function or lambda."""
    body = function.body if isinstance(function.body, list) else [function.body]
    return [node for statement in body for node in walk(statement)]


def _is_range_call(iterable: Any) -> bool:
    return isinstance(iterable, gast.Call) and isinstance(iterable.func, gast.Name) and iterable.func.id == "range"


_SET_OPERATORS = (gast.BitOr, gast.BitAnd, gast.BitXor, gast.Sub)


def may_be_sets(node: Any, non_sets: Container[str] = ()) -> bool:
    """Return whether a BinOp is `|`, `&`, `^` or `-` of possible sets; `non_sets`: the function's `non_set_names`."""
    if not isinstance(node.op, _SET_OPERATORS):
        return False
    return all(_may_satisfy(_may_be_set, operand, non_sets) for operand in (node.left, node.right))


def _may_be_set(node: Any, non_sets: Container[str]) -> bool:
    """Decide for operators, items and displays whether they may be a set."""
    if isinstance(node, gast.BinOp):
        return may_be_sets(node, non_sets)
    if isinstance(node, gast.Subscript):  # by several numbers or slices, it is a part of an array or a sequence
        return not isinstance(node.slice, (gast.Tuple, gast.Slice))
    return isinstance(node, (gast.Attribute, gast.Call, gast.Set, gast.SetComp, gast.BoolOp))


def non_set_names(function: Any) -> set[str]:
    """Return the names used in operations that sets lack: `2 * x`, `-x`, `x -= 1`, `xs[x]`, `range(x)`."""
    return number_names(function) | _names_among_operands(_body_nodes(function), _operands_that_are_no_sets)


def _names_among_operands(nodes: list[Any], operands_of: Callable[[gast.AST], list[gast.AST]]) -> set[str]:
    """Return the names among the operands that `operands_of` returns for each node."""
    return {operand.id for node in nodes for operand in operands_of(node) if isinstance(operand, gast.Name)}


def _operands_that_are_no_sets(node: gast.AST) -> list[gast.AST]:
    """Return the operands of a node that sets cannot be."""
    if isinstance(node, gast.BinOp) and not isinstance(node.op, _SET_OPERATORS):
        return [node.left, node.right]
    if isinstance(node, (gast.BinOp, gast.AugAssign)):
        pair = _operand_pair(node)
        return pair if any(isinstance(operand, gast.Constant) for operand in pair) else []
    if isinstance(node, gast.Subscript):
        return [node.slice]
    return _operands_of_signs(node) or _arguments_of_number_functions(node)


def _operand_pair(node: gast.AST) -> list[gast.AST]:
    """Return the two operands of a binary operator, or of an augmented assignment."""
    return [node.left, node.right] if isinstance(node, gast.BinOp) else [node.target, node.value]


def _operands_of_signs(node: gast.AST) -> list[gast.AST]:
    """Return the operand of `-x`, `+x` or `~x`; none for other nodes."""
    is_sign = isinstance(node, gast.UnaryOp) and isinstance(node.op, (gast.USub, gast.UAdd, gast.Invert))
    return [node.operand] if is_sign else []


def _arguments_of_number_functions(node: gast.AST) -> list[gast.AST]:
    """Return the arguments of `range(…)` and `abs(…)`; none for other nodes."""
    is_call_of_name = isinstance(node, gast.Call) and isinstance(node.func, gast.Name)
    return node.args if is_call_of_name and node.func.id in ("range", "abs") else []


_NUMBER_OPERATORS = (
    gast.Sub, gast.Div, gast.FloorDiv, gast.Pow, gast.LShift, gast.RShift, gast.BitAnd, gast.BitOr, gast.BitXor,
    gast.MatMult,
)  # fmt: skip


def non_text_names(function: Any) -> set[str]:
    """Return the names used in operations that text lacks: `x - y`, `-x`, `x + 1`, `x < 1`, `range(x)`."""
    return _names_among_operands(_body_nodes(function), _operands_that_are_no_text)


def _operands_that_are_no_text(node: gast.AST) -> list[gast.AST]:
    """Return the operands of a node that text cannot be, and the target of a loop over a range."""
    if isinstance(node, (gast.BinOp, gast.AugAssign)):
        pair = _operand_pair(node)
        adds_number = isinstance(node.op, gast.Add) and any(map(is_number_literal, pair))
        return pair if adds_number or isinstance(node.op, _NUMBER_OPERATORS) else []
    if isinstance(node, gast.Compare) and not any(isinstance(op, (gast.In, gast.NotIn)) for op in node.ops):
        compared_values = [node.left, *node.comparators]
        return compared_values if any(map(is_number_literal, compared_values)) else []
    if isinstance(node, gast.For) and _is_range_call(node.iter):
        return [node.target]
    return _operands_of_signs(node) or _arguments_of_number_functions(node)


def is_number_literal(node: Any) -> bool:
    """Return whether an expression is a literal number, with or without a sign."""
    if isinstance(node, gast.UnaryOp):
        node = node.operand
    return isinstance(node, gast.Constant) and isinstance(node.value, (int, float, complex))


def may_be_text(node: Any, non_text: Container[str]) -> bool:
    """Return whether an expression may be text; `non_text` are the function's `non_text_names`."""
    if isinstance(node, gast.BinOp):
        if isinstance(node.op, gast.Mod):
            return may_be_text(node.left, non_text)
        if isinstance(node.op, gast.Mult):  # text times a count, which is an int
            factors = [node.left, node.right]
            has_number_that_is_no_count = any(is_number_literal(x) and not _is_count(x) for x in factors)
            return any(may_be_text(factor, non_text) for factor in factors) and not has_number_that_is_no_count
        return isinstance(node.op, gast.Add) and may_be_text(node.left, non_text) and may_be_text(node.right, non_text)
    if isinstance(node, gast.Name):
        return node.id not in non_text
    if isinstance(node, gast.Constant):
        return isinstance(node.value, (str, bytes))
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
        return node.func.id not in _NUMBER_BUILTINS
    if isinstance(node, gast.IfExp):
        return may_be_text(node.body, non_text) or may_be_text(node.orelse, non_text)
    return not isinstance(node, (gast.UnaryOp, gast.Compare, gast.Tuple, gast.List, gast.Dict, gast.Set))


def _is_count(node: Any) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, int)


_NUMBER_BUILTINS = frozenset({"abs", "bool", "float", "hash", "id", "int", "len", "ord", "round", "sum"})


def may_change_in_place(node: Any, non_sets: Container[str], non_lists: Container[str]) -> bool:
    """Return whether `x += y`, with a name on the left, may mutate a list, dict or set.

    The last parameters are the function's `non_set_names` and `non_list_names`.
    """
    if isinstance(node.op, _SET_OPERATORS):
        return node.target.id not in non_sets and _may_satisfy(_may_be_set, node.value, non_sets)
    if not isinstance(node.op, (gast.Add, gast.Mult)) or node.target.id in non_lists:
        return False
    if isinstance(node.op, gast.Mult):
        return not isinstance(node.value, gast.Constant) or isinstance(node.value.value, int)
    if isinstance(node.value, gast.Constant):
        return isinstance(node.value.value, (str, bytes))
    return isinstance(node.value, gast.JoinedStr) or may_have_parts(node.value, non_lists)


def possibly_aliased_names(function: Any) -> set[str]:
    """Return the names that may hold an aliased array, which `x += y` would change for its aliases.

    These are parameters, and names assigned from attributes, items and calls, except names used where only a single
    number is allowed.
    """
    nodes = _body_nodes(function)
    possibly_aliased = set(parameter_names(function.args))
    copies_by_name: defaultdict[str, set[str]] = defaultdict(set)  # from a name to the names that it is assigned to
    bound_names: set[str] = set()
    handled_target_ids: set[int] = set()  # targets whose assignment has been examined
    for node in nodes:
        bound_names.update(bindings(node))
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            possibly_aliased.update(node.names)
        elif isinstance(node, gast.Assign):
            for target, value in [pair for full_target in node.targets for pair in _pairs(full_target, node.value)]:
                if not isinstance(target, gast.Name):
                    continue
                handled_target_ids.add(id(target))
                if isinstance(value, gast.Name):
                    copies_by_name[value.id].add(target.id)
                elif not _makes_new_value(value):
                    possibly_aliased.add(target.id)
        elif isinstance(node, gast.AugAssign) or (isinstance(node, gast.For) and _is_range_call(node.iter)):
            handled_target_ids.add(id(node.target))
        elif id(node) not in handled_target_ids:
            possibly_aliased.update(bindings(node))
    possibly_aliased |= _copies_of(possibly_aliased | (copies_by_name.keys() - bound_names), copies_by_name)
    return possibly_aliased - _scalar_names(nodes)


def _pairs(target: Any, value: Any) -> list[tuple[Any, Any]]:
    """Return (target, value) pairs of an assignment, element by element where both sides are tuples."""
    are_tuples = isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple)
    if not are_tuples or len(target.elts) != len(value.elts):
        return [(target, value)]
    if any(isinstance(part, gast.Starred) for part in (*target.elts, *value.elts)):
        return [(target, value)]
    return [pair for items in zip(target.elts, value.elts, strict=True) for pair in _pairs(*items)]


# NumPy functions and methods that return a new array.
_ALLOCATING_FUNCTIONS = frozenset(
    {
        "arange", "array", "copy", "empty", "empty_like", "eye", "full", "full_like", "linspace", "ones", "ones_like",
        "zeros", "zeros_like", "sum", "mean", "min", "max",
    }
)  # fmt: skip


def _makes_new_value(node: Any) -> bool:
    """Return whether the value of an expression is not an existing array."""
    if isinstance(node, gast.Call):
        if isinstance(node.func, gast.Name):
            return node.func.id in _SCALAR_BUILTINS
        return isinstance(node.func, gast.Attribute) and node.func.attr in _ALLOCATING_FUNCTIONS
    return not isinstance(node, _ALIASING_EXPRESSIONS)


# Expressions whose value may be an existing object.
_ALIASING_EXPRESSIONS = (
    gast.Attribute, gast.Await, gast.BoolOp, gast.IfExp, gast.Name, gast.NamedExpr, gast.Starred, gast.Subscript,
    gast.Yield, gast.YieldFrom,
)  # fmt: skip


_COMPARISONS = (gast.Eq, gast.NotEq, gast.Lt, gast.LtE, gast.Gt, gast.GtE)


def _scalar_names(nodes: list[Any]) -> set[str]:
    """Return the names used where an array of several elements would raise: `while n > 1`, `range(n)`, `x[:n]`."""
    result: set[str] = set()
    for node in nodes:
        operands: list[Any] = []
        if isinstance(node, (gast.If, gast.While, gast.IfExp, gast.Assert)):
            operands = _compared_operands(node.test)
        elif build.is_operation(node, "not_"):
            operands = _compared_operands(*node.args)
        elif build.is_operation(node, "and_", "or_"):
            operands = _compared_operands(*node.args[:-1])  # the last operand is a value, not a condition
        elif build.is_operation(node, "slice") or _is_range_call(node):
            operands += node.args
        elif isinstance(node, gast.Slice):
            operands = [node.lower, node.upper, node.step]
        while operands:
            operand = operands.pop()
            if isinstance(operand, gast.Name):
                result.add(operand.id)
            elif isinstance(operand, gast.BinOp):
                operands += [operand.left, operand.right]
    return result


def _compared_operands(*conditions: Any) -> list[Any]:
    """Return the operands of the comparisons in conditions."""
    result: list[Any] = []
    pending = [*conditions]
    while pending:
        part = pending.pop()
        if isinstance(part, gast.Compare) and isinstance(part.ops[0], _COMPARISONS):
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


def non_list_names(function: Any) -> set[str]:
    """Return the names used in operations that lists lack: `-x`, `x / 2`, `x - y`."""
    return number_names(function) | _names_among_operands(_body_nodes(function), _operands_that_are_no_lists)


def _operands_that_are_no_lists(node: gast.AST) -> list[gast.AST]:
    """Return the operands of a node that lists cannot be."""
    if isinstance(node, gast.BinOp) and not isinstance(node.op, (gast.Add, gast.Mult, gast.Mod)):
        return [node.left, node.right]
    return _operands_of_signs(node)
