"""`while` and `for` loops, and iteration in Python."""

from __future__ import annotations

import itertools
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.operators.control.conditionals import (
    Cells,
    condition_value,
    if_stmt,
    is_staged,
    with_cells,
)
from autoconv.operators.control.for_loops import stage_for, stage_for_object, stage_for_stream
from autoconv.operators.control.generators import loop_over_generator
from autoconv.operators.control.iterables import StagedIterator, as_staged, needs_graph_loop
from autoconv.operators.control.loop_body import LoopBody
from autoconv.operators.control.staged_loops import stage_loop
from autoconv.operators.control.staging import stage_arms
from autoconv.operators.control.unroll_budget import (
    MAX_NODES_OF_REFUSED,
    node_limit,
    stage_or_unroll,
    stage_unless_refused,
    unroll_within_budget,
)
from autoconv.operators.control.unrolling import unroll
from autoconv.operators.control.variants import has_one_length, require_defined
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.dataset_protocol import makes_stream
from autoconv.operators.support.generator_expressions import GeneratorCall, Source, TracedGenerator
from autoconv.operators.support.held_iterators import HeldIterator
from autoconv.operators.support.protected_names import BREAK
from autoconv.operators.support.speculation import attempt
from autoconv.runtime.objects.containers import heap_of
from autoconv.runtime.objects.symbolic_objects import SymbolicObject
from autoconv.runtime.recording.contracts import ITERATION
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place

# Largest number of iterations that a loop that records ops is peeled by, which is to run them in Python; for `compile`.
_MAX_PEELED = 32
# Longest range that is unrolled in a trace with memory arrays: its loops mostly work on single elements.
_UNROLL_LIMIT = 4
# Largest number of nodes that the peeled iterations of a comprehension may record.
_MAX_PEELED_NODES = 250
_RANGE_ITERATOR = type(iter(range(0)))


def while_stmt(
    test: Callable[..., Any],
    body: Callable[..., Any],
    state: tuple[Any, ...] = (),
    names: tuple[str, ...] = (),
    exit: str = "",
    cells: Cells | None = None,
) -> tuple[Any, ...]:
    """Run `while test(*state): state = body(*state)`; end early once the state variable `exit` holds an exit code.

    Iterations run in Python until a tensor decides; from there on the loop is part of the graph.
    """
    loop = LoopBody(body, names, exit, cells)  # without items
    peeling = _Peeling()
    while True:
        if loop.has_left(state):
            return state
        if is_staged(loop.exit_code(state)):
            return _stage_while(test, loop, state)
        must_stage = peeling.count_iteration()
        test_value = attempt(
            lambda: condition_value(test(*state)),  # noqa: B023
            lambda value: is_staged(value) or (must_stage and bool(value)),  # noqa: B023
        )
        if is_staged(test_value):
            return _stage_while(test, loop, state)
        if not test_value:
            return state
        if not must_stage:
            state = body(*state) or ()
        elif (final_state := peeling.stage_rest(lambda: _stage_while(test, loop, state), loop)) is not None:  # noqa: B023
            return final_state


def _stage_while(test: Callable[..., Any], body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    return stage_loop(
        lambda *values: body.continues_if(values, lambda: test(*values)), body.with_journal().run, state, body.names
    )


class _Peeling:
    """Count the iterations that a loop has run in Python while it recorded ops, and the nodes that these recorded.

    Peeling ends after `_MAX_PEELED` iterations, and after as many nodes as an unrolled range may record, or after
    `MAX_NODES_OF_REFUSED` where a graph refuses the rest as a loop.
    """

    def __init__(self) -> None:
        region = current_region()
        self.region = region if region is not None and region.contract.stages_long_loops else None
        self.node_count_before = len(region.graph.nodes) if region is not None else 0
        self.recorded_count_before = region.trace.recorded_nodes if region is not None else 0
        self.iteration_count = 0
        self.max_nodes = node_limit(self.region) if self.region is not None else 0

    def count_iteration(self) -> bool:
        """Count an iteration; return whether it must not be peeled any more."""
        if self.region is None:
            return False
        self.iteration_count += 1
        self.region.contract.count_step(ITERATION)
        trace = self.region.trace
        is_large = trace.recorded_nodes - self.recorded_count_before > self.max_nodes
        records_ops = len(self.region.graph.nodes) > self.node_count_before
        return (is_large or self.iteration_count > _MAX_PEELED) and records_ops

    def stage_rest(self, stage: Callable[[], tuple[Any, ...]], body: LoopBody) -> tuple[Any, ...] | None:
        """Return `stage()`; None if a graph refuses the loop, and further iterations may be peeled."""
        if self.iteration_count > _MAX_PEELED or self.max_nodes == MAX_NODES_OF_REFUSED:
            return stage()
        self.max_nodes = MAX_NODES_OF_REFUSED
        result = stage_unless_refused(stage, body)
        return None if isinstance(result, StagingError) else result


def for_stmt(
    iterable: Any,
    body: Callable[..., Any],
    state: tuple[Any, ...] = (),
    names: tuple[str, ...] = (),
    exit: str = "",
    cells: Cells | None = None,
) -> tuple[Any, ...]:
    """Run `for item in iterable: state = body(item, *state)`, with early exits as in `while_stmt`."""
    return _loop_over(iterable, LoopBody(body, names, exit, cells), state)


def for_source(
    source: Any,
    body: Callable[..., Any],
    state: tuple[Any, ...] = (),
    names: tuple[str, ...] = (),
    exit: str = "",
    cells: Cells | None = None,
) -> tuple[Any, ...]:
    """Loop over a comprehension's source or a generator expression, with early exits as in `while_stmt`."""
    return _loop_over_source(source, LoopBody(body, names, exit, cells), state)


def _loop_over(iterable: Any, body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Loop over an iterable in the form that its class needs; return the state after the loop."""
    if current_region() is None:
        run, position = body.run, body.exit_position
        for item in iterable:
            state = run(item, *state) or ()
            if position >= 0 and state[position] >= BREAK:
                break
        return state
    if type(iterable) is Variant:
        return _loop_over_variant(iterable, body, state)
    convert_iter = getattr(getattr(type(iterable), "__iter__", None), "__autoconv_iterates__", None)
    if convert_iter is not None:  # a user-defined iterable
        iterable = convert_iter()(iterable)
    if type(iterable) is TracedGenerator:
        return _loop_over_source(iterable, body, state)
    counted_loop = iterable.take_loop_recorder() if type(iterable) is HeldIterator else None
    if counted_loop is not None:
        return _loop_over_counted(iterable, counted_loop, body, state)
    if type(iterable) is SymbolicObject or heap_of(iterable) is not None:
        return stage_for_object(iterable, body, state)
    if makes_stream(iterable):
        return stage_for_stream(iterable, body, state)
    staged = as_staged(iterable)
    if isinstance(staged, StagedIterator):
        staged.begin()
        final_state = stage_for(staged, body, state)
        staged.end(is_exhausted=body.exit_code(final_state) < BREAK)
        return final_state
    if staged is not None and (needs_graph_loop(staged) or _is_long(iterable)):
        is_short_range = type(iterable) is range and len(iterable) <= _MAX_PEELED
        return stage_or_unroll(iterable, body, state) if is_short_range else stage_for(staged, body, state)
    return (unroll_within_budget if type(iterable) is range else unroll)(iterable, body, state)


def _is_long(iterable: object) -> bool:
    """Return whether a range is so long that it becomes a graph loop, where unrolling has the same results."""
    region = current_region()
    if not isinstance(iterable, range) or region is None or not region.contract.stages_long_loops:
        return False
    return len(iterable) > (_UNROLL_LIMIT if region.trace.memory else _MAX_PEELED)


def _loop_over_variant(iterable: Variant, body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Record one loop for each alternative of a variant; return the state after the loop."""
    defined_iterable = require_defined(iterable)
    if type(defined_iterable) is not Variant:
        return _loop_over(defined_iterable, body, state)

    def make_arm(value: object) -> Callable[..., Any]:
        return with_cells(lambda *values: _loop_over(value, body, values), body.cells)

    return stage_arms(defined_iterable.tag, [make_arm(value) for value in defined_iterable.values], state, body.names)


def _loop_over_source(source: Any, body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Loop over a Source, a generator or a generator expression; over other iterables as `_loop_over`."""
    if type(source) is TracedGenerator:
        final_state = _loop_over_source(source.take_source(), body, state)
        code = body.exit_code(final_state)
        if not is_staged(code):
            source.leave(is_exhausted=code < BREAK)
        return final_state
    if type(source) is GeneratorCall:
        return loop_over_generator(source, body.with_journal(), state)
    if type(source) is not Source:
        return _loop_over(source, body, state)

    def run(item: object, *values: Any) -> Any:
        return _run_if_conditions_hold(source, source.conditions, source.unpack(item), body, values)

    step = body.with_run(run)
    if type(source.iterable) in (range, _RANGE_ITERATOR):
        return _loop_over_range(iter(source.iterable), step, state)
    return _loop_over(_as_python_items(source.iterable), step, state)


def _loop_over_range(numbers: Any, body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Loop over a comprehension's range: a graph loop after some peeled iterations, if those record ops."""
    region = current_region()
    is_short = operator.length_hint(numbers) <= 2 * _MAX_PEELED  # peeling would leave hardly more than it took
    if region is None or not region.contract.stages_long_loops or is_short:
        return _loop_over(numbers, body, state)
    node_count, recorded_count = len(region.graph.nodes), region.trace.recorded_nodes
    for _ in range(_MAX_PEELED):
        state = _loop_over(itertools.islice(numbers, 1), body, state)
        if body.has_left(state):
            return state
        if is_staged(body.exit_code(state)) or region.trace.recorded_nodes - recorded_count > _MAX_PEELED_NODES:
            break
    if is_staged(body.exit_code(state)) or len(region.graph.nodes) == node_count:
        return _loop_over(numbers, body, state)
    _, (full_range,), *position = numbers.__reduce__()  # the range, and the position of the next number
    numbers.__setstate__(sys.maxsize)  # exhaust the iterator
    return _loop_over(full_range[position[0] or 0 :], body, state)


def _loop_over_counted(
    iterator: HeldIterator, counted_loop: Any, body: LoopBody, state: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Loop over `enumerate` or `zip` of a generator expression, by the generator's loop with a counter.

    The iterator continues where the loop leaves it, if that position is known while tracing.
    """
    is_over = counted_loop.is_over()
    if is_staged(is_over) and counted_loop.generator.is_generator_call:
        raise StagingError(
            "whether the generator in a zip() is iterated depends on a tensor", current_place(),
            "the generator as the first argument of zip()",
        )  # fmt: skip
    if not is_staged(is_over) and is_over:
        return tuple(state)
    loop, initial_state = counted_loop.extend_body(body)
    final_state = _loop_over_source(counted_loop.generator, loop, (*initial_state, *state))
    code, position = loop.exit_code(final_state), final_state[0]
    if is_staged(code) or (code >= BREAK and is_staged(position)):
        iterator.leave()
    else:
        iterator.resume_with(iter(()) if code < BREAK else counted_loop.iterate_from(position))
    return final_state[len(initial_state) :]


def _run_if_conditions_hold(
    source: Source,
    conditions: tuple[Callable[..., Any], ...],
    target_values: tuple[Any, ...],
    body: LoopBody,
    state: tuple[Any, ...],
) -> tuple[Any, ...]:
    """Run the body for one item of a comprehension if all `conditions` hold; return the state after it.

    `target_values` are the values of the names in the clause's target.
    """
    for position, condition in enumerate(conditions):
        value = condition(*target_values)
        if is_staged(value):
            remaining_conditions = conditions[position + 1 :]
            arm = lambda *values: _run_if_conditions_hold(source, remaining_conditions, target_values, body, values)  # noqa: B023
            return tuple(if_stmt(value, arm, None, state, body.names, cells=body.cells))
        if not value:
            return state
    element = source.element(*target_values)
    if type(element) is Source:
        source.is_nested = True
        return _loop_over_source(element, body, state)
    return body.step(element, state)


def _as_python_items(iterable: object) -> Any:
    """Return the iterable of a comprehension; a tensor with a known number of rows becomes a list of these."""
    if is_symbolic_iterable(iterable):
        return iterable
    return iterate(iterable)


def is_symbolic_iterable(iterable: object) -> bool:
    """Return whether the number of items is known only at run time, or too large for a loop in Python."""
    region = current_region()
    if region is None:
        return False
    classes = (Variant, TracedGenerator, SymbolicObject)
    if type(iterable) in classes or heap_of(iterable) is not None or makes_stream(iterable):
        return True
    staged = as_staged(iterable)
    if staged is None or not needs_graph_loop(staged):
        return False
    length = staged.length()
    return not isinstance(length, (int, np.integer)) or bool(length > _MAX_PEELED and region.contract.stages_long_loops)


def iterate(iterable: object) -> Any:
    """Return the iterable of a comprehension, or of a loop that stays a statement; a tensor becomes a list of items."""
    if current_region() is None:
        return iterable
    if makes_stream(iterable):
        raise StagingError(
            "the number of elements of a dataset is unknown, so a list of them cannot become part of the graph",
            current_place(),
            "a for statement that writes to an autoconv.TensorArray, or dataset.batch(size)",
        )
    if type(iterable) is SymbolicObject or heap_of(iterable) is not None:
        raise StagingError(
            "the number of iterations is known only at run time, and this loop cannot become part of the graph",
            current_place(), "a for statement of its own",
        )  # fmt: skip
    if type(iterable) is Variant and has_one_length(iterable):
        return iterable
    staged = as_staged(iterable)
    if staged is None or not needs_graph_loop(staged):
        return iterable
    if isinstance(staged, StagedIterator):
        staged.begin()
    length = staged.length()
    if not isinstance(length, (int, np.integer)):
        raise StagingError(
            "the number of iterations depends on a tensor, and this loop cannot become part of the graph",
            current_place(),
            "a for statement of its own, autoconv.map_fn, or ops on whole tensors",
        )
    return [staged.item(i) for i in range(int(length))]
