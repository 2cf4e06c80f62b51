"""Record loops: the layouts of the state are widened until an iteration preserves them (a fixed point)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.graph import Value
from autoconv.operators.control.conditionals import is_staged, truth
from autoconv.operators.control.loop_recording import LoopRecording
from autoconv.operators.control.staging import stage_arms
from autoconv.operators.regions.container_promotion import move_shared_containers
from autoconv.operators.regions.layout import Arms, Layout, Leaf, Static, is_number_layout
from autoconv.operators.regions.layout_join import join_objects
from autoconv.operators.regions.region_body import Body, as_tuple
from autoconv.operators.support.speculation import emit_output
from autoconv.runtime.objects.containers import UnmovedError
from autoconv.runtime.recording.journal import Location
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.symbolic import SymbolicTensor

# Recordings of one loop after which StagingError is raised.
_MAX_ROUNDS = 12
# Rounds under `compile` after which changing parts of a loop's state become graph objects.
_GENERALISE_AFTER = 4


def stage_loop(
    test: Callable[..., Any],
    body: Body,
    state: Sequence[Any],
    names: Sequence[str],
    locations: dict[tuple[Any, ...], Location] | None = None,
    peel: bool = True,
    is_limited: bool = False,
) -> tuple[Any, ...]:
    """Record a while loop and return the variables `names` after it.

    Its body is recorded again, with wider layouts of the state, until an iteration preserves them. `locations` are
    those that the body is known to write, by key. With `peel`, under `compile`, the first iteration is recorded before
    the loop if a Python number has another class after it. `is_limited`: the test bounds the number of iterations.
    """
    loop = LoopRecording(test, body, state, names, dict(locations or {}))
    contract = loop.parent.contract
    for round_number in range(_MAX_ROUNDS):
        loop.record()
        limit = loop.recorded_body.region.max_iterations
        if limit is not None and not is_limited:
            outer_limit = _hoist_limit(limit, loop.recorded_body.region)
            return _record_limited(outer_limit, test, body, state, names, loop.locations)
        if loop.recorded_test.changes_state:
            return _record_with_test_in_body(test, body, state, names)
        has_moved = move_shared_containers(loop.parent, loop.recorded_body, loop.final_state)
        wider_layouts = loop.widen_layouts()
        may_peel = peel and contract.python_numbers and not loop.new_locations
        if may_peel and any(map(_changes_number_class, loop.layouts, wider_layouts, loop.variables_after())):
            return _peel(test, body, state, names, loop.locations)
        if contract.objects_in_graph and round_number >= _GENERALISE_AFTER:
            wider_layouts = [
                layout if layout == wider else join_objects(layout, wider)
                for layout, wider in zip(loop.layouts, wider_layouts, strict=True)
            ]
        if not loop.update_layouts(wider_layouts, has_moved):
            continue
        try:
            final_state = loop.finish()
        except UnmovedError as unmoved:
            loop.move_container(unmoved.container)
            continue
        for print_output in loop.deferred_output:
            emit_output(loop.parent, print_output)
        return final_state
    raise StagingError(
        "the types of this loop's variables do not converge: " + ", ".join(names),
        current_place(),
        "values of one type in every iteration",
    )


def _changes_number_class(layout: Layout, wider_layout: Layout, layout_after: Layout) -> bool:
    """Return whether an iteration replaces numbers of one class by those of one other class.

    A branch, or a loop that may be empty, leaves a number of either class. Then the loop after a peeled iteration has
    both classes as well, and the copies of iterations would double the nodes at each level of a nest.
    """
    if not isinstance(layout, (Static, Leaf)) or not isinstance(wider_layout, Arms):
        return False
    return not isinstance(layout_after, Arms) and all(map(is_number_layout, wider_layout.arms))


def _peel(test: Any, body: Body, state: Sequence[Any], names: Sequence[str], locations: Any) -> tuple[Any, ...]:
    """Record `if test: body; while test: body`, so that the loop starts with the classes after the first iteration."""
    def run_first_and_loop(*values: Any) -> tuple[Any, ...]:
        return stage_loop(test, body, as_tuple(body(*values)), names, locations, peel=False)

    initial_truth = test(*state)
    if not is_staged(initial_truth):
        return run_first_and_loop(*state) if initial_truth else tuple(state)
    return stage_arms(truth(initial_truth), [run_first_and_loop, lambda *values: values], state, names)


def _hoist_limit(limit: Any, region: Region) -> Any:
    """Return the limit of a loop's iterations, recomputed before the loop if the body computes it from outer values.

    Raises StagingError where the limit depends on values that the loop changes.
    """
    if not isinstance(limit, SymbolicTensor) or limit.value_in_graph.graph is not region.graph:
        return limit
    hoisted_values = {inner: value for value, inner in region.captures.items()}

    def hoist_value(value: Value) -> Any:
        """Return a value of the body, recomputed before the loop: a tensor, or a Python value."""
        node = value.node
        can_be_repeated = node is not None and not node.regions and not node.effects and len(node.results) == 1
        if value not in hoisted_values and not can_be_repeated:
            raise StagingError(
                "maximum_iterations depends on a value that the loop changes", current_place(),
                "a limit computed before the loop",
            )
        if value not in hoisted_values:
            assert node is not None
            result = dispatch.apply(node.op.name, *map(hoist_value, node.inputs), **node.attributes)
            hoisted_values[value] = result.value_in_graph if isinstance(result, SymbolicTensor) else result
            return result
        result = hoisted_values[value]
        return SymbolicTensor(result) if isinstance(result, Value) else result

    return hoist_value(limit.value_in_graph)


def _record_limited(
    limit: object, test: Any, body: Body, state: Sequence[Any], names: Sequence[str], locations: Any
) -> tuple[Any, ...]:
    """Record the loop with an upper bound of `limit` iterations."""

    def limited_test(count: Any, *values: Any) -> Any:
        arms: list[Body] = [lambda: (test(*values),), lambda: (False,)]
        (condition,) = stage_arms(count < limit, arms, [], ("condition",))
        return condition

    def step(count: Any, *values: Any) -> tuple[Any, ...]:
        return (count + 1, *as_tuple(body(*values)))

    _, *final_state = stage_loop(
        limited_test, step, (0, *state), ("number of iterations", *names), locations, is_limited=True
    )
    return tuple(final_state)


def _record_with_test_in_body(test: Any, body: Body, state: Sequence[Any], names: Sequence[str]) -> tuple[Any, ...]:
    """Record a loop whose test writes lists, attributes or outer names, which only the body can carry as state.

    The test is evaluated before the loop and at the end of each iteration:

        while test(): body()
        # is recorded as
        holds = test()
        while holds: body(); holds = test()
    """
    def step(*values: Any) -> tuple[Any, ...]:
        new_state = as_tuple(body(*values[:-1]))
        return (*new_state, truth(test(*new_state), "while loop"))

    initial_truth = truth(test(*state), "while loop")
    names_of_state = *names, "the test of the loop"
    *final_state, _ = stage_loop(lambda *values: values[-1], step, (*state, initial_truth), names_of_state)
    return tuple(final_state)
