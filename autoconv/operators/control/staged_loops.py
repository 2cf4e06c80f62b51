"""Record loops: the layouts of the state are widened until an iteration preserves them (a fixed point)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.dtypes import bool_
from autoconv.graph.graph import Value
from autoconv.graph.types import TensorType
from autoconv.operators.control.conditionals import has_code, is_staged, truth
from autoconv.operators.control.staging import aligned, stage_arms
from autoconv.operators.regions.container_promotion import (
    is_moved,
    move_into_graph,
    move_new_into_graph,
    move_shared,
    refuse_changed_copies,
    same_items,
    unnoted_changes,
)
from autoconv.operators.regions.layout import (
    NEVER,
    Arms,
    Grown,
    Layout,
    Leaf,
    Parts,
    Static,
    Variant,
    is_number_layout,
    is_object_layout,
    layout_of,
    leaf_types,
    state_layout,
)
from autoconv.operators.regions.layout_join import join_layouts, joined_lists, joined_objects
from autoconv.operators.regions.loop_aliases import joined_state, shared_by
from autoconv.operators.regions.marshalling import emit, rebuild
from autoconv.operators.regions.region_body import Body, Recorded, as_tuple, record_body, unify_captures, write_spot
from autoconv.operators.regions.shared_identity import frozen_where_shared
from autoconv.operators.regions.shared_lists import freeze_copies
from autoconv.operators.support.speculation import emit_output
from autoconv.runtime.objects.containers import TracedList, UnmovedError, heap_of
from autoconv.runtime.objects.symbolic_objects import box
from autoconv.runtime.recording.journal import Location
from autoconv.runtime.recording.regions import Region, current_region, recording
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.symbolic import SymbolicTensor

_ROUNDS = 12  # recordings of one loop after which StagingError is raised


# Rounds under `compile` after which unsettled parts of a loop's state become graph objects.
_GENERALISE_AFTER = 4


def stage_loop(
    test: Callable[..., Any],
    body: Body,
    state: Sequence[Any],
    names: Sequence[str],
    spots: dict[tuple[Any, ...], Location] | None = None,
    peel: bool = True,
    limited: bool = False,
) -> tuple[Any, ...]:
    """Record a while loop; widen the layouts of the state until an iteration preserves them.

    Under `compile`, the first iteration is peeled if a Python number changes its class in it.
    """
    parent = current_region()
    assert parent is not None
    spots = dict(spots or {})
    count = len(names)
    move_shared(parent, None, state)
    twins: frozenset[int] = frozenset()
    layouts = [state_layout(value, parent) for value in state]
    frozen = dict(parent.trace.frozen)
    for turn in range(_ROUNDS):
        parent.trace.frozen = dict(frozen)  # this recording freezes objects anew
        initial = [*state, *(spot.read() for spot in spots.values())]
        layouts += [state_layout(value, parent) for value in initial[len(layouts) :]]
        for position, value in enumerate(state):
            # The list has moved into the graph since.
            if heap_of(value) is not None and not is_object_layout(layouts[position]):
                layouts[position] = state_layout(value, parent)
        with unnoted_changes(body, state, current_place()):
            checked, stepped, shown = _record_iteration(parent, test, body, layouts, spots, count, twins)
        limit = stepped.region.most_iterations
        if limit is not None and not limited:
            return _limited(_computed_outside(limit, stepped.region), test, body, state, names, spots)
        if checked.wrote:
            return _tested_in_body(test, body, state, names)
        new = {k: s for k, s in {**checked.spots, **stepped.spots}.items() if k not in spots}
        after = [*stepped.results, *(stepped.value_of(spot) for spot in spots.values())]
        shared = move_shared(parent, stepped, after)
        titles = [*names, *(spot.name for spot in spots.values())]
        bound = [*range(count)]
        if not parent.contract.keeps_identity:
            bound += [n for n, spot in enumerate(spots.values(), count) if spot.kind in ("cell", "attribute")]
        known_as, first, last, named = ([column[n] for n in bound] for column in (layouts, initial, after, titles))
        found = joined_state(parent, stepped.region, known_as, first, last, named, spots)
        joined = dict(zip(bound, found, strict=True))
        known, twins = twins, twins | {bound[n] for n in shared_by(last, parent)}
        widened = [joined[n] for n in range(count)]
        for position, (spot, layout) in enumerate(zip(spots.values(), layouts[count:], strict=True), count):
            if position in joined:
                widened.append(joined[position])
                continue
            before = initial[position]
            initial[position], after[position] = aligned(spot, [before, after[position]], parent)
            if initial[position] is not before:
                layout = _with_keys(layout, state_layout(initial[position], parent))
            widened.append(_widened_contents(spot, layout, after[position], stepped.region))
        if peel and parent.contract.python_numbers and not new and any(map(_changes_kind, layouts[:count], widened)):
            return _peeled(test, body, state, names, spots)
        if parent.contract.objects_in_graph and turn >= _GENERALISE_AFTER:
            widened = [
                layout if layout == wider else joined_objects(layout, wider)
                for layout, wider in zip(layouts, widened, strict=True)
            ]
        widened = frozen_where_shared(widened, [[value] for value in after], [stepped.region])
        columns = [[*pair] for pair in zip(initial[:count], after[:count], strict=True)]
        columns += [[value] for value in initial[count:]]
        moved = move_into_graph(parent, columns, widened, list(spots.values()), count)
        moved |= shared
        moved |= move_new_into_graph(parent, stepped, list(new.values()))
        if moved:
            spots = {key: spot for key, spot in spots.items() if not is_moved(spot.owner)}
            new = {key: spot for key, spot in new.items() if not is_moved(spot.owner)}
            widened = widened[:count]
        refuse_changed_copies(parent, [*spots.values(), *new.values()])
        if not new and not moved and widened == layouts and twins == known:
            try:
                final = _finish_loop(parent, checked, stepped, layouts, initial, after, spots, count, twins)
            except UnmovedError as unmoved:
                box(unmoved.container)
                spots = {key: spot for key, spot in spots.items() if spot.owner is not unmoved.container}
                layouts = layouts[:count]
                continue
            for show in shown:
                emit_output(parent, show)
            return final
        layouts = widened
        if new:
            spots.update(new)
    raise StagingError(
        "the types of this loop's variables do not converge: " + ", ".join(names),
        current_place(),
        "values of one type in every iteration",
    )


def _widened_contents(spot: Location, layout: Layout, value: object, region: Region) -> Layout:
    """Join the layouts of a spot's contents before the loop and after an iteration."""
    later = NEVER if value is NEVER else layout_of(value, region)
    if type(spot.owner) is TracedList and not region.contract.objects_in_graph:
        grown = isinstance(layout, Grown) or isinstance(later, Grown)
        if grown or (isinstance(value, tuple) and _length(layout) != len(value)):
            return joined_lists([x for x in (layout, later) if x is not NEVER], spot.name, region.contract)
    return join_layouts(layout, later, spot.name, region.contract)


def _with_keys(layout: Layout, wanted: Layout) -> Layout:
    """Extend the layout of a dict's contents by the additional keys of `wanted`."""
    assert isinstance(wanted, Parts)
    known = {_key(pair): pair for pair in (layout.parts if isinstance(layout, Parts) else ())}
    return Parts(tuple, None, tuple(known.get(_key(pair), pair) for pair in wanted.parts))


def _key(pair: Layout) -> Any:
    if isinstance(pair, Static):
        return pair.value[0]
    assert isinstance(pair, Parts) and isinstance(pair.parts[0], Static)
    return pair.parts[0].value


def _length(layout: Layout) -> int:
    return len(layout.parts) if isinstance(layout, Parts) else len(layout.value) if isinstance(layout, Static) else -1


def _changes_kind(before: Layout, after: Layout) -> bool:
    """Return whether a number has more than one class."""
    return isinstance(before, (Static, Leaf)) and isinstance(after, Arms) and all(map(is_number_layout, after.arms))


def _peeled(test: Any, body: Body, state: Sequence[Any], names: Sequence[str], spots: Any) -> tuple[Any, ...]:
    def first_and_rest(*values: Any) -> tuple[Any, ...]:
        return stage_loop(test, body, as_tuple(body(*values)), names, spots, peel=False)

    first = test(*state)
    if not is_staged(first):
        return first_and_rest(*state) if first else tuple(state)
    return stage_arms(truth(first), [first_and_rest, lambda *values: values], state, names)


def _computed_outside(limit: Any, region: Region) -> Any:
    """Return a limit that the loop's body computes of values from outside, computed before the loop.

    Raises StagingError where the limit depends on what the loop changes.
    """
    if not isinstance(limit, SymbolicTensor) or limit.value_in_graph.graph is not region.graph:
        return limit
    outer = {inner: value for value, inner in region.captures.items()}

    def lifted(value: Value) -> Any:
        node = value.node
        if value not in outer and (node is None or node.regions or node.effects or len(node.results) != 1):
            raise StagingError(
                "maximum_iterations depends on what the loop changes", current_place(),
                "a limit computed before the loop",
            )
        if value not in outer:
            assert node is not None
            found = dispatch.apply(node.op.name, *map(lifted, node.inputs), **node.attributes)
            outer[value] = found.value_in_graph if isinstance(found, SymbolicTensor) else found
            return found
        found = outer[value]
        return SymbolicTensor(found) if isinstance(found, Value) else found

    return lifted(limit.value_in_graph)


def _limited(
    limit: object, test: Any, body: Body, state: Sequence[Any], names: Sequence[str], spots: Any
) -> tuple[Any, ...]:
    """Record the loop with an upper bound of `limit` iterations."""

    def stays(count: Any, *values: Any) -> Any:
        arms: list[Body] = [lambda: (test(*values),), lambda: (False,)]
        return stage_arms(count < limit, arms, [], ("condition",))[0]

    def step(count: Any, *values: Any) -> tuple[Any, ...]:
        return (count + 1, *as_tuple(body(*values)))

    return stage_loop(stays, step, (0, *state), ("number of iterations", *names), spots, limited=True)[1:]


def _tested_in_body(test: Any, body: Body, state: Sequence[Any], names: Sequence[str]) -> tuple[Any, ...]:
    """Record a loop whose test writes lists, attributes or outer names, which only the body can carry as state.

    The test is evaluated before the loop and at the end of each iteration:

        while test(): body()
        # is recorded as
        holds = test()
        while holds: body(); holds = test()
    """
    def step(*values: Any) -> tuple[Any, ...]:
        after = as_tuple(body(*values[:-1]))
        return (*after, truth(test(*after), "while loop"))

    first = truth(test(*state), "while loop")
    return stage_loop(lambda *values: values[-1], step, (*state, first), (*names, "the test of the loop"))[:-1]


def _record_iteration(
    parent: Region,
    test: object,
    body: Body,
    layouts: Sequence[Layout],
    spots: dict[Any, Location],
    count: int,
    twins: frozenset[int],
) -> tuple[Recorded, Recorded, list[Callable[[], None]]]:
    """Record the test and the body for these layouts; also return their deferred prints."""
    outer_output, parent.trace.pending_output = parent.trace.pending_output, []
    try:
        bound: dict[Any, Any] = {}
        tested = lambda region: [_test(region, test, layouts, spots, count, bound, twins)]
        checked = record_body(parent, "while_cond", tested, 1)
        checked.wrote = any(
            key not in bound or not _same_contents(checked.written[key], bound[key]) for key in checked.spots
        )
        steps = lambda region: as_tuple(body(*_bind(region, layouts, spots, count, twins)))
        stepped = record_body(parent, "while_body", steps, count)
    finally:
        shown, parent.trace.pending_output = parent.trace.pending_output, outer_output
    return checked, stepped, shown or []


def _bind(
    region: Region, layouts: Sequence[Layout], spots: dict[Any, Location], count: int, twins: frozenset[int]
) -> list[Any]:
    """Create parameters for the state, as Python values; write those of spots to them."""
    values = []
    for layout in layouts:
        leaves = [region.graph.add_parameter(leaf, f"{region.trace.scope}Placeholder") for leaf in leaf_types(layout)]
        values.append(rebuild(layout, iter(leaves)))
    for spot, value in zip(spots.values(), values[count:], strict=True):
        write_spot(spot, value)
    for position in twins:
        freeze_copies(region, values[position], layouts[position])
    return values[:count]


def _test(
    region: Region,
    test: Any,
    layouts: Any,
    spots: Any,
    count: int,
    bound: dict[Any, Any],
    twins: frozenset[int],
) -> Any:
    """Evaluate the test for state of those layouts; `bound` receives the contents of its spots before."""
    values = _bind(region, layouts, spots, count, twins)
    bound.update((key, spot.read()) for key, spot in spots.items())
    attributes = [(part, dict(vars(part))) for part in _objects_in(values)]
    decides = truth(test(*values), "while loop")
    if any(not _are_same(vars(part), before) for part, before in attributes):
        raise StagingError("the test of a loop changes an object, and which one depends on a tensor", current_place())
    return decides


def _objects_in(values: Sequence[Any]) -> list[Any]:
    """Return the objects in variants of the state whose truth a user-defined method decides."""
    arms = [arm for value in values if type(value) is Variant for arm in value.values]
    return [arm for arm in arms if has_code(arm) and hasattr(arm, "__dict__")]


def _are_same(now: dict[str, Any], before: dict[str, Any]) -> bool:
    return now.keys() == before.keys() and all(now[name] is before[name] for name in now)


def _same_contents(now: Any, before: object) -> bool:
    return same_items(now, before) or (type(now) is type(before) is frozenset and now == before)


def _finish_loop(
    parent: Region,
    checked: Recorded,
    stepped: Recorded,
    layouts: Sequence[Layout],
    initial: Sequence[Any],
    after: Sequence[Any],
    spots: dict[Any, Location],
    count: int,
    twins: frozenset[int],
) -> tuple[Any, ...]:
    """Record the `while` node for the settled layouts; write the spots and return the variables after the loop."""
    first = [v for value, layout in zip(initial, layouts, strict=True) for v in emit(value, layout, parent)]
    with recording(checked.region):
        condition = checked.results[0]
        bool_layout = Leaf(_bool_type())
        checked.region.graph.outputs = emit(condition, bool_layout, checked.region)
    with recording(stepped.region):
        stepped.region.graph.outputs = [
            v for value, layout in zip(after, layouts, strict=True) for v in emit(value, layout, stepped.region)
        ]
    captures = unify_captures([checked.region, stepped.region], len(first))
    node = parent.record(
        "while",
        [*first, *captures],
        {"state": len(first)},
        regions=[checked.region.graph, stepped.region.graph],
        types=[leaf for layout in layouts for leaf in leaf_types(layout)],
        shown="while",
    )
    values = iter(node.results)
    rebuilt = [rebuild(layout, values) for layout in layouts]
    for spot, value in zip(spots.values(), rebuilt[count:], strict=True):
        write_spot(spot, value)
    for position in twins:
        freeze_copies(parent, rebuilt[position], layouts[position])
    return tuple(rebuilt[:count])


def _bool_type() -> Any:
    return TensorType(bool_, (), True)
