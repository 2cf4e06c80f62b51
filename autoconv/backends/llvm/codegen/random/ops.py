"""Lower the ops that draw random numbers, with keys from seeds or from the program's shared generator.

Shapes are constant or open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_array, is_dense, is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.random.permutation import blocks_of_swaps, permutation
from autoconv.backends.llvm.codegen.random.philox import (
    bits,
    draw_truncated,
    gaussian,
    group_size,
    integers,
    philox,
    uniform,
)
from autoconv.backends.llvm.codegen.registry import native
from autoconv.backends.llvm.ir.index_arith import Position, element_count, plus, times
from autoconv.backends.llvm.ir.scalars import ElementWriter, load
from autoconv.backends.llvm.ir.types import memory
from autoconv.graph.dtypes import DType, int64, uint32, uint64
from autoconv.graph.graph import Node, Value
from autoconv.ops.random.bits import GLOBAL, RESERVED, seed_size, stream_name
from autoconv.ops.random.philox import SEED_KEY


def _is_native_draw(node: Node) -> bool:
    """Return whether the node is native: Philox, scalar bounds, and a shape given by the type.

    The operand that holds the shape is not read.
    """
    kind = node.results[0].type
    algorithm = node.attributes.get("alg", "philox")
    if algorithm not in ("philox", "counter") or not (is_dense(kind) or is_scalar(kind)):
        return False
    seeds, bounds = _operands(node)
    known = all(is_array(seed.type) and tuple(sizes(seed.type)) == (seed_size(algorithm),) for seed in seeds)
    return known and all(is_scalar(bound.type) for bound in bounds)


def _operands(node: Node) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Return the seeds and the bounds."""
    seeds = 1 if node.op.name.startswith("stateless") else 0
    bounds = 2 if node.op.name.endswith("uniform_int") else 0
    return node.inputs[:seeds], node.inputs[seeds : seeds + bounds]


def _state(region: LoweringContext, node: Node, blocks: Position) -> tuple[list[str], str]:
    """Return key and counter for a draw that uses so many blocks of words, and the slot that holds them.

    They come from the seed, or from the shared generator, whose counter advances.
    """
    out, b = region.out, ElementWriter(region.out)
    if node.op.name.startswith("stateless"):
        dtype: Any = node.inputs[0].type
        data = region.data(node.inputs[0])
        words = [b.cast(load(b, dtype.dtype, data, i), int64).ir for i in range(dtype.shape[0])]
        if len(words) == 3:
            return [words[2], words[0], words[1]], ""
        block = out.alloca("[4 x i32]")
        out.call(philox(region.body.module), block, 0, 1, SEED_KEY, *words)
        mixed = [b.cast(load(b, uint32, block, i), uint64) for i in range(4)]
        key, high = (mixed[i] | b.bits("shl", mixed[i + 1], 32) for i in (0, 2))
        return [key.ir, "0", high.ir], ""
    drawn: Any = node.results[0].type
    kind = node.attributes.get("stream") or stream_name(node.op.name, drawn.dtype)
    seed = node.attributes.get("seed")
    function = region.body.calls.object(lambda: GLOBAL.stream(kind, seed))
    found = out.call("call_python", function(out), "null", 0)
    region.body.fail_if(out.is_null(found))
    held = region.body.own_reference(found)
    pointer = region.address(held)
    key, high = (load(b, int64, pointer, i) for i in (0, 2))
    low = out.atomic_add("i64", out.gep("i64", pointer, 1), blocks)
    return [key.ir, low, high.ir], held.slot or ""


def _write(
    region: LoweringContext, node: Node, call: Callable[..., object],
    blocks: Callable[[Any, Position], Position] = lambda out, count: times(out, count, RESERVED),
) -> None:  # fmt: skip
    """Set the result to what `call(dtype, count, pointer to it, key and draw)` writes.

    `blocks(out, count)` is the number of blocks of words by which the shared generator advances.
    """
    (result,) = node.results
    type_: Any = result.type
    count = element_count(region.out, sizes(type_))
    key, slot = _state(region, node, blocks(region.out, count))
    if slot:
        region.body.release(slot)
    if is_scalar(type_):
        target = region.out.alloca(memory(type_.dtype))
    else:
        region.set(result, region.new_array(type_))
        target = region.data(result)
    if count:
        call(type_.dtype, count, target, key)
    if is_scalar(type_):
        region.set(result, load(ElementWriter(region.out), type_.dtype, target, 0))


def _uniform_writer(make: Callable[[Any, DType, Position], str]) -> Callable[[Any, Node], None]:
    def write(region: LoweringContext, node: Node) -> None:
        _write(
            region, node,
            lambda dtype, count, target, key: region.out.call(make(region, dtype, count), target, count, *key),
        )  # fmt: skip

    return write


native("random_uniform", "stateless_random_uniform", fits=_is_native_draw, of_open=_is_native_draw)(
    _uniform_writer(uniform)
)
native("random_bits", "stateless_random_bits", fits=_is_native_draw, of_open=_is_native_draw)(_uniform_writer(bits))


native("random_normal", "stateless_random_normal", fits=_is_native_draw, of_open=_is_native_draw)(
    _uniform_writer(gaussian)
)


@native("random_truncated_normal", "stateless_truncated_normal", fits=_is_native_draw, of_open=_is_native_draw)
def write_truncated_normal(region: LoweringContext, node: Node) -> None:
    def call(dtype: DType, count: Position, target: str, key: list[str]) -> None:
        size = group_size(dtype)
        groups: Position = -(-count // size) if isinstance(count, int) else ""
        if not isinstance(count, int):
            groups = region.out.op("udiv", plus(region.out, count, size - 1), size)
        region.out.call(draw_truncated(region, dtype, groups), target, groups, *key, count)

    _write(region, node, call)


@native("random_uniform_int", "stateless_random_uniform_int", fits=_is_native_draw, of_open=_is_native_draw)
def write_integers(region: LoweringContext, node: Node) -> None:
    """Draw integers; the kernel raises if the bounds are not in order."""
    low, high = (region.number(value) for value in _operands(node)[1])
    b = ElementWriter(region.out)
    region.raise_if(node, (~b.compare("lt", low, high)).ir)
    start, stop = b.cast(low, uint64), b.cast(high, uint64)

    def call(dtype: DType, count: Position, target: str, key: list[str]) -> None:
        name = integers(region, dtype, count)
        region.out.call(name, target, count, *key, start.ir, (stop - start).ir)

    _write(region, node, call)


@native("random_permutation", "stateless_permutation", fits=_is_native_draw, of_open=_is_native_draw)
def write_permutation(region: LoweringContext, node: Node) -> None:
    def call(dtype: DType, count: Position, target: str, key: list[str]) -> None:
        region.out.call(permutation(region.body.module), target, count, *key)

    _write(region, node, call, blocks_of_swaps)
