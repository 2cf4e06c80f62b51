"""Rules of stateless random numbers: the same bits as everywhere, by integer arithmetic.

Philox is 4x64-10 with NumPy's counters, Threefry 2x32-20; see `autoconv.ops.random`. Uniform numbers and integers are
equal to the bit, normal ones to rounding.
"""

from __future__ import annotations

import math
from typing import Any

from autoconv.backends.portable.rules.movement import dropped
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import float64, int64, uint32, uint64
from autoconv.graph.graph import Node
from autoconv.ops.random.bits import PRECISION

_MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
_LOW = 0xFFFFFFFF


def raw_bits(w: Rules, seed: Term, shape: tuple[int, ...], algorithm: str) -> Term:
    """Return random uint64 numbers."""
    count = math.prod(shape)
    words = [w.cast(dropped(w, w.part(seed, 0, i, i + 1), [0]), int64) for i in range(2)]
    keys = [w.bitcast(word, uint64) for word in words]
    found = _threefry(w, keys, count) if algorithm == "threefry" else _philox(w, keys, count)
    return w.reshape(found, shape)


def _high_product(w: Rules, x: Term, constant: int) -> Term:
    """Return the upper 64 bits of a product of 64-bit numbers."""
    low, high = constant & _LOW, constant >> 32
    x_low, x_high = x & _LOW, w.bits("lshr", x, 32)
    first = x_low * low
    middle = x_high * low + w.bits("lshr", first, 32)
    other = x_low * high + (middle & _LOW)
    return x_high * high + w.bits("lshr", middle, 32) + w.bits("lshr", other, 32)


def _philox(w: Rules, keys: list[Term], count: int) -> Term:
    blocks = -(-count // 4)
    counter: list[Any] = [w.iota((blocks,), 0, uint64) + 1]
    counter += [w.filled_like(counter[0], 0, uint64) for _ in range(3)]
    for turn in range(10):
        if turn:
            keys = [key + weyl for key, weyl in zip(keys, _WEYL, strict=True)]
        highs = [_high_product(w, counter[2 * i], _MULTIPLIERS[i]) for i in range(2)]
        lows = [counter[2 * i] * _MULTIPLIERS[i] for i in range(2)]
        counter = [highs[1] ^ counter[1] ^ keys[0], lows[1], highs[0] ^ counter[3] ^ keys[1], lows[0]]
    joined = w.concatenate([w.reshape(x, (blocks, 1)) for x in counter], 1)
    return w.part(w.reshape(joined, (4 * blocks,)), 0, 0, count)


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
    first, second = _threefry_block(w, key, *_halves(w, w.iota((count,), 0, uint64)))
    return w.converted(first, uint64) | w.bits("shl", w.converted(second, uint64), 32)


def _shape(node: Node, sizes: tuple[Term, ...]) -> tuple[int, ...] | None:
    return None if sizes else static_shape(node.attributes["shape"])


def _algorithm(node: Node) -> str:
    return str(node.attributes.get("alg", "philox"))


@lowers("stateless_random_bits")
def bits(w: Rules, node: Node, seed: Term, *sizes: Term) -> Term | None:
    shape, dtype = _shape(node, sizes), node.attributes["dtype"]
    if shape is None or dtype.size < 4:
        return None
    return w.converted(raw_bits(w, seed, shape, _algorithm(node)), dtype)


def _unit(w: Rules, seed: Term, shape: tuple[int, ...], algorithm: str, precision: int) -> Term:
    """Return float64 numbers in [0, 1) of so many random bits."""
    whole = w.bits("lshr", raw_bits(w, seed, shape, algorithm), 64 - precision)
    return w.converted(w.bitcast(whole, int64), float64) * 2.0**-precision


@lowers("stateless_random_uniform")
def uniform(w: Rules, node: Node, seed: Term, *sizes: Term) -> Term | None:
    shape, dtype = _shape(node, sizes), node.attributes["dtype"]
    if shape is None:
        return None
    return w.cast(_unit(w, seed, shape, _algorithm(node), PRECISION[dtype.name]), dtype)


@lowers("stateless_random_normal")
def normal(w: Rules, node: Node, seed: Term, *sizes: Term) -> Term | None:
    """Box and Muller's transform in float64."""
    shape, dtype = _shape(node, sizes), node.attributes["dtype"]
    if shape is None:
        return None
    count = math.prod(shape)
    half = (count + 1) // 2
    pair = _unit(w, seed, (2, half), _algorithm(node), 53)
    first, second = (w.reshape(w.part(pair, 0, i, i + 1), (half,)) for i in range(2))
    radius = w.intrinsic("sqrt", w.libm("log1p", -first) * -2.0)
    angle = second * (2.0 * math.pi)
    found = w.concatenate([radius * w.libm("cos", angle), radius * w.libm("sin", angle)], 0)
    return w.cast(w.reshape(w.part(found, 0, 0, count), shape), dtype)


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
    drawn = raw_bits(w, seed, shape, _algorithm(node))
    rest = w.binary("remainder", drawn, span)
    found = rest + start
    return w.cast(w.bitcast(found, wide) if wide is int64 else found, low.dtype)
