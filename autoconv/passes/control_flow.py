"""Turn ifs and loops into calls of operators, with functions for their bodies that take and return the region's state.

    def f(x, n):
        while n > 0:
            if x > 1:
                x = x / 2
            n = n - 1
        return x
    # becomes
    def f(x, n):
        def loop_test(n, x):
            return n > 0

        def loop_body(n, x):
            def if_body(x):
                x = x / 2
                return (x,)

            (x,) = ag__.if_stmt(x > 1, if_body, None, (x,), ('x',))
            n = n - 1
            return n, x

        n, x = ag__.while_stmt(loop_test, loop_body, (n, x), ('n', 'x'))
        return x
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.analysis.escapes import LOOPS, TRIES
from autoconv.analysis.regions import Region, RegionPlan
from autoconv.analysis.scopes import Scope
from autoconv.passes.base import Context, FunctionPass
from autoconv.passes.cell_declarations import WrittenNames, declare_cells, names_written_in
from autoconv.passes.exit_codes import is_none
from autoconv.passes.lifting import make_plan, user_scope
from autoconv.passes.watched_exits import WatchedExits
from autoconv.syntax import build
from autoconv.syntax.names import Namer
from autoconv.syntax.tree import Transformer, body_start, contains


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return ControlFlow(context).visit(tree)


class ControlFlow(FunctionPass, statements_only=True):
    """Turn ifs and loops into calls of operators, function by function."""

    def rewrite_function(self, node: Any) -> Any:
        """Rewrite the regions of a function by its plan, and declare the cells that they share."""
        node.body = self.visit_list(node.body)  # inner functions first
        scope = user_scope(node, self.context)
        plan = make_plan(node, scope, self.context)
        node.body = _Regions(self.context, self.function, self.namer, scope, plan).rewrite_block(node.body)
        expressions = [statement.value for statement in node.body if isinstance(statement, gast.Expr)]
        if not any(build.is_operation(expression, "local_cells") for expression in expressions):
            start = body_start(node.body)
            declarations = declare_cells(WrittenNames(self.context, scope.parameters, node.body))
            node.body[start:start] = [build.place(statement, node.body[start]) for statement in declarations]
        return node


class _Regions:
    """Rewrite the regions of one function."""

    def __init__(self, context: Context, function: str, namer: Namer, scope: Scope, plan: RegionPlan) -> None:
        self.context = context
        self.function = function
        self.namer = namer
        self.scope = scope
        self.plan = plan

    def rewrite_block(self, statements: list[Any]) -> list[Any]:
        result: list[Any] = []
        for statement in statements:
            result.extend(self.rewrite_statement(statement))
        return result

    def rewrite_statement(self, node: Any) -> list[Any]:
        """Return the statements in place of one: the call of an operator for a region, else the statement itself."""
        if isinstance(node, gast.For) and build.is_operation(node.iter, "attempts", "with_attempts"):
            self._rewrite_inner_blocks(node)
            return [node]
        if isinstance(node, (gast.If, *LOOPS)):
            region = self.plan.regions.get(id(node))
            if region is None:
                return self._keep_statement_form(node)
            self._note(node, "functional", stages=True)
            rewrite = self._rewrite_if if isinstance(node, gast.If) else self._rewrite_loop
            new_statements = rewrite(node, region)
            return [build.place(new_statement, node) for new_statement in new_statements]
        if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            return [node]
        self._rewrite_inner_blocks(node)
        region = self.plan.regions.get(id(node)) if isinstance(node, (gast.Try, gast.With)) else None
        if region is None:
            if _observes_exceptions(node):
                self._insert_watch(node)
            return [node]
        rewrite = self._rewrite_with_in_rounds if isinstance(node, gast.With) else self._rewrite_try_in_rounds
        new_statements = rewrite(node, region)
        return [build.place(new_statement, node) for new_statement in new_statements]

    def _rewrite_inner_blocks(self, node: Any) -> None:
        """Rewrite the blocks of a statement that stays in Python."""
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, self.rewrite_block(block))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            part.body = self.rewrite_block(part.body)

    def _insert_watch(self, node: Any) -> None:
        """Insert checks for ops that may raise into the body of a try statement that keeps its form."""
        first = node.body[0]
        if isinstance(first, gast.Assign) and build.is_operation(first.value, "watch"):
            return  # the body has its checks already
        watch_name = self.namer.fresh("try_")
        reason = "a with" if isinstance(node, gast.With) else "an except clause" if node.handlers else "a finally"
        start = build.assign(watch_name, build.operate("watch", build.constant(reason)))
        stop = gast.Expr(build.operate("check_watched", build.name(watch_name)))
        leaves_early = isinstance(node.body[-1], (gast.Raise, gast.Return, gast.Break, gast.Continue))
        ending = [] if leaves_early else [build.place(stop, node.body[-1])]
        node.body = [build.place(start, first), *WatchedExits(watch_name).visit_list(node.body), *ending]
        for handler in node.handlers if isinstance(node, gast.Try) else ():
            classes = handler.type or build.name("BaseException")
            clause = build.operate("watched_classes", build.name(watch_name), classes)
            handler.type = build.place(clause, handler.type or handler)

    def _rewrite_try_in_rounds(self, node: Any, region: Region) -> list[Any]:
        """Put the statement into a loop over its rounds; one with handlers and a finally becomes two nested statements.

        The variable `recorder` is the loop's target, the recorder of the try in the current round.
        """
        if node.finalbody and node.handlers:
            try_ = build.place(gast.Try(node.body, node.handlers, [], []), node)
            node.body = [build.place(inner, node) for inner in self._rewrite_try_in_rounds(try_, region)]
            node.handlers = []
        recorder = self.namer.fresh("try_")
        node.body = [build.place(self._report_event(recorder, "begin"), node.body[0]), *node.body]
        if node.finalbody:
            node.finalbody = [build.place(self._report_event(recorder, "end"), node.finalbody[0]), *node.finalbody]
        for number, handler in enumerate(node.handlers):
            caught_types = handler.type or build.name("BaseException")
            clause = build.operate("caught_classes", build.name(recorder), build.constant(number), caught_types)
            handler.type = build.place(clause, handler.type or handler)
            if handler.name is not None:
                name = handler.name if isinstance(handler.name, str) else handler.name.id
                store = build.assign(name, build.operate("exception", build.name(name)))
                handler.body = [build.place(store, handler), *handler.body]
        accesses = self._accesses_of_rounds(region, node)
        rounds = build.operate("attempts", build.constant(len(node.handlers)), *accesses)
        return [self._loop_over_rounds(recorder, rounds, node)]

    def _rewrite_with_in_rounds(self, node: Any, region: Region) -> list[Any]:
        """Put a with statement into a loop over its rounds, like a try; each manager gets a statement of its own."""
        if len(node.items) > 1:
            inner_with = build.place(gast.With(node.items[1:], node.body, None), node)
            node.body = [build.place(inner, node) for inner in self._rewrite_with_in_rounds(inner_with, region)]
            node.items = node.items[:1]
        recorder, manager = self.namer.fresh("with_"), self.namer.fresh("manager_")
        item = node.items[0]
        expression = item.context_expr
        manager_expression = expression.args[0] if build.is_operation(expression, "context") else expression
        enter = build.place(build.assign(manager, manager_expression), expression)
        managed_context = build.operate("managed_context", build.name(recorder), build.name(manager))
        item.context_expr = build.place(managed_context, item.context_expr)
        node.body = [build.place(self._report_event(recorder, "begin"), node.body[0]), *node.body]
        rounds = build.operate("with_attempts", build.name(manager), *self._accesses_of_rounds(region, node))
        return [enter, self._loop_over_rounds(recorder, rounds, node)]

    def _loop_over_rounds(self, recorder: str, rounds: Any, statement: Any) -> Any:
        """Return `for recorder in rounds: statement`, with a handler of the exceptions that end a round."""
        clause = build.operate("unwinding_classes", build.name(recorder))
        guarded_try = gast.Try([statement], [gast.ExceptHandler(clause, None, [gast.Pass()])], [], [])
        return gast.For(build.store(recorder), rounds, [guarded_try], [], None)

    def _report_event(self, recorder: str, event: str) -> Any:
        """Return the statement that tells the recorder of a try that the code of its body begins or ends."""
        return gast.Expr(build.operate(event, build.name(recorder)))

    def _accesses_of_rounds(self, region: Region, statement: Any) -> list[Any]:
        """Return the arguments by which the rounds access the variables that the statement changes."""
        written_names = names_written_in(statement, self.context)
        names = (*region.cells, *(name for name in region.round_locals if name in written_names))
        if not names:
            return []
        return [self.context.mark_generated(build.thunk(build.loads(names))), build.strings(region.cells)]

    def _keep_statement_form(self, node: Any) -> list[Any]:
        """Keep an if or a loop as a statement, whose test or number of iterations must be known at trace time."""
        _, reason = self.context.statement_forms.get(id(node), (node, ""))
        explanation = f"it holds {reason}" if reason else ""
        self._note(node, "statement", stages=False, reason=explanation)
        if isinstance(node, gast.For):
            node.iter = build.wrap("iterate", node.iter)
        elif not isinstance(node, gast.AsyncFor) and not build.is_operation(node.test, "test"):
            test = build.operate("test", node.test, build.constant(explanation))
            node.test = build.place(test, node.test)
        self._rewrite_inner_blocks(node)
        return [node]

    def _note(self, node: Any, form: str, stages: bool, reason: str = "") -> None:
        kind = {gast.If: "if", gast.While: "while", gast.For: "for"}.get(type(node), "async for")
        self.context.note(kind, node, self.function, form, stages, reason)

    def _rewrite_if(self, node: Any, region: Region) -> list[Any]:
        """Return the functions of an if chain's arms, followed by the call of its operator."""
        arms = self._if_chain(node)
        shared_name = self.context.namer.shared_name
        for elif_node in arms[1:]:
            self._note(elif_node, "functional", stages=True)
        orelse = arms[-1].orelse
        statements: list[Any] = []
        function_names: list[gast.expr] = []
        for number, arm in enumerate(arms, 1):
            name = shared_name("if_body" if len(arms) == 1 else f"if_body_{number}")
            statements.append(self._region_function(name, region.inputs, arm.body, region))
            function_names.append(build.name(name))
        else_function: Any = build.constant(None)
        if orelse or (region.outputs and region.inputs != region.outputs):
            name = shared_name("else_body")
            statements.append(self._region_function(name, region.inputs, orelse, region))
            else_function = build.name(name)
        if len(arms) == 1:
            leading_arguments = [node.test, function_names[0], else_function]
            operator = "if_stmt"
        else:
            tests = [self.context.mark_generated(build.thunk(arm.test)) for arm in arms]
            leading_arguments = [gast.Tuple(tests, gast.Load()), gast.Tuple(function_names, gast.Load()), else_function]
            operator = "switch_stmt"
        return [*statements, *self._operator_statements(operator, leading_arguments, region)]

    def _if_chain(self, node: Any) -> list[Any]:
        """Return the if nodes of an if/elif chain. A test with a walrus cannot become a lambda."""
        arms = [node]
        if contains(node.test, gast.NamedExpr):
            return arms
        while len(arms[-1].orelse) == 1 and isinstance(arms[-1].orelse[0], gast.If):
            next_statement = arms[-1].orelse[0]
            if self.plan.regions.get(id(next_statement)) is None or contains(next_statement.test, gast.NamedExpr):
                break
            arms.append(next_statement)
        return arms

    def _rewrite_loop(self, node: Any, region: Region) -> list[Any]:
        """Return the functions of a loop's test and body, followed by the call of its operator."""
        body = node.body[:-1] if region.exit else node.body
        shared_name = self.context.namer.shared_name
        keywords = {"exit": build.constant(region.exit)} if region.exit else {}
        if isinstance(node, gast.While):
            test_function = self._region_function(
                shared_name("loop_test"),
                region.inputs,
                [build.place(gast.Return(node.test), node)],
                region,
                returns=False,
            )
            body_function = self._region_function(shared_name("loop_body"), region.inputs, body, region)
            leading_arguments = [build.name(shared_name("loop_test")), build.name(shared_name("loop_body"))]
            call = self._operator_statements("while_stmt", leading_arguments, region, **keywords)
            return [test_function, body_function, *call]
        target = node.target
        is_simple_target = isinstance(target, gast.Name) and target.id not in (*region.inputs, *region.cells)
        item = target.id if is_simple_target else self.context.namer.shared_name("item_")
        if not is_simple_target:
            body = [build.place(build.assign(target, build.name(item)), target), *body]
        body_function = self._region_function(shared_name("loop_body"), (item, *region.inputs), body, region)
        leading_arguments = [node.iter, build.name(shared_name("loop_body"))]
        return [body_function, *self._operator_statements("for_stmt", leading_arguments, region, **keywords)]

    def _region_function(
        self, name: str, parameters: tuple[str, ...], body: list[Any], region: Region, returns: bool = True
    ) -> Any:
        """Return a function of a region's statements; with `returns`, it ends by returning the region's outputs.

        Without `returns`, `body` is the return statement of a loop's test.
        """
        body = self.rewrite_block(_drop_annotations(body, region.cells)) if returns else body
        statements = [*self._declarations(region.cells), *body]
        if len(statements) > 1:
            statements = [statement for statement in statements if not isinstance(statement, gast.Pass)]
        while len(statements) > 1 and self._is_unread_exit(statements[-1], region):
            statements.pop()
        ends_by_raise = bool(statements) and isinstance(statements[-1], gast.Raise)
        if returns and region.outputs and not ends_by_raise:
            statements.append(gast.Return(build.loads(region.outputs)))
        start = body_start(statements)
        written_names = WrittenNames(self.context, parameters, statements)
        statements[start:start] = declare_cells(written_names)
        function = build.function(name, parameters, statements)
        self.context.region_writes[id(function)] = function, written_names.outer_names
        return self.context.mark_generated(function)

    def _is_unread_exit(self, statement: Any, region: Region) -> bool:
        """Return whether a statement only sets an exit code that is dead after the region."""
        return (
            isinstance(statement, gast.Assign)
            and isinstance(statement.targets[0], gast.Name)
            and statement.targets[0].id in self.context.exit_names
            and statement.targets[0].id not in (*region.outputs, *region.cells)
        )

    def _declarations(self, cells: tuple[str, ...]) -> list[Any]:
        global_names = [n for n in cells if n in self.scope.globals]
        nonlocal_names = [n for n in cells if n not in self.scope.globals]
        declarations: list[Any] = [gast.Global(global_names)] if global_names else []
        return [*declarations, gast.Nonlocal(nonlocal_names)] if nonlocal_names else declarations

    def _operator_statements(
        self, operator: str, leading_arguments: list[Any], region: Region, **keywords: Any
    ) -> list[Any]:
        """Return the accessors of the region's cells, then the call of its operator, which assigns the outputs."""
        accessor_functions: list[Any] = []
        arguments = list(leading_arguments)
        if region.inputs or region.outputs:
            arguments += [build.loads(region.inputs), build.strings(region.outputs)]
        elif operator in ("if_stmt", "switch_stmt") and is_none(arguments[-1]):
            arguments.pop()
        if region.cells:
            accessors, accessor_functions = self._accessors(region.cells)
            keywords["cells"] = accessors
        call = build.operate(operator, *arguments, **keywords)
        if region.outputs:
            return [*accessor_functions, build.assign(build.stores(region.outputs), call)]
        return [*accessor_functions, gast.Expr(call)]

    def _accessors(self, cells: tuple[str, ...]) -> tuple[Any, list[Any]]:
        """Return the argument `cells` of a region's operator, and its functions, which read and write the cells."""
        shared_name, mark = self.context.namer.shared_name, self.context.mark_generated
        getter, setter, values = shared_name("get_state"), shared_name("set_state"), shared_name("values_")
        write = build.assign(build.stores(cells), build.name(values))
        functions = [
            mark(build.function(getter, (), [gast.Return(build.loads(cells))])),
            mark(build.function(setter, (values,), [*self._declarations(cells), write])),
        ]
        names = [build.name(getter), build.name(setter), build.strings(cells)]
        return gast.Tuple(names, gast.Load()), functions


def _observes_exceptions(node: Any) -> bool:
    """Return whether a statement runs handlers, a finally clause or an exit method when its body raises."""
    if isinstance(node, gast.With):
        return contains(node, (gast.Yield, gast.YieldFrom))
    return isinstance(node, TRIES) and bool(node.handlers or node.finalbody) and not _belongs_to_rounds(node)


def _belongs_to_rounds(node: Any) -> bool:
    """Return whether a try statement is one of those that `_rewrite_try_in_rounds` generates."""
    types = [handler.type for handler in node.handlers if handler.type is not None]
    first = node.body[0] if node.body else None
    is_staged_body = isinstance(first, gast.Expr) and build.is_operation(first.value, "begin")
    return is_staged_body or any(build.is_operation(kind, "unwinding_classes", "caught_classes") for kind in types)


def _drop_annotations(body: list[Any], cells: tuple[str, ...]) -> list[Any]:
    """Drop the annotations of nonlocal names, which Python forbids; those of locals are not evaluated."""
    return _AnnotationRemover(cells).visit_list(body) if cells else body


class _AnnotationRemover(Transformer, statements_only=True):
    """Remove the annotations of local names, which functions of regions cannot share."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def visit_AnnAssign(self, node: Any) -> Any:
        if not isinstance(node.target, gast.Name) or node.target.id not in self.names:
            return node
        replacement = gast.Pass() if node.value is None else build.assign(node.target, node.value)
        return build.place(replacement, node)

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef
