"""Which ifs and loops of a function keep their statement form, and why.

A region becomes a function of its own, unless something in it is tied to the frame it stands in (yield,
await, `locals()`), or an exit in it leaves something that keeps its statement form."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast

from autoconv.analysis.escapes import BREAK, CONTINUE, LOOPS, RETURN, Escapes
from autoconv.analysis.pinned import FRAME_NAMES, pinned_by
from autoconv.syntax.tree import walk_scope

REGIONS = (gast.If, *LOOPS)


def statement_forms(function: gast.AST, escapes: Escapes) -> tuple[dict[int, str], str]:
    """Reasons by `id(region)`, and why returns of the function have to stay as they are ("" if they need
    not)."""
    native_return = frame_of(function)
    finder = _Finder(escapes, frame_call(function), bool(native_return))
    finder.block(function.body, None, native_return)
    return finder.reasons, native_return


def frame_of(function: gast.AST) -> str:
    """What ties a function as a whole to its frame: it looks at it, or stops in it; "" when nothing does."""
    return frame_call(function) or next(
        (found for s in function.body if (found := pinned_by(s)) and not found.endswith("()")), ""
    )


def staged_tries(
    function: gast.AST, escapes: Escapes, reasons: dict[int, str], native_return: str
) -> list[gast.AST]:
    """The try and with statements of a function that can be recorded round by round: what leaves them early has to do
    so by an exit code, and nothing in them may be tied to the frame."""
    tries = _StagedTries(escapes, reasons, native_return)
    tries.block(function.body, False, 0)
    return tries.found


class _StagedTries:
    """Goes through a function for `staged_tries`."""

    def __init__(self, escapes: Escapes, reasons: dict[int, str], native_return: str) -> None:
        self.escapes = escapes
        self.reasons = reasons
        self.native_return = native_return
        self.finder = _Finder(escapes, "", bool(native_return))
        self.found: list[gast.AST] = []

    def block(self, statements: Sequence[gast.AST], native: bool, depth: int) -> None:
        """`native`: whether something around keeps its form; `depth`: how many blocks of Python's are around."""
        for node in statements:
            if isinstance(node, REGIONS):
                kept = id(node) in self.reasons
                for part in _blocks(node):
                    self.block(part, native or kept, depth + 1 if kept else 0)
                continue
            inside, level = native, depth
            if isinstance(node, (gast.Try, gast.With)):
                level += rounds_depth(node, self.escapes)
                leaves = self.escapes.statement(node).escapes
                stays = self.finder.pin(node) or (leaves and (native or self.native_return)) or level > _DEEPEST
                if stays:
                    inside, level = True, depth + 2
                else:
                    self.found.append(node)
            elif _blocks(node):
                level += 1
            for part in _blocks(node):
                self.block(part, inside, level)


# Python allows twenty blocks inside of each other; rounds are made of several.
_DEEPEST = 16


def rounds_depth(node: gast.AST, escapes: Escapes) -> int:
    """How many blocks a statement is in its rounds."""
    if isinstance(node, gast.With):
        return 3 * len(node.items)
    whole = 5 if escapes.leaves_in_finally(node) else 0
    return whole + (5 if node.handlers else 0) + (4 if node.finalbody else 0)


def give_room(function: gast.AST, escapes: Escapes, wrap: Callable[[gast.AST], gast.AST]) -> None:
    """Where the rounds of a try or with would be too deep inside of others, `wrap` makes it a region of its own."""
    if not frame_of(function):
        _give_room_in(function.body, 0, escapes, wrap)


def _give_room_in(
    statements: list[gast.AST], depth: int, escapes: Escapes, wrap: Callable[[gast.AST], gast.AST]
) -> None:
    for index, node in enumerate(statements):
        level = depth
        if isinstance(node, REGIONS):
            level = 0
        elif isinstance(node, (gast.Try, gast.With)):
            own = rounds_depth(node, escapes)
            if depth and depth + own > _DEEPEST:
                statements[index] = wrap(node)
                level = 0
            level += own
        elif _blocks(node):
            level += 1
        for part in _blocks(node):
            _give_room_in(part, level, escapes, wrap)


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


class _Finder:
    def __init__(self, escapes: Escapes, whole: str, keeps_finals: bool) -> None:
        """`keeps_finals`: whether a finally that is left early stays as it is."""
        self.escapes = escapes
        self.whole = whole
        self.keeps_finals = keeps_finals
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
        if self.keeps_finals and self.escapes.leaves_in_finally(node):
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
