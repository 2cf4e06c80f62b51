"""Copies in another layout: tiles, repeated rows, mirrored edges, and the sums that are the adjoint of those."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm.natives import Routine, call, native
from autoconv.backends.llvm.positions import Position, linear, plus, times
from autoconv.backends.llvm.roles import ROLES, is_array, sizes
from autoconv.backends.llvm.scalars import load, store
from autoconv.graph.graph import Node

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region


def _strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[d + 1 :]) for d in range(len(shape))]


def _is_static(node: Node) -> bool:
    """One operand, an array: how often or how far is known."""
    return len(node.inputs) == 1 and is_array(node.inputs[0].type)


@native("tile", fits=_is_static)
def write_tile(region: Region, node: Node) -> None:
    shape = sizes(node.inputs[0].type)
    dimensions = []
    for count, size, stride in zip(node.attributes["multiples"], shape, _strides(shape), strict=True):
        dimensions += [(count, 0), (size, stride)]
    _copy(region, node, dimensions)


@native("repeat", fits=_is_static)
def write_repeat(region: Region, node: Node) -> None:
    shape = sizes(node.inputs[0].type)
    axis = node.attributes["axis"] % len(shape)
    dimensions = list(zip(shape, _strides(shape), strict=True))
    dimensions.insert(axis + 1, (node.attributes["repeats"], 0))
    _copy(region, node, dimensions)


def _copy(region: Region, node: Node, dimensions: list[tuple[int, int]]) -> None:
    """The result in order; `dimensions` are the counts of its loops and how far the source moves on in each."""
    (x,), (result,) = node.inputs, node.results
    dimensions = _joined(dimensions)
    routine = Routine(region, ["ptr noalias readonly %x", "ptr noalias %result"])
    out, b = routine.out, routine.b
    kind: Any = x.type

    def loops(depth: int, source: Position, target: Position) -> None:
        if depth == len(dimensions):
            store(b, load(b, kind.dtype, "%x", source), "%result", target)
            return
        count, stride = dimensions[depth]
        inner = math.prod(count for count, _ in dimensions[depth + 1 :])
        with out.loop("0", str(count)) as i:
            loops(depth + 1, plus(out, source, times(out, i, stride)), plus(out, target, times(out, i, inner)))

    loops(0, 0, 0)
    region.set(result, region.new_array(result.type))
    call(region, routine.finish(), f"ptr {region.data(x)}", f"ptr {region.data(result)}")


def _joined(dimensions: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Loops that go on where the one inside ends become one with it."""
    found: list[tuple[int, int]] = []
    for count, stride in dimensions:
        if count == 1:
            continue
        if found and found[-1][1] == count * stride:
            found[-1] = (found[-1][0] * count, stride)
        else:
            found.append((count, stride))
    return found


# ---- mirrored edges


def _mirrors(node: Node) -> bool:
    known = _is_static(node) and node.attributes["paddings"] is not None
    return known and 0 not in sizes(node.results[0].type)


def _mirrored(routine: Routine, position: Position, size: int, symmetric: bool) -> Position:
    """Where an element before the first, or behind the last, is mirrored from; others are where they are."""
    out = routine.out
    again = 0 if symmetric else 1
    before = plus(out, times(out, position, -1), again - 1)
    behind = plus(out, times(out, position, -1), 2 * size - 1 - again)
    first = out.new(f"select i1 {out.new(f'icmp slt i64 {position}, 0')}, i64 {before}, i64 {position}")
    return out.new(f"select i1 {out.new(f'icmp sge i64 {position}, {size}')}, i64 {behind}, i64 {first}")


def _walk(
    routine: Routine, shape: Sequence[int], paddings: Any, symmetric: bool, write: Callable[[Position, Position], None]
) -> None:
    """`write(inner, outer)` for each element of the padded array: which element it is, and where it stands. The middle
    of the last dimension is a loop of its own, without mirrors."""
    out = routine.out
    whole = [before + size + after for size, (before, after) in zip(shape, paddings, strict=True)]

    def loops(inner: tuple[Position, ...], outer: tuple[Position, ...]) -> None:
        depth = len(outer)
        if depth == len(shape):
            write(linear(out, inner, shape), linear(out, outer, whole))
            return
        size, (before, _) = shape[depth], paddings[depth]
        if depth < len(shape) - 1:
            spans = [(0, whole[depth], True)]
        else:
            spans = [(0, before, True), (before, before + size, False), (before + size, whole[depth], True)]
        for start, stop, turns in spans:
            if start == stop:
                continue
            with out.loop(str(start), str(stop)) as i:
                position = plus(out, i, -before)
                loops((*inner, _mirrored(routine, position, size, symmetric) if turns else position), (*outer, i))

    if math.prod(whole):
        loops((), ())


def write_mirrored_pad(region: Region, node: Node) -> None:
    (x,), (result,) = node.inputs, node.results
    routine = Routine(region, ["ptr noalias readonly %x", "ptr noalias %result"])
    b = routine.b
    kind: Any = x.type

    def write(inner: Position, outer: Position) -> None:
        store(b, load(b, kind.dtype, "%x", inner), "%result", outer)

    _walk(routine, sizes(kind), node.attributes["paddings"], node.attributes["mode"] == "SYMMETRIC", write)
    region.set(result, region.new_array(result.type))
    call(region, routine.finish(), f"ptr {region.data(x)}", f"ptr {region.data(result)}")


@native("unpad", fits=lambda node: _mirrors(node) and not node.inputs[0].type.dtype.is_bool)  # type: ignore[union-attr]
def write_unpad(region: Region, node: Node) -> None:
    """Each element and its mirror images, added up in the order of the padded array."""
    (x,), (result,) = node.inputs, node.results
    routine = Routine(region, ["ptr noalias readonly %x", "ptr noalias %result"])
    out, b = routine.out, routine.b
    kind: Any = x.type

    def write(inner: Position, outer: Position) -> None:
        store(b, load(b, kind.dtype, "%result", inner) + load(b, kind.dtype, "%x", outer), "%result", inner)

    shape = sizes(result.type)
    with out.loop("0", str(math.prod(shape))) as i:
        store(b, b.constant(0, kind.dtype), "%result", i)
    _walk(routine, shape, node.attributes["paddings"], node.attributes["mode"] == "SYMMETRIC", write)
    region.set(result, region.new_array(result.type))
    call(region, routine.finish(), f"ptr {region.data(x)}", f"ptr {region.data(result)}")


native("pad", fits=_mirrors)(write_mirrored_pad)
_mirrored_role = ROLES["pad"]
ROLES["pad"] = lambda node: None if node.attributes.get("mode", "CONSTANT") == "CONSTANT" else _mirrored_role(node)
