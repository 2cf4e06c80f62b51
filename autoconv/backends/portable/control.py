"""The operations of a writer for control flow: blocks, branches, loops, and the number of the first error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.error_causes import ErrorClass
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import float64, int32
from autoconv.graph.graph import Node
from autoconv.ops.elements import Rule, Step


class Control(Rules):
    """Further operations of a writer: regions, and the number of the first error."""

    node_location = ""  # op and span of the node being written, for errors
    # A number in the graph: 0, or the number of the first failure's location, from 1 on; None before any check.
    error_word: Term | None = None
    locations: list[str]  # those of nodes that may fail
    error_classes: list[ErrorClass]  # for each location, of the exceptions that handlers catch
    error_class: ErrorClass = None  # of the present node's failures, in a `try`
    causes: Sequence[tuple[ErrorClass, Callable[[], Term]]] = ()  # others, with conditions on the operands

    def native_form(self, node: Node, operands: Sequence[Term]) -> Term | None:
        """Return the runtime's own form of an elementwise op, or None if it has none: then the op's rule is applied."""
        return None

    def error_word_or_zero(self, word: Term | None) -> Term:
        """Return the error word as a term."""
        return word if word is not None else self.constant(0, int32)

    def fail_where(self, condition: Term) -> None:
        """Set the error word to the number of the node's location if the condition holds, unless it is set already."""
        for error_class, has_cause in self.causes:
            self._set_error_word(self.bits("and", has_cause(), condition), error_class)
        self._set_error_word(condition, self.error_class)

    def number_of_place(self, error_class: ErrorClass) -> int:
        """Return the number of the node's location, for failures of a class."""
        places = list(zip(self.locations, self.error_classes, strict=True))
        place = self.node_location, error_class
        if place in places:
            return places.index(place) + 1
        self.locations.append(self.node_location)
        self.error_classes.append(error_class)
        return len(self.locations)

    def _set_error_word(self, condition: Term, error_class: ErrorClass) -> None:
        condition = self.reduce_any(condition) if condition.shape else condition
        number = self.constant(self.number_of_place(error_class), int32)
        earlier_word = self.error_word_or_zero(self.error_word)
        self.error_word = self.select(condition & earlier_word.same(0), number, earlier_word)

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

    def repeat(self, active: Term, state: Sequence[Term], step: Step) -> list[Term]:
        """Repeat a step while any element is active; return the state.

        `step(active, state)` returns which elements go on, and the state.
        """

        def is_any_active(loop_state: list[Term], word: Term) -> Term:
            self.error_word = word
            return self.reduce_any(loop_state[0])

        def run_step(loop_state: list[Term], word: Term) -> list[Term]:
            self.error_word = word
            still_active, next_state = step(loop_state[0], loop_state[1:])
            return [still_active, *next_state]

        final_state = self.loop(is_any_active, run_step, [active, *state], self.error_word_or_zero(self.error_word))
        self.error_word = final_state.pop()
        return final_state[1:]  # without `active`

    def iterate(self, active: Term, state: Sequence[Term], step: Step, max_count: int) -> list[Term]:
        """Repeat a step on the elements that are active (see `ops.elements.Elements`); the others keep their state.

        Unlike that of `repeat`, the step gets the number of the iteration, from 1 on: `step(count, state)`.
        """

        def run_step(active: Term, state: list[Term]) -> tuple[Term, list[Term]]:
            count, *old_state = state
            still_active, next_state = step(count, old_state)
            masked_state = [self.select(active, new, old) for new, old in zip(next_state, old_state, strict=True)]
            return active & still_active & (count < float(max_count)), [count + 1.0, *masked_state]

        broadcast_state = [self.broadcast(x, active)[0] for x in state]
        return self.repeat(active, [self.constant(1.0, float64), *broadcast_state], run_step)[1:]

    def routine(self, name: str, rule: Rule, *operands: Term) -> Term:
        """Apply a rule; writers that have functions call one of this name instead."""
        result: Term = rule(self, *operands)
        return result


__all__ = ["Control"]
