"""Lower control flow: calls are inlined, conditions and loops become branches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.induction import Counter, counter_of, turns_of, weight
from autoconv.backends.llvm.analysis.tallies import tallies
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.control.interchanged_loop import write_interchanged_loop
from autoconv.backends.llvm.codegen.control.join_slots import as_borrowed, convert, fill, new_cell, read
from autoconv.backends.llvm.codegen.control.recursion import write_recursive_call
from autoconv.backends.llvm.codegen.memory import array_view
from autoconv.backends.llvm.codegen.registry import lowering
from autoconv.backends.llvm.codegen.values import Cells, Memory, Native, Object
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.legalize.interchange_loops import MARK
from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import Type
from autoconv.ops.analysis.value_range import is_inside

_SHORT = frozenset({"scalar", "pick", "view", "control", "memory"})  # roles of nodes that take a few nanoseconds


def _owned_or_borrowed(region: LoweringContext, node: Node, inputs: Sequence[Value]) -> list[Native]:
    """Return the inputs as a region takes them: owned where this node is the last use, else borrowed."""
    lent: list[Native] = []
    for value in inputs:
        native = region.native(value)
        if isinstance(native, Object):
            last = node.inputs.count(value) == 1 and region.uses[value] == 1
            native = Object(native.ir, native.slot if last else None)
        lent.append(as_borrowed(native) if isinstance(native, Memory) else native)
    return lent


@lowering("call")
def write_call(region: LoweringContext, node: Node) -> None:
    """Write the body of a call in place, and a recursive call as one of a native function."""
    if is_recursive(node):
        write_recursive_call(region, node)
        return
    owners = (node, *region.call_sites)
    natives = region.inner(node.regions[0], _owned_or_borrowed(region, node, node.inputs), owners)
    for value, output, native in zip(node.results, node.regions[0].outputs, natives, strict=True):
        region.set(value, convert(region, native, output.type, value.type))


@lowering("cond")
def write_cond(region: LoweringContext, node: Node) -> None:
    """Write the arms of a condition behind a branch."""
    out = region.out
    index = region.number(node.inputs[0])
    cells = [new_cell(region, value.type) for value in node.results]
    done, arms = out.label("joined"), [out.label("arm") for _ in node.regions]
    if len(arms) == 1:
        out.branch(arms[0])
    elif index.dtype.is_bool:
        out.branch_if(index.ir, arms[0], arms[1])
        if len(arms) > 2:
            raise AssertionError("a bool chooses between two arms")
    else:
        kind = register(index.dtype)
        cases = " ".join(f"{kind} {i}, label %{arm}" for i, arm in enumerate(arms[:-1]))
        out.line(f"switch {kind} {index.ir}, label %{arms[-1]} [ {cases} ]")
    lent = _owned_or_borrowed(region, node, node.inputs[1:])
    for graph, arm in zip(node.regions, arms, strict=True):
        out.begin(arm)
        fill(region, cells, node.results, graph.outputs, region.inner(graph, lent))
        out.branch(done)
    out.begin(done)
    for value, cell in zip(node.results, cells, strict=True):
        region.set(value, read(region, cell, value.type))


@lowering("while")
def write_while(region: LoweringContext, node: Node) -> None:
    """Write a loop around its regions, or an interchanged one."""
    if MARK in node.attributes:
        write_interchanged_loop(region, node)
        return
    out = region.out
    count = state_size(node)
    test, body = node.regions
    types = [value.type for value in body.parameters[:count]]
    cells = [new_cell(region, type_) for type_ in types]
    start = [_start_of(region, node, value) for value in node.inputs[:count]]
    fill(region, cells, body.parameters[:count], node.inputs[:count], start)
    captures = [as_borrowed(region.native(value)) for value in node.inputs[count:]]
    head, again, done = out.label("while"), out.label("again"), out.label("after")
    region.body.begin_loop(captures)
    is_long = any(_is_long(inner) for graph in node.regions for inner in graph.walk())
    counter = counter_of(node)
    is_short = not is_long and _has_few_turns(node)
    iteration_weight = None if is_long or is_short else _weight_in_chunks(counter, body)
    chunk = None
    if counter is not None and iteration_weight is not None:
        chunk = _begin_chunk(region, cells, types, counter, captures, done, iteration_weight)
    out.branch(head)
    out.begin(head)
    state = [read(region, cell, type_) for cell, type_ in zip(cells, types, strict=True)]
    if counter is not None:
        _note_counter(region, counter, start, state, captures, inside=False)
    _note_tallies(region, node, counter, start, state, captures)
    if chunk is not None:
        assert counter is not None
        position = state[counter.position]
        assert isinstance(position, Element)
        out.branch_if((position < chunk.end).ir, again, chunk.head)
    else:
        seen = [as_borrowed(native) for native in state]
        (condition,) = region.inner(test, [*seen, *captures])
        if not isinstance(condition, Element):
            raise AssertionError("the condition of a loop has to be a number")
        out.branch_if(ElementWriter(out).cast(condition, bool_).ir, again, done)
    out.begin(again)
    if counter is not None:
        _note_counter(region, counter, start, state, captures, inside=True)
    fill(region, cells, body.parameters[:count], body.outputs, region.inner(body, [*state, *captures]))
    if chunk is None and not is_short:
        region.body.poll(often=is_long)  # behind the body: LLVM moves the test of a short head there, too
    out.branch(head)
    out.begin(done)
    region.body.end_loop()
    for value, cell, type_ in zip(node.results, cells, types, strict=True):
        native = read(region, cell, type_)
        region.set(value, native if isinstance(cell, Cells) else convert(region, native, type_, value.type))


def _has_few_turns(node: Node) -> bool:
    turns = turns_of(node)
    return turns is not None and turns <= _FEW_TURNS


def _weight_in_chunks(counter: Counter | None, body: Graph) -> int | None:
    """Return the weight of an iteration, where the loop is short enough to poll once for many of them."""
    each = weight(body)
    return each if counter is not None and counter.alone and each is not None and each <= _FEW_TURNS else None


def _start_of(region: LoweringContext, node: Node, value: Value) -> Native:
    """Return the initial value of a loop's state, with an own reference for an object or a view."""
    native = region.native(value)
    if isinstance(native, Object):
        last = node.inputs.count(value) == 1 and region.uses[value] == 1
        return Object(region.take(value, last))
    return array_view.with_new_reference(region, native) if isinstance(native, Memory) else native


_CHUNK = 1 << 20  # iterations of a short loop between two polls for an interrupt
_MOST_TURNS = 1 << 52  # of a loop that polls in each turn: at a thousand million a second, they take 52 days
_FEW_TURNS = 64  # trip count up to which the enclosing loop polls, and not the loop itself


@dataclass(frozen=True, slots=True)
class _Chunk:
    head: str
    end: Element


def _begin_chunk(
    region: LoweringContext,
    cells: Sequence[Any],
    types: Sequence[Type],
    counter: Counter,
    captures: Sequence[Native],
    done: str,
    each: int,
) -> _Chunk:
    """Strip-mine a short loop into long runs, each preceded by one poll; an iteration counts for `each` short ones."""
    out = region.out
    b = ElementWriter(out)
    runs, go_on = out.label("runs"), out.label("run")
    limit = _limit(b, counter, captures)
    out.branch(runs)
    out.begin(runs)
    position = read(region, cells[counter.position], types[counter.position])
    assert isinstance(position, Element)
    left = limit - position
    out.branch_if((left > 0).ir, go_on, done)
    out.begin(go_on)
    end = b.select(left > _CHUNK // each, position + _CHUNK // each, limit)
    region.body.poll_after((end - position).ir if each == 1 else ((end - position) * each).ir)
    return _Chunk(runs, end)


def _limit(b: ElementWriter, counter: Counter, captures: Sequence[Native]) -> Element:
    if counter.limit is not None:
        return b.constant(counter.limit, int64)
    result = captures[counter.capture]
    assert isinstance(result, Element)
    return result


def _note_counter(
    region: LoweringContext,
    counter: Counter,
    start: Sequence[Native],
    state: Sequence[Native],
    captures: Sequence[Native],
    inside: bool,
) -> None:
    """Record the range of the loop counter; `inside` the body it is below the limit."""
    first, now = start[counter.position], state[counter.position]
    assert isinstance(first, Element) and isinstance(now, Element)
    limit = _limit(ElementWriter(region.out), counter, captures)
    low, high = region.body.range_of(first)[0], region.body.range_of(limit)[1]
    at_most = high - 1 if inside else max(high, region.body.range_of(first)[1])  # the start may exceed the limit
    region.body.note_range(now, (low, max(low, at_most)))
    if inside:
        region.body.note_limit(now, limit, -1)


def _note_tallies(
    region: LoweringContext,
    node: Node,
    counter: Counter | None,
    start: Sequence[Native],
    state: Sequence[Native],
    captures: Sequence[Native],
) -> None:
    """Record the ranges of states that change by constants, a bounded number of times, and bounds of those that fall.
    """
    turns = _MOST_TURNS
    if counter is not None:
        limit, first = _limit(ElementWriter(region.out), counter, captures), start[counter.position]
        assert isinstance(first, Element)
        turns = max(region.body.range_of(limit)[1] - region.body.range_of(first)[0], 0)
    for position, tally in tallies(node).items():
        before, now = start[position], state[position]
        if not isinstance(before, Element) or not isinstance(now, Element):
            continue
        if tally.resets is None and tally.steps is not None and tally.steps[1] <= 0:
            region.body.note_limit(now, before, 0)
        found = tally.range_after(turns, region.body.range_of(before))
        if (counter is None or position != counter.position) and is_inside(found):
            region.body.note_range(now, found)


def _is_long(node: Node) -> bool:
    """Return whether a node takes long: not a placeholder or constant, nor an error, which ends the loop."""
    return lowering_class(node) not in _SHORT and node.op.name not in ("absent", "constant", "raise")
