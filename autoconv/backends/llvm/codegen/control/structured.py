"""Lower control flow: calls are inlined or become calls of native functions, conditions and loops become branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.representation import is_scalar
from autoconv.backends.llvm.analysis.serial_loops import is_serial
from autoconv.backends.llvm.analysis.step_ranges import step_ranges
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.control.interchanged_loop import write_interchanged_loop
from autoconv.backends.llvm.codegen.control.join_cells import (
    as_borrowed,
    convert_output,
    load_cell,
    new_cell,
    store_outputs,
)
from autoconv.backends.llvm.codegen.control.recursion import write_recursive_call
from autoconv.backends.llvm.codegen.control.running_totals import TotalTests, running_totals
from autoconv.backends.llvm.codegen.control.selection import has_large_operand, operand_bound, select_results
from autoconv.backends.llvm.codegen.memory import array_view
from autoconv.backends.llvm.codegen.registry import lowering
from autoconv.backends.llvm.codegen.values import Memory, Native, Object, StoredMemory
from autoconv.backends.llvm.ir.metadata import ALIGNED, independent_loop
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.legalize.interchange_loops import INTERCHANGED
from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.linear_form import Range
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import Type
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.analysis.induction import Counter, counter_of, iteration_weight, nested_trip_count_bound
from autoconv.ops.analysis.value_range import is_within_int64

# Lowering classes whose nodes take a few nanoseconds each.
_FAST_CLASSES = frozenset({"scalar", "pick", "view", "control", "memory"})


def _is_last_use(region: LoweringContext, node: Node, value: Value) -> bool:
    """Return whether an operand of `node` has no other use, by another operand or a later node."""
    return node.inputs.count(value) == 1 and region.remaining_uses[value] == 1


def _owned_or_borrowed(region: LoweringContext, node: Node, inputs: Sequence[Value]) -> list[Native]:
    """Return the inputs as arguments of a region.

    Objects are owned if this node is their last use, otherwise borrowed. Arrays are always borrowed.
    """
    arguments: list[Native] = []
    for value in inputs:
        representation = region.representation_of(value)
        if isinstance(representation, Object):
            slot = representation.slot if _is_last_use(region, node, value) else None
            representation = Object(representation.ir, slot)
        arguments.append(as_borrowed(representation) if isinstance(representation, Memory) else representation)
    return arguments


@lowering("call")
def write_call(region: LoweringContext, node: Node) -> None:
    """Inline the body of a call, or call the native function of a recursive one."""
    if is_recursive(node):
        write_recursive_call(region, node)
        return
    enclosing_calls = (node, *region.enclosing_calls)
    natives = region.write_nested(node.regions[0], _owned_or_borrowed(region, node, node.inputs), enclosing_calls)
    for value, native in zip(node.results, natives, strict=True):
        region.set(value, convert_output(region, native, value.type))


@lowering("cond")
def write_cond(region: LoweringContext, node: Node) -> None:
    """Write the arms of a condition behind a branch, or select results that both arms compute."""
    bound = operand_bound(region, node)
    results = _write_selection(region, node, bound) if bound else _write_arms(region, node)
    for value, native in zip(node.results, results, strict=True):
        region.set(value, native)


def _write_selection(region: LoweringContext, node: Node, bound: int) -> list[Native]:
    """Write both forms of a condition, and a test that chooses one.

    `bound` is a magnitude of the operands within which neither arm can overflow 64 bits (see `operand_bound`). If all
    operands are within it, both arms are computed without tests for overflow and the results selected. Otherwise the
    code branches to one arm.
    """
    out, b = region.out, ElementWriter(region.out)
    large_label, small_label, done_label = out.label("large"), out.label("small"), out.label("joined")
    out.branch_if(has_large_operand(region, node, bound).ir, large_label, small_label, unlikely=True)
    out.begin(large_label)
    large_results = [Operand.of(x.ir, "i64") for x in _write_arms(region, node) if isinstance(x, Element)]
    large_end = out.block
    out.branch(done_label)
    out.begin(small_label)
    small_results = [Operand.of(x.ir, "i64") for x in select_results(region, node, bound)]
    small_end = out.block
    out.branch(done_label)
    out.begin(done_label)
    pairs = zip(large_results, small_results, strict=True)
    return [b.wrap(int64, out.phi((x, large_end), (y, small_end))) for x, y in pairs]


def _write_arms(region: LoweringContext, node: Node) -> list[Native]:
    """Branch to the arm that the first operand, a bool or a number, selects; return the joined results."""
    out = region.out
    index = region.number(node.inputs[0])
    cells = [new_cell(region, value.type) for value in node.results]
    done_label, arm_labels = out.label("joined"), [out.label("arm") for _ in node.regions]
    if len(arm_labels) == 1:
        out.branch(arm_labels[0])
    elif index.dtype.is_bool:
        assert len(arm_labels) == 2, "a bool selects one of two arms"
        out.branch_if(index.ir, arm_labels[0], arm_labels[1])
    else:
        ir_type = register(index.dtype)
        cases = " ".join(f"{ir_type} {i}, label %{label}" for i, label in enumerate(arm_labels[:-1]))
        out.line(f"switch {ir_type} {index.ir}, label %{arm_labels[-1]} [ {cases} ]")
    arguments = _owned_or_borrowed(region, node, node.inputs[1:])
    for graph, label in zip(node.regions, arm_labels, strict=True):
        out.begin(label)
        store_outputs(region, cells, node.results, region.write_nested(graph, arguments))
        out.branch(done_label)
    out.begin(done_label)
    return [load_cell(region, cell, value.type) for value, cell in zip(node.results, cells, strict=True)]


@lowering("while")
def write_while(region: LoweringContext, node: Node) -> None:
    """Write a loop: cells hold its state, the first region is its test and the second its loop_body."""
    if INTERCHANGED in node.attributes:
        write_interchanged_loop(region, node)
        return
    out = region.out
    state_count = state_size(node)
    test, loop_body = node.regions
    types = [value.type for value in loop_body.parameters[:state_count]]
    cells = [new_cell(region, type_) for type_ in types]
    initial_state = [_take_initial_state(region, node, value) for value in node.inputs[:state_count]]
    store_outputs(region, cells, loop_body.parameters[:state_count], initial_state)
    counter = counter_of(node)
    is_slow, is_short, weight = _pace_of(node, counter)
    totals = running_totals(node) if is_short or weight is not None else {}
    if weight is not None and (totals or _reads_ints(loop_body) or _has_branches(loop_body)):
        region.body.module.has_loops = out.has_element_loops = True
    total_tests = TotalTests(region, totals, initial_state)
    outer_totals, region.body.running_totals = region.body.running_totals, region.body.running_totals | totals.keys()
    captures = [as_borrowed(region.representation_of(value)) for value in node.inputs[state_count:]]
    head_label, body_label, done_label = out.label("while"), out.label("again"), out.label("after")
    region.body.begin_loop(captures)
    outer_is_serial = region.body.is_in_serial_loop
    region.body.is_in_serial_loop = is_serial(node, region.body.dependence)
    chunk = None
    if counter is not None and weight is not None:
        chunk = _begin_chunk(region, cells, types, counter, captures, done_label, weight, total_tests)
    scopes = region.body.alias_scopes
    outer_group = scopes.access_group
    is_independent = region.body.dependence.has_independent_iterations(node)
    scopes.access_group = region.body.module.new_access_group() if is_independent else ""
    out.branch(head_label)
    out.begin(head_label)
    state = [load_cell(region, cell, type_) for cell, type_ in zip(cells, types, strict=True)]
    if counter is not None:
        _record_counter_range(region, counter, initial_state, state, captures, in_body=False)
    _record_ranges_of_stepped_states(region, node, counter, initial_state, state, captures)
    if chunk is not None:
        out.branch_if(chunk.contains_iteration(state), body_label, chunk.head_label)
    else:
        out.branch_if(_write_condition(region, test, state, captures), body_label, done_label)
    out.begin(body_label)
    if counter is not None:
        _record_counter_range(region, counter, initial_state, state, captures, in_body=True)
    outputs = region.write_nested(loop_body, [*state, *captures])
    store_outputs(region, cells, loop_body.parameters[:state_count], outputs)
    if chunk is None and not is_short:
        # The poll is at the end of the body, next to the test: LLVM moves the test there if the body is short.
        region.body.poll(often=is_slow)
    out.branch_back(head_label, independent_loop(scopes.access_group) if is_independent else ALIGNED)
    scopes.access_group = outer_group
    out.begin(done_label)
    region.body.is_in_serial_loop, region.body.running_totals = outer_is_serial, outer_totals
    region.body.end_loop()
    final_state = _set_final_state(region, node, cells, types)
    total_tests.write({position: final_state[position] for position in total_tests.positions})


def _set_final_state(
    region: LoweringContext, node: Node, cells: Sequence[Any], types: Sequence[Type]
) -> list[Native]:
    """Set the results of a loop to the state in its cells, and return that state."""
    final_state = [load_cell(region, cell, type_) for cell, type_ in zip(cells, types, strict=True)]
    for value, cell, native in zip(node.results, cells, final_state, strict=True):
        region.set(value, native if isinstance(cell, StoredMemory) else convert_output(region, native, value.type))
    return final_state


def _write_condition(
    region: LoweringContext, test: Graph, state: Sequence[Native], captures: Sequence[Native]
) -> str:
    """Write the test of a loop; return an i1 that is true if another iteration follows."""
    (condition,) = region.write_nested(test, [*(as_borrowed(native) for native in state), *captures])
    assert isinstance(condition, Element), "the condition of a loop has to be a number"
    return ElementWriter(region.out).cast(condition, bool_).ir


def _has_short_trip_count(node: Node) -> bool:
    """Return whether a loop, with the loops nested in it, is known to have so few iterations that it need not poll."""
    iterations = nested_trip_count_bound(node)
    return iterations is not None and iterations <= _SHORT_TRIP_COUNT


class _Pace(NamedTuple):
    """The polls of a loop for interrupts: often if its iterations are slow, none if it is short as a whole.

    `weight` is the weight of an iteration (see `_begin_chunk`) in a loop that polls once in many iterations, else None.
    """

    is_slow: bool
    is_short: bool
    weight: int | None


def _pace_of(node: Node, counter: Counter | None) -> _Pace:
    """Return how often a loop polls, by the time of its iterations and by their number."""
    is_slow = any(_is_slow(inner) for graph in node.regions for inner in graph.walk())
    is_short = not is_slow and _has_short_trip_count(node)
    return _Pace(is_slow, is_short, None if is_slow or is_short else _chunked_weight(counter, node.regions[1]))


def _reads_ints(loop_body: Graph) -> bool:
    """Return whether a loop's body reads single elements of arrays of ints: LLVM may vectorise it.

    It reorders no floats.
    """
    elements = [node.results[0].type for node in loop_body.walk() if lowering_class(node) == "view"]
    return any(is_scalar(type_) and not type_.dtype.is_floating for type_ in elements)


def _has_branches(loop_body: Graph) -> bool:
    """Return whether iterations take one of several paths; a thorough compilation joins the tests that they share."""
    return any(node.op.traits.selects and len(node.regions) > 1 for node in loop_body.walk())


def _chunked_weight(counter: Counter | None, loop_body: Graph) -> int | None:
    """Return the weight of an iteration (see `_begin_chunk`) if a loop can poll once for many iterations; else None."""
    weight = iteration_weight(loop_body)
    is_counted = counter is not None and counter.is_only_exit
    return weight if is_counted and weight is not None and weight <= _MAX_CHUNKED_WEIGHT else None


def _take_initial_state(region: LoweringContext, loop: Node, value: Value) -> Native:
    """Return an operand of a loop as initial state; an object or a view gets a reference of its own."""
    representation = region.representation_of(value)
    if isinstance(representation, Object):
        return Object(region.take_reference(value, _is_last_use(region, loop, value)))
    if isinstance(representation, Memory):
        return array_view.with_new_reference(region, representation)
    return representation


_CHUNK_LENGTH = 1 << 20  # iterations of weight 1 between two polls for an interrupt
_TRIP_COUNT_LIMIT = 1 << 52  # assumed bound of any loop's trip count: at 10⁹ iterations a second, 52 days
_MAX_CHUNKED_WEIGHT = 64  # largest weight of an iteration in a loop that polls once for many iterations
_SHORT_TRIP_COUNT = 64  # largest trip count of a loop without polls of its own: the code around it polls


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A run of iterations without a poll: the label of the block that begins it, and the loop counter at its end.

    `counter_position` is the position of the loop counter in the state.
    """

    head_label: str
    end: Element
    counter_position: int

    def contains_iteration(self, state: Sequence[Native]) -> str:
        """Return an i1 that is true if the iteration that begins with the state belongs to the chunk."""
        count = state[self.counter_position]
        assert isinstance(count, Element)
        return (count < self.end).ir


def _begin_chunk(
    region: LoweringContext,
    cells: Sequence[Any],
    types: Sequence[Type],
    counter: Counter,
    captures: Sequence[Native],
    done_label: str,
    weight: int,
    total_tests: TotalTests,
) -> _Chunk:
    """Strip-mine a loop of short iterations into chunks, and write the block that begins a chunk.

    The block tests the running totals for overflow, and leaves the loop for `done_label` if its counter is at the
    limit. It counts the iterations of the chunk for the next poll. `cells` hold the state, whose types are `types`. An
    iteration of `weight` w takes about as long as w iterations of weight 1.
    """
    out = region.out
    b = ElementWriter(out)
    head_label, chunk_label = out.label("runs"), out.label("run")
    limit = _counter_limit(b, counter, captures)
    out.branch(head_label)
    out.begin(head_label)
    positions = total_tests.positions
    total_tests.write({position: load_cell(region, cells[position], types[position]) for position in positions})
    count = load_cell(region, cells[counter.position], types[counter.position])
    assert isinstance(count, Element)
    remaining_count = limit - count
    out.branch_if((remaining_count > 0).ir, chunk_label, done_label)
    out.begin(chunk_label)
    end = b.select(remaining_count > _CHUNK_LENGTH // weight, count + _CHUNK_LENGTH // weight, limit)
    region.body.count_iterations_and_poll((end - count).ir if weight == 1 else ((end - count) * weight).ir)
    return _Chunk(head_label, end, counter.position)


def _counter_limit(b: ElementWriter, counter: Counter, captures: Sequence[Native]) -> Element:
    """Return the limit of a counted loop: a constant, or a number that the loop captures."""
    if counter.limit is not None:
        return b.constant(counter.limit, int64)
    result = captures[counter.capture]
    assert isinstance(result, Element)
    return result


def _record_counter_range(
    region: LoweringContext,
    counter: Counter,
    initial_state: Sequence[Native],
    state: Sequence[Native],
    captures: Sequence[Native],
    in_body: bool,
) -> None:
    """Record the range of the loop counter; if `in_body` is true, the counter is known to be below the limit."""
    initial_count, count = initial_state[counter.position], state[counter.position]
    assert isinstance(initial_count, Element) and isinstance(count, Element)
    limit = _counter_limit(ElementWriter(region.out), counter, captures)
    (low, greatest_start), high = region.body.range_of(initial_count), region.body.range_of(limit)[1]
    upper_bound = high - 1 if in_body else max(high, greatest_start)  # the start may exceed the limit
    region.body.record_range(count, (low, max(low, upper_bound)))
    if in_body:
        region.body.record_upper_bound(count, limit, -1)


def _record_ranges_of_stepped_states(
    region: LoweringContext,
    node: Node,
    counter: Counter | None,
    initial_state: Sequence[Native],
    state: Sequence[Native],
    captures: Sequence[Native],
) -> None:
    """Record the ranges of states that change by bounded steps (see analysis/step_ranges.py).

    A state that only decreases is also bounded by its initial value. The counter of the loop may be such a state; its
    exact range has been recorded before.
    """
    trip_count, known_states = _TRIP_COUNT_LIMIT, dict[int, Range]()
    if counter is not None:
        limit = _counter_limit(ElementWriter(region.out), counter, captures)
        initial_count = initial_state[counter.position]
        assert isinstance(initial_count, Element)
        low, high = region.body.range_of(initial_count)[0], region.body.range_of(limit)[1]
        trip_count = max(high - low, 0)
        known_states[counter.position] = low, max(high - 1, low)
    for position, step_range in step_ranges(node, known_states).items():
        initial_value, value = initial_state[position], state[position]
        if not isinstance(initial_value, Element) or not isinstance(value, Element):
            continue
        if step_range.resets is None and step_range.increments is not None and step_range.increments[1] <= 0:
            region.body.record_upper_bound(value, initial_value, 0)
        range_ = step_range.range_after(trip_count, region.body.range_of(initial_value))
        if (counter is None or position != counter.position) and is_within_int64(range_):
            region.body.record_range(value, range_)


def _is_slow(node: Node) -> bool:
    """Return whether a node takes more than a few nanoseconds; a node that raises ends the loop and does not count."""
    return lowering_class(node) not in _FAST_CLASSES and node.op.name not in ("absent", "constant", "raise")
