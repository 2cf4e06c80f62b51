"""Decide which ifs and loops of a function keep their statement form, and why.

An if or a loop becomes a region, a function of its own, except in two cases. Something in it is tied to the frame
(yield, await, `locals()`). Or an exit in it leaves a statement that keeps its form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast

from autoconv.analysis.escapes import BREAK, CONTINUE, LOOPS, RETURN, ExitAnalysis, blocks_of
from autoconv.analysis.pinned_constructs import frame_call, pinning_construct
from autoconv.syntax.tree import walk_scope

_REGION_KINDS = (gast.If, *LOOPS)


def reasons_to_keep_form(function: gast.AST, exit_analysis: ExitAnalysis) -> tuple[dict[int, str], str]:
    """Return why statements keep their form, by `id` of the statement, and why returns do, "" if they need not."""
    return_reason = frame_pin(function)
    collector = _ReasonCollector(exit_analysis, first_frame_call(function), bool(return_reason))
    collector.visit_block(function.body, None, return_reason)
    return collector.reasons, return_reason


def frame_pin(function: gast.AST) -> str:
    """Return what ties a function to its frame (a call that inspects it, yield, await); "" if nothing does."""
    return first_frame_call(function) or next(filter(None, map(pinning_construct, function.body)), "")


def staged_tries(
    function: gast.AST, exit_analysis: ExitAnalysis, reasons: dict[int, str], return_reason: str
) -> list[gast.AST]:
    """Return the try and with statements of a function whose parts can be recorded one after the other, in rounds.

    Early exits in them must have become exit codes, and nothing in them may be tied to the frame.
    """
    traversal = _StagedTries(exit_analysis, reasons, return_reason)
    traversal.visit_block(function.body, is_in_kept_form=False, depth=0)
    return traversal.statements


class _StagedTries:
    """Traversal of a function for `staged_tries`."""

    def __init__(self, exit_analysis: ExitAnalysis, reasons: dict[int, str], return_reason: str) -> None:
        self.exit_analysis = exit_analysis
        self.reasons = reasons
        self.return_reason = return_reason
        self.collector = _ReasonCollector(exit_analysis, "", bool(return_reason))
        self.statements: list[gast.AST] = []

    def visit_block(self, statements: Sequence[gast.AST], is_in_kept_form: bool, depth: int) -> None:
        """Visit statements; `depth` counts the enclosing blocks.

        `is_in_kept_form`: an enclosing statement keeps its form.
        """
        for node in statements:
            if isinstance(node, _REGION_KINDS):
                keeps_form = id(node) in self.reasons
                for block in blocks_of(node):
                    self.visit_block(block, is_in_kept_form or keeps_form, depth + 1 if keeps_form else 0)
                continue
            is_inside_kept_form, inner_depth = is_in_kept_form, depth
            if isinstance(node, (gast.Try, gast.With)):
                inner_depth += rounds_depth(node, self.exit_analysis)
                exits = self.exit_analysis.statement_exits(node).escapes
                exits_kept_form = exits and (is_in_kept_form or self.return_reason)
                if self.collector.pin_of(node) or exits_kept_form or inner_depth > _MAX_DEPTH:
                    is_inside_kept_form, inner_depth = True, depth + 2  # one for the try, one for a finally around it
                else:
                    self.statements.append(node)
            elif blocks_of(node):
                inner_depth += 1
            for block in blocks_of(node):
                self.visit_block(block, is_inside_kept_form, inner_depth)


# Largest nesting of blocks that rounds may reach; Python's own limit is 20 blocks.
_MAX_DEPTH = 16


def rounds_depth(node: gast.AST, exit_analysis: ExitAnalysis) -> int:
    """Return by how many blocks the loop over the rounds of a statement nests more deeply than the statement."""
    # These are the blocks, as Python's compiler counts them, of the code that `passes.control_flow` generates.
    if isinstance(node, gast.With):
        return 3 * len(node.items)
    final_depth = 5 if exit_analysis.leaves_in_finally(node) else 0
    return final_depth + (5 if node.handlers else 0) + (4 if node.finalbody else 0)


def split_deep_tries(function: gast.AST, exit_analysis: ExitAnalysis, wrap: Callable[[gast.AST], gast.AST]) -> None:
    """Replace each try or with statement whose rounds would nest too deeply by a region that `wrap` makes of it."""
    if not frame_pin(function):
        _split_deep_tries_in(function.body, 0, exit_analysis, wrap)


def _split_deep_tries_in(
    statements: list[gast.AST], depth: int, exit_analysis: ExitAnalysis, wrap: Callable[[gast.AST], gast.AST]
) -> None:
    """Replace the statements in a list that are too deep, in place; `depth` counts the blocks around the list."""
    for index, node in enumerate(statements):
        inner_depth = depth
        if isinstance(node, _REGION_KINDS):
            inner_depth = 0
        elif isinstance(node, (gast.Try, gast.With)):
            added_depth = rounds_depth(node, exit_analysis)
            if depth and depth + added_depth > _MAX_DEPTH:
                statements[index] = wrap(node)
                inner_depth = 0
            inner_depth += added_depth
        elif blocks_of(node):
            inner_depth += 1
        for block in blocks_of(node):
            _split_deep_tries_in(block, inner_depth, exit_analysis, wrap)


def first_frame_call(function: gast.AST) -> str:
    """Return the call by which a function inspects its own frame; "" if there is none."""
    calls = (frame_call(node) for statement in function.body for node in walk_scope(statement))
    return next(filter(None, calls), "")


class _ReasonCollector:
    """Traversal of one function that collects the reasons why its ifs and loops keep their form."""

    def __init__(self, exit_analysis: ExitAnalysis, function_reason: str, keeps_exits_in_finally: bool) -> None:
        """Prepare the traversal of a function.

        `function_reason`: why all statements keep their form, or "". `keeps_exits_in_finally`: a finally clause with an
        early exit keeps its form.
        """
        self.exit_analysis = exit_analysis
        self.function_reason = function_reason
        self.keeps_exits_in_finally = keeps_exits_in_finally
        self.reasons: dict[int, str] = {}
        self._pins: dict[int, tuple[gast.AST, str]] = {}

    def visit_block(self, statements: Sequence[gast.AST], loop_reason: str | None, return_reason: str) -> None:
        """Find the reasons in a block, from its end; the parameters are those of `visit_statement`."""
        # Why a later statement cannot move into a region, as it would after a statement with an early exit.
        later_reason = ""
        for statement in reversed(statements):
            reason_count = len(self.reasons)
            self.visit_statement(statement, loop_reason, return_reason, later_reason)
            if not later_reason:
                later_reason = self.pin_of(statement)
            if not later_reason and len(self.reasons) > reason_count:
                later_reason = next(reversed(self.reasons.values()))  # the reason of the statement, found last

    def visit_statement(self, node: gast.AST, loop_reason: str | None, return_reason: str, later_reason: str) -> None:
        """Find the reasons in a statement.

        `loop_reason`: why the surrounding loop keeps its form ("" if it does not, None outside of loops).
        `return_reason`: why returns stay returns, "" if they become exit codes. `later_reason`: why a later statement
        of the same block keeps its form.
        """
        inner_loop_reason = loop_reason
        if isinstance(node, _REGION_KINDS):
            reason = self.function_reason or self.pin_of(node) or self._exit_reason(node, loop_reason, return_reason)
            if not reason and self.exit_analysis.statement_exits(node).escapes:
                reason = later_reason
            if reason:
                self.reasons[id(node)] = reason
                return_reason = return_reason or reason
            if isinstance(node, LOOPS):
                self.visit_block(node.orelse, loop_reason, return_reason)
                self.visit_block(node.body, reason, return_reason)
                return
            if reason and loop_reason is not None:
                inner_loop_reason = loop_reason or reason
        for block in blocks_of(node):
            self.visit_block(block, inner_loop_reason, return_reason)

    def _exit_reason(self, node: gast.AST, loop_reason: str | None, return_reason: str) -> str:
        """Return why an early exit in the statement keeps its form, "" if it does not."""
        exits = self.exit_analysis.statement_exits(node).escapes
        if return_reason and RETURN in exits:
            return return_reason
        if loop_reason and exits & {BREAK, CONTINUE}:
            return loop_reason
        return ""

    def pin_of(self, node: gast.AST) -> str:
        """Return what ties a statement to its frame, cached by node."""
        entry = self._pins.get(id(node))
        if entry is None:
            entry = self._pins[id(node)] = node, self._compute_pin(node)
        _, pin = entry
        return pin

    def _compute_pin(self, node: gast.AST) -> str:
        """Return what ties a statement to its frame, "" if nothing does."""
        if isinstance(node, (gast.AsyncFor, gast.AsyncWith)):
            return "an asynchronous statement"
        if self.keeps_exits_in_finally and self.exit_analysis.leaves_in_finally(node):
            return "a finally that is left early"
        blocks = list(blocks_of(node))
        if not blocks:
            return pinning_construct(node) if not isinstance(node, (gast.FunctionDef, gast.ClassDef)) else ""
        for part in _head_expressions(node):
            if pin := pinning_construct(part):
                return pin
        for block in blocks:
            for statement in block:
                if pin := self.pin_of(statement):
                    return pin
        return ""


def _head_expressions(node: gast.AST) -> list[gast.AST]:
    """Return the expressions of a compound statement outside of its blocks."""
    heads = [getattr(node, field, None) for field in ("test", "iter", "subject")]
    heads += [item.context_expr for item in getattr(node, "items", ())]
    heads += [handler.type for handler in getattr(node, "handlers", ())]
    heads += [case.guard for case in getattr(node, "cases", ())]
    return [head for head in heads if isinstance(head, gast.AST)]
