"""Loops over elements until none of them is active any more, for rules of ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.terms import Term
from autoconv.graph.dtypes import float64


def repeat(
    w: Control, active: Term, state: Sequence[Term], step: Callable[[Term, list[Term]], tuple[Term, list[Term]]]
) -> list[Term]:
    """Repeat a step while any element is active; return the state.

    `step(active, state)` returns which elements go on, and the state.
    """

    def goes_on(now: list[Term], word: Term) -> Term:
        w.word = word
        return w.reduce_any(now[0])

    def turn(now: list[Term], word: Term) -> list[Term]:
        w.word = word
        going, after = step(now[0], now[1:])
        return [going, *after]

    after = w.loop(goes_on, turn, [active, *state], w.error_word_or_zero(w.word))
    w.word = after.pop()
    return after[1:]


def iterate(
    w: Control, active: Term, state: Sequence[Term], step: Callable[[Term, list[Term]], tuple[Term, list[Term]]],
    most: int,
) -> list[Term]:
    """Repeat a step on the elements that are active, at most `most` times; return the state.

    `step(n, state)` has the number of the turn from 1 on, a float64; it returns which elements go on, and their state.
    Elements that are not active keep theirs.
    """

    def turn(active: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        count, *before = state
        going, after = step(count, before)
        chosen = [w.select(active, new, old) for new, old in zip(after, before, strict=True)]
        return active & going & (count < float(most)), [count + 1.0, *chosen]

    return repeat(w, active, [w.constant(1.0, float64), *state], turn)[1:]


__all__ = ["iterate", "repeat"]
