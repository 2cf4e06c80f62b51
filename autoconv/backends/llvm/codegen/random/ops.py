"""Lower the ops that draw random numbers, with keys from seeds or from the program's shared generator.

Shapes are constant or open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_array, is_dense, is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.random.philox import bits, gaussian, integers, truncated, uniform
from autoconv.backends.llvm.codegen.registry import native
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count, plus, times
from autoconv.backends.llvm.ir.scalars import ElementWriter, load
from autoconv.backends.llvm.ir.types import memory
from autoconv.graph.dtypes import DType, float64, int64, uint64
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TensorType
from autoconv.ops.random.bits import GLOBAL


def _pairs(out: FunctionText, count: Position) -> Position:
    """Return the number of pairs that hold that many numbers."""
    return (count + 1) // 2 if isinstance(count, int) else out.op("lshr", plus(out, count, 1), 1)


def _known(node: Node) -> bool:
    """Return whether the node is native: Philox, scalar bounds, and a shape given by the type.

    The operand that holds the shape is not read.
    """
    kind = node.results[0].type
    if node.attributes.get("alg", "philox") != "philox" or not (is_dense(kind) or is_scalar(kind)):
        return False
    seeds, bounds = _operands(node)
    return all(is_array(seed.type) for seed in seeds) and all(is_scalar(bound.type) for bound in bounds)


def _operands(node: Node) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Return the seeds and the bounds."""
    seeds = 1 if node.op.name.startswith("stateless") else 0
    bounds = 2 if node.op.name.endswith("uniform_int") else 0
    return node.inputs[:seeds], node.inputs[seeds : seeds + bounds]


def _new(region: LoweringContext, dtype: DType, count: Position) -> tuple[Object, TensorType | None]:
    """Allocate a temporary array; return it and its type, if that is constant."""
    if not isinstance(count, int):
        return region.body.new_counted(dtype, (count,)), None
    type_ = TensorType(dtype, (count,))
    return region.new_array(type_), type_


def _state(region: LoweringContext, node: Node) -> tuple[list[str], str]:
    """Return key and draw, from the seed or from the shared generator, which advances; and the slot that holds them."""
    out, b = region.out, ElementWriter(region.out)
    if node.op.name.startswith("stateless"):
        dtype: Any = node.inputs[0].type
        words = [b.cast(load(b, dtype.dtype, region.data(node.inputs[0]), i), int64).ir for i in range(2)]
        return [*words, "0"], ""
    seed = node.attributes.get("seed")
    function = region.body.calls.object(lambda: GLOBAL.advance(seed))
    found = out.call("call_python", function(out), "null", 0)
    region.body.check(out.is_null(found))
    held = region.body.own(found)
    pointer = region.address(held)
    words = [load(b, int64, pointer, i).ir for i in range(3)]
    return words, held.slot or ""


def _write(region: LoweringContext, node: Node, call: Callable[..., object]) -> None:
    """Set the result to what `call(dtype, count, pointer to it, key and draw)` writes."""
    (result,) = node.results
    type_: Any = result.type
    count = element_count(region.out, sizes(type_))
    key, slot = _state(region, node)
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


def _plain(make: Callable[[Any, DType, Position], str]) -> Callable[[Any, Node], None]:
    def write(region: LoweringContext, node: Node) -> None:
        _write(
            region, node,
            lambda dtype, count, target, key: region.out.call(make(region, dtype, count), target, 0, count, *key),
        )  # fmt: skip

    return write


native("random_uniform", "stateless_random_uniform", fits=_known, of_open=_known)(_plain(uniform))
native("random_bits", "stateless_random_bits", fits=_known, of_open=_known)(_plain(bits))


@native("random_normal", "stateless_random_normal", fits=_known, of_open=_known)
def write_normal(region: LoweringContext, node: Node) -> None:
    def call(dtype: DType, count: Position, target: str, key: list[str]) -> None:
        pairs = _pairs(region.out, count)
        name = gaussian(region, dtype, pairs)
        left = plus(region.out, count, times(region.out, pairs, -1))
        region.out.call(name, target, 0, pairs, *key, left)

    _write(region, node, call)


@native("random_truncated_normal", "stateless_truncated_normal", fits=_known, of_open=_known)
def write_truncated_normal(region: LoweringContext, node: Node) -> None:
    def call(dtype: DType, count: Position, target: str, key: list[str]) -> None:
        held: list[tuple[Object, TensorType | None]] = []
        for kind in (float64, float64, int64):
            held.append(_new(region, kind, plus(region.out, count, 1)))
        pointers = [region.address(made) for made, _ in held]
        name = truncated(region, dtype, count)
        region.out.call(name, target, count, *key, *pointers)
        for made, type_ in held:
            if type_ is None:
                region.body.release(made.slot)
            else:
                region.body.release_or_keep(made.slot, type_)

    _write(region, node, call)


@native("random_uniform_int", "stateless_random_uniform_int", fits=_known, of_open=_known)
def write_integers(region: LoweringContext, node: Node) -> None:
    """Draw integers; the kernel raises if the bounds are not in order."""
    low, high = (region.number(value) for value in _operands(node)[1])
    b = ElementWriter(region.out)
    region.refuse(node, (~b.compare("lt", low, high)).ir)
    start, stop = b.cast(low, uint64), b.cast(high, uint64)

    def call(dtype: DType, count: Position, target: str, key: list[str]) -> None:
        name = integers(region, dtype, count)
        region.out.call(name, target, 0, count, *key, start.ir, (stop - start).ir)

    _write(region, node, call)
