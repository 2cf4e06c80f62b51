"""Route displays of lists, dicts and sets through an operator, so that a graph can hold them.

def f(x, **options):
    xs = [x, *x]
    first, *rest = xs
    return {x: xs, **x}, options.pop('a')
# becomes
def f(x, **options):
    options = ag__.new(options)
    xs = ag__.new([x, *ag__.spread(x)])
    first, rest = ag__.unpack_target(xs, 'first, *rest')
    return ag__.new_dict(x, xs, ag__.SPREAD, x), options.pop('a')
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.passes.base import Context, FunctionPass
from autoconv.passes.effects import index_expression
from autoconv.syntax import build

# Expressions whose number of items is known in the source, so that no operator has to spread them (`*(a, b)`).
_KINDS_OF_KNOWN_LENGTH = (gast.List, gast.Tuple, gast.Constant)


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Displays(context).visit(tree)


class Displays(FunctionPass):
    """Route displays of lists, dicts and sets, and assignments to starred targets, through operators."""

    def rewrite_function(self, node: Any) -> Any:
        """Treat the dict of a `**` parameter, which is new in each call, as a display, unless it is only passed on."""
        keyword_parameter = node.args.kwarg
        is_used = keyword_parameter is not None and _is_read(node.body, keyword_parameter.id)
        node = super().rewrite_function(node)
        if is_used:
            creation = build.operate("new", build.name(keyword_parameter.id))
            start = 1 if gast.get_docstring(node) is not None else 0
            assignment = build.assign(build.store(keyword_parameter.id), creation)
            node.body.insert(start, build.place(assignment, node.body[start]))
        return node

    def visit_List(self, node: Any) -> Any:
        self.visit_children(node)
        return build.wrap("new", node) if isinstance(node.ctx, gast.Load) else node

    def visit_Tuple(self, node: Any) -> Any:
        self.visit_children(node)
        has_star = any(isinstance(item, gast.Starred) for item in node.elts)
        if not has_star or not isinstance(node.ctx, gast.Load):
            return node
        return build.wrap("new", build.place(index_expression(node), node))  # an index may have slices among its items

    def visit_Set(self, node: Any) -> Any:
        """Return `ag__.new` of a set of constants, else `ag__.new_set` of the items."""
        if _constant_set(node) is not None:
            return build.wrap("new", node)
        self.visit_children(node)
        for item in node.elts:
            if isinstance(item, gast.Starred) and not isinstance(item.value, _KINDS_OF_KNOWN_LENGTH):
                iterable = item.value.args[0] if build.is_operation(item.value, "spread") else item.value
                item.value = build.wrap("spread_in_set", iterable)
        return build.place(build.operate("new_set", *node.elts), node)

    def visit_Dict(self, node: Any) -> Any:
        """Return `ag__.new` of a dict with constant keys, else `ag__.new_dict` of the keys and values in turn."""
        self.visit_children(node)
        if all(isinstance(key, gast.Constant) for key in node.keys):
            return build.wrap("new", node)
        pairs = zip(node.keys, node.values, strict=True)
        keys_and_values = [part for key, value in pairs for part in (key or build.operator("SPREAD"), value)]
        return build.place(build.operate("new_dict", *keys_and_values), node)

    def visit_For(self, node: Any) -> Any:
        """Leave a display that is only iterated over; move a target with a star to an assignment in the body."""
        node.target = self.visit(node.target)
        node.iter = self._visit_iterable_of_loop(node.iter)
        if _has_starred_item(node.target):
            item = self.namer.fresh("item_")
            node.body.insert(0, build.place(build.assign(node.target, build.name(item)), node))
            node.target = build.place(build.store(item), node)
        node.body = self.visit_list(node.body)
        node.orelse = self.visit_list(node.orelse)
        return node

    def visit_comprehension(self, node: Any) -> Any:
        node.iter = self._visit_iterable_of_loop(node.iter)
        node.ifs = self.visit_list(node.ifs)
        return node

    def visit_Starred(self, node: Any) -> Any:
        node.value = self._visit_iterable(node.value)
        if isinstance(node.ctx, gast.Load) and not isinstance(node.value, _KINDS_OF_KNOWN_LENGTH):
            node.value = build.wrap("spread", node.value)
        return node

    def visit_Assign(self, node: Any) -> Any:
        """Unpack the value by `ag__.unpack_target` for a target with a star."""
        unpacks = all(isinstance(target, (gast.Tuple, gast.List)) for target in node.targets)
        node.targets = [self.visit(target) for target in node.targets]
        node.value = self._visit_iterable(node.value) if unpacks else self.visit(node.value)
        if len(node.targets) == 1 and _has_starred_item(node.targets[0]):
            target = node.targets[0]
            node.targets[0] = build.place(gast.Tuple(list(map(_without_star, target.elts)), gast.Store()), target)
            text = build.constant(_target_text(target))
            node.value = build.place(build.operate("unpack_target", node.value, text), target)
        return node

    def visit_Call(self, node: Any) -> Any:
        """Leave the operand of an operator that takes any iterable, and starred arguments, as they are."""
        if build.is_operation(node, "new"):
            node.args = [self.visit_children(node.args[0])]
            return node
        if build.is_operation(node, "iterate"):
            node.args = [self._visit_iterable_of_loop(node.args[0])]
            return node
        if build.is_operation(node, "in_", "not_in"):
            node.args = [self.visit(node.args[0]), self._visit_iterable(node.args[1])]
            return node
        node = self.visit_children(node)
        for argument in node.args:  # a call passes the items of a starred argument one by one, which needs no copy
            if isinstance(argument, gast.Starred) and build.is_operation(argument.value, "spread"):
                argument.value = argument.value.args[0]
        return node

    def _visit_iterable_of_loop(self, node: gast.AST) -> Any:
        """Rewrite what a loop iterates over, where Python makes a frozenset of a set display of constants."""
        elements = _constant_set(node)
        return self._visit_iterable(node) if elements is None else build.place(build.constant(elements), node)

    def _visit_iterable(self, node: Any) -> Any:
        """Rewrite an expression whose items are only iterated over; a list display without stars stays one."""
        is_display = isinstance(node, gast.List) and not any(isinstance(item, gast.Starred) for item in node.elts)
        return self.visit_children(node) if is_display else self.visit(node)


def _constant_set(node: gast.AST) -> frozenset[Any] | None:
    """Return the elements of a set display whose items are constants or tuples of them; None for another expression."""
    if not isinstance(node, gast.Set):
        return None
    try:
        return frozenset(map(_constant_value, node.elts))
    except ValueError:
        return None


def _constant_value(node: gast.AST) -> Any:
    """Return the value of a constant, its negative, or a tuple of such; raise ValueError for other expressions."""
    match node:
        case gast.Constant():
            return node.value
        case gast.Tuple():
            return tuple(map(_constant_value, node.elts))
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() | float() | complex())):
            return -node.operand.value
    raise ValueError


def _is_read(body: list[Any], name: str) -> bool:
    """Return whether a name is read other than as `**name` in calls."""
    nodes = [node for statement in body for node in gast.walk(statement)]
    passed_on_ids = {id(node.value) for node in nodes if isinstance(node, gast.keyword) and node.arg is None}
    return any(isinstance(node, gast.Name) and node.id == name and id(node) not in passed_on_ids for node in nodes)


def _has_starred_item(target: Any) -> bool:
    """Return whether an assignment target contains a starred name."""
    elements = target.elts if isinstance(target, (gast.Tuple, gast.List)) else ()
    return any(isinstance(element, gast.Starred) for element in elements)


def _without_star(target: Any) -> Any:
    return target.value if isinstance(target, gast.Starred) else target


def _target_text(target: Any) -> str:
    """Return the target as text, `first, *rest`, with numbered names for parts that are no names."""
    texts = []
    for index, item in enumerate(target.elts):
        variable = _without_star(item)
        name = variable.id if isinstance(variable, gast.Name) else f"item_{index}"
        texts.append(f"*{name}" if isinstance(item, gast.Starred) else name)
    return ", ".join(texts) + ("," if len(texts) == 1 else "")
