"""Lower break, continue, return and loop else to exit codes.
A region that may be left early sets an exit code; the statements after it run only if that code is NORMAL. Where one
arm of an if exits, the statements after the if move into the other arm instead.

    def f(xs):
        for x in xs:
            if x > 3:
                return x
        return -1
    # becomes
    def f(xs):
        exit_ = ag__.NORMAL
        exit_1 = ag__.NORMAL
        for x in xs:
            exit_1 = ag__.NORMAL
            if x > 3:
                retval_ = x
                exit_1 = ag__.RETURN
            if ag__.exits_loop(exit_1):
                break
        exit_ = ag__.after_loop(exit_1)
        if ag__.no_exit(exit_):
            retval_ = -1
            exit_ = ag__.RETURN
        return ag__.returned_value(retval_)
"""

from __future__ import annotations

import itertools
from typing import Any

import gast

from autoconv.analysis.convertibility import reasons_to_keep_form, split_deep_tries, staged_tries
from autoconv.analysis.escapes import BREAK, CONTINUE, LOOPS, RETURN, TRIES, ExitAnalysis
from autoconv.analysis.scopes import scope_of
from autoconv.passes.base import Context, FunctionPass
from autoconv.passes.exit_codes import (
    BlockPlace,
    ExitCode,
    LoweredStatement,
    StatementRemover,
    contains_exits,
    is_lowered,
    is_none,
    returns_of,
)
from autoconv.syntax import build
from autoconv.syntax.tree import body_start, copy_tree, walk_statements

# A tail consists of the statements of a block after an if. These are the largest depth to which tails are moved into
# arms, and the largest number of statements in a tail that is moved; the statements of other tails are guarded.
# Each move indents the tail once more, so the text of a long function would grow faster than the function.
_MAX_TAIL_DEPTH, _MAX_TAIL_STATEMENTS = 3, 30
_CODE_NAMES = {BREAK: "BREAK", CONTINUE: "CONTINUE", RETURN: "RETURN"}
_NO_EXITS: frozenset[str] = frozenset()


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Exits(context).visit(tree)


class Exits(FunctionPass, statements_only=True):
    """Lower break, continue and return of all functions of a tree."""

    def rewrite_function(self, node: Any) -> Any:
        node.body = self.visit_list(node.body)  # inner functions first
        return FunctionExits(self.context, node).lower(node)


class FunctionExits:
    """Lower the exits of one function."""

    def __init__(self, context: Context, function: Any) -> None:
        self.context = context
        self.namer = context.namer_of(function)
        self.exit_analysis = ExitAnalysis()
        self.exit_codes: list[ExitCode] = []
        self.return_name = ""
        self.has_guards = False
        self.elif_chain_ids: set[int] = set()  # of ifs that become elif arms, with all statements after them

    def lower(self, function: Any) -> Any:
        """Lower the function's exits in place; register the staged tries and the statements that keep their form."""
        if not is_lowered(function):
            split_deep_tries(function, self.exit_analysis, self._wrap_as_region)
        reasons, return_reason = reasons_to_keep_form(function, self.exit_analysis)
        self.kept_form_reasons, self.keeps_exits_in_finally = reasons, bool(return_reason)
        for statement_id, reason in reasons.items():
            self.context.statement_forms[statement_id] = function, reason
        tries = [] if is_lowered(function) else staged_tries(function, self.exit_analysis, reasons, return_reason)
        self.context.staged_tries.update((id(node), node) for node in tries)
        if is_lowered(function) or not self._has_exits(function.body):
            return function
        returns = returns_of(function.body)
        returns_values = any(statement.value is not None and not is_none(statement.value) for statement in returns)
        falls_through = self.exit_analysis.falls_through(function.body)
        self.return_name = self.namer.fresh("retval_") if returns_values else ""
        self.context.exit_names.add(self.return_name)
        body = function.body
        if returns_values and falls_through and not return_reason:
            body = [*body, build.place(gast.Return(build.constant(None)), body[-1])]
        code = self._new_code()
        local_names = scope_of(function).locals
        lowered, pending = self.lower_block(body, BlockPlace(may_return=True, code=code))
        if pending and self.return_name:
            lowered.append(build.place(gast.Return(self._returned_value()), body[-1]))
        if code.is_read:
            start = body_start(lowered)
            lowered.insert(start, build.place(self._assign_code(code, "NORMAL"), body[0]))
        unread_write_ids = {id(write) for code in self.exit_codes if not code.is_read for write in code.writes}
        function.body = StatementRemover(unread_write_ids).visit_list(lowered) or [build.place(gast.Pass(), function)]
        self._keep_local(local_names - scope_of(function).locals, function)
        return function

    def _keep_local(self, names: set[str], function: Any) -> None:
        """Declare names whose only assignments were unreachable and removed: an annotation keeps them local."""
        start = body_start(function.body)
        function.body[start:start] = [
            build.place(gast.AnnAssign(build.store(name), build.constant(None), None, 1), function.body[0])
            for name in sorted(names)
        ]

    def _has_exits(self, body: list[Any]) -> bool:
        """Return whether there is an early exit besides a return at the end."""
        exiting = [n for n in body if self.exit_analysis.statement_exits(n).escapes or contains_exits(n)]
        only_returns_at_end = len(exiting) == 1 and isinstance(body[-1], gast.Return)
        return bool(exiting) and not only_returns_at_end

    def lower_block(self, statements: list[Any], place: BlockPlace) -> tuple[list[Any], frozenset[str]]:
        """Return the lowered statements, and the exits that the code may hold after them."""
        result: list[Any] = []
        pending: frozenset[str] = _NO_EXITS
        guard: list[Any] | None = None
        index = 0
        while index < len(statements):
            statement = statements[index]
            inner_place = place
            target = result
            if pending:
                if guard is None:
                    guard = []
                    result.append(self._guard_with(place.code, guard, statement))
                inner_place, target = place.nested(), guard
            tail = statements[index + 1 :]
            lowered, exits, ends_block, moved_count = self._lower_statement(statement, tail, inner_place)
            target.extend(lowered)
            if exits:
                pending |= exits
                guard = None
            index += 1 + moved_count
            if ends_block and exits:
                break  # where no exit became a code, dead code stays: a yield in it makes the function a generator
        return result, pending

    def _guard_with(self, code: ExitCode, body: list[Any], source_node: Any) -> Any:
        """Return an if that runs `body` while the code is NORMAL, at the place of `source_node`."""
        code.is_read = self.has_guards = True
        test = build.operate("no_exit", build.name(code.name))
        return self.context.mark_generated(build.place(gast.If(test, body, []), source_node))

    def _lower_statement(self, node: Any, tail: list[Any], place: BlockPlace) -> LoweredStatement:
        """Lower a statement; `tail` has the statements of its block after it."""
        exits = self.exit_analysis.statement_exits(node)
        if isinstance(node, (gast.Return, gast.Break, gast.Continue)):
            return LoweredStatement(*self._lower_exit(node, place), ends_block=True)
        if isinstance(node, LOOPS):
            lowered, pending = self._lower_loop(node, place)
            return LoweredStatement(lowered, pending, ends_block=not exits.falls_through)
        if isinstance(node, gast.If):
            if exits.escapes and id(node) not in self.kept_form_reasons:
                return self._lower_if(node, tail, place)
            node.body, body_exits = self.lower_block(node.body, self._place_inside(node, place))
            node.orelse, else_exits = self.lower_block(node.orelse, self._place_inside(node, place))
            node.body = node.body or [build.place(gast.Pass(), node)]
            return LoweredStatement([node], body_exits | else_exits, ends_block=not exits.falls_through)
        pending = _NO_EXITS
        if id(node) in self.context.staged_tries:
            place = place.nested()
        if isinstance(node, (gast.With, gast.AsyncWith)):
            lowered, pending = self._lower_with(node, place)
            return LoweredStatement(lowered, pending, ends_block=not exits.falls_through and not pending)
        elif isinstance(node, TRIES) and self.exit_analysis.leaves_in_finally(node) and not self.keeps_exits_in_finally:
            lowered, pending = self._lower_finally_with_exit(node, place.nested())
            return LoweredStatement(lowered, pending, ends_block=not exits.falls_through and not pending)
        elif isinstance(node, TRIES):
            pending = self._lower_try(node, place, place)
        elif isinstance(node, gast.Match):
            for case in node.cases:
                case.body, case_exits = self.lower_block(case.body, place)
                case.body = case.body or [build.place(gast.Pass(), node)]
                pending |= case_exits
        return LoweredStatement([node], pending, ends_block=not exits.falls_through and not pending)

    def _place_inside(self, node: Any, place: BlockPlace) -> BlockPlace:
        return place if id(node) in self.kept_form_reasons else place.nested()

    def _lower_exit(self, node: Any, place: BlockPlace) -> tuple[list[Any], frozenset[str]]:
        """Lower a return, break or continue: keep it where the place allows it, else set the exit code."""
        if isinstance(node, gast.Return):
            if place.may_return:
                return [node], _NO_EXITS
            value = node.value or build.constant(None)
            stores = [build.place(build.assign(self.return_name, value), node)] if self.return_name else []
            return [*stores, self._set_exit(place.code, RETURN, node)], frozenset([RETURN])
        if place.may_break:
            return [node], _NO_EXITS
        exit_ = BREAK if isinstance(node, gast.Break) else CONTINUE
        return [self._set_exit(place.code, exit_, node)], frozenset([exit_])

    def _set_exit(self, code: ExitCode, exit_: str, node: Any) -> Any:
        statement = build.place(self._assign_code(code, _CODE_NAMES[exit_]), node)
        code.writes.append(statement)
        return statement

    def _lower_if(
        self, node: Any, tail: list[Any], place: BlockPlace
    ) -> LoweredStatement:
        """Lower an if; where only one arm falls through, a short tail of the block moves to the end of that arm."""
        body_falls_through, else_falls_through = map(self.exit_analysis.falls_through, (node.body, node.orelse))
        elif_length = 0 if node.orelse else self._elif_tail_length(tail, place.depth)
        moved_count = elif_length or (len(tail) if self._can_move_tail(tail, place.depth) else 0)
        if body_falls_through == else_falls_through:
            moved_count = 0
        inner_place = place.nested()
        if moved_count:
            inner_place = inner_place._replace(depth=place.depth + (0 if elif_length else 1))
            if body_falls_through:
                node.body = [*node.body, *tail[:moved_count]]
            else:
                node.orelse = [*node.orelse, *tail[:moved_count]]
            body_falls_through, else_falls_through = map(self.exit_analysis.falls_through, (node.body, node.orelse))
        node.body, body_exits = self.lower_block(node.body, inner_place)
        node.orelse, else_exits = self.lower_block(node.orelse, inner_place)
        node.body = node.body or [build.place(gast.Pass(), node)]
        never_falls_through = not (body_falls_through or else_falls_through)
        pending = body_exits | else_exits
        if never_falls_through and place.may_return and pending <= {RETURN}:
            value = self._returned_value() if self.return_name else None
            lowered = [node, build.place(gast.Return(value), node)]
            return LoweredStatement(lowered, _NO_EXITS, ends_block=True, moved_count=moved_count)
        return LoweredStatement([node], pending, never_falls_through, moved_count)

    def _elif_tail_length(self, tail: list[Any], depth: int) -> int:
        """Return how many statements of the tail move into the `else` of the if before it, as its elif arms.

        These are the ifs at its start, or the whole tail if the last of those ifs takes in the statements after it.
        """
        for position, statement in enumerate(tail):
            if not isinstance(statement, gast.If):
                return position
            arms = statement.body, statement.orelse
            body_falls_through, else_falls_through = map(self.exit_analysis.falls_through, arms)
            ends_chain = position == len(tail) - 1 or id(statement) in self.elif_chain_ids
            one_arm_exits = body_falls_through != else_falls_through
            if ends_chain or (one_arm_exits and self._can_move_tail(tail[position + 1 :], depth)):
                self.elif_chain_ids.update(map(id, tail[: position + 1]))  # so that each if is examined once
                return len(tail)
            if not one_arm_exits:
                return position
        return 0

    @staticmethod
    def _can_move_tail(tail: list[Any], depth: int) -> bool:
        """Return whether a tail is moved into an arm at this depth."""
        if depth >= _MAX_TAIL_DEPTH:
            return False
        statements = itertools.chain.from_iterable(map(walk_statements, tail))
        return next(itertools.islice(statements, _MAX_TAIL_STATEMENTS, None), None) is None

    def _returned_value(self) -> Any:
        value: Any = build.name(self.return_name)
        return build.operate("returned_value", value) if self.has_guards else value

    def _lower_loop(self, node: Any, place: BlockPlace) -> tuple[list[Any], frozenset[str]]:
        """Lower a loop: its exits set a code, checked at the end of the body and after the loop."""
        if id(node) in self.kept_form_reasons:
            node.body, _ = self.lower_block(node.body, place._replace(may_break=True))
            node.orelse, pending = self.lower_block(node.orelse, place)
            return [node], pending
        exits = self.exit_analysis.block_exits(node.body).escapes
        code = self._new_code()
        node.body, _ = self.lower_block(node.body, BlockPlace(may_return=False, code=code))
        node.body = node.body or [build.place(gast.Pass(), node)]
        before: list[Any] = []
        after: list[Any] = []
        if exits & {BREAK, RETURN}:
            code.is_read = True
            leaves_loop = build.operate("exits_loop", build.name(code.name))
            check = gast.If(leaves_loop, [gast.Break()], [])
            node.body.append(self.context.mark_generated(build.place(check, node)))
            before.append(build.place(self._assign_code(code, "NORMAL"), node))
        if code.is_read:
            node.body.insert(0, build.place(self._assign_code(code, "NORMAL"), node))
        pending = _NO_EXITS
        if node.orelse:
            after, pending = self._lower_loop_else(node, code, exits, place)
            node.orelse = []
        if RETURN in exits:
            outer_code = build.operate("after_loop", build.name(code.name))
            statement = build.place(build.assign(place.code.name, outer_code), node)
            place.code.writes.append(statement)
            after.insert(0, statement)
            pending |= {RETURN}
        return [*before, node, *after], pending

    def _lower_loop_else(
        self, node: Any, code: ExitCode, exits: frozenset[str], place: BlockPlace
    ) -> tuple[list[Any], frozenset[str]]:
        """Return the statements of a loop's else clause, guarded by its exit code, and the exits after them."""
        if not exits & {BREAK, RETURN}:
            return self.lower_block(node.orelse, place)
        body, pending = self.lower_block(node.orelse, place.nested())
        code.is_read = self.has_guards = True
        is_exhausted = build.operate("is_exhausted", build.name(code.name))
        return [self.context.mark_generated(build.place(gast.If(is_exhausted, body, []), node))], pending

    def _lower_with(self, node: Any, place: BlockPlace) -> tuple[list[Any], frozenset[str]]:
        """Lower a with statement. Its body gets a code of its own, copied to the outer code at its end.

        A context manager may suppress an exception that a finally or an inner manager raises during the exit, which
        cancels the exit.
        """
        if len(node.items) > 1 and self.exit_analysis.statement_exits(node).escapes:
            inner_with = build.place(type(node)(node.items[1:], node.body, None), node)
            outer_with = build.place(type(node)(node.items[:1], [inner_with], None), node)
            if id(node) in self.context.staged_tries:
                self.context.staged_tries.update({id(inner_with): inner_with, id(outer_with): outer_with})
            lowered, pending = self._lower_with(outer_with, place)
            if pending:
                return lowered, pending
            node.body = inner_with.body
            return [node], pending
        if not self.exit_analysis.runs_cleanup(node.body):
            node.body, pending = self.lower_block(node.body, place)
            return [node], pending
        code = self._new_code()
        node.body, pending = self.lower_block(node.body, place._replace(code=code))
        if not pending:
            return [node], pending
        code.is_read = True
        copy_to_outer = build.place(build.assign(place.code.name, build.name(code.name)), node)
        place.code.writes.append(copy_to_outer)
        node.body.append(copy_to_outer)
        return [build.place(self._assign_code(code, "NORMAL"), node), node], pending

    def _lower_finally_with_exit(self, node: Any, place: BlockPlace) -> tuple[list[Any], frozenset[str]]:
        """Lower a try statement whose finally clause has early exits; the clause gets a code of its own.

        If that code is set, the pending exception and the exit of the body are discarded.
        """
        code = self._new_code()
        code.is_read = self.has_guards = True
        pending = self._lower_try(node, place, place._replace(code=code))
        no_exit = build.operate("no_exit", build.name(code.name))
        reraise = self.context.mark_generated(gast.If(no_exit, [gast.Raise(None, None)], []))
        outer_try = gast.Try([node], [gast.ExceptHandler(build.name("BaseException"), None, [reraise])], [], [])
        self.context.staged_tries[id(outer_try)] = outer_try
        copy_to_outer = build.assign(place.code.name, build.name(code.name))
        place.code.writes.append(copy_to_outer)
        discard_body_exit = self.context.mark_generated(gast.If(copy_tree(no_exit), [gast.Pass()], [copy_to_outer]))
        statements = self._assign_code(code, "NORMAL"), outer_try, discard_body_exit
        return [build.place(statement, node) for statement in statements], pending

    def _wrap_as_region(self, node: Any) -> Any:
        """Wrap a statement as a region, which the pass `control_flow` turns into a function."""
        return self.context.mark_generated(build.place(gast.If(build.constant(True), [node], []), node))

    def _lower_try(self, node: Any, place: BlockPlace, final_place: BlockPlace) -> frozenset[str]:
        """Lower a try statement; `final_place` is the place of its finally clause."""
        exit_may_be_cancelled = self.exit_analysis.runs_cleanup(node.body)
        node.body, pending = self.lower_block(node.body, place)
        exit_may_be_cancelled = exit_may_be_cancelled and bool(pending)
        if node.orelse:
            orelse, exits = self.lower_block(node.orelse, place.nested() if pending else place)
            node.orelse = [self._guard_with(place.code, orelse, node)] if pending else orelse
            pending |= exits
        for handler in node.handlers:
            handler.body, exits = self.lower_block(handler.body, place)
            if exit_may_be_cancelled:  # a finally or manager in the body raised during the exit
                reset = build.place(self._assign_code(place.code, "NORMAL"), handler)
                place.code.writes.append(reset)
                handler.body.insert(0, reset)
            handler.body = handler.body or [build.place(gast.Pass(), node)]
            pending |= exits
        node.finalbody, exits = self.lower_block(node.finalbody, final_place)
        return pending | exits

    def _new_code(self) -> ExitCode:
        code = ExitCode(self.namer.fresh("exit_"))
        self.exit_codes.append(code)
        self.context.exit_names.add(code.name)
        return code

    @staticmethod
    def _assign_code(code: ExitCode, value: str) -> Any:
        return build.assign(code.name, build.operator(value))
