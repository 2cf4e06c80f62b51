"""The operations of a writer for control flow: blocks, branches, loops, and the error word.

The error word is a number in the graph: 0, or n if the node at `places[n - 1]` was the first one to fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autoconv.backends.error_causes import ErrorClass
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import float64, int32, int64
from autoconv.graph.graph import Node
from autoconv.ops.elements import Rule, Step


class CauseTest(NamedTuple):
    """A class of exceptions, and a function that writes the condition under which a node's failure has this class."""

    error_class: ErrorClass
    write_condition: Callable[[], Term]


class Control(Rules):
    """Further operations of a writer: blocks, branches and loops, and the error word."""

    node_place = ""  # op and span of the node being written, for errors
    error_word: Term | None = None  # None before the first check
    places: list[str]  # op and span of each node that may fail
    error_classes: list[ErrorClass]  # for each place: the class of the exception that Python raises
    # Set for a node in a `try`:
    causes: Sequence[CauseTest] = ()  # causes of failures with classes of their own, to be tested in order
    error_class: ErrorClass = None  # of the node's other failures

    def runtime_form(self, node: Node, operands: Sequence[Term]) -> Term | None:
        """Return the result by the runtime's own form of an elementwise op; None asks for the op's element rule."""
        return None

    def error_word_or_zero(self, word: Term | None) -> Term:
        """Return an error word as a term; for None, when no check is written yet, the constant 0."""
        return word if word is not None else self.constant(0, int32)

    def fail_where(self, condition: Term) -> None:
        """Set the error word to the number of the node's place if the condition holds, unless it is set already."""
        for cause in self.causes:
            self._set_error_word(self.bits("and", cause.write_condition(), condition), cause.error_class)
        self._set_error_word(condition, self.error_class)

    def open_scan(self, x: Term, axis: int, op: str, start: Any, exclusive: bool) -> Term:
        """Scan by doubling, in a loop of the runtime: each iteration combines elements at twice the distance."""
        size = self.size_term(x, axis, int64)
        positions = self.iota((None,), 0, int64, [self.size(x, axis)])
        row_shape, row_sizes = (
            [axis_size if other_axis == axis else 1 for other_axis, axis_size in enumerate(sizes)]
            for sizes in (x.shape, self.sizes(x))
        )

        def shift(x: Term, distance: Any) -> Term:
            sources = positions - distance
            is_inside = self.reshape(sources >= 0, row_shape, row_sizes)
            return self.select(is_inside, self.take_at(x, axis, self.binary("maximum", sources, 0)), start)

        def double(state: list[Term]) -> list[Term]:
            distance, folded = state
            return [distance * 2, self.emit_binary(op, folded, shift(folded, distance))]

        state = [self.constant(1, int64), shift(x, 1) if exclusive else x]
        _, result = self.loop_while(lambda state: state[0] < size, double, state)
        return result

    def place_number(self, error_class: ErrorClass) -> int:
        """Return the error word for failures of the node being written that have the class."""
        placed_classes = list(zip(self.places, self.error_classes, strict=True))
        placed_class = self.node_place, error_class
        if placed_class in placed_classes:
            return placed_classes.index(placed_class) + 1
        self.places.append(self.node_place)
        self.error_classes.append(error_class)
        return len(self.places)

    def _set_error_word(self, condition: Term, error_class: ErrorClass) -> None:
        """Set the error word, unless it is set already, if the condition holds for any element."""
        condition = self.reduce_any(condition) if condition.shape else condition
        number = self.constant(self.place_number(error_class), int32)
        earlier_word = self.error_word_or_zero(self.error_word)
        self.error_word = self.select(condition & earlier_word.same(0), number, earlier_word)

    def block(self, parameters: Sequence[Term]) -> Any:
        """Return a context manager that collects the nodes written in it, and yields the block of them."""
        raise NotImplementedError

    def branch(self, index: Term, arms: Sequence[tuple[Any, list[Term]]]) -> list[Term]:
        """Write a choice between blocks, and return the results of the chosen one.

        `arms` has pairs of a block and its results. `index` is the position of the chosen arm; a bool chooses the first
        arm if it is true.
        """
        raise NotImplementedError

    def loop(
        self, test: Callable[[list[Term], Term], Term], body: Callable[[list[Term], Term], list[Term]],
        state: Sequence[Term], word: Term,
    ) -> list[Term]:
        """Write a loop; return its final state, and after it the error word.

        `test` and `body` take the state and the error word before an iteration, and set `error_word` to the one after
        it. `test` returns the condition to go on, `body` the next state. `word` is the error word before the loop.
        """
        raise NotImplementedError

    def loop_while(
        self, test: Callable[[list[Term]], Term], step: Callable[[list[Term]], list[Term]], state: Sequence[Term]
    ) -> list[Term]:
        """Write a loop that passes the error word on; return its final state.

        `test(state)` returns the condition to go on, `step(state)` the next state.
        """

        def run_test(loop_state: list[Term], word: Term) -> Term:
            self.error_word = word
            return test(loop_state)

        def run_step(loop_state: list[Term], word: Term) -> list[Term]:
            self.error_word = word
            return step(loop_state)

        word = self.error_word_or_zero(self.error_word)
        *final_state, self.error_word = self.loop(run_test, run_step, state, word)
        return final_state

    def repeat(self, active: Term, state: Sequence[Term], step: Step) -> list[Term]:
        """Repeat a step while any element is active; return the state.

        `step(active, state)` returns which elements go on, and the state.
        """

        def run_step(loop_state: list[Term]) -> list[Term]:
            still_active, next_state = step(loop_state[0], loop_state[1:])
            return [still_active, *next_state]

        _, *final_state = self.loop_while(lambda loop_state: self.reduce_any(loop_state[0]), run_step, [active, *state])
        return final_state

    def iterate(self, active: Term, state: Sequence[Term], step: Step, max_count: int) -> list[Term]:
        """Repeat a step on the elements that are active (see `ops.elements.Elements`); the others keep their state.

        `step(count, state)` gets the number of the iteration, from 1 on, unlike the step of `repeat`.
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
