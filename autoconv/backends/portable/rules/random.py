"""Rules of stateless random numbers: the same bits as everywhere, by integer arithmetic.

Philox is 4x32-10, Threefry 2x32-20; see `autoconv.ops.random`. Uniform numbers and integers are
equal to the bit, normal ones to rounding.
"""

from __future__ import annotations

import math
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

_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
_LOW = 0xFFFFFFFF


def raw_bits(w: Rules, seed: Term, shape: tuple[int, ...], algorithm: str, long: bool = True) -> Term | None:
    """Return random words, or integers of 64 bits, the first word in their lower half: uint64. None without a form."""
    count = math.prod(shape)
    words = _words(w, seed, 2 * count if long else count, algorithm)
    if words is None:
        return None
    if long:
        low, high = (w.reshape(w.part(w.reshape(words, (count, 2)), 1, i, i + 1), (count,)) for i in range(2))
        words = low | w.bits("shl", high, 32)
    return w.reshape(words, shape)


def _words(w: Rules, seed: Term, count: int, algorithm: str) -> Term | None:
    """Return random words, each in 64 bits."""
    length = seed.shape[0]
    if not isinstance(length, int):
        return None
    numbers = [w.cast(drop_axes(w, w.part(seed, 0, i, i + 1), [0]), int64) for i in range(length)]
    keys = [w.bitcast(number, uint64) for number in numbers]
    if algorithm == "threefry":
        return _threefry(w, keys, count)
    if length == 3:
        low, high, key = keys
    else:
        mixed = _blocks(w, w.filled_like(keys[0], SEED_KEY, uint64), keys[0], keys[1])
        key, high = (mixed[i] | w.bits("shl", mixed[i + 1], 32) for i in (0, 2))
        low = w.filled_like(key, 0, uint64)
    blocks = -(-count // 4)
    counter = w.iota((blocks,), 0, uint64) + low
    carry = w.select(counter < low, w.filled_like(counter, 1, uint64), w.filled_like(counter, 0, uint64))
    joined = w.concatenate([w.reshape(x, (blocks, 1)) for x in _blocks(w, key, counter, carry + high)], 1)
    return w.part(w.reshape(joined, (4 * blocks,)), 0, 0, count)


def _blocks(w: Rules, key: Term, low: Term, high: Term) -> list[Term]:
    """Return the four words of Philox for counters, which are given by their halves."""
    words: list[Any] = [low & _LOW, w.bits("lshr", low, 32), high & _LOW, w.bits("lshr", high, 32)]
    keys = [key & _LOW, w.bits("lshr", key, 32)]
    for _ in range(ROUNDS):
        products = [words[2 * i] * MULTIPLIERS[i] for i in range(2)]
        words = [
            w.bits("lshr", products[1], 32) ^ words[1] ^ keys[0], products[1] & _LOW,
            w.bits("lshr", products[0], 32) ^ words[3] ^ keys[1], products[0] & _LOW,
        ]  # fmt: skip
        keys = [(part + step) & _LOW for part, step in zip(keys, WEYL, strict=True)]
    return words


def _threefry_block(w: Rules, keys: list[Term], first: Term, second: Term) -> tuple[Term, Term]:
    parity = (keys[0] ^ keys[1]) ^ 0x1BD11BDA
    schedule = [*keys, parity]
    first, second = first + schedule[0], second + schedule[1]
    for turn in range(20):
        by = _ROTATIONS[turn % 8]
        first = first + second
        second = (w.bits("shl", second, by) | w.bits("lshr", second, 32 - by)) ^ first
        if turn % 4 == 3:
            group = turn // 4 + 1
            first = first + schedule[group % 3]
            second = second + schedule[(group + 1) % 3] + group
    return first, second


def _halves(w: Rules, x: Term) -> list[Term]:
    return [w.converted(x & _LOW, uint32), w.converted(w.bits("lshr", x, 32), uint32)]


def _threefry(w: Rules, keys: list[Term], count: int) -> Term:
    key = list(_threefry_block(w, _halves(w, keys[0]), *_halves(w, keys[1])))
    blocks = (count + 1) // 2
    both = _threefry_block(w, key, *_halves(w, w.iota((blocks,), 0, uint64)))
    joined = w.concatenate([w.reshape(w.converted(x, uint64), (blocks, 1)) for x in both], 1)
    return w.part(w.reshape(joined, (2 * blocks,)), 0, 0, count)


def _shape(node: Node, sizes: tuple[Term, ...]) -> tuple[int, ...] | None:
    return None if sizes else static_shape(node.attributes["shape"])


def _algorithm(node: Node) -> str:
    return str(node.attributes.get("alg", "philox"))


@lowers("stateless_random_bits")
def bits(w: Rules, node: Node, seed: Term, *sizes: Term) -> Term | None:
    shape, dtype = _shape(node, sizes), node.attributes["dtype"]
    if shape is None or dtype.size < 4:
        return None
    found = raw_bits(w, seed, shape, _algorithm(node), dtype.size == 8)
    return None if found is None else w.converted(found, dtype)


def _fractions(w: Rules, node: Node, seed: Term, count: int, dtype: DType) -> Term | None:
    """Return numbers in [0, 1) from the lower bits of words, or of pairs of them: float32, or float64."""
    precision, double = PRECISION[dtype.name], dtype is float64
    words = _words(w, seed, 2 * count if double else count, _algorithm(node))
    if words is None:
        return None
    if double:
        upper, lower = (w.reshape(w.part(w.reshape(words, (count, 2)), 1, i, i + 1), (count,)) for i in range(2))
        words = w.bits("shl", upper & ((1 << (precision - 32)) - 1), 32) | lower
    else:
        words = words & ((1 << precision) - 1)
    return w.converted(w.bitcast(words, int64), float64 if double else float32) * 2.0**-precision


@lowers("stateless_random_uniform")
def uniform(w: Rules, node: Node, seed: Term, *sizes: Term) -> Term | None:
    shape, dtype = _shape(node, sizes), node.attributes["dtype"]
    if shape is None:
        return None
    fractions = _fractions(w, node, seed, math.prod(shape), dtype)
    return None if fractions is None else w.cast(w.reshape(fractions, shape), dtype)


@lowers("stateless_random_normal")
def normal(w: Rules, node: Node, seed: Term, *sizes: Term) -> Term | None:
    """Box and Muller's transform; each step is rounded to float32, except for float64."""
    shape, dtype = _shape(node, sizes), node.attributes["dtype"]
    if shape is None:
        return None
    count = math.prod(shape)
    pairs = (count + 1) // 2
    kind = float64 if dtype is float64 else float32
    drawn = _fractions(w, node, seed, 2 * pairs, kind)
    if drawn is None:
        return None
    first, second = (w.part(w.reshape(drawn, (pairs, 2)), 1, i, i + 1) for i in range(2))
    least = MIN_UNIFORM if kind is float64 else float(np.float32(MIN_UNIFORM))
    wide = w.cast(w.select(first < least, w.filled_like(first, least, kind), first), float64)
    radius = w.intrinsic("sqrt", w.cast(w.libm("log", wide), kind) * -2.0)
    angle = w.cast(w.cast(w.cast(second, float64) * (2.0 * math.pi), kind), float64)
    waves = [w.cast(w.libm(wave, angle), kind) * radius for wave in ("sin", "cos")]
    result = w.reshape(w.concatenate(waves, 1), (2 * pairs,))
    return w.cast(w.reshape(w.part(result, 0, 0, count), shape), dtype)


@lowers("stateless_random_uniform_int")
def integers(w: Rules, node: Node, seed: Term, low: Term, high: Term, *sizes: Term) -> Term | None:
    shape = _shape(node, sizes)
    if shape is None:
        return None
    w.fail(~(low < high))
    wide = int64 if not low.dtype.is_unsigned else uint64
    start, stop = (w.bitcast(w.cast(x, wide), uint64) if wide is int64 else w.cast(x, wide) for x in (low, high))
    span = stop - start
    span = w.select(span.same(0), 1, span)
    drawn = raw_bits(w, seed, shape, _algorithm(node), low.dtype.size == 8)
    if drawn is None:
        return None
    number = w.binary("remainder", drawn, span) + start
    return w.cast(w.bitcast(number, wide) if wide is int64 else number, low.dtype)


@lowers("stateless_permutation")
def permutation(w: Control, node: Node, seed: Term, *sizes: Term) -> Term | None:
    shape = _shape(node, sizes)
    return None if shape is None else _permutation(w, seed, shape[0], _algorithm(node))


@lowers("stateless_shuffle")
def shuffle(w: Control, node: Node, seed: Term, x: Term) -> Term | None:
    """Gather the rows in the order of a permutation."""
    if x.rank == 0 or x.shape[0] == 0:
        return x
    order = _permutation(w, seed, x.shape[0], _algorithm(node)) if isinstance(x.shape[0], int) else None
    return None if order is None else w.gather_nd(x, w.reshape(order, (x.shape[0], 1)))


def _permutation(w: Control, seed: Term, count: int, algorithm: str) -> Term | None:
    """Swap each place but the last with one of those from it on, in a loop."""
    words = _words(w, seed, max(count - 1, 1), algorithm)
    if words is None:
        return None
    order = w.iota((count,), 0, int64)
    if count < 2:
        return order
    first = w.iota((count - 1,), 0, uint64)
    partners = w.bitcast(first + w.binary("remainder", words, w.filled_like(first, count, uint64) - first), int64)

    def has_next(now: list[Term], word: Term) -> Term:
        w.word = word
        return now[0] < count - 1

    def swapped(now: list[Term], word: Term) -> list[Term]:
        w.word = word
        step, order = now
        partner = w.reshape(w.dynamic_part(partners, 0, step, 1), ())
        own, other = (w.dynamic_part(order, 0, place, 1) for place in (step, partner))
        return [step + 1, w.dynamic_update(w.dynamic_update(order, other, [step]), own, [partner])]

    after = w.loop(has_next, swapped, [w.constant(0, int64), order], w.sure(w.word))
    w.word = after.pop()
    return after[1]
