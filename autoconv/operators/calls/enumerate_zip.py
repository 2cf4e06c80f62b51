"""Lower `enumerate(…)` of a generator expression and `zip(…)` with one to the generator's own loop with a counter.

    for n, item in enumerate(x for x in xs if x > 0): body
    # is recorded as
    n = 0
    for item in (x for x in xs if x > 0): body, n = n + 1
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from autoconv.errors import StagingError
from autoconv.operators.control.conditionals import if_exp, if_stmt, or_
from autoconv.operators.control.loop_body import LoopBody
from autoconv.operators.support.generator_expressions import TracedGenerator
from autoconv.operators.support.held_iterators import HeldIterator
from autoconv.operators.support.protected_names import BREAK, NORMAL
from autoconv.operators.values.items import get_item
from autoconv.runtime.objects.containers import TracedList, has_graph_object, items_of
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, record_object
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.symbolic import SymbolicTensor

# Classes whose items are read by position beside a generator expression.
_INDEXED_CLASSES = (str, bytes, list, tuple, range)


class EnumerateLoop:
    """The loop of `enumerate(generator, start)`."""

    def __init__(self, generator: TracedGenerator, start: object) -> None:
        self.generator, self.start = generator, start

    def extend_body(self, body: LoopBody) -> tuple[LoopBody, tuple[Any, ...]]:
        """Return the body of the loop over `generator`, and the initial values of its additional variables."""

        def step(item: object, position: int, *values: Any) -> Any:
            """Run the body with the position and the item; return the next position, then the body's state."""
            return (position + 1, *body.step((position, item), values))

        return replace(body, run=step, names=("position of the loop", *body.names)), (self.start,)

    def iterate_from(self, position: int) -> Iterator[Any]:
        """Return an iterator for Python over the items from `position` on."""
        if type(position) is SymbolicTensor and position.weak and position.dtype.is_integer:
            return builtins.map(lambda item, number: (position + number, item), self.generator, itertools.count())
        return builtins.enumerate(self.generator, position)

    def is_over(self) -> bool:
        """Return whether the enumeration ends before the generator expression is first advanced: never."""
        return False


class ZipLoop:
    """The loop of `zip(*parts_before, generator, *parts_after)`; the parts are read by position.

    As in Python, once a part of `parts_before` ends, neither the parts after it nor the generator are advanced.
    """

    def __init__(self, parts_before: Sequence[Any], generator: TracedGenerator, parts_after: Sequence[Any]) -> None:
        self.parts_before, self.generator, self.parts_after = parts_before, generator, parts_after

    def extend_body(self, body: LoopBody) -> tuple[LoopBody, tuple[Any, ...]]:
        """Return the body of the loop over `generator`, and the initial values of its additional variables."""
        state_names = ("position of the loop", "end of the zip", *body.names)

        def step(item: object, position: int, end: object, *values: Any) -> Any:
            """Run one iteration; return the next position, the exit code of the zip, then the body's state."""

            def run_body(end: object, *values: Any) -> Any:
                """Run the body with an item of each part; return the exit code of the zip, then the body's state."""
                items_before = [get_item(part, position) for part in self.parts_before]
                items_after = [get_item(part, position) for part in self.parts_after]
                state = body.step((*items_before, item, *items_after), values)
                is_exhausted = _has_ended(self.parts_before, position + 1)
                is_left = or_(is_exhausted, lambda: body.exit_code(state) >= BREAK) if body.exit else is_exhausted
                return (_exit_code(is_left), *state)

            def stop(end: object, *values: Any) -> Any:
                return (BREAK, *values)

            after_has_ended = _has_ended(self.parts_after, position)
            state = if_stmt(after_has_ended, stop, run_body, (end, *values), state_names[1:], cells=body.cells)
            return (position + 1, *state)

        return replace(body, run=step, names=state_names, exit=state_names[1]), (0, _exit_code(self.is_over()))

    def is_over(self) -> Any:
        """Return whether the zip ends before the generator expression is first advanced."""
        return _has_ended(self.parts_before, 0)

    def iterate_from(self, position: int) -> Iterator[Any]:
        """Return an iterator for Python over the items from `position` on."""
        if any(map(has_graph_object, (*self.parts_before, *self.parts_after))):
            return _refuse_python_iteration()
        iterators_before = [itertools.islice(part, position, None) for part in self.parts_before]
        iterators_after = [itertools.islice(part, position, None) for part in self.parts_after]
        return builtins.zip(*iterators_before, self.generator, *iterators_after, strict=False)


def lazy_enumerate(iterable: object, start: Any = 0) -> HeldIterator | None:
    """`enumerate(iterable, start)` of a generator expression; None for other iterables."""
    if type(iterable) is not TracedGenerator or current_region() is None:
        return None
    loop = EnumerateLoop(iterable, start)
    return HeldIterator(loop.iterate_from(start), loop)


def lazy_zip(*iterables: Any) -> HeldIterator | None:
    """`zip(*iterables)` of one generator expression and iterables read by position; None for others."""
    generator_positions = [index for index, iterable in enumerate(iterables) if type(iterable) is TracedGenerator]
    if len(generator_positions) != 1 or current_region() is None:
        return None
    before, after = iterables[: generator_positions[0]], iterables[generator_positions[0] + 1 :]
    if not all(map(_has_positions, (*before, *after))):
        return None
    loop = ZipLoop(before, iterables[generator_positions[0]], after)
    return HeldIterator(loop.iterate_from(0), loop)


def _has_positions(iterable: object) -> bool:
    """Return whether the items of an iterable can be read by position."""
    if type(iterable) is SymbolicObject:
        class_name = getattr(iterable.value_in_graph.type, "kind", "")
        return class_name in [known_class.__name__ for known_class in _INDEXED_CLASSES]
    return type(iterable) in (*_INDEXED_CLASSES, TracedList) and items_of(iterable) is None


def _has_ended(iterables: Sequence[Any], position: int) -> Any:
    """Return whether one of the parts has no item at that position."""
    if not iterables:
        return False
    first_part, *other_parts = iterables
    return or_(position >= _length(first_part), *[lambda part=part: position >= _length(part) for part in other_parts])


def _length(iterable: Any) -> Any:
    return record_object("object_length", [iterable]) if has_graph_object(iterable) else len(iterable)


def _refuse_python_iteration() -> Iterator[Any]:
    raise StagingError(
        "single items are taken from a zip() of a generator expression and a value known only at run time",
        current_place(), "a for statement over it, or a list of its items",
    )  # fmt: skip
    yield


def _exit_code(is_left: Any) -> Any:
    return if_exp(is_left, lambda: BREAK, lambda: NORMAL)
