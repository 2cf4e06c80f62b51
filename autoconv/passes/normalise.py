"""Desugar shorthands: chained comparisons, augmented assignment to attributes and items, conditional walruses,
zero-argument super, loop targets that are not names.

    def f(o, x, y):
        o.n += 1
        return 0 < x.g() < y
    # becomes
    def f(o, x, y):
        o.n = ag__.iadd(o.n, 1)
        return 0 < (middle_ := x.g()) and middle_ < y
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import gast

from autoconv.analysis.liveness import has_loop_exit
from autoconv.analysis.pinned_constructs import deferral_obstacle, pinning_construct
from autoconv.analysis.scopes import scope_of
from autoconv.passes.base import Context, FunctionPass, mangle
from autoconv.passes.effects import as_index
from autoconv.passes.linearise import Lineariser
from autoconv.syntax import build
from autoconv.syntax.tree import contains, copy_tree, walk, walk_scope

INPLACE = {
    gast.Add: "iadd", gast.Sub: "isub", gast.Mult: "imul", gast.MatMult: "imatmul", gast.Div: "itruediv",
    gast.FloorDiv: "ifloordiv", gast.Mod: "imod", gast.Pow: "ipow", gast.LShift: "ilshift",
    gast.RShift: "irshift", gast.BitAnd: "iand", gast.BitOr: "ior", gast.BitXor: "ixor",
}  # fmt: skip

_NO_NAMES: frozenset[str] = frozenset()


def is_pinned(node: Any) -> bool:
    """Return whether anything in a statement is tied to its frame."""
    return bool(pinning_construct(node))


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Normalise(context).visit(tree)


_LONGEST_CHAIN = 200  # comparisons in one chain; each opens a parenthesis, and Python's limit is 200 nested ones


class Normalise(FunctionPass):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.in_comprehension = 0
        self.in_iterable = 0

    def rewrite_function(self, node: Any) -> Any:
        node.body = self.visit_list(declarations_first(node.body))
        return node

    def visit_Compare(self, node: Any) -> Any:
        self.generic(node)
        if len(node.ops) == 1:
            return node
        if len(node.ops) > _LONGEST_CHAIN:
            raise self.context.unsupported(
                "a chain of so many comparisons is nested too deeply to be converted",
                node,
                "several chains, with `and` between them",
            )
        return self._split(node, node.left, list(node.ops), list(node.comparators))

    def _split(self, node: Any, left: Any, operators: list[Any], comparators: list[Any]) -> Any:
        first, rest = comparators[0], comparators[1:]
        if not rest:
            return build.place(gast.Compare(left, operators, comparators), node)
        if self.in_comprehension and not isinstance(first, (gast.Constant, gast.Name)):
            if not deferral_obstacle(node):
                return self._split_in_comprehension(node, left, operators, comparators)
            if self.in_iterable:
                return build.place(gast.Compare(left, operators, comparators), node)
        if isinstance(first, (gast.Constant, gast.Name)):
            constant = isinstance(first, gast.Constant)
            again: Any = build.constant(first.value) if constant else build.name(first.id)
        else:
            temporary = self.context.namer.free("middle_")
            first = gast.NamedExpr(build.store(temporary), first)
            again = build.name(temporary)
        head = gast.Compare(left, operators[:1], [first])
        return build.place(
            gast.BoolOp(gast.And(), [head, self._split(node, again, operators[1:], rest)]), node
        )

    def _split_in_comprehension(self, node: Any, left: Any, operators: list[Any], comparators: list[Any]) -> Any:
        """Split `left < middle < right` with a lambda's parameter as temporary: a walrus would bind in the function."""
        names = self.context.namer.free("left_"), self.context.namer.free("middle_")
        again = build.name(names[1])
        head = build.place(gast.Compare(build.name(names[0]), operators[:1], [again]), node)
        tail = self._split(node, build.name(names[1]), operators[1:], comparators[1:])
        both = build.place(gast.BoolOp(gast.And(), [head, tail]), node)
        function = self.context.mark(build.place(gast.Lambda(build.arguments(list(names)), both), node))
        return build.place(build.operate("let", function, left, comparators[0]), node)

    def visit_Try(self, node: Any) -> Any:
        """Move the else clause behind the statement, guarded by a flag that the body sets at its end."""
        if not node.orelse or is_pinned(node):
            return self.generic(node)
        completed = self.namer.fresh("completed_")
        before = build.assign(completed, build.constant(False))
        node.body.append(build.place(build.assign(completed, build.constant(True)), node.body[-1]))
        behind = gast.If(build.name(completed), node.orelse, [])
        self.context.mark(behind)
        final, node.finalbody, node.orelse = node.finalbody, [], []
        parts = [build.place(before, node), node, build.place(behind, node)]
        if not final:
            return self.visit_list(parts)
        return self.generic(build.place(gast.Try(parts, [], [], final), node))

    def visit_GeneratorExp(self, node: Any) -> Any:
        self.in_comprehension += 1
        self.generic(node)
        self.in_comprehension -= 1
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp

    def visit_comprehension(self, node: Any) -> Any:
        """Keep a chained comparison that needs a walrus in an iterable, where Python forbids one."""
        node.target = self.visit(node.target)
        self.in_iterable += 1
        node.iter = self.visit(node.iter)
        self.in_iterable -= 1
        node.ifs = self.visit_list(node.ifs)
        return node

    def visit_AugAssign(self, node: Any) -> Any:
        self.generic(node)
        target = node.target
        if isinstance(target, gast.Name):
            return self._hoisted(node, "value")
        of_attribute = isinstance(target, gast.Subscript) and isinstance(target.value, gast.Attribute)
        if of_attribute and not deferral_obstacle(node.value):
            return build.place(self._augment_item_of(node, target), node)
        before: list[Any] = []
        behind: list[Any] = []
        changing = self._may_change(node.value)
        if isinstance(target, gast.Attribute):
            owner = self._once(target.value, before, "target_", changing)
            read: Any = gast.Attribute(owner(), target.attr, gast.Load())
            write: Any = gast.Attribute(owner(), target.attr, gast.Store())
        else:
            if of_attribute:
                owner, attribute = (
                    self._once(target.value.value, before, "target_", changing),
                    target.value.attr,
                )
                base: Any = lambda: gast.Attribute(owner(), attribute, gast.Load())
            elif isinstance(target.value, gast.Subscript) and _can_be_put_back(target.value):
                base = self._item_once(target.value, before, behind, changing)
            else:  # a name is written directly, so that a tensor in it can be replaced
                base = self._once(target.value, before, "target_", _NO_NAMES)
            index = self._index_once(target.slice, before, changing)
            read = gast.Subscript(base(), index(), gast.Load())
            write = gast.Subscript(base(), index(), gast.Store())
        value = build.operate(INPLACE[type(node.op)], read, node.value)
        statements = [*before, build.assign(write, value), *behind]
        return [build.place(statement, node) for statement in statements]

    def _augment_item_of(self, node: Any, target: Any) -> Any:
        """Rewrite `o.x[i] += v` to one operator: a tensor in `o.x` is replaced, any other value mutated."""
        attribute = build.constant(mangle(target.value.attr, self.class_name))
        function = build.operator(INPLACE[type(node.op)])
        value = self.context.mark(build.thunk(node.value))
        holder = target.value.value
        return gast.Expr(
            build.operate("augment_item_of", holder, attribute, as_index(target.slice), function, value)
        )

    def _may_change(self, value: Any) -> Container[str]:
        """Return the names that evaluating `value` may rebind. Conservative."""
        if isinstance(value, (gast.Constant, gast.Name)):
            return _NO_NAMES
        walruses = {n.target.id for n in walk_scope(value) if isinstance(n, gast.NamedExpr)}
        if not contains(value, gast.Call):
            return walruses
        locals_ = scope_of(self.function_node).locals
        rebound = {name for n in walk(self.function_node) if isinstance(n, gast.Nonlocal) for name in n.names}
        return _Outside(locals_ - rebound - walruses)

    def _once(self, expression: Any, before: list[Any], stem: str, changing: Container[str]) -> Any:
        """Return a function that makes reads of `expression`, which is evaluated only once."""
        if isinstance(expression, gast.Name) and expression.id not in changing:
            return lambda: build.name(expression.id)
        if isinstance(expression, gast.Constant):
            return lambda: build.constant(expression.value)
        temporary = self.namer.fresh(stem)
        before.append(build.assign(temporary, expression))
        return lambda: build.name(temporary)

    def _item_once(self, item: Any, before: list[Any], behind: list[Any], changing: Container[str]) -> Any:
        """`_once` for a container in an item `x[i]`, stored back there if it is a tensor, which was replaced."""
        target, changed = self.namer.fresh("target_"), self.namer.fresh("changed_")
        place = self._place_once(item, before, changing)
        before.append(build.assign(target, place))
        before.append(build.assign(changed, build.name(target)))
        again = copy_tree(place)
        again.ctx = gast.Store()
        behind.append(build.assign(again, build.operate("replaced", build.name(target), build.name(changed))))
        return lambda: build.name(changed)

    def _place_once(self, place: Any, before: list[Any], changing: Container[str]) -> Any:
        if isinstance(place, gast.Subscript):
            inner = self._place_once(place.value, before, changing)
            return gast.Subscript(inner, self._index_once(place.slice, before, changing)(), gast.Load())
        if isinstance(place, gast.Attribute):
            return gast.Attribute(self._once(place.value, before, "owner_", _NO_NAMES)(), place.attr, gast.Load())
        return self._once(place, before, "owner_", _NO_NAMES)()

    def _index_once(self, index: Any, before: list[Any], changing: Container[str]) -> Any:
        if isinstance(index, gast.Slice):
            parts = [
                None if part is None else self._once(part, before, "index_", changing)
                for part in (index.lower, index.upper, index.step)
            ]
            return lambda: gast.Slice(*(part and part() for part in parts))
        if isinstance(index, gast.Tuple):
            items = [self._index_once(item, before, changing) for item in index.elts]
            return lambda: gast.Tuple([item() for item in items], gast.Load())
        return self._once(index, before, "index_", changing)

    def visit_For(self, node: Any) -> Any:
        node = self.generic(node)
        if not _only_names(node.target):
            item = self.namer.fresh("item_")
            node.body.insert(0, build.place(build.assign(node.target, build.name(item)), node))
            node.target = build.place(build.store(item), node)
        return self._hoisted(node, "iter")

    def visit_While(self, node: Any) -> Any:
        node = self.generic(node)
        if not contains(node.test, gast.NamedExpr):
            return node
        leave: list[Any] = [*node.orelse, build.place(gast.Break(), node)]
        around: list[Any] = []
        if has_loop_exit(node.orelse):  # exits of the outer loop
            ended = self.namer.fresh("ended_")
            around = [build.assign(ended, build.constant(False)), gast.If(build.name(ended), node.orelse, [])]
            around = [self.context.mark(build.place(statement, node)) for statement in around]
            leave = [build.assign(ended, build.constant(True)), leave[-1]]
        negated = build.place(gast.UnaryOp(gast.Not(), node.test), node)
        guard = self.context.mark(build.place(gast.If(negated, leave, []), node))
        node.test = build.place(build.constant(True), node)
        node.body = [*self._as_list(self._hoisted(guard, "test")), *node.body]
        node.orelse = []
        return [around[0], node, around[1]] if around else node

    def visit_If(self, node: Any) -> Any:
        return self._hoisted(self.generic(node), "test")

    def visit_Return(self, node: Any) -> Any:
        return self._hoisted(self.generic(node), "value")

    visit_Expr = visit_Assign = visit_Return

    def visit_AnnAssign(self, node: Any) -> Any:
        return self._hoisted(super().visit_AnnAssign(node), "value")

    def _hoisted(self, statement: Any, field: str) -> Any:
        """Return the statement, preceded by others if it contains a conditionally evaluated walrus."""
        expression = getattr(statement, field)
        if expression is None or not contains(expression, gast.NamedExpr):
            return statement
        lineariser = Lineariser(self.context, self.namer, statement)
        setattr(statement, field, lineariser.expression(expression))
        return [*lineariser.statements, statement] if lineariser.statements else statement

    @staticmethod
    def _as_list(statements: Any) -> list[Any]:
        return statements if isinstance(statements, list) else [statements]

    def visit_Call(self, node: Any) -> Any:
        self.generic(node)
        zero_super = isinstance(node.func, gast.Name) and node.func.id == "super" and not node.args
        if zero_super and not self.in_comprehension and self.function_node is not None:
            arguments = self.function_node.args
            first = [*arguments.posonlyargs, *arguments.args][:1]
            if first and self.class_name:
                node.args = [
                    build.place(build.name("__class__"), node),
                    build.place(build.name(first[0].id), node),
                ]
        return node


class _Outside(Container[str]):
    """The complement of a set of names."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def __contains__(self, name: object) -> bool:
        return name not in self.names


def _can_be_put_back(item: Any) -> bool:
    """Return whether an item belongs to a name or its attribute, and its indices can be evaluated first."""
    while isinstance(item, gast.Subscript):
        if contains(item.slice, gast.Call) or contains(item.slice, gast.NamedExpr):
            return False
        item = item.value
    return isinstance(item.value if isinstance(item, gast.Attribute) else item, gast.Name)


def _only_names(target: Any) -> bool:
    if isinstance(target, (gast.Tuple, gast.List)):
        return all(_only_names(item) for item in target.elts)
    if isinstance(target, gast.Starred):
        return _only_names(target.value)
    return isinstance(target, gast.Name)


def declarations_first(body: list[Any]) -> list[Any]:
    """Move `global` and `nonlocal` statements, which hold for the whole function, to its top."""
    hoisted = [
        node
        for statement in body
        for node in walk_scope(statement)
        if isinstance(node, (gast.Global, gast.Nonlocal))
    ]
    if not hoisted:
        return body
    hoisted_ids = {id(node) for node in hoisted}
    docstring = body[:1] if _is_docstring(body[0]) else []
    rest = _without_statements(body[len(docstring) :], hoisted_ids)
    return [*docstring, *sorted(hoisted, key=lambda node: node.lineno), *rest]


def _without_statements(body: list[Any], unwanted: set[int]) -> list[Any]:
    statements = [statement for statement in body if id(statement) not in unwanted]
    for statement in statements:
        if isinstance(statement, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            continue
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list) and inner:
                replaced = _without_statements(inner, unwanted)
                setattr(statement, field, replaced or [build.place(gast.Pass(), statement)])
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            part.body = _without_statements(part.body, unwanted) or [build.place(gast.Pass(), statement)]
    return statements


def _is_docstring(statement: Any) -> bool:
    return (
        isinstance(statement, gast.Expr)
        and isinstance(statement.value, gast.Constant)
        and isinstance(statement.value.value, str)
    )
