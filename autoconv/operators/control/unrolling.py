"""Unroll for statements over Python iterables under trace: the body once for each item, until a tensor decides."""

from __future__ import annotations

import gc
import itertools
import math
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.effects import Effects
from autoconv.operators.control.conditionals import if_stmt, is_staged, record_cells
from autoconv.operators.control.for_loops import stage_for, stage_for_object
from autoconv.operators.control.iterables import StagedList, as_staged
from autoconv.operators.control.loop_body import LoopBody
from autoconv.operators.control.range_warning import warn_of_unrolling
from autoconv.operators.regions.container_promotion import have_same_items
from autoconv.operators.regions.loop_aliases import ITERATED_CONTAINERS_BY_CODE
from autoconv.operators.support.generator_expressions import TracedGenerator, binds_outer_names
from autoconv.operators.support.held_iterators import HeldIterator
from autoconv.operators.support.protected_names import BREAK
from autoconv.operators.support.speculation import Attempt
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.objects.containers import (
    TRACED_TO_PLAIN,
    TracedList,
    TracedSet,
    contents,
    has_optional_keys,
    has_static_contents,
    heap_of,
    items_of,
    materialise,
)
from autoconv.runtime.objects.dict_views import DictView
from autoconv.runtime.objects.symbolic_objects import apply_object
from autoconv.runtime.recording.contracts import ITERATION
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.support.spans import current_place

# Largest number of remaining items that are unrolled once a tensor decides; more become one staged loop.
_UNROLL_LIMIT = 4
# Number of items from which an iterator counts as unbounded.
_UNBOUNDED_COUNT = 100_000
# Largest number of items by which a list may grow while Python iterates over it, under `compile`.
_GROWTH_LIMIT = 256
_GENERATOR_LIMIT = 1000  # largest number of values of a generator that a trace unrolls
# Deepest nesting of Python iterators that is searched for the underlying containers.
_ITERATOR_DEPTH = 8
# The builtin that returns a reverse iterator over a list; used like the names of a dict's views (keys, values, items).
_REVERSED = "reversed"


class _ChangedError(BaseException):
    """Signal that the contents of an iterated container have become known only at run time, and end the unrolling."""


def unroll(iterable: Iterable[Any], body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Unroll a loop over a Python iterable under trace, until a tensor decides whether it continues.

    If the loop changes its own container in a way known only at run time, its effects are undone. It then becomes a
    graph loop over a graph object.
    """
    owner, view_name = _container_behind(iterable)
    region = current_region()
    if owner is None or region is None:
        return _unroll_items(iterable, body, state)
    if not region.contract.objects_in_graph:
        try:
            return _unroll_items(iterable, body, state)
        except _ChangedError:
            class_name = TRACED_TO_PLAIN[type(owner)].__name__
            raise StagingError(
                f"a {class_name} changes in a loop over it whose end depends on a tensor",
                current_place(), "a loop over a copy, list(…)"
            ) from None
    attempt = Attempt()
    try:
        if body.cells is not None:
            record_cells(body.cells)
        result = _unroll_items(iterable, body, state)
    except _ChangedError:
        attempt.undo()
        materialise(owner)
        source = apply_object(_REVERSED, owner) if view_name == _REVERSED else iterable
        return stage_for_object(source, body, state)
    except BaseException:
        attempt.keep()
        raise
    attempt.keep()
    return result


def _container_behind(iterable: object) -> tuple[Any, str]:
    """Return the traced container that an iterable takes its items from, and the name of the view or function between.

    The container is None for other iterables, and the name "" for the container itself.
    """
    if type(iterable) in TRACED_TO_PLAIN:
        return iterable, ""
    if type(iterable) is DictView:
        return iterable.owner, iterable.name
    return (iterable.reversed_list() if type(iterable) is HeldIterator else None), _REVERSED


def _unroll_items(iterable: Iterable[Any], body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Run the body for each item, until a tensor decides or the iterated container moves into the graph."""
    iterator = _make_iterator(iterable)
    if is_staged(body.exit_code(state)):  # the loop may end before its first iteration
        return _record_rest(iterable, iterator, 0, body, state)
    region = current_region()
    contract = current_contract()
    limit = _iteration_limit(iterable)
    node_count = 0 if region is None else len(region.graph.nodes)
    for done_count, item in enumerate(iterator, 1):
        contract.count_step(ITERATION)
        if done_count > limit:
            raise _ChangedError
        if done_count > _GENERATOR_LIMIT and isinstance(iterable, types.GeneratorType) and current_region() is not None:
            message = f"a generator gives more than {_GENERATOR_LIMIT} values while tracing, and may be endless"
            raise StagingError(message, current_place())
        state = body.step(item, state)
        if done_count == 1:
            warn_of_unrolling(iterable, region, node_count)
        if heap_of(iterable) is not None and type(iterable) is TracedList and not body.has_left(state):
            return stage_for_object(iterable, body, state, done_count)
        if items_of(iterable) is not None and not body.has_left(state):
            return stage_for(StagedList(iterable, done_count), body, state)
        if is_staged(body.exit_code(state)):
            return _record_rest(iterable, iterator, done_count, body, state)
        if body.has_left(state):
            break
    return state


def _iteration_limit(iterable: object) -> float:
    """Return the number of iterations after which a growing list counts as growing forever; infinity for no limit.

    A list may grow forever in an arm that is recorded although no call reaches it.
    """
    region = current_region()
    if type(iterable) is not TracedList or region is None:
        return math.inf
    return list.__len__(iterable) + (_GROWTH_LIMIT if region.contract.objects_in_graph else _UNBOUNDED_COUNT)


def _make_iterator(iterable: Any) -> Any:
    """Return Python's iterator over the items; for a traced container, one that observes its changes."""
    if type(iterable) is TracedList:
        return list.__iter__(iterable)
    owner, view_name = _container_behind(iterable)
    if owner is None or has_optional_keys(owner):
        return iter(iterable)
    return _iterate_reversed(owner, iterable) if view_name == _REVERSED else _iterate_entries(owner, view_name)


def _iterate_reversed(owner: TracedList, iterator: HeldIterator) -> Iterator[Any]:
    """Yield the items of a list in reverse, while they are known."""
    for item in iterator:
        yield item
        if not has_static_contents(owner):
            iterator.leave()
            raise _ChangedError


def _iterate_entries(owner: Any, view_name: str) -> Iterator[Any]:
    """Yield the keys, values or items of a dict, or the items of a set, while they are known.

    Values are read at the time of each step; a change of size raises Python's own error.
    """
    plain_class: Any = TRACED_TO_PLAIN[type(owner)]
    keys = list(plain_class.__iter__(owner))
    for key in keys:
        if view_name:
            value = dict.__getitem__(owner, key)
        yield key if view_name in ("", "keys") else value if view_name == "values" else (key, value)
        if heap_of(owner) is not None:
            raise _ChangedError
        current_keys = list(plain_class.__iter__(owner))
        if len(current_keys) != len(keys):
            class_name = "Set" if type(owner) is TracedSet else "dictionary"
            raise mark_program_error(RuntimeError(f"{class_name} changed size during iteration"))
        if not all(map(_are_same_key, current_keys, keys)):
            raise _ChangedError


def _are_same_key(first: object, second: object) -> bool:
    """Return whether two keys are one object, or equal objects of one class."""
    return first is second or (type(first) is type(second) and first == second)


def _record_rest(
    iterable: object, iterator: object, done_count: int, body: LoopBody, state: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Record a loop over the remaining items of an iterable; a tensor decides whether it continues at all.

    `iterator` gives these items, and `done_count` items of `iterable` came before them.
    """
    region = current_region()
    if type(iterable) is TracedList and region is not None and not region.contract.objects_in_graph:
        return _record_rest_of_list(iterable, done_count, body, state)
    sources = _source_containers(iterable)
    contents_before = [contents(source) for source in sources]
    items = _exhaust(iterator)
    if type(iterable) is HeldIterator:
        iterable.leave()
    staged_items = as_staged(items) if len(items) > _UNROLL_LIMIT else None
    if staged_items is not None:
        state = stage_for(staged_items, body, state)
        _check_unchanged(iterable, sources, contents_before)
        return state
    for item in items:
        state = _record_iteration(body, state, lambda: item)  # noqa: B023
        _check_unchanged(iterable, sources, contents_before)
        if body.has_left(state):
            break
    return state


def _record_iteration(body: LoopBody, state: tuple[Any, ...], item: Callable[[], Any]) -> tuple[Any, ...]:
    """Record one iteration, if the loop has not been left before."""
    return if_stmt(
        body.exit_code(state) < BREAK,
        lambda *values: body.run(item(), *values),
        None, state, body.names, cells=body.cells,
    )  # fmt: skip


def _record_rest_of_list(owner: TracedList, done_count: int, body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Record a loop over the items of a list from position `done_count` on, each read when its turn comes."""
    if items_of(owner) is None and list.__len__(owner) - done_count > _UNROLL_LIMIT:
        final_state = _record_as_one_loop(owner, done_count, body, state)
        if final_state is not None:
            return final_state
        TracedList.move_to_graph(owner)
    position = done_count
    while items_of(owner) is None:
        if position >= list.__len__(owner):
            return state
        state = _record_iteration(body, state, lambda: list.__getitem__(owner, position))  # noqa: B023
        if body.has_left(state):
            return state
        position += 1
    return stage_for(StagedList(owner, position), body, state)


def _record_as_one_loop(
    owner: TracedList, done_count: int, body: LoopBody, state: tuple[Any, ...]
) -> tuple[Any, ...] | None:
    """Record one loop over the items of a list from position `done_count` on; return the state after the loop.

    Return None, with nothing recorded, if the items have no common type or the loop changes the list.
    """
    staged_items = as_staged(list(owner)[done_count:])
    if staged_items is None:
        return None
    attempt, contents_before = Attempt(), contents(owner)
    try:
        state = stage_for(staged_items, body, state)
    except BaseException:
        attempt.keep()
        raise
    if not have_same_items(contents(owner), contents_before):
        attempt.undo()
        return None
    attempt.keep()
    return state


def _exhaust(iterator: Any) -> list[Any]:
    """Return all remaining items of an iterator, which Python would advance only as long as the loop continues.

    Raises StagingError if that has side effects, or if the iterator is unbounded.
    """
    attempt = Attempt()
    try:
        items = list(itertools.islice(iterator, _UNBOUNDED_COUNT))
    except _ChangedError:
        attempt.keep()
        raise
    except BaseException:
        attempt.undo()
        raise
    has_effects = any(node.effects & ~Effects.READ for node in attempt.region.graph.nodes_since(attempt.mark))
    assert attempt.region.journal is not None
    if has_effects or attempt.region.journal.locations or binds_outer_names(iterator):
        attempt.undo()
        raise StagingError(
            "the end of this loop depends on a tensor, and its iterable has side effects",
            current_place(), "a for statement over the inner iterable, with those effects in its body",
        )  # fmt: skip
    attempt.keep()
    if len(items) == _UNBOUNDED_COUNT:
        raise StagingError(
            "where this loop over an unbounded Python iterator ends depends on a tensor",
            current_place(),
            "a while loop, or `for i in autoconv.range(limit)`",
        )
    return items


def _source_containers(iterable: Any) -> list[Any]:
    """Return the containers from which an iterable, or a chain of Python iterators, takes its items."""
    result: list[Any] = []
    worklist, seen_ids = [(iterable, 0)], set()
    while worklist:
        value, depth = worklist.pop()
        kind = type(value)
        if id(value) in seen_ids or depth > _ITERATOR_DEPTH:
            continue
        seen_ids.add(id(value))
        if kind is HeldIterator:
            worklist.append((value._iterator, depth))
        elif kind in TRACED_TO_PLAIN or kind in (list, dict, set):
            result.append(value)
        elif kind is TracedGenerator:
            worklist += [(part, depth + 1) for part in (value._iterator, getattr(value._source, "iterable", None))]
        elif kind is DictView:
            result.append(value.owner)
        elif kind is tuple or issubclass(kind, (Iterator, types.FrameType)):
            worklist += [(part, depth + 1) for part in gc.get_referents(value)]
    return result


ITERATED_CONTAINERS_BY_CODE[_unroll_items.__code__] = _source_containers


def _check_unchanged(iterable: object, sources: list[Any], contents_before: list[Any]) -> None:
    """Raise _ChangedError if the container behind the iterable has changed, StagingError if another source has."""
    owner, _ = _container_behind(iterable)
    for source, old_contents in zip(sources, contents_before, strict=True):
        if have_same_items(contents(source), old_contents):
            continue
        if owner is source:
            raise _ChangedError
        raise StagingError(
            "a list changes in a loop over it whose end depends on a tensor",
            current_place(), "a loop over a copy, list(…)"
        )
