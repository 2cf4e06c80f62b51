"""Which ifs and loops of a function keep their statement form, and why.

A region becomes a function of its own, unless something in it is tied to the frame it stands in (yield,
await, `locals()`), or an exit in it leaves something that keeps its statement form."""

from __future__ import annotations

from collections.abc import Sequence

import gast

from autoconv.analysis.escapes import BREAK, CONTINUE, LOOPS, RETURN, TRIES, Escapes
from autoconv.analysis.pinned import FRAME_NAMES, pinned_by
from autoconv.syntax.tree import walk_scope

REGIONS = (gast.If, *LOOPS)


def statement_forms(function: gast.AST, escapes: Escapes) -> tuple[dict[int, str], str]:
    """Reasons by `id(region)`, and why returns of the function have to stay as they are ("" if they need
    not)."""
    whole = frame_call(function)
    finder = _Finder(escapes, whole)
    suspends = next(
        (found for s in function.body if (found := pinned_by(s)) and not found.endswith("()")), ""
    )
    native_return = whole or suspends or _return_in_finally(function, escapes)
    finder.block(function.body, None, native_return)
    return finder.reasons, native_return


def staged_tries(
    function: gast.AST, escapes: Escapes, reasons: dict[int, str], native_return: str
) -> list[gast.AST]:
    """The try and with statements of a function that can be recorded round by round: what leaves them early has to do
    so by an exit code, and nothing in them may be tied to the frame."""
    finder = _Finder(escapes, "")
    found: list[gast.AST] = []

    def block(statements: Sequence[gast.AST], native_loop: bool) -> None:
        for node in statements:
            inner = native_loop
            if isinstance(node, LOOPS):
                inner = id(node) in reasons
                block(node.orelse, native_loop)
                block(node.body, inner)
                continue
            if isinstance(node, (gast.Try, gast.With)) and not finder.pin(node):
                leaving = escapes.statement(node).escapes
                if not (native_return and RETURN in leaving) and not (native_loop and leaving & {BREAK, CONTINUE}):
                    found.append(node)
            for part in _blocks(node):
                block(part, inner)

    block(function.body, False)
    return found


def frame_call(function: gast.AST) -> str:
    """The call by which a function looks at its own frame; "" when there is none."""
    for statement in function.body:
        for node in walk_scope(statement):
            if (
                isinstance(node, gast.Call)
                and isinstance(node.func, gast.Name)
                and node.func.id in FRAME_NAMES
            ):
                return f"{node.func.id}()"
    return ""


def _return_in_finally(function: gast.AST, escapes: Escapes) -> str:
    """Such a return swallows what was raised, which setting an exit code does not."""
    for statement in function.body:
        for node in walk_scope(statement):
            if isinstance(node, TRIES) and node.finalbody and RETURN in escapes.block(node.finalbody).escapes:
                return "a finally that is left early"
    return ""


class _Finder:
    def __init__(self, escapes: Escapes, whole: str) -> None:
        self.escapes = escapes
        self.whole = whole
        self.reasons: dict[int, str] = {}
        self._pins: dict[int, tuple[gast.AST, str]] = {}

    def block(self, statements: Sequence[gast.AST], native_loop: str | None, native_return: str) -> None:
        behind = ""  # what is left early takes what is behind it into a region, so that this may not keep its form
        for statement in reversed(statements):
            known = len(self.reasons)
            self.statement(statement, native_loop, native_return, behind)
            if not behind:
                behind = self.pin(statement)
            if not behind and len(self.reasons) > known:
                behind = next(reversed(self.reasons.values()))

    def statement(self, node: gast.AST, native_loop: str | None, native_return: str, behind: str) -> None:
        """`native_loop`: why the loop around keeps its form ("" when it does not, None outside of loops).

        `behind`: why something behind the statement keeps its form.
        """
        inner_loop = native_loop
        if isinstance(node, REGIONS):
            reason = self.whole or self.pin(node) or self._by_exit(node, native_loop, native_return)
            if not reason and self.escapes.statement(node).escapes:
                reason = behind
            if reason:
                self.reasons[id(node)] = reason
                native_return = native_return or reason
            if isinstance(node, LOOPS):
                self.block(node.orelse, native_loop, native_return)
                self.block(node.body, reason, native_return)
                return
            if reason and native_loop is not None:
                inner_loop = native_loop or reason
        for part in _blocks(node):
            self.block(part, inner_loop, native_return)

    def _by_exit(self, node: gast.AST, native_loop: str | None, native_return: str) -> str:
        leaving = self.escapes.statement(node).escapes
        if native_return and RETURN in leaving:
            return native_return
        if native_loop and leaving & {BREAK, CONTINUE}:
            return native_loop
        return ""

    def pin(self, node: gast.AST) -> str:
        """What ties a statement to its frame, found once for each."""
        found = self._pins.get(id(node))
        if found is None:
            found = node, self._compute_pin(node)
            self._pins[id(node)] = found
        return found[1]

    def _compute_pin(self, node: gast.AST) -> str:
        if isinstance(node, (gast.AsyncFor, gast.AsyncWith)):
            return "an asynchronous statement"
        if isinstance(node, TRIES) and node.finalbody and self.escapes.block(node.finalbody).escapes:
            return "a finally that is left early"
        blocks = list(_blocks(node))
        if not blocks:
            return pinned_by(node) if not isinstance(node, (gast.FunctionDef, gast.ClassDef)) else ""
        for part in _heads(node):
            if found := pinned_by(part):
                return found
        for block in blocks:
            for statement in block:
                if found := self.pin(statement):
                    return found
        return ""


def _blocks(node: gast.AST) -> list[list[gast.AST]]:
    """The statement lists directly inside a compound statement (not a function's or class's)."""
    if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
        return []
    found = [getattr(node, field) for field in ("body", "orelse", "finalbody") if hasattr(node, field)]
    found = [block for block in found if isinstance(block, list)]
    found += [part.body for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
    return found


def _heads(node: gast.AST) -> list[gast.AST]:
    """The expressions of a compound statement outside of its blocks."""
    heads = [getattr(node, field, None) for field in ("test", "iter", "subject")]
    heads += [item.context_expr for item in getattr(node, "items", ())]
    heads += [handler.type for handler in getattr(node, "handlers", ())]
    heads += [case.guard for case in getattr(node, "cases", ())]
    return [head for head in heads if isinstance(head, gast.AST)]
