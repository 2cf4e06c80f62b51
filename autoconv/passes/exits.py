"""Lower break, continue, return and loop else to exit codes.
A region that may be left early sets a code, and the code after it is guarded by it. Where one arm of an if exits, the
tail moves into the other arm instead.

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
        return ag__.returned(retval_)
"""

from __future__ import annotations

import itertools
from typing import Any

import gast

from autoconv.analysis.convertibility import split_deep_tries, staged_tries, statement_forms
from autoconv.analysis.escapes import BREAK, CONTINUE, LOOPS, RETURN, TRIES, ExitAnalysis
from autoconv.analysis.scopes import scope_of
from autoconv.passes.base import Context, FunctionPass
from autoconv.passes.exit_codes import ExitCode, Place, Remover, holds_exits, is_lowered, is_none, returns_of
from autoconv.syntax import build
from autoconv.syntax.tree import body_start, copy_tree, walk_statements

# Largest depth to which tails are moved into arms, and largest number of statements in a tail that is moved; others
# are guarded. Each move indents the tail once more, so the text of a long function would grow faster than the function.
_DEEPEST = 3
_LONGEST = 30
_CODES = {BREAK: "BREAK", CONTINUE: "CONTINUE", RETURN: "RETURN"}
_NONE: frozenset[str] = frozenset()


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Exits(context).visit(tree)


class Exits(FunctionPass, statements_only=True):
    def rewrite_function(self, node: Any) -> Any:
        node.body = self.visit_list(node.body)  # inner functions first
        return FunctionExits(self.context, node).lower(node)


class FunctionExits:
    """Lower the exits of one function."""

    def __init__(self, context: Context, function: Any) -> None:
        self.context = context
        self.namer = context.namer_of(function)
        self.escapes = ExitAnalysis()
        self.codes: list[ExitCode] = []
        self.returned = ""
        self.guarded = False
        self.ladders: set[int] = set()

    def lower(self, function: Any) -> Any:
        """Lower the exits of the function in place; register its statement forms and its tries recorded in rounds."""
        if not is_lowered(function):
            split_deep_tries(function, self.escapes, self._as_region)
        reasons, native_return = statement_forms(function, self.escapes)
        self.forms, self.keeps_finals = reasons, bool(native_return)
        for key, reason in reasons.items():
            self.context.statement_forms[key] = function, reason
        tries = [] if is_lowered(function) else staged_tries(function, self.escapes, reasons, native_return)
        self.context.staged_tries.update((id(node), node) for node in tries)
        if is_lowered(function) or not self._has_exits(function.body):
            return function
        returns = returns_of(function.body)
        valued = any(r.value is not None and not is_none(r.value) for r in returns)
        falls = self.escapes.falls_through(function.body)
        self.returned = self.namer.fresh("retval_") if valued else ""
        self.context.exit_names.add(self.returned)
        body = function.body
        if valued and falls and not native_return:
            body = [*body, build.place(gast.Return(build.constant(None)), body[-1])]
        code = self._new_code()
        bound = scope_of(function).locals
        lowered, pending = self.block(body, Place(True, code))
        if pending and self.returned:
            lowered.append(build.place(gast.Return(self._result()), body[-1]))
        if code.read:
            start = body_start(lowered)
            lowered.insert(start, build.place(self._set(code, "NORMAL"), body[0]))
        unread = {id(w) for c in self.codes if not c.read for w in c.writes}
        function.body = Remover(unread).visit_list(lowered) or [build.place(gast.Pass(), function)]
        self._declare(bound - scope_of(function).locals, function)
        return function

    def _declare(self, names: set[str], function: Any) -> None:
        """Declare names whose only assignments were unreachable and removed: an annotation keeps them local."""
        start = body_start(function.body)
        function.body[start:start] = [
            build.place(gast.AnnAssign(build.store(name), build.constant(None), None, 1), function.body[0])
            for name in sorted(names)
        ]

    def _has_exits(self, body: list[Any]) -> bool:
        """Return whether there is an early exit besides a return at the end."""
        escaping = [s for s in body if self.escapes.statement_exits(s).escapes or holds_exits(s)]
        return bool(escaping) and not (len(escaping) == 1 and isinstance(body[-1], gast.Return))

    def block(self, statements: list[Any], place: Place) -> tuple[list[Any], frozenset[str]]:
        """Return the lowered statements, and the exits that the code may hold after them."""
        result: list[Any] = []
        pending: frozenset[str] = _NONE
        guard: list[Any] | None = None
        index = 0
        while index < len(statements):
            statement = statements[index]
            here = place
            target = result
            if pending:
                if guard is None:
                    guard = []
                    result.append(self._guard(place.code, guard, statement))
                here, target = place.inside(), guard
            rest = statements[index + 1 :]
            lowered, left, moved, ends = self._statement(statement, rest, here)
            target.extend(lowered)
            if left:
                pending |= left
                guard = None
            index += 1 + moved
            if ends and left:
                break  # dead code after Python's own exits stays: a yield in it makes the function a generator
        return result, pending

    def _guard(self, code: ExitCode, body: list[Any], like: Any) -> Any:
        code.read = self.guarded = True
        test = build.operate("no_exit", build.name(code.name))
        return self.context.mark(build.place(gast.If(test, body, []), like))

    def _statement(
        self, node: Any, rest: list[Any], place: Place
    ) -> tuple[list[Any], frozenset[str], int, bool]:
        """Return (lowered, pending exits, number of statements of `rest` moved inside, whether nothing can follow)."""
        ways = self.escapes.statement_exits(node)
        if isinstance(node, (gast.Return, gast.Break, gast.Continue)):
            return (*self._exit(node, place), 0, True)
        if isinstance(node, LOOPS):
            lowered, pending = self._loop(node, place)
            return lowered, pending, 0, not ways.falls_through
        if isinstance(node, gast.If):
            if ways.escapes and id(node) not in self.forms:
                return self._if(node, rest, place)
            node.body, first = self.block(node.body, self._into(node, place))
            node.orelse, second = self.block(node.orelse, self._into(node, place))
            node.body = node.body or [build.place(gast.Pass(), node)]
            return [node], first | second, 0, not ways.falls_through
        pending = _NONE
        if id(node) in self.context.staged_tries:
            place = place.inside()
        if isinstance(node, (gast.With, gast.AsyncWith)):
            lowered, pending = self._with(node, place)
            return lowered, pending, 0, not ways.falls_through and not pending
        elif isinstance(node, TRIES) and self.escapes.leaves_in_finally(node) and not self.keeps_finals:
            lowered, pending = self._leaving_finally(node, place.inside())
            return lowered, pending, 0, not ways.falls_through and not pending
        elif isinstance(node, TRIES):
            pending = self._try(node, place, place)
        elif isinstance(node, gast.Match):
            for case in node.cases:
                case.body, left = self.block(case.body, place)
                case.body = case.body or [build.place(gast.Pass(), node)]
                pending |= left
        return [node], pending, 0, not ways.falls_through and not pending

    def _into(self, node: Any, place: Place) -> Place:
        return place if id(node) in self.forms else place.inside()

    def _exit(self, node: Any, place: Place) -> tuple[list[Any], frozenset[str]]:
        if isinstance(node, gast.Return):
            if place.top:
                return [node], _NONE
            lowered = []
            if self.returned:
                value = node.value or build.constant(None)
                lowered.append(build.place(build.assign(self.returned, value), node))
            return [*lowered, self._leave(place.code, RETURN, node)], frozenset([RETURN])
        if place.loop_native:
            return [node], _NONE
        kind = BREAK if isinstance(node, gast.Break) else CONTINUE
        return [self._leave(place.code, kind, node)], frozenset([kind])

    def _leave(self, code: ExitCode, kind: str, node: Any) -> Any:
        statement = build.place(self._set(code, _CODES[kind]), node)
        code.writes.append(statement)
        return statement

    def _if(self, node: Any, rest: list[Any], place: Place) -> tuple[list[Any], frozenset[str], int, bool]:
        """Lower an if; where only one arm falls through, near statements of the tail move to its end."""
        falls = [self.escapes.falls_through(arm) for arm in (node.body, node.orelse)]
        steps = 0 if node.orelse else self._ladder(rest, place.depth)
        moved = steps or (len(rest) if self._is_near(rest, place.depth) else 0)
        if falls[0] == falls[1]:
            moved = 0
        inner = place.inside()
        if moved:
            inner = inner._replace(depth=place.depth + (0 if steps else 1))
            if falls[0]:
                node.body = [*node.body, *rest[:moved]]
            else:
                node.orelse = [*node.orelse, *rest[:moved]]
            falls = [self.escapes.falls_through(arm) for arm in (node.body, node.orelse)]
        node.body, first = self.block(node.body, inner)
        node.orelse, second = self.block(node.orelse, inner)
        node.body = node.body or [build.place(gast.Pass(), node)]
        ends = not any(falls)
        pending = first | second
        if ends and place.top and pending <= {RETURN}:
            value = self._result() if self.returned else None
            return [node, build.place(gast.Return(value), node)], _NONE, moved, True
        return [node], pending, moved, ends

    def _ladder(self, rest: list[Any], depth: int) -> int:
        """Return how many statements of the tail become elif arms of the if before it.

        These are the ifs at its start; all of it, where the last of them absorbs the statements after it.
        """
        for position, statement in enumerate(rest):
            if not isinstance(statement, gast.If):
                return position
            falls = [self.escapes.falls_through(arm) for arm in (statement.body, statement.orelse)]
            last = position == len(rest) - 1 or id(statement) in self.ladders
            if last or (falls[0] != falls[1] and self._is_near(rest[position + 1 :], depth)):
                self.ladders.update(id(step) for step in rest[: position + 1])  # each step is examined once
                return len(rest)
            if falls[0] == falls[1]:
                return position
        return 0

    @staticmethod
    def _is_near(tail: list[Any], depth: int) -> bool:
        """Return whether a tail is moved into an arm at this depth."""
        if depth >= _DEEPEST:
            return False
        statements = itertools.chain.from_iterable(map(walk_statements, tail))
        return next(itertools.islice(statements, _LONGEST, None), None) is None

    def _result(self) -> Any:
        read: Any = build.name(self.returned)
        return build.operate("returned", read) if self.guarded else read

    def _loop(self, node: Any, place: Place) -> tuple[list[Any], frozenset[str]]:
        """Lower a loop: its exits set a code, checked at the end of the body and after the loop."""
        if id(node) in self.forms:
            node.body, _ = self.block(node.body, place._replace(loop_native=True))
            node.orelse, pending = self.block(node.orelse, place)
            return [node], pending
        leaving = self.escapes.block_exits(node.body).escapes
        code = self._new_code()
        node.body, _ = self.block(node.body, Place(False, code))
        node.body = node.body or [build.place(gast.Pass(), node)]
        before: list[Any] = []
        after: list[Any] = []
        if leaving & {BREAK, RETURN}:
            code.read = True
            leaves = build.operate("exits_loop", build.name(code.name))
            check = gast.If(leaves, [gast.Break()], [])
            node.body.append(self.context.mark(build.place(check, node)))
            before.append(build.place(self._set(code, "NORMAL"), node))
        if code.read:
            node.body.insert(0, build.place(self._set(code, "NORMAL"), node))
        pending = _NONE
        if node.orelse:
            after, pending = self._loop_else(node, code, leaving, place)
            node.orelse = []
        if RETURN in leaving:
            passed_on = build.operate("after_loop", build.name(code.name))
            statement = build.place(build.assign(place.code.name, passed_on), node)
            place.code.writes.append(statement)
            after.insert(0, statement)
            pending |= {RETURN}
        return [*before, node, *after], pending

    def _loop_else(
        self, node: Any, code: ExitCode, leaving: frozenset[str], place: Place
    ) -> tuple[list[Any], frozenset[str]]:
        if not leaving & {BREAK, RETURN}:
            return self.block(node.orelse, place)
        body, pending = self.block(node.orelse, place.inside())
        code.read = self.guarded = True
        completed = build.operate("completed", build.name(code.name))
        return [self.context.mark(build.place(gast.If(completed, body, []), node))], pending

    def _with(self, node: Any, place: Place) -> tuple[list[Any], frozenset[str]]:
        """Lower a with statement. Its body gets a code of its own, copied to the outer code at its end.

        A context manager may suppress an exception that a finally or an inner manager raises during the exit, which
        cancels the exit.
        """
        if len(node.items) > 1 and self.escapes.statement_exits(node).escapes:
            inner = build.place(type(node)(node.items[1:], node.body, None), node)
            outer = build.place(type(node)(node.items[:1], [inner], None), node)
            if id(node) in self.context.staged_tries:
                self.context.staged_tries.update({id(inner): inner, id(outer): outer})
            lowered, pending = self._with(outer, place)
            if pending:
                return lowered, pending
            node.body = inner.body
            return [node], pending
        if not self.escapes.runs_cleanup(node.body):
            node.body, pending = self.block(node.body, place)
            return [node], pending
        code = self._new_code()
        node.body, pending = self.block(node.body, place._replace(code=code))
        if not pending:
            return [node], pending
        code.read = True
        passed_on = build.place(build.assign(place.code.name, build.name(code.name)), node)
        place.code.writes.append(passed_on)
        node.body.append(passed_on)
        return [build.place(self._set(code, "NORMAL"), node), node], pending

    def _leaving_finally(self, node: Any, place: Place) -> tuple[list[Any], frozenset[str]]:
        """Lower a finally clause with early exits, which gets a code of its own.

        If that code is set, the pending exception is discarded, and so is the way in which the body was left.
        """
        code = self._new_code()
        code.read = self.guarded = True
        pending = self._try(node, place, place._replace(code=code))
        goes_on = build.operate("no_exit", build.name(code.name))
        again = self.context.mark(gast.If(goes_on, [gast.Raise(None, None)], []))
        around = gast.Try([node], [gast.ExceptHandler(build.name("BaseException"), None, [again])], [], [])
        self.context.staged_tries[id(around)] = around
        instead = build.assign(place.code.name, build.name(code.name))
        place.code.writes.append(instead)
        passed_on = self.context.mark(gast.If(copy_tree(goes_on), [gast.Pass()], [instead]))
        return [build.place(part, node) for part in (self._set(code, "NORMAL"), around, passed_on)], pending

    def _as_region(self, node: Any) -> Any:
        """Wrap a statement as a region, which finally becomes a function of its own."""
        return self.context.mark(build.place(gast.If(build.constant(True), [node], []), node))

    def _try(self, node: Any, place: Place, at_end: Place) -> frozenset[str]:
        """Lower a try statement; `at_end` is the place of its finally clause."""
        may_be_off = self.escapes.runs_cleanup(node.body)
        node.body, pending = self.block(node.body, place)
        may_be_off = may_be_off and bool(pending)
        if node.orelse:
            orelse, left = self.block(node.orelse, place.inside() if pending else place)
            node.orelse = [self._guard(place.code, orelse, node)] if pending else orelse
            pending |= left
        for handler in node.handlers:
            handler.body, left = self.block(handler.body, place)
            if may_be_off:  # a finally or manager in the body raised during the exit
                reset = build.place(self._set(place.code, "NORMAL"), handler)
                place.code.writes.append(reset)
                handler.body.insert(0, reset)
            handler.body = handler.body or [build.place(gast.Pass(), node)]
            pending |= left
        node.finalbody, left = self.block(node.finalbody, at_end)
        return pending | left

    def _new_code(self) -> ExitCode:
        code = ExitCode(self.namer.fresh("exit_"))
        self.codes.append(code)
        self.context.exit_names.add(code.name)
        return code

    @staticmethod
    def _set(code: ExitCode, value: str) -> Any:
        return build.assign(code.name, build.operator(value))
