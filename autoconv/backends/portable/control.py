"""The operations of a writer for control flow: blocks, branches, loops, and the error word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.graph import Node


class Control(Rules):
    """Further operations of a writer: regions, and the error word."""

    place = ""
    word: Term | None = None

    def native_form(self, node: Node, operands: Sequence[Term]) -> Term | None:
        """Return the runtime's own form of an elementwise op, or None if it has none: then the op's rule is applied."""
        return None

    def error_word_or_zero(self, word: Term | None) -> Term:
        """Return the error word as a term."""
        raise NotImplementedError

    def block(self, parameters: Sequence[Term]) -> Any:
        """Return a context manager that collects the nodes written in it."""
        raise NotImplementedError

    def branch(self, index: Term, arms: Sequence[tuple[Any, list[Term]]]) -> list[Term]:
        """Write a choice between blocks, each with its results."""
        raise NotImplementedError

    def loop(
        self, test: Callable[[list[Term], Term], Term], body: Callable[[list[Term], Term], list[Term]],
        state: Sequence[Term], word: Term,
    ) -> list[Term]:
        """Write a loop; return its final state and the error word."""
        raise NotImplementedError


__all__ = ["Control"]
