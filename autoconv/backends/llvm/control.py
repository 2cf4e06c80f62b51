"""Control flow in native code: calls are written out, conditions and loops are branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from autoconv.backends.llvm.roles import is_scalar, role
from autoconv.backends.llvm.scalars import Element, ElementWriter, load, memory, register, store
from autoconv.backends.llvm.sinking import MARK, write_sunk
from autoconv.backends.llvm.values import Native, Object
from autoconv.graph.dtypes import bool_
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Type

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region

_SHORT = frozenset({"scalar", "pick", "view", "control"})  # roles of what takes a few nanoseconds


def write_control(region: Region, node: Node) -> None:
    """A call, a condition or a loop, whose regions become part of the function."""
    if MARK in node.attributes:
        write_sunk(region, node)
        return
    {"call": _write_call, "cond": _write_cond, "while": _write_while}[node.op.name](region, node)


def _lent(region: Region, node: Node, inputs: Sequence[Value]) -> list[Native]:
    """The inputs as a region gets them: objects that are not used after it are its own."""
    lent: list[Native] = []
    for value in inputs:
        native = region.native(value)
        if isinstance(native, Object):
            last = node.inputs.count(value) == 1 and region.uses[value] == 1
            native = Object(native.ir, native.slot if last else None)
        lent.append(native)
    return lent


def _write_call(region: Region, node: Node) -> None:
    owners = (node, *region.owners)
    found = region.inner(node.regions[0], _lent(region, node, node.inputs), owners)
    for value, output, native in zip(node.results, node.regions[0].outputs, found, strict=True):
        region.set(value, _converted(region, native, output.type, value.type))


def _converted(region: Region, native: Native, from_type: Type, to_type: Type) -> Native:
    """A result of a region as a value of its owner's type, which may know less: numbers may need a box."""
    if isinstance(native, Element):
        if is_scalar(to_type):
            return native
        return region.boxed(native)
    return native if native.slot is not None else region.body.own(native.ir)


def _write_cond(region: Region, node: Node) -> None:
    out = region.out
    index = region.number(node.inputs[0])
    cells = [_cell(region, value.type) for value in node.results]
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
    lent = _lent(region, node, node.inputs[1:])
    for graph, arm in zip(node.regions, arms, strict=True):
        out.begin(arm)
        _fill(region, cells, node.results, graph.outputs, region.inner(graph, lent))
        out.branch(done)
    out.begin(done)
    for value, cell in zip(node.results, cells, strict=True):
        region.set(value, _read(region, cell, value.type))


def _cell(region: Region, type_: Type) -> str:
    return region.out.alloca(memory(type_.dtype)) if is_scalar(type_) else region.out.slot()  # type: ignore[union-attr]


def _fill(
    region: Region, cells: Sequence[str], results: Sequence[Value], outputs: Sequence[Value], natives: Sequence[Native]
) -> None:
    for cell, value, output, native in zip(cells, results, outputs, natives, strict=True):
        native = _converted(region, native, output.type, value.type)
        if isinstance(native, Element):
            store(ElementWriter(region.out), native, cell, 0)
        else:
            if native.slot is not None:
                region.out.line(f"store ptr null, ptr {native.slot}")
            region.out.line(f"store ptr {native.ir}, ptr {cell}")


def _read(region: Region, cell: str, type_: Type) -> Native:
    if is_scalar(type_):
        return load(ElementWriter(region.out), type_.dtype, cell, 0)  # type: ignore[union-attr]
    return Object(region.out.new(f"load ptr, ptr {cell}"), cell)


def _write_while(region: Region, node: Node) -> None:
    out = region.out
    count = node.attributes["state"]
    test, body = node.regions
    types = [value.type for value in body.parameters[:count]]
    cells = [_cell(region, type_) for type_ in types]
    start: list[Native] = []
    for value in node.inputs[:count]:
        native = region.native(value)
        if isinstance(native, Object):
            last = node.inputs.count(value) == 1 and region.uses[value] == 1
            native = Object(region.take(value, last))
        start.append(native)
    _fill(region, cells, body.parameters[:count], node.inputs[:count], start)
    captures = [
        Object(native.ir) if isinstance(native, Object) else native
        for native in (region.native(value) for value in node.inputs[count:])
    ]
    head, again, done = out.label("while"), out.label("again"), out.label("after")
    region.body.loops += 1
    out.branch(head)
    out.begin(head)
    region.body.poll(often=any(_is_long(inner) for graph in node.regions for inner in graph.walk()))
    state = [_read(region, cell, type_) for cell, type_ in zip(cells, types, strict=True)]
    seen = [Object(native.ir) if isinstance(native, Object) else native for native in state]
    (condition,) = region.inner(test, [*seen, *captures])
    if isinstance(condition, Object):
        raise AssertionError("the role of a loop says that its condition is a number")
    out.branch_if(ElementWriter(out).cast(condition, bool_).ir, again, done)
    out.begin(again)
    _fill(region, cells, body.parameters[:count], body.outputs, region.inner(body, [*state, *captures]))
    out.branch(head)
    out.begin(done)
    region.body.end_loop()
    for value, cell, type_ in zip(node.results, cells, types, strict=True):
        native = _read(region, cell, type_)
        region.set(value, _converted(region, native, type_, value.type))


def _is_long(node: Node) -> bool:
    return role(node) not in _SHORT and node.op.name != "constant"
