"""Interchange a scalar-controlled loop with the elementwise loops in its body, and strip-mine the result.

    before   while i < n: z, i = z * z + c, i + 1
    after    how often: while i < n: i, times = i + 1, times + 1
             and for each block of elements that many times: z = z * z + c

A block of elements stays in registers. The test and the counters of the loop are scalars, which are computed first, and
raise there. The second loop is in the graph as a marked one, which `write_sunk` lowers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.context import LoweringContext
from autoconv.backends.llvm.natives import PART, Routine, in_parts
from autoconv.backends.llvm.positions import plus, times
from autoconv.backends.llvm.roles import is_array, is_complex, is_scalar, role, sizes
from autoconv.backends.llvm.rules import apply_rule
from autoconv.backends.llvm.scalars import Element, ElementWriter, load, memory, register, store
from autoconv.backends.llvm.schedule_pipeline import schedule
from autoconv.backends.llvm.split import cost
from autoconv.backends.llvm.text import FunctionText, ModuleText
from autoconv.graph.dtypes import int64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, clone, copy_node, is_recursive
from autoconv.ops.builder import GraphBuilder

MARK = "of_elements"  # attribute that marks such a loop
_BYTES = 256  # bytes of a block of one array: four of the longest vectors
_MOST_ARRAYS, _MOST_NODES = 6, 40  # limits beyond which registers do not suffice
_CALL = 20_000_000  # work of one call of the loops, in units of about 0.05 ns: it cannot be interrupted
_STEPS = 8  # assumed trip count, to decide whether several threads are worth it


def sink(graph: Graph) -> Graph:
    """Return the graph, regions included, with such loops split in two."""
    if not any(node.op.name == "while" and _fits(node) for node in graph.walk()):
        return graph

    def rewrite(copy: Graph, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        return _in_two(copy, node, inputs) if node.op.name == "while" and _fits(node) else None

    return clone(graph, rewrite)


# ---- conditions


def _fits(node: Node) -> bool:
    test, body = node.regions
    count = node.attributes["state"]
    state = body.parameters[:count]
    arrays = [value for value in state if is_array(value.type)]
    if is_recursive(node) or MARK in node.attributes or not 0 < len(arrays) <= _MOST_ARRAYS:
        return False
    types = [value.type for value in state]
    if [value.type for value in body.outputs] != types or [value.type for value in node.inputs[:count]] != types:
        return False
    if not all(is_array(value.type) or is_scalar(value.type) for value in (*state, *node.inputs)):
        return False
    shape = sizes(arrays[0].type)
    if not math.prod(shape) or any(sizes(value.type) != shape for value in arrays):
        return False
    if len(body.nodes) > _MOST_NODES or any(value.type.dtype.is_bool for value in arrays):  # type: ignore[union-attr]
        return False
    changing = {value for value in state if is_scalar(value.type)}
    seen = {*test.parameters[:count]} - {t for t, value in zip(test.parameters, state, strict=False) if value in arrays}
    allowed = seen | {value for value in test.parameters[count:] if is_scalar(value.type)}
    return _numbers_alone(test, allowed) and _by_elements(body, changing, shape)


def _is_number(node: Node) -> bool:
    constant = node.op.name == "constant" and is_scalar(node.results[0].type)
    return constant or (role(node) == "scalar" and node.effects in (Effects.PURE, Effects.RAISE))


def _numbers_alone(test: Graph, allowed: set[Value]) -> bool:
    for node in test.nodes:
        if not _is_number(node) or not allowed.issuperset(node.inputs):
            return False
        allowed.update(node.results)
    return allowed.issuperset(test.outputs)


def _by_elements(body: Graph, changing: set[Value], shape: tuple[int, ...]) -> bool:
    """Return whether the body is elementwise, over arrays of the shape and loop-invariant numbers."""
    changing = set(changing)
    some = False
    for node in body.nodes:
        if _is_number(node):
            if any(is_array(value.type) for value in node.inputs):
                return False
            if node.effects is not Effects.PURE or not changing.isdisjoint(node.inputs):
                changing.update(node.results)
            continue
        if role(node) != "element" or node.effects is not Effects.PURE or _is_rare(node):
            return False
        for value in (*node.inputs, *node.results):
            if value in changing or is_complex(value.type):
                return False
            if is_array(value.type) and sizes(value.type) != shape:
                return False
        some = True
    outputs = [value for value in body.outputs if is_array(value.type)]
    return some and all(sizes(value.type) == shape for value in outputs)


class _Asking(ElementWriter):
    """Detect whether a rule leaves some operands to the C library."""

    in_loop = True
    asked = False

    def rare(self, condition: Element) -> None:
        self.asked = True

    fail = rare


def _is_rare(node: Node) -> bool:
    b = _Asking(FunctionText(ModuleText(), ""))
    operands: list[Any] = [b.wrap(value.type.dtype, f"%{i}") for i, value in enumerate(node.inputs)]  # type: ignore[union-attr]
    apply_rule(b, node, operands)
    return b.asked


# ---- rewrite


def _in_two(copy: Graph, node: Node, inputs: list[Value]) -> Sequence[Value]:
    test, body = node.regions
    count = node.attributes["state"]
    numbers = [i for i in range(count) if is_scalar(inputs[i].type)]
    arrays = [i for i in range(count) if i not in numbers]
    captured = [i for i in range(count, len(inputs)) if is_scalar(inputs[i].type)]
    b = GraphBuilder(copy, node.span)
    zero = b.constant(value=int64.numpy.type(0))
    counting = [_counting(graph, numbers, captured, graph is body) for graph in (test, body)]
    first = copy.add(
        node.op, [*(inputs[i] for i in numbers), zero, *(inputs[i] for i in captured)], {"state": len(numbers) + 1},
        regions=counting, types=[*(node.results[i].type for i in numbers), zero.type], span=node.span,
    )  # fmt: skip
    head, whole = Graph(test.name), Graph(body.name)
    for graph in (head, whole):
        for value in (zero, *(inputs[i] for i in arrays), first.results[-1], *inputs[count:]):
            graph.add_parameter(value.type)
    head.outputs = [GraphBuilder(head).less(head.parameters[0], head.parameters[1 + len(arrays)])]
    step, *rest = whole.parameters
    places = {body.parameters[i]: value for i, value in zip([*arrays, *range(count, len(inputs))],
              [*rest[: len(arrays)], *rest[len(arrays) + 1 :]], strict=True)}  # fmt: skip
    changing = {body.parameters[i] for i in numbers}
    for inner in body.nodes:
        if not changing.isdisjoint(inner.inputs) or inner.effects is not Effects.PURE:
            changing.update(inner.results)
            continue
        made = copy_node(whole, inner, [places[value] for value in inner.inputs])
        places.update(zip(inner.results, made.results, strict=True))
    one = GraphBuilder(whole).constant(value=int64.numpy.type(1))
    whole.outputs = [GraphBuilder(whole).add(step, one), *(places[body.outputs[i]] for i in arrays)]
    second = copy.add(
        node.op, [zero, *(inputs[i] for i in arrays), first.results[-1], *inputs[count:]],
        {"state": 1 + len(arrays), MARK: True}, regions=(head, whole),
        types=[zero.type, *(node.results[i].type for i in arrays)], span=node.span,
    )  # fmt: skip
    found = dict(zip(numbers, first.results, strict=False)) | dict(zip(arrays, second.results[1:], strict=True))
    return [found[i] for i in range(count)]


def _counting(graph: Graph, numbers: Sequence[int], captured: Sequence[int], is_body: bool) -> Graph:
    """Reduce a region to its scalars, and append the trip count to the state."""
    copy = Graph(graph.name)
    values = {graph.parameters[i]: copy.add_parameter(graph.parameters[i].type) for i in numbers}
    turns = copy.add_parameter(GraphBuilder(Graph("")).constant(value=int64.numpy.type(0)).type)
    values.update({graph.parameters[i]: copy.add_parameter(graph.parameters[i].type) for i in captured})
    for node in graph.nodes:
        if _is_number(node):
            made = copy_node(copy, node, [values[value] for value in node.inputs])
            values.update(zip(node.results, made.results, strict=True))
    if is_body:
        b = GraphBuilder(copy)
        again = b.add(turns, b.constant(value=int64.numpy.type(1)))
        copy.outputs = [*(values[graph.outputs[i]] for i in numbers), again]
    else:
        copy.outputs = [values[value] for value in graph.outputs]
    return copy


# ---- lowering


def write_sunk(region: LoweringContext, node: Node) -> None:
    """Write the loop block by block, with the first capture as trip count; long loops run in several calls."""
    out, (_, body) = region.out, node.regions
    count = node.attributes["state"]
    given, captures = node.inputs[1:count], node.inputs[count + 1 :]
    loops = _Blocks(region, node)
    turns = region.number(node.inputs[count]).ir
    results = [region.new_array(value.type) for value in node.results[1:]]
    targets = [f"ptr {region.address(made)}" for made in results]
    others = [
        f"{register(v.type.dtype)} {region.number(v).ir}" if is_scalar(v.type) else f"ptr {region.data(v)}"  # type: ignore[union-attr]
        for v in captures
    ]
    sources = [f"ptr {region.data(value)}" for value in given]
    cell = out.alloca("i64")
    limit = max(1, _CALL // (loops.size * sum(map(cost, body.nodes))))
    minimum = region.body.module.declare("llvm.smin.i64", "i64", "i64, i64")
    head, again, done = out.label("rounds"), out.label("round"), out.label("after")

    def call(begin: Sequence[str], left: str) -> str:
        now = out.new(f"call i64 {minimum}(i64 {left}, i64 {limit})")
        out.line(f"call void @{loops.name}({', '.join([*begin, *others, *targets, f'i64 {now}'])})")
        return out.new(f"sub i64 {left}, {now}")

    out.line(f"store i64 {call(sources, turns)}, ptr {cell}")
    out.branch(head)
    out.begin(head)
    left = out.new(f"load i64, ptr {cell}")
    out.branch_if(out.new(f"icmp sgt i64 {left}, 0"), again, done)
    out.begin(again)
    region.body.check(out.new("call i1 @pause()"))  # each call took about a millisecond
    out.line(f"store i64 {call(targets, left)}, ptr {cell}")
    out.branch(head)
    out.begin(done)
    region.set(node.results[0], ElementWriter(out).wrap(int64, turns))
    for value, made in zip(node.results[1:], results, strict=True):
        region.set(value, made)


class _Blocks:
    """The function of the loop: it takes sources, captures, targets and the trip count; a source may be its target."""

    def __init__(self, region: LoweringContext, node: Node) -> None:
        count = node.attributes["state"]
        self._body = node.regions[1]
        self._state, self._captures = self._body.parameters[1:count], self._body.parameters[count + 1 :]
        self.size = math.prod(sizes(self._state[0].type))
        width = max(value.type.dtype.size for value in self._state)  # type: ignore[union-attr]
        self._block = min(_BYTES // width, self.size)
        self._plan = schedule(self._body)
        parameters = [f"ptr %from{i}" for i in range(len(self._state))]
        parameters += [
            f"{register(v.type.dtype)} %c{i}" if is_scalar(v.type) else f"ptr noalias readonly %c{i}"  # type: ignore[union-attr]
            for i, v in enumerate(self._captures)
        ]
        parameters += [*(f"ptr %to{i}" for i in range(len(self._state))), "i64 %times"]
        work = self.size * (sum(map(cost, self._body.nodes)) + len(self._state)) * _STEPS
        blocks = self.size // self._block
        body = Routine(region, [*parameters, *PART], "i1")
        self._loops(body, "%first", "%last", self._block, 0)
        whole = in_parts(region, parameters, body, blocks, work)
        rest = self.size % self._block
        if not rest:
            self.name = whole
            return
        both = Routine(region, parameters)
        names = ", ".join(parameter.replace("noalias ", "").replace("readonly ", "") for parameter in parameters)
        both.out.line(f"call void @{whole}({names})")
        self._loops(both, "0", "1", rest, blocks * self._block)
        self.name = both.finish()

    def _loops(self, routine: Routine, first: str, last: str, width: int, start: int) -> None:
        out, b = routine.out, _Elements(routine.out)
        cells = [out.alloca(f"[{width} x {memory(v.type.dtype)}], align 64") for v in self._state]  # type: ignore[union-attr]
        with out.loop(first, last) as block:
            base = plus(out, times(out, block, width), start)
            for i, value in enumerate(self._state):
                with out.loop("0", str(width)) as j:
                    store(b, load(b, value.type.dtype, f"%from{i}", plus(out, base, j)), cells[i], j)  # type: ignore[union-attr]
            with out.loop("0", "%times"), out.loop("0", str(width), in_registers=True) as j:
                self._step(b, cells, base, j)
            for i, value in enumerate(self._state):
                with out.loop("0", str(width)) as j:
                    store(b, load(b, value.type.dtype, cells[i], j), f"%to{i}", plus(out, base, j))  # type: ignore[union-attr]

    def _step(self, b: _Elements, cells: Sequence[str], base: Any, j: Any) -> None:
        """Write one iteration for an element: all loads precede the first store."""
        found: dict[Value, Element] = {}
        for value, cell in zip(self._state, cells, strict=True):
            found[value] = load(b, value.type.dtype, cell, j)  # type: ignore[union-attr]
        for i, value in enumerate(self._captures):
            dtype: Any = value.type.dtype  # type: ignore[union-attr]
            at = b.wrap(dtype, f"%c{i}") if is_scalar(value.type) else load(b, dtype, f"%c{i}", plus(b.out, base, j))
            found[value] = at
        for node in self._body.nodes:
            (result,) = node.results
            if self._body.parameters[0] in node.inputs:  # the trip counter
                continue
            if node.op.name == "constant":
                found[result] = b.constant(node.attributes["value"].item(), result.type.dtype)  # type: ignore[union-attr]
            else:
                found[result] = apply_rule(b, node, [found[v] for v in node.inputs])
        for output, cell in zip(self._body.outputs[1:], cells, strict=True):
            store(b, found[output], cell, j)


class _Elements(ElementWriter):
    in_loop = True
