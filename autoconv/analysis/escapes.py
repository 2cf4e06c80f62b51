"""Exits of statements: break, continue, return, or normal completion. Conservative: every path counts as feasible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import gast

BREAK, CONTINUE, RETURN = "break", "continue", "return"
LOOPS = (gast.While, gast.For, gast.AsyncFor)
TRIES = tuple(kind for kind in (gast.Try, getattr(gast, "TryStar", None)) if kind is not None)
_NOTHING: frozenset[str] = frozenset()


class Ways(NamedTuple):
    """`escapes`: the exits that leave the statement. `falls_through`: whether it can also end normally."""

    escapes: frozenset[str] = _NOTHING
    falls_through: bool = True


class Escapes:
    """Compute the exits of a function's statements, cached by node."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[gast.AST, Ways]] = {}

    def block(self, statements: Sequence[gast.AST]) -> Ways:
        """Return the exits of a block, including those of unreachable statements: Python compiles these as well."""
        found = [self.statement(statement) for statement in statements]
        return Ways(_NOTHING.union(*(ways.escapes for ways in found)), all(ways.falls_through for ways in found))

    def falls_through(self, statements: Sequence[gast.AST]) -> bool:
        """Return whether the statements can complete normally; starts with the last one, which mostly decides."""
        return all(self.statement(statement).falls_through for statement in reversed(statements))

    def leaves_in_finally(self, node: gast.AST) -> bool:
        """Return whether a statement has a finally with an early exit, which discards a pending exception."""
        return isinstance(node, TRIES) and bool(self.block(node.finalbody).escapes)

    def ends_in_code(self, statements: Sequence[gast.AST]) -> bool:
        """Return whether an exit from the statements runs a finally clause or a context manager's exit."""
        for node in statements:
            if not self.statement(node).escapes or isinstance(node, LOOPS):
                continue
            if isinstance(node, (gast.With, gast.AsyncWith)) or getattr(node, "finalbody", None):
                return True
            blocks = [getattr(node, field, ()) for field in ("body", "orelse")]
            blocks += [part.body for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
            if any(self.ends_in_code(block) for block in blocks):
                return True
        return False

    def statement(self, node: gast.AST) -> Ways:
        found = self._known.get(id(node))
        if found is None:
            found = node, self._compute(node)
            self._known[id(node)] = found
        return found[1]

    def _compute(self, node: gast.AST) -> Ways:
        if isinstance(node, gast.Return):
            return Ways(frozenset([RETURN]), False)
        if isinstance(node, gast.Break):
            return Ways(frozenset([BREAK]), False)
        if isinstance(node, gast.Continue):
            return Ways(frozenset([CONTINUE]), False)
        if isinstance(node, gast.Raise):
            return Ways(_NOTHING, False)
        if isinstance(node, gast.If):
            body, orelse = self.block(node.body), self.block(node.orelse)
            return Ways(body.escapes | orelse.escapes, body.falls_through or orelse.falls_through)
        if isinstance(node, LOOPS):
            return self._loop(node)
        if isinstance(node, (gast.With, gast.AsyncWith)):
            return Ways(self.block(node.body).escapes, True)
        if isinstance(node, TRIES):
            return self._try(node)
        if isinstance(node, gast.Match):
            arms = [self.block(case.body) for case in node.cases]
            return Ways(_NOTHING.union(*(arm.escapes for arm in arms)), True)
        return Ways()

    def _loop(self, node: gast.AST) -> Ways:
        body, orelse = self.block(node.body), self.block(node.orelse)
        endless = isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and node.test.value
        escapes = (body.escapes & {RETURN}) | orelse.escapes
        breaks = BREAK in body.escapes
        return Ways(escapes, breaks or (not endless and orelse.falls_through))

    def _try(self, node: gast.AST) -> Ways:
        body, orelse, final = self.block(node.body), self.block(node.orelse), self.block(node.finalbody)
        handlers = [self.block(handler.body) for handler in node.handlers]
        escapes = body.escapes | orelse.escapes | final.escapes
        falls = (body.falls_through and orelse.falls_through) or any(h.falls_through for h in handlers)
        return Ways(escapes.union(*(h.escapes for h in handlers)), falls and final.falls_through)
