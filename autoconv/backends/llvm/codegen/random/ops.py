"""Lower the ops that draw random numbers, with keys from seeds or from the program's shared generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, is_static_array, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.random.permutation import swap_block_count, write_permutation_function
from autoconv.backends.llvm.codegen.random.philox import (
    group_size,
    write_bits,
    write_gaussian,
    write_integers_function,
    write_philox,
    write_truncated,
    write_uniform,
)
from autoconv.backends.llvm.codegen.registry import native_lowering
from autoconv.backends.llvm.ir.index_arith import Position, element_count, plus, times
from autoconv.backends.llvm.ir.scalars import ElementWriter, load
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.graph.dtypes import DType, int64, uint32, uint64
from autoconv.graph.graph import Node, Value
from autoconv.ops.random.bits import seed_size, stream_name
from autoconv.ops.random.global_generator import GLOBAL, RESERVED_BLOCKS
from autoconv.ops.random.philox import SEED_KEY


def _is_native_draw(node: Node) -> bool:
    """Return whether a draw is native: by Philox, with scalar bounds, and with a result whose sizes its type states."""
    type_ = node.results[0].type
    algorithm = node.attributes.get("alg", "philox")
    if algorithm not in ("philox", "counter") or not (is_dense(type_) or is_scalar(type_)):
        return False
    seeds, bounds = _seeds_and_bounds(node)
    seed_shape = (seed_size(algorithm),)
    have_seed_shape = all(is_static_array(seed.type) and tuple(sizes(seed.type)) == seed_shape for seed in seeds)
    return have_seed_shape and all(is_scalar(bound.type) for bound in bounds)


def _seeds_and_bounds(node: Node) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Return the seeds (one or none) and the bounds (two or none) among the inputs."""
    seed_count = 1 if node.op.name.startswith("stateless") else 0
    bound_count = 2 if node.op.name.endswith("uniform_int") else 0
    return node.inputs[:seed_count], node.inputs[seed_count : seed_count + bound_count]


class _PhiloxState(NamedTuple):
    """The registers of the key, and of the low and the high half of the counter."""

    key: str
    low: str
    high: str


def _write_generator_state(region: LoweringContext, node: Node, block_count: Position) -> tuple[_PhiloxState, str]:
    """Return the state for a draw that uses `block_count` blocks of words, and the slot of its object.

    The state is made of the seed, or read from the state of the shared generator, whose counter advances. The slot owns
    that state's object; it is "" for a seed.
    """
    out, b = region.out, ElementWriter(region.out)
    if node.op.name.startswith("stateless"):
        seed_type: Any = node.inputs[0].type
        data = region.data(node.inputs[0])
        words = [b.cast(load(b, seed_type.dtype, data, i), int64).ir for i in range(seed_type.shape[0])]
        if len(words) == 3:
            low, high, key = words  # with the algorithm "counter", the seed is the state
            return _PhiloxState(key, low, high), ""
        block = out.alloca("[4 x i32]")
        out.call(write_philox(region.body.module), block, 0, 1, SEED_KEY, *words)
        drawn_words = [b.cast(load(b, uint32, block, i), uint64) for i in range(4)]
        key_bits, high_bits = (drawn_words[i] | b.bits("shl", drawn_words[i + 1], 32) for i in (0, 2))
        return _PhiloxState(key_bits.ir, "0", high_bits.ir), ""
    result_type: Any = node.results[0].type
    stream = node.attributes.get("stream") or stream_name(node.op.name, result_type.dtype)
    seed = node.attributes.get("seed")
    function = region.body.objects.reference(lambda: GLOBAL.stream(stream, seed))
    state = out.call("call_python", function(out), "null", 0)
    region.body.fail_if(out.is_null(state))
    owned_state = region.body.own_reference(state)
    pointer = region.address(owned_state)
    key, high = (load(b, int64, pointer, i).ir for i in (0, 2))
    low = out.atomic_add("i64", out.gep("i64", pointer, 1), block_count)
    return _PhiloxState(key, low, high), owned_state.slot or ""


def _write_draw(
    region: LoweringContext, node: Node, write_call: Callable[..., object],
    count_blocks: Callable[[Any, Position], Position] = lambda out, count: times(out, count, RESERVED_BLOCKS),
) -> None:  # fmt: skip
    """Define the result of a draw; `write_call(dtype, count, result address, state)` writes the call that draws.

    `count_blocks(out, count)` is the number of blocks of words by which the shared generator advances.
    """
    (result,) = node.results
    type_: Any = result.type
    count = element_count(region.out, sizes(type_))
    state, slot = _write_generator_state(region, node, count_blocks(region.out, count))
    if slot:
        region.body.release(slot)
    if is_scalar(type_):
        target = region.out.alloca(memory_type(type_.dtype))
    else:
        region.set(result, region.new_array(type_))
        target = region.data(result)
    if count:
        write_call(type_.dtype, count, target, state)
    if is_scalar(type_):
        region.set(result, load(ElementWriter(region.out), type_.dtype, target, 0))


def _draw_lowering(write_function: Callable[[Any, DType, Position], str]) -> Callable[[Any, Node], None]:
    """Return a lowering that calls the function that `write_function(region, dtype, count)` writes."""

    def write(region: LoweringContext, node: Node) -> None:
        def write_call(dtype: DType, count: Position, target: str, state: _PhiloxState) -> None:
            region.out.call(write_function(region, dtype, count), target, count, *state)

        _write_draw(region, node, write_call)

    return write


native_lowering("random_uniform", "stateless_random_uniform", fits=_is_native_draw, fits_open=_is_native_draw)(
    _draw_lowering(write_uniform)
)
native_lowering("random_bits", "stateless_random_bits", fits=_is_native_draw, fits_open=_is_native_draw)(
    _draw_lowering(write_bits)
)


native_lowering("random_normal", "stateless_random_normal", fits=_is_native_draw, fits_open=_is_native_draw)(
    _draw_lowering(write_gaussian)
)


@native_lowering(
    "random_truncated_normal", "stateless_truncated_normal", fits=_is_native_draw, fits_open=_is_native_draw
)
def write_truncated_normal(region: LoweringContext, node: Node) -> None:
    """Draw in groups of numbers, each of which has words of its own."""
    def write_call(dtype: DType, count: Position, target: str, state: _PhiloxState) -> None:
        """Call the function that draws truncated normal numbers, in whole groups.

        It stores `count` of them in the target.
        """
        size = group_size(dtype)
        if isinstance(count, int):
            group_count: Position = -(-count // size)
        else:
            group_count = region.out.op("udiv", plus(region.out, count, size - 1), size)
        region.out.call(write_truncated(region, dtype, group_count), target, group_count, *state, count)

    _write_draw(region, node, write_call)


@native_lowering("random_uniform_int", "stateless_random_uniform_int", fits=_is_native_draw, fits_open=_is_native_draw)
def write_integers(region: LoweringContext, node: Node) -> None:
    """Draw integers; the kernel raises if the bounds are not in order."""
    low, high = (region.number(value) for value in _seeds_and_bounds(node)[1])
    b = ElementWriter(region.out)
    region.raise_if(node, (~b.compare("lt", low, high)).ir)
    start, stop = b.cast(low, uint64), b.cast(high, uint64)

    def write_call(dtype: DType, count: Position, target: str, state: _PhiloxState) -> None:
        name = write_integers_function(region, dtype, count)
        region.out.call(name, target, count, *state, start.ir, (stop - start).ir)

    _write_draw(region, node, write_call)


@native_lowering("random_permutation", "stateless_permutation", fits=_is_native_draw, fits_open=_is_native_draw)
def write_permutation(region: LoweringContext, node: Node) -> None:
    """Permute the positions from 0 on; the draws are swaps."""
    def write_call(dtype: DType, count: Position, target: str, state: _PhiloxState) -> None:
        region.out.call(write_permutation_function(region.body.module), target, count, *state)

    _write_draw(region, node, write_call, swap_block_count)
