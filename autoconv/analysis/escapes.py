"""Exits of statements: break, continue, return, or normal completion. Conservative: every path counts as feasible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import gast

BREAK, CONTINUE, RETURN = "break", "continue", "return"
LOOPS = (gast.While, gast.For, gast.AsyncFor)
TRIES = tuple(kind for kind in (gast.Try, getattr(gast, "TryStar", None)) if kind is not None)
_NO_EXITS: frozenset[str] = frozenset()


class Exits(NamedTuple):
    """The ways in which a statement or block may end.

    `escapes`: the exits that leave it. `falls_through`: whether it can also end normally.
    """

    escapes: frozenset[str] = _NO_EXITS
    falls_through: bool = True


class ExitAnalysis:
    """Analysis that computes the exits of a function's statements, cached by node."""

    def __init__(self) -> None:
        self._exits_by_id: dict[int, tuple[gast.AST, Exits]] = {}  # the nodes stay alive

    def block_exits(self, statements: Sequence[gast.AST]) -> Exits:
        """Return the exits of a block, including those of unreachable statements: Python compiles these as well."""
        exits = [self.statement_exits(statement) for statement in statements]
        return Exits(_NO_EXITS.union(*(part.escapes for part in exits)), all(part.falls_through for part in exits))

    def falls_through(self, statements: Sequence[gast.AST]) -> bool:
        """Return whether the statements can complete normally; the last one is checked first, as it usually decides."""
        return all(self.statement_exits(statement).falls_through for statement in reversed(statements))

    def leaves_in_finally(self, node: gast.AST) -> bool:
        """Return whether a statement has a finally with an early exit, which discards a pending exception."""
        return isinstance(node, TRIES) and bool(self.block_exits(node.finalbody).escapes)

    def runs_cleanup(self, statements: Sequence[gast.AST]) -> bool:
        """Return whether an early exit from the statements runs a finally clause or a context manager's `__exit__`."""
        for node in statements:
            if not self.statement_exits(node).escapes or isinstance(node, LOOPS):
                continue
            if isinstance(node, (gast.With, gast.AsyncWith)) or getattr(node, "finalbody", None):
                return True
            if any(map(self.runs_cleanup, blocks_of(node))):
                return True
        return False

    def statement_exits(self, node: gast.AST) -> Exits:
        """Return the exits of a statement."""
        entry = self._exits_by_id.get(id(node))
        if entry is None:
            entry = self._exits_by_id[id(node)] = node, self._compute_exits(node)
        _, exits = entry
        return exits

    def _compute_exits(self, node: gast.AST) -> Exits:
        """Return the exits of a statement that is not in the cache."""
        if isinstance(node, gast.Return):
            return Exits(frozenset([RETURN]), falls_through=False)
        if isinstance(node, gast.Break):
            return Exits(frozenset([BREAK]), falls_through=False)
        if isinstance(node, gast.Continue):
            return Exits(frozenset([CONTINUE]), falls_through=False)
        if isinstance(node, gast.Raise):
            return Exits(falls_through=False)
        if isinstance(node, gast.If):
            body, orelse = self.block_exits(node.body), self.block_exits(node.orelse)
            return Exits(body.escapes | orelse.escapes, body.falls_through or orelse.falls_through)
        if isinstance(node, LOOPS):
            return self._loop_exits(node)
        if isinstance(node, (gast.With, gast.AsyncWith)):
            return Exits(self.block_exits(node.body).escapes)
        if isinstance(node, TRIES):
            return self._try_exits(node)
        if isinstance(node, gast.Match):
            arms = [self.block_exits(case.body) for case in node.cases]
            return Exits(_NO_EXITS.union(*(arm.escapes for arm in arms)))
        return Exits()

    def _loop_exits(self, node: gast.AST) -> Exits:
        """Return the exits of a loop; break and continue in its body do not leave it."""
        body, orelse = self.block_exits(node.body), self.block_exits(node.orelse)
        is_endless = isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and node.test.value
        escapes = (body.escapes & {RETURN}) | orelse.escapes
        has_break = BREAK in body.escapes
        return Exits(escapes, has_break or (not is_endless and orelse.falls_through))

    def _try_exits(self, node: gast.AST) -> Exits:
        """Return the exits of a try; an exception may lead to each of its handlers."""
        body, orelse, final = (self.block_exits(part) for part in (node.body, node.orelse, node.finalbody))
        handlers = [self.block_exits(handler.body) for handler in node.handlers]
        escapes = body.escapes | orelse.escapes | final.escapes
        falls_through = (body.falls_through and orelse.falls_through) or any(
            handler.falls_through for handler in handlers
        )
        escapes = escapes.union(*(handler.escapes for handler in handlers))
        return Exits(escapes, falls_through and final.falls_through)


def blocks_of(node: gast.AST) -> list[list[gast.AST]]:
    """Return the statement lists directly inside a compound statement (none for functions and classes)."""
    if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
        return []
    result = [getattr(node, field) for field in ("body", "orelse", "finalbody") if hasattr(node, field)]
    result = [block for block in result if isinstance(block, list)]
    result += [part.body for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
    return result
