"""Exit-code variables of the pass `exits`, and the functions by which it finds and removes statements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import gast

from autoconv.analysis.escapes import LOOPS
from autoconv.syntax import build
from autoconv.syntax.tree import Transformer, walk_scope


class ExitCode:
    """A variable that encodes how a region was left.

    `is_read`: True once generated code reads the variable. `writes`: the statements that set it, which are removed in
    the end if nothing reads it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_read = False
        self.writes: list[Any] = []


# Blocks that must not become empty: `finalbody`, because a try without handlers needs a finally clause.
_REQUIRED_BLOCKS = ("body", "finalbody")


class BlockPlace(NamedTuple):
    """Position of a block in its function.

    `may_return`: a return may stay a return; `may_break`: a break may stay a break. Other exits in the block set the
    variable `code`. `depth`: the number of enclosing arms that contain statements which were moved there from after
    their if.
    """

    may_return: bool
    code: ExitCode
    may_break: bool = False
    depth: int = 0

    def nested(self) -> BlockPlace:
        """Return the place of an inner block, in which a return sets the code."""
        return self._replace(may_return=False)


class LoweredStatement(NamedTuple):
    """The statements that replace one, the exits that the code may hold after them, and their effect on the block.

    `moved_count` statements after the replaced one were moved inside; if `ends_block`, nothing can follow.
    """

    statements: list[Any]
    pending: frozenset[str]
    ends_block: bool
    moved_count: int = 0



class StatementRemover(Transformer, statements_only=True):
    """Remove statements by identity; blocks that become empty get a `pass`."""

    def __init__(self, unwanted_ids: set[int]) -> None:
        self.unwanted_ids = unwanted_ids

    def visit_list(self, items: list[Any]) -> list[Any]:
        """Return the statements without the unwanted ones, at any depth of blocks."""
        kept_statements: list[Any] = []
        for item in items:
            if id(item) in self.unwanted_ids:
                continue
            if isinstance(item, (gast.stmt, gast.ExceptHandler, gast.match_case)) and not isinstance(
                item, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)
            ):
                for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                    block = getattr(item, name, None)
                    if isinstance(block, list) and block:
                        remaining_block = self.visit_list(block)
                        if not remaining_block and name in _REQUIRED_BLOCKS:
                            remaining_block = [build.place(gast.Pass(), block[0])]
                        setattr(item, name, remaining_block)
            kept_statements.append(item)
        return kept_statements


def contains_exits(node: Any) -> bool:
    """Return whether a statement contains exits, or an else clause of a loop, which the pass lowers too.

    This includes breaks and continues of inner loops, which do not leave the statement.
    """
    return any(
        isinstance(inner, (gast.Break, gast.Continue, gast.Return)) or (isinstance(inner, LOOPS) and inner.orelse)
        for inner in _statements([node])
    )


def returns_of(body: list[Any]) -> list[Any]:
    """Return the return statements, without those of inner functions."""
    return [statement for statement in _statements(body) if isinstance(statement, gast.Return)]


def _statements(body: list[Any]) -> Iterator[Any]:
    """Yield the statements and those nested in them, but not those of functions and classes."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            continue
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                stack.extend(block)


def is_lowered(function: Any) -> bool:
    """Return whether the function contains exit codes, because the pass has already run."""
    return any(build.is_operator(n, "NORMAL", "RETURN") for statement in function.body for n in walk_scope(statement))


def is_none(value: Any) -> bool:
    return isinstance(value, gast.Constant) and value.value is None
