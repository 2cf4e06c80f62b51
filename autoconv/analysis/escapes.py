"""Exits of statements: break, continue, return, or normal completion. Conservative: every path counts as feasible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import gast

BREAK, CONTINUE, RETURN = "break", "continue", "return"
LOOPS = (gast.While, gast.For, gast.AsyncFor)
TRIES = tuple(kind for kind in (gast.Try, getattr(gast, "TryStar", None)) if kind is not None)
_NOTHING: frozenset[str] = frozenset()


class Exits(NamedTuple):
    """`escapes`: the exits that leave the statement. `falls_through`: whether it can also end normally."""

    escapes: frozenset[str] = _NOTHING
    falls_through: bool = True


class Escapes:
    """Compute the exits of a function's statements, cached by node."""

    def __init__(self) -> None:
        self._ways: dict[int, tuple[gast.AST, Exits]] = {}

    def block(self, statements: Sequence[gast.AST]) -> Exits:
        """Return the exits of a block, including those of unreachable statements: Python compiles these as well."""
        found = [self.statement(statement) for statement in statements]
        return Exits(_NOTHING.union(*(ways.escapes for ways in found)), all(ways.falls_through for ways in found))

    def falls_through(self, statements: Sequence[gast.AST]) -> bool:
        """Return whether the statements can complete normally; the last one usually decides, and is checked first."""
        return all(self.statement(statement).falls_through for statement in reversed(statements))

    def leaves_in_finally(self, node: gast.AST) -> bool:
        """Return whether a statement has a finally with an early exit, which discards a pending exception."""
        return isinstance(node, TRIES) and bool(self.block(node.finalbody).escapes)

    def runs_cleanup(self, statements: Sequence[gast.AST]) -> bool:
        """Return whether an exit from the statements runs a finally clause or a context manager's exit."""
        for node in statements:
            if not self.statement(node).escapes or isinstance(node, LOOPS):
                continue
            if isinstance(node, (gast.With, gast.AsyncWith)) or getattr(node, "finalbody", None):
                return True
            blocks = [getattr(node, field, ()) for field in ("body", "orelse")]
            blocks += [part.body for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
            if any(self.runs_cleanup(block) for block in blocks):
                return True
        return False

    def statement(self, node: gast.AST) -> Exits:
        entry = self._ways.get(id(node))
        if entry is None:
            entry = node, self._compute(node)
            self._ways[id(node)] = entry
        return entry[1]

    def _compute(self, node: gast.AST) -> Exits:
        if isinstance(node, gast.Return):
            return Exits(frozenset([RETURN]), False)
        if isinstance(node, gast.Break):
            return Exits(frozenset([BREAK]), False)
        if isinstance(node, gast.Continue):
            return Exits(frozenset([CONTINUE]), False)
        if isinstance(node, gast.Raise):
            return Exits(_NOTHING, False)
        if isinstance(node, gast.If):
            body, orelse = self.block(node.body), self.block(node.orelse)
            return Exits(body.escapes | orelse.escapes, body.falls_through or orelse.falls_through)
        if isinstance(node, LOOPS):
            return self._loop(node)
        if isinstance(node, (gast.With, gast.AsyncWith)):
            return Exits(self.block(node.body).escapes, True)
        if isinstance(node, TRIES):
            return self._try(node)
        if isinstance(node, gast.Match):
            arms = [self.block(case.body) for case in node.cases]
            return Exits(_NOTHING.union(*(arm.escapes for arm in arms)), True)
        return Exits()

    def _loop(self, node: gast.AST) -> Exits:
        body, orelse = self.block(node.body), self.block(node.orelse)
        endless = isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and node.test.value
        escapes = (body.escapes & {RETURN}) | orelse.escapes
        breaks = BREAK in body.escapes
        return Exits(escapes, breaks or (not endless and orelse.falls_through))

    def _try(self, node: gast.AST) -> Exits:
        body, orelse, final = self.block(node.body), self.block(node.orelse), self.block(node.finalbody)
        handlers = [self.block(handler.body) for handler in node.handlers]
        escapes = body.escapes | orelse.escapes | final.escapes
        falls = (body.falls_through and orelse.falls_through) or any(h.falls_through for h in handlers)
        return Exits(escapes.union(*(h.escapes for h in handlers)), falls and final.falls_through)
