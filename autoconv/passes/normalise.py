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
from autoconv.passes.effects import index_expression
from autoconv.passes.exit_codes import StatementRemover
from autoconv.passes.linearise import Lineariser, has_walrus
from autoconv.syntax import build
from autoconv.syntax.tree import contains, copy_tree, walk, walk_scope

# The operators of this package for augmented assignments, by the kind of node of their operation.
OPERATOR_BY_AUGMENTATION = {
    gast.Add: "iadd", gast.Sub: "isub", gast.Mult: "imul", gast.MatMult: "imatmul", gast.Div: "itruediv",
    gast.FloorDiv: "ifloordiv", gast.Mod: "imod", gast.Pow: "ipow", gast.LShift: "ilshift",
    gast.RShift: "irshift", gast.BitAnd: "iand", gast.BitOr: "ior", gast.BitXor: "ixor",
}  # fmt: skip

_NO_NAMES: frozenset[str] = frozenset()


def is_pinned(node: Any) -> bool:
    """Return whether anything in a statement must stay in the frame of its function, such as a yield."""
    return bool(pinning_construct(node))


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Normalise(context).visit(tree)


_MAX_CHAIN_LENGTH = 200  # comparisons in one chain; each opens a parenthesis, and Python's limit is 200 nested ones


class Normalise(FunctionPass):
    """Desugar shorthands, so that later passes meet fewer forms."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.comprehension_depth = 0
        self.iterable_depth = 0

    def rewrite_function(self, node: Any) -> Any:
        node.body = self.visit_list(hoist_declarations(node.body))
        return node

    def visit_Compare(self, node: Any) -> Any:
        """Split a chain of comparisons into single ones."""
        self.visit_children(node)
        if len(node.ops) == 1:
            return node
        if len(node.ops) > _MAX_CHAIN_LENGTH:
            raise self.context.unsupported(
                "a chain of so many comparisons is nested too deeply to be converted",
                node,
                "several chains, with `and` between them",
            )
        return self._split_chain(node, node.left, list(node.ops), list(node.comparators))

    def _split_chain(self, node: Any, left: Any, operators: list[Any], comparators: list[Any]) -> Any:
        """Return a chain of comparisons as a conjunction; `node` is the whole chain of the source."""
        middle, other_comparators = comparators[0], comparators[1:]
        if not other_comparators:
            return build.place(gast.Compare(left, operators, comparators), node)
        if self.comprehension_depth and not isinstance(middle, (gast.Constant, gast.Name)):
            if not deferral_obstacle(node):
                return self._split_in_comprehension(node, left, operators, comparators)
            if self.iterable_depth:
                return build.place(gast.Compare(left, operators, comparators), node)
        if isinstance(middle, (gast.Constant, gast.Name)):
            is_constant = isinstance(middle, gast.Constant)
            left_again: Any = build.constant(middle.value) if is_constant else build.name(middle.id)
        else:
            temporary = self.context.namer.shared_name("middle_")
            middle = gast.NamedExpr(build.store(temporary), middle)
            left_again = build.name(temporary)
        head = gast.Compare(left, operators[:1], [middle])
        return build.place(
            gast.BoolOp(gast.And(), [head, self._split_chain(node, left_again, operators[1:], other_comparators)]), node
        )

    def _split_in_comprehension(self, node: Any, left: Any, operators: list[Any], comparators: list[Any]) -> Any:
        """Split `left < middle < right` with a lambda's parameter as temporary: a walrus would bind in the function."""
        left_name, middle_name = self.context.namer.shared_name("left_"), self.context.namer.shared_name("middle_")
        head = build.place(gast.Compare(build.name(left_name), operators[:1], [build.name(middle_name)]), node)
        tail = self._split_chain(node, build.name(middle_name), operators[1:], comparators[1:])
        conjunction = build.place(gast.BoolOp(gast.And(), [head, tail]), node)
        conjunction_lambda = gast.Lambda(build.arguments([left_name, middle_name]), conjunction)
        function = self.context.mark_generated(build.place(conjunction_lambda, node))
        return build.place(build.operate("let", function, left, comparators[0]), node)

    def visit_Try(self, node: Any) -> Any:
        """Move the else clause after the statement, guarded by a flag that the body sets at its end."""
        if not node.orelse or is_pinned(node):
            return self.visit_children(node)
        flag_name = self.namer.fresh("completed_")
        initialisation = build.assign(flag_name, build.constant(False))
        node.body.append(build.place(build.assign(flag_name, build.constant(True)), node.body[-1]))
        else_statement = gast.If(build.name(flag_name), node.orelse, [])
        self.context.mark_generated(else_statement)
        final_statements, node.finalbody, node.orelse = node.finalbody, [], []
        statements = [build.place(initialisation, node), node, build.place(else_statement, node)]
        if not final_statements:
            return self.visit_list(statements)
        return self.visit_children(build.place(gast.Try(statements, [], [], final_statements), node))

    def visit_GeneratorExp(self, node: Any) -> Any:
        self.comprehension_depth += 1
        self.visit_children(node)
        self.comprehension_depth -= 1
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp

    def visit_comprehension(self, node: Any) -> Any:
        """Keep a chained comparison that needs a walrus in an iterable, where Python forbids one."""
        node.target = self.visit(node.target)
        self.iterable_depth += 1
        node.iter = self.visit(node.iter)
        self.iterable_depth -= 1
        node.ifs = self.visit_list(node.ifs)
        return node

    def visit_AugAssign(self, node: Any) -> Any:
        """Turn an augmented assignment to an attribute or item into statements that evaluate each part once."""
        self.visit_children(node)
        target = node.target
        if isinstance(target, gast.Name):
            return self._hoist_walruses(node, "value")
        is_item_of_attribute = isinstance(target, gast.Subscript) and isinstance(target.value, gast.Attribute)
        if is_item_of_attribute and not deferral_obstacle(node.value):
            return build.place(self._augment_item_of(node, target), node)
        setup: list[Any] = []
        write_back: list[Any] = []
        rebound_names = self._names_rebound_by(node.value)
        if isinstance(target, gast.Attribute):
            make_owner = self._evaluate_once(target.value, setup, "target_", rebound_names)
            target_read: Any = gast.Attribute(make_owner(), target.attr, gast.Load())
            target_write: Any = gast.Attribute(make_owner(), target.attr, gast.Store())
        else:
            if is_item_of_attribute:
                make_owner = self._evaluate_once(target.value.value, setup, "target_", rebound_names)
                attribute = target.value.attr
                make_container: Any = lambda: gast.Attribute(make_owner(), attribute, gast.Load())
            elif isinstance(target.value, gast.Subscript) and _can_be_stored_back(target.value):
                make_container = self._evaluate_item_once(target.value, setup, write_back, rebound_names)
            else:  # a name is written directly, so that a tensor in it can be replaced
                make_container = self._evaluate_once(target.value, setup, "target_", _NO_NAMES)
            make_index = self._evaluate_index_once(target.slice, setup, rebound_names)
            target_read = gast.Subscript(make_container(), make_index(), gast.Load())
            target_write = gast.Subscript(make_container(), make_index(), gast.Store())
        value = build.operate(OPERATOR_BY_AUGMENTATION[type(node.op)], target_read, node.value)
        statements = [*setup, build.assign(target_write, value), *write_back]
        return [build.place(statement, node) for statement in statements]

    def _augment_item_of(self, node: Any, target: Any) -> Any:
        """Rewrite `o.x[i] += v` to one operator: a tensor in `o.x` is replaced, any other value mutated."""
        attribute = build.constant(mangle(target.value.attr, self.class_name))
        function = build.operator(OPERATOR_BY_AUGMENTATION[type(node.op)])
        value = self.context.mark_generated(build.thunk(node.value))
        holder = target.value.value
        return gast.Expr(
            build.operate("augment_item_of", holder, attribute, index_expression(target.slice), function, value)
        )

    def _names_rebound_by(self, value: Any) -> Container[str]:
        """Return a superset of the names that evaluating `value` may rebind."""
        if isinstance(value, (gast.Constant, gast.Name)):
            return _NO_NAMES
        walruses = {n.target.id for n in walk_scope(value) if isinstance(n, gast.NamedExpr)}
        if not contains(value, gast.Call):
            return walruses
        locals_ = scope_of(self.function_node).locals
        nonlocal_names = {name for n in walk(self.function_node) if isinstance(n, gast.Nonlocal) for name in n.names}
        return _Complement(locals_ - nonlocal_names - walruses)

    def _evaluate_once(self, expression: Any, setup: list[Any], stem: str, rebound_names: Container[str]) -> Any:
        """Return a function that makes a new node which reads the value of `expression`.

        Code that evaluates the expression only once is appended to `setup`, unless reading it again is as good.
        """
        if isinstance(expression, gast.Name) and expression.id not in rebound_names:
            return lambda: build.name(expression.id)
        if isinstance(expression, gast.Constant):
            return lambda: build.constant(expression.value)
        temporary = self.namer.fresh(stem)
        setup.append(build.assign(temporary, expression))
        return lambda: build.name(temporary)

    def _evaluate_item_once(
        self, item: Any, setup: list[Any], write_back: list[Any], rebound_names: Container[str]
    ) -> Any:
        """Evaluate a container in an item `x[i]` once; `write_back` stores a replaced tensor in the item."""
        target, changed_name = self.namer.fresh("target_"), self.namer.fresh("changed_")
        item_read = self._evaluate_holder_once(item, setup, rebound_names)
        setup.append(build.assign(target, item_read))
        setup.append(build.assign(changed_name, build.name(target)))
        item_write = copy_tree(item_read)
        item_write.ctx = gast.Store()
        replaced = build.operate("changed_part", build.name(target), build.name(changed_name))
        write_back.append(build.assign(item_write, replaced))
        return lambda: build.name(changed_name)

    def _evaluate_holder_once(self, holder: Any, setup: list[Any], rebound_names: Container[str]) -> Any:
        """Return a read of `a.b[i]` whose owner and indices are evaluated once, in `setup`."""
        if isinstance(holder, gast.Subscript):
            inner = self._evaluate_holder_once(holder.value, setup, rebound_names)
            return gast.Subscript(inner, self._evaluate_index_once(holder.slice, setup, rebound_names)(), gast.Load())
        if isinstance(holder, gast.Attribute):
            owner = self._evaluate_once(holder.value, setup, "owner_", _NO_NAMES)()
            return gast.Attribute(owner, holder.attr, gast.Load())
        return self._evaluate_once(holder, setup, "owner_", _NO_NAMES)()

    def _evaluate_index_once(self, index: Any, setup: list[Any], rebound_names: Container[str]) -> Any:
        """Return a function that makes a new node which reads the index; `setup` evaluates its parts."""
        if isinstance(index, gast.Slice):
            makers = [
                None if part is None else self._evaluate_once(part, setup, "index_", rebound_names)
                for part in (index.lower, index.upper, index.step)
            ]
            return lambda: gast.Slice(*(make and make() for make in makers))
        if isinstance(index, gast.Tuple) and not any(isinstance(item, gast.Starred) for item in index.elts):
            item_makers = [self._evaluate_index_once(item, setup, rebound_names) for item in index.elts]
            return lambda: gast.Tuple([make() for make in item_makers], gast.Load())
        return self._evaluate_once(index_expression(index), setup, "index_", rebound_names)

    def visit_For(self, node: Any) -> Any:
        """Assign the item to a target with attributes or items in the body; hoist walruses of the iterable."""
        node = self.visit_children(node)
        if not _consists_of_names(node.target):
            item = self.namer.fresh("item_")
            node.body.insert(0, build.place(build.assign(node.target, build.name(item)), node))
            node.target = build.place(build.store(item), node)
        return self._hoist_walruses(node, "iter")

    def visit_While(self, node: Any) -> Any:
        """Turn a test with a walrus into an if with a break at the start of the body."""
        node = self.visit_children(node)
        if not has_walrus(node.test):
            return node
        exit_statements: list[Any] = [*node.orelse, build.place(gast.Break(), node)]
        else_statements: list[Any] = []
        if has_loop_exit(node.orelse):  # such a break or continue belongs to the outer loop
            flag_name = self.namer.fresh("ended_")
            initialisation = build.assign(flag_name, build.constant(False))
            else_statements = [initialisation, gast.If(build.name(flag_name), node.orelse, [])]
            placed_statements = [build.place(statement, node) for statement in else_statements]
            else_statements = list(map(self.context.mark_generated, placed_statements))
            exit_statements = [build.assign(flag_name, build.constant(True)), exit_statements[-1]]
        negated_test = build.place(gast.UnaryOp(gast.Not(), node.test), node)
        guard = self.context.mark_generated(build.place(gast.If(negated_test, exit_statements, []), node))
        node.test = build.place(build.constant(True), node)
        node.body = [*self._as_list(self._hoist_walruses(guard, "test")), *node.body]
        node.orelse = []
        return [else_statements[0], node, else_statements[1]] if else_statements else node

    def visit_If(self, node: Any) -> Any:
        if build.is_operation(node.test, "is_builtin"):  # an earlier run of the pass kept what is below `else`
            node.body = self.visit_list(node.body)
            return node
        return self._hoist_walruses(self.visit_children(node), "test")

    def visit_Return(self, node: Any) -> Any:
        return self._hoist_walruses(self.visit_children(node), "value")

    visit_Expr = visit_Assign = visit_Return

    def visit_AnnAssign(self, node: Any) -> Any:
        return self._hoist_walruses(super().visit_AnnAssign(node), "value")

    def _hoist_walruses(self, statement: Any, field: str) -> Any:
        """Return the statement, preceded by others if it contains a conditionally evaluated walrus."""
        expression = getattr(statement, field)
        if expression is None or not has_walrus(expression):
            return statement
        lineariser = Lineariser(self.context, self.namer, statement)
        setattr(statement, field, lineariser.linearise(expression))
        return [*lineariser.statements, statement] if lineariser.statements else statement

    @staticmethod
    def _as_list(statements: Any) -> list[Any]:
        return statements if isinstance(statements, list) else [statements]

    def visit_Call(self, node: Any) -> Any:
        """Give `super()` the arguments that it would take from its frame."""
        self.visit_children(node)
        is_zero_argument_super = isinstance(node.func, gast.Name) and node.func.id == "super" and not node.args
        if is_zero_argument_super and not self.comprehension_depth and self.function_node is not None:
            arguments = self.function_node.args
            first_parameters = [*arguments.posonlyargs, *arguments.args][:1]
            if first_parameters and self.class_name:
                node.args = [
                    build.place(build.name("__class__"), node),
                    build.place(build.name(first_parameters[0].id), node),
                ]
        return node


class _Complement(Container[str]):
    """The complement of a set of names."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def __contains__(self, name: object) -> bool:
        return name not in self.names


def _can_be_stored_back(item: Any) -> bool:
    """Return whether an item belongs to a name or its attribute, and its indices can be evaluated first."""
    while isinstance(item, gast.Subscript):
        if contains(item.slice, gast.Call) or contains(item.slice, gast.NamedExpr):
            return False
        item = item.value
    return isinstance(item.value if isinstance(item, gast.Attribute) else item, gast.Name)


def _consists_of_names(target: Any) -> bool:
    if isinstance(target, (gast.Tuple, gast.List)):
        return all(_consists_of_names(item) for item in target.elts)
    if isinstance(target, gast.Starred):
        return _consists_of_names(target.value)
    return isinstance(target, gast.Name)


def hoist_declarations(body: list[Any]) -> list[Any]:
    """Move `global` and `nonlocal` statements, which hold for the whole function, to its top."""
    declarations = [
        node
        for statement in body
        for node in walk_scope(statement)
        if isinstance(node, (gast.Global, gast.Nonlocal))
    ]
    if not declarations:
        return body
    hoisted_ids = {id(node) for node in declarations}
    docstring = body[:1] if _is_docstring(body[0]) else []
    statements = StatementRemover(hoisted_ids).visit_list(body[len(docstring) :])
    return [*docstring, *sorted(declarations, key=lambda node: node.lineno), *statements]


def _is_docstring(statement: Any) -> bool:
    return (
        isinstance(statement, gast.Expr)
        and isinstance(statement.value, gast.Constant)
        and isinstance(statement.value.value, str)
    )
