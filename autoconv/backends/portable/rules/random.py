"""Rules of stateless random numbers: integer arithmetic gives the same bits as the other backends.

Philox is 4x32-10, Threefry 2x32-20; see `autoconv.ops.random`. Uniform numbers and integers are equal to the last bit,
normal numbers up to rounding.

A rule returns None for a node that has no form in other runtimes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.movement import drop_axes
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import DType, float32, float64, int64, uint32, uint64
from autoconv.graph.graph import Node
from autoconv.ops.random.bits import MIN_UNIFORM, PRECISION
from autoconv.ops.random.philox import MULTIPLIERS, ROUNDS, SEED_KEY, WEYL

_THREEFRY_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)  # in bits; the rounds take them in turn
_THREEFRY_PARITY = 0x1BD11BDA  # by exclusive or with both words of the key, it gives the key's third word
_THREEFRY_ROUNDS = 20
_LOW_WORD_MASK = 0xFFFFFFFF


def raw_bits(writer: Rules, seed: Term, shape: tuple[int, ...], algorithm: str, in_pairs: bool = True) -> Term | None:
    """Return random bits as uint64: words of 32 bits, or with `in_pairs` two words, the first in the lower half.

    None if the seed has an open size.
    """
    count = math.prod(shape)
    words = _random_words(writer, seed, 2 * count if in_pairs else count, algorithm)
    if words is None:
        return None
    if in_pairs:
        pairs = writer.reshape(words, (count, 2))
        low, high = (writer.reshape(writer.static_slice(pairs, 1, i, i + 1), (count,)) for i in range(2))
        words = low | writer.bits("shl", high, 32)
    return writer.reshape(words, shape)


def _random_words(writer: Rules, seed: Term, count: int, algorithm: str) -> Term | None:
    """Return random words of 32 bits, each as a uint64; None if the seed has an open size."""
    length = seed.shape[0]
    if not isinstance(length, int):
        return None
    keys = _seed_words(writer, seed, length)
    if algorithm == "threefry":
        return _threefry(writer, keys, count)
    block_count = -(-count // 4)
    words = _stream_of_keys(writer, keys)(writer.iota((block_count,), 0, uint64))
    return writer.static_slice(writer.reshape(words, (4 * block_count,)), 0, 0, count)


def _seed_words(writer: Rules, seed: Term, length: int) -> list[Term]:
    """Return the numbers of a seed, each as a uint64."""
    parts = [drop_axes(writer, writer.static_slice(seed, 0, i, i + 1), [0]) for i in range(length)]
    numbers = [writer.cast(part, int64) for part in parts]
    return [writer.bitcast(number, uint64) for number in numbers]


def philox_stream(writer: Rules, seed: Term, algorithm: str) -> Callable[[Term], Term] | None:
    """Return a function that maps the numbers of blocks, uint64 [n], to their words, [n, 4].

    None for Threefry, and for a seed of open size.
    """
    length = seed.shape[0]
    if not isinstance(length, int) or algorithm == "threefry":
        return None
    return _stream_of_keys(writer, _seed_words(writer, seed, length))


def _stream_of_keys(writer: Rules, keys: list[Term]) -> Callable[[Term], Term]:
    """Return the function of `philox_stream` for two numbers of a seed, or for the first counter's halves and a key."""
    if len(keys) == 3:
        low, high, key = keys
    else:
        mixed_seed = _philox_blocks(writer, writer.fill_like(keys[0], SEED_KEY, uint64), keys[0], keys[1])
        key, high = (mixed_seed[i] | writer.bits("shl", mixed_seed[i + 1], 32) for i in (0, 2))
        low = writer.fill_like(key, 0, uint64)

    def words_of_blocks(numbers: Term) -> Term:
        counter = numbers + low
        carry = writer.select(counter < low, writer.fill_like(counter, 1, uint64), writer.fill_like(counter, 0, uint64))
        words = _philox_blocks(writer, key, counter, carry + high)
        return writer.concatenate([writer.reshape(x, (numbers.shape[0], 1)) for x in words], 1)

    return words_of_blocks


def _philox_blocks(writer: Rules, key: Term, low: Term, high: Term) -> list[Term]:
    """Return the four words of Philox for counters of 128 bits, given as halves `low` and `high`."""
    high_parts = [writer.bits("lshr", half, 32) for half in (low, high)]
    words: list[Any] = [low & _LOW_WORD_MASK, high_parts[0], high & _LOW_WORD_MASK, high_parts[1]]
    keys = [key & _LOW_WORD_MASK, writer.bits("lshr", key, 32)]
    for _ in range(ROUNDS):
        products = [words[2 * i] * MULTIPLIERS[i] for i in range(2)]
        words = [
            writer.bits("lshr", products[1], 32) ^ words[1] ^ keys[0], products[1] & _LOW_WORD_MASK,
            writer.bits("lshr", products[0], 32) ^ words[3] ^ keys[1], products[0] & _LOW_WORD_MASK,
        ]  # fmt: skip
        keys = [(half + step) & _LOW_WORD_MASK for half, step in zip(keys, WEYL, strict=True)]
    return words


def _threefry_block(writer: Rules, keys: list[Term], first: Term, second: Term) -> tuple[Term, Term]:
    """Return the two words of Threefry for a key and a counter of two words each."""
    parity = (keys[0] ^ keys[1]) ^ _THREEFRY_PARITY
    schedule = [*keys, parity]
    first, second = first + schedule[0], second + schedule[1]
    for round_number in range(_THREEFRY_ROUNDS):
        rotation = _THREEFRY_ROTATIONS[round_number % len(_THREEFRY_ROTATIONS)]
        first = first + second
        second = (writer.bits("shl", second, rotation) | writer.bits("lshr", second, 32 - rotation)) ^ first
        if round_number % 4 == 3:
            injection = round_number // 4 + 1
            first = first + schedule[injection % 3]
            second = second + schedule[(injection + 1) % 3] + injection
    return first, second


def _halves(writer: Rules, x: Term) -> list[Term]:
    """Return the low and the high 32 bits."""
    return [writer.emit_cast(x & _LOW_WORD_MASK, uint32), writer.emit_cast(writer.bits("lshr", x, 32), uint32)]


def _threefry(writer: Rules, keys: list[Term], count: int) -> Term:
    """Return words of Threefry for the two numbers of a seed, each as a uint64."""
    key = list(_threefry_block(writer, _halves(writer, keys[0]), *_halves(writer, keys[1])))
    block_count = (count + 1) // 2
    word_pairs = _threefry_block(writer, key, *_halves(writer, writer.iota((block_count,), 0, uint64)))
    columns = [writer.reshape(writer.emit_cast(x, uint64), (block_count, 1)) for x in word_pairs]
    joined_words = writer.concatenate(columns, 1)
    return writer.static_slice(writer.reshape(joined_words, (2 * block_count,)), 0, 0, count)


def _requested_shape(node: Node, sizes: tuple[Term, ...]) -> tuple[int, ...] | None:
    """Return the shape of a node's result; None if a size of it is open."""
    return None if sizes else static_shape(node.attributes["shape"])


def _algorithm(node: Node) -> str:
    """Return the name of the node's generator: "philox", "threefry" or "counter"."""
    return str(node.attributes.get("alg", "philox"))


@lowers("stateless_random_bits")
def bits(writer: Rules, node: Node, seed: Term, *sizes: Term) -> Term | None:
    """Draw random bits; None for dtypes of less than 32 bits."""
    shape, dtype = _requested_shape(node, sizes), node.attributes["dtype"]
    if shape is None or dtype.size < 4:
        return None
    words = raw_bits(writer, seed, shape, _algorithm(node), in_pairs=dtype.size == 8)
    return None if words is None else writer.emit_cast(words, dtype)


def _draw_fractions(writer: Rules, node: Node, seed: Term, count: int, dtype: DType) -> Term | None:
    """Return `count` numbers in [0, 1); None if the seed has an open size."""
    words = _random_words(writer, seed, 2 * count if dtype is float64 else count, _algorithm(node))
    return None if words is None else words_to_fractions(writer, words, count, dtype)


def words_to_fractions(writer: Rules, words: Term, count: int, dtype: DType) -> Term:
    """Return numbers in [0, 1): of float64 from the low bits of pairs of words, of other dtypes float32 from words."""
    precision, is_double = PRECISION[dtype.name], dtype is float64
    if is_double:
        pairs = writer.reshape(words, (count, 2))
        upper, lower = (writer.reshape(writer.static_slice(pairs, 1, i, i + 1), (count,)) for i in range(2))
        words = writer.bits("shl", upper & ((1 << (precision - 32)) - 1), 32) | lower
    else:
        words = words & ((1 << precision) - 1)
    return writer.emit_cast(writer.bitcast(words, int64), float64 if is_double else float32) * 2.0**-precision


@lowers("stateless_random_uniform")
def uniform(writer: Rules, node: Node, seed: Term, *sizes: Term) -> Term | None:
    """Draw numbers in [0, 1)."""
    shape, dtype = _requested_shape(node, sizes), node.attributes["dtype"]
    if shape is None:
        return None
    fractions = _draw_fractions(writer, node, seed, math.prod(shape), dtype)
    return None if fractions is None else writer.cast(writer.reshape(fractions, shape), dtype)


@lowers("stateless_random_normal")
def normal(writer: Rules, node: Node, seed: Term, *sizes: Term) -> Term | None:
    """Draw by Box and Muller's transform; unless the result is float64, each step is rounded to float32."""
    shape, dtype = _requested_shape(node, sizes), node.attributes["dtype"]
    if shape is None:
        return None
    count = math.prod(shape)
    pair_count = (count + 1) // 2
    compute_dtype = float64 if dtype is float64 else float32
    fractions = _draw_fractions(writer, node, seed, 2 * pair_count, compute_dtype)
    if fractions is None:
        return None
    result = writer.reshape(normal_pairs(writer, fractions, pair_count, compute_dtype), (2 * pair_count,))
    return writer.cast(writer.reshape(writer.static_slice(result, 0, 0, count), shape), dtype)


def normal_pairs(writer: Rules, fractions: Term, pair_count: int, dtype: DType) -> Term:
    """Return pairs of normal numbers, [pair_count, 2], made of pairs of fractions."""
    first, second = (writer.static_slice(writer.reshape(fractions, (pair_count, 2)), 1, i, i + 1) for i in range(2))
    min_uniform = MIN_UNIFORM if dtype is float64 else float(np.float32(MIN_UNIFORM))
    lower_bound = writer.fill_like(first, min_uniform, dtype)
    first_clamped = writer.cast(writer.select(first < min_uniform, lower_bound, first), float64)
    radius = writer.intrinsic("sqrt", writer.cast(writer.libm("log", first_clamped), dtype) * -2.0)
    angle = writer.cast(writer.cast(writer.cast(second, float64) * (2.0 * math.pi), dtype), float64)
    return writer.concatenate([writer.cast(writer.libm(wave, angle), dtype) * radius for wave in ("sin", "cos")], 1)


@lowers("stateless_random_uniform_int")
def integers(writer: Rules, node: Node, seed: Term, low: Term, high: Term, *sizes: Term) -> Term | None:
    """Draw integers in [low, high) as remainders of random bits; an empty range sets the error word."""
    shape = _requested_shape(node, sizes)
    if shape is None:
        return None
    writer.fail_if(~(low < high))
    wide_dtype = int64 if not low.dtype.is_unsigned else uint64
    start, stop = (writer.cast(x, wide_dtype) for x in (low, high))
    if wide_dtype is int64:
        start, stop = writer.bitcast(start, uint64), writer.bitcast(stop, uint64)
    distance = stop - start
    divisor = writer.select(distance.same(0), 1, distance)
    words = raw_bits(writer, seed, shape, _algorithm(node), in_pairs=low.dtype.size == 8)
    if words is None:
        return None
    number = writer.binary("remainder", words, divisor) + start
    return writer.cast(writer.bitcast(number, wide_dtype) if wide_dtype is int64 else number, low.dtype)


@lowers("stateless_permutation")
def permutation(writer: Control, node: Node, seed: Term, *sizes: Term) -> Term | None:
    """Return the numbers from 0 on in a random order."""
    shape = _requested_shape(node, sizes)
    return None if shape is None else _permutation(writer, seed, shape[0], _algorithm(node))


@lowers("stateless_shuffle")
def shuffle(writer: Control, node: Node, seed: Term, x: Term) -> Term | None:
    """Gather the rows in the order of a permutation."""
    if x.rank == 0 or x.shape[0] == 0:
        return x
    order = _permutation(writer, seed, x.shape[0], _algorithm(node)) if isinstance(x.shape[0], int) else None
    return None if order is None else writer.gather_nd(x, writer.reshape(order, (x.shape[0], 1)))


def _permutation(writer: Control, seed: Term, count: int, algorithm: str) -> Term | None:
    """Shuffle in a loop: swap each position but the last with a random one that is not before it."""
    words = _random_words(writer, seed, max(count - 1, 1), algorithm)
    if words is None:
        return None
    order = writer.iota((count,), 0, int64)
    if count < 2:
        return order
    starts = writer.iota((count - 1,), 0, uint64)
    remaining_counts = writer.fill_like(starts, count, uint64) - starts
    partners = writer.bitcast(starts + writer.binary("remainder", words, remaining_counts), int64)

    def swap_next(state: list[Term]) -> list[Term]:
        """Swap the item at the position of this step with that at the position drawn for it."""
        step, order = state
        partner = writer.reshape(writer.dynamic_slice(partners, 0, step, 1), ())
        own_item, partner_item = (writer.dynamic_slice(order, 0, position, 1) for position in (step, partner))
        order = writer.dynamic_update(order, partner_item, [step])
        return [step + 1, writer.dynamic_update(order, own_item, [partner])]

    _, order = writer.loop_while(lambda state: state[0] < count - 1, swap_next, [writer.constant(0, int64), order])
    return order
