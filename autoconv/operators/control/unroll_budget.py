"""Bound the nodes that unrolled ranges record: a loop of the graph replaces a range whose iterations record too many.

    for i in range(6):              one loop over i, whose body has two copies of the body of j
        for j in range(2): …

The iterations of a nest multiply its nodes, so the bound holds for all levels together: an iteration of the outer loop
counts the nodes that its inner loops record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.graph import Node
from autoconv.graph.types import ArrayType, TensorType, Type
from autoconv.operators.control.conditionals import is_staged, record_cells
from autoconv.operators.control.for_loops import stage_for
from autoconv.operators.control.iterables import as_staged
from autoconv.operators.control.loop_body import LoopBody
from autoconv.operators.control.unrolling import unroll
from autoconv.operators.support.speculation import Attempt
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.symbolic import SymbolicTensor

# Largest number of nodes that all iterations of a range may record, in traces without and with memory arrays.
_MAX_NODES, _MAX_NODES_WITH_MEMORY = 1000, 250
_MAX_INNER_NODES = 125  # largest number of nodes of a range inside of a loop that replaces another range
_MAX_SHARE_OF_NODES = 0.75  # largest ratio of a loop's nodes to those of its unrolled iterations
MAX_NODES_OF_REFUSED = 2000  # largest number of nodes that a loop may record by iterations if a graph refuses it


def unroll_within_budget(numbers: range, body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Unroll a loop over a range, or record it as a loop if that records far fewer nodes of the same kinds.

    The first iteration is recorded to count its nodes; it is undone before the loop is recorded as a whole. A loop is
    unrolled nevertheless if it cannot be recorded, or only with results of other kinds, such as objects. The decision
    holds for the whole trace.
    """
    region = current_region()
    may_run_once = len(numbers) < 2 or is_staged(body.exit_code(state))
    if region is None or not region.contract.stages_long_loops or may_run_once:
        return unroll(numbers, body, state)
    # For each loop: the number of nodes of the unrolled range and the kinds of their results; None to unroll it.
    decisions, loop_key = region.trace.replaced_ranges, (body.run.__code__, current_place())
    if loop_key not in decisions:
        attempt = Attempt()
        try:
            _record_cells(body)
            next_state = body.step(numbers[0], state)
            node_count, kinds = _measure(region, attempt)
        except BaseException:
            attempt.keep()
            raise
        is_within_budget = node_count * len(numbers) <= node_limit(region)
        has_new_constants = any(map(_is_new_constant, state, next_state))  # each iteration computes with its own
        is_unrolled = is_within_budget or has_new_constants
        if is_unrolled or body.has_left(next_state) or is_staged(body.exit_code(next_state)):
            attempt.keep()
            return next_state if body.has_left(next_state) else unroll(numbers[1:], body, next_state)
        decisions[loop_key] = node_count * len(numbers), kinds
        if any(map(_changes_class, state, next_state)):  # the loop would begin with a copy of this iteration
            attempt.keep()
            numbers, state = numbers[1:], next_state
        else:
            attempt.undo()
    decision = decisions[loop_key]
    final_state = None if decision is None else _try_to_stage(numbers, body, state, *decision)
    if final_state is None:
        decisions[loop_key] = None
        return unroll(numbers, body, state)
    return final_state


def stage_or_unroll(numbers: range, body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Record a loop of the graph over a range; unroll it if a graph refuses the loop."""
    region, staged = current_region(), as_staged(numbers)
    assert region is not None and staged is not None
    result = stage_unless_refused(lambda: stage_for(staged, body, state), body)
    if not isinstance(result, StagingError):
        return result
    count = region.trace.recorded_nodes
    state = body.step(numbers[0], state)
    if (region.trace.recorded_nodes - count) * len(numbers) > MAX_NODES_OF_REFUSED:
        raise result  # too many nodes to unroll: the graph's refusal stands
    return state if body.has_left(state) else unroll(numbers[1:], body, state)


def stage_unless_refused(stage: Callable[[], tuple[Any, ...]], body: LoopBody) -> tuple[Any, ...] | StagingError:
    """Return `stage()`, or its StagingError after its effects were undone; the trace does not try such a loop again."""
    region = current_region()
    assert region is not None
    refused_loops, loop_key = region.trace.refused_loops, (body.run.__code__, current_place())
    if loop_key in refused_loops:
        return refused_loops[loop_key]
    attempt = Attempt()
    try:
        _record_cells(body)
        result = stage()
    except StagingError as error:
        attempt.undo()
        refused_loops[loop_key] = error
        return error
    except BaseException:
        attempt.keep()
        raise
    attempt.keep()
    return result


def _is_new_constant(before: object, after: object) -> bool:
    """Return whether an iteration replaced a Python number by another one that is known while tracing."""
    numbers = (int, float, complex)
    return isinstance(before, numbers) and isinstance(after, numbers) and (type(before), before) != (type(after), after)


def _changes_class(before: object, after: object) -> bool:
    """Return whether an iteration replaced one of Python's numbers by one of NumPy's."""
    return isinstance(before, (int, float, complex)) and isinstance(after, SymbolicTensor) and not after.weak


def node_limit(region: Region) -> int:
    """Return the largest number of nodes that the iterations of a loop may record in Python."""
    limit = _MAX_NODES_WITH_MEMORY if region.trace.memory else _MAX_NODES
    return min(limit, _MAX_INNER_NODES) if region.trace.is_in_replaced_range else limit


def _try_to_stage(
    numbers: range, body: LoopBody, state: tuple[Any, ...], unrolled_count: int, kinds: set[str]
) -> tuple[Any, ...] | None:
    """Record a loop of the graph and return the state after it.

    Undo this and return None if the loop has more than `_MAX_SHARE_OF_NODES` of the `unrolled_count` nodes, or results
    of other kinds than `kinds`.
    """
    region, attempt, staged = current_region(), Attempt(), as_staged(numbers)
    assert region is not None and staged is not None
    was_inside, region.trace.is_in_replaced_range = region.trace.is_in_replaced_range, True
    try:
        _record_cells(body)
        final_state = stage_for(staged, body, state)
        node_count, kinds_of_loop = _measure(region, attempt)
    except Exception:  # an error of the program is raised again by the unrolled loop
        attempt.undo()
        return None
    finally:
        region.trace.is_in_replaced_range = was_inside
    if node_count > _MAX_SHARE_OF_NODES * unrolled_count or not kinds_of_loop <= kinds:
        attempt.undo()
        return None
    attempt.keep()
    return final_state


def _record_cells(body: LoopBody) -> None:
    if body.cells is not None:
        record_cells(body.cells)


def _measure(region: Region, attempt: Attempt) -> tuple[int, set[str]]:
    """Return the number of nodes of an attempt, with those in regions, and the kinds of their results."""
    nodes = list(_walk(region.graph.nodes_since(attempt.mark)))
    return len(nodes), {_kind(value.type) for node in nodes for value in node.results}


def _kind(type_: Type) -> str:
    """Return the kind of a result: whether the sizes of an array or number are known, else the class of its type."""
    if not isinstance(type_, (TensorType, ArrayType)):
        return type(type_).__name__
    return "array" if type_.shape is not None and None not in type_.shape else "array of computed size"


def _walk(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for graph in node.regions:
            yield from graph.walk()
