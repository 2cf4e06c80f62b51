"""Rules of random numbers that are drawn until they are accepted: truncated normal, gamma, Poisson and binomial.

Each number has blocks of words of its own, as in `autoconv.ops.random.distributions`, so that the bits are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.iteration import repeat
from autoconv.backends.portable.rules.random import normal_pairs, philox_stream, words_to_fractions
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.graph.dtypes import DType, float32, float64, int64, uint64
from autoconv.graph.graph import Node
from autoconv.ops.elements.special import lgamma
from autoconv.ops.random.bits import RESERVED, TRUNCATION
from autoconv.ops.random.distributions import BLOCKS_OF_STEPS, DIRECT, TAILS


@lowers("stateless_truncated_normal")
def truncated_normal(w: Control, node: Node, seed: Term, *sizes: Term) -> Term | None:
    """Fill groups, as many numbers as a block makes, with those of the group's blocks that are accepted."""
    shape, dtype = static_shape(node.attributes["shape"]), node.attributes["dtype"]
    blocks = philox_stream(w, seed, node.attributes.get("alg", "philox"))
    if shape is None or sizes or blocks is None:
        return None
    count, kind = math.prod(shape), float64 if dtype is float64 else float32
    group = 2 if kind is float64 else 4
    groups = -(-count // group)
    starts = w.iota((groups,), 0, uint64) * (RESERVED * group // 4)
    places = w.iota((groups, group), 1, int64)

    def step(active: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        accepted, filled, number = state
        words = w.reshape(blocks(starts + number), (4 * groups,))
        pairs = groups * group // 2
        drawn = w.reshape(normal_pairs(w, words_to_fractions(w, words, 2 * pairs, kind), pairs, kind), (groups, group))
        for i in range(group):
            one = w.part(drawn, 1, i, i + 1)
            fits = (w.emit_unary("abs", one) < TRUNCATION) & (filled < group)
            accepted = w.select(fits & places.same(filled), one, accepted)
            filled = w.select(fits, filled + 1, filled)
        return filled < group, [accepted, filled, number + 1]

    filled = w.fill_like(w.part(places, 1, 0, 1), 0, int64)
    state = [w.fill_like(places, 0, kind), filled, w.constant(0, uint64)]
    accepted = w.reshape(repeat(w, filled < group, state, step)[0], (groups * group,))
    return w.cast(w.reshape(w.part(accepted, 0, 0, count), shape), dtype)


class _Draws:
    """The uniform and normal numbers of each of `count` results; the state of a loop that draws.

    A block makes two numbers of a kind, and the second is taken first.
    """

    def __init__(self, w: Control, blocks: Callable[[Term], Term], first: Term) -> None:
        self._w, self._blocks, self._count = w, blocks, int(first.shape[0])
        empty, none = w.fill_like(first, 0.0, float64), w.fill_like(first, 0, int64)
        self.state = [first, empty, empty, none, empty, empty, none]  # next block; two numbers, and how many are left

    def uniform(self, active: Term) -> Term:
        """Draw a number in [0, 1) for those that are active."""
        return self._drawn(active, 1, lambda drawn: drawn)

    def normal(self, active: Term) -> Term:
        return self._drawn(active, 4, lambda drawn: normal_pairs(self._w, drawn, self._count, float64))

    def _drawn(self, active: Term, at: int, made: Callable[[Term], Term]) -> Term:
        w, count, (first, second, left) = self._w, self._count, self.state[at : at + 3]
        empty = active & left.same(0)
        words = w.reshape(self._blocks(self.state[0]), (4 * count,))
        pairs = w.reshape(made(words_to_fractions(w, words, 2 * count, float64)), (count, 2))
        new = [w.reshape(w.part(pairs, 1, i, i + 1), (count,)) for i in range(2)]
        first, second = w.select(empty, new[0], first), w.select(empty, new[1], second)
        left = w.select(active, w.select(empty, 2, left) - 1, left)
        self.state[0] = w.select(empty, self.state[0] + 1, self.state[0])
        self.state[at : at + 3] = [first, second, left]
        return w.select(left.same(1), second, first)


class _Result:
    """The numbers of a result in the order in which they are drawn: parameter by parameter."""

    def __init__(self, w: Control, shape: tuple[int, ...], parameter: Term, *_: Term) -> None:
        self._w, self._shape = w, shape
        own = shape[len(shape) - parameter.rank :]
        self._own, self._parameters = own, math.prod(own)
        self._each = math.prod(shape) // max(self._parameters, 1)
        self.count = self._each * self._parameters

    def of(self, parameter: Term) -> Term:
        """Return the parameter of each number."""
        w = self._w
        flat = w.reshape(w.expand(w.cast(parameter, float64), self._own), (self._parameters, 1))
        return w.reshape(w.expand(flat, (self._parameters, self._each)), (self.count,))

    def arranged(self, found: Term, dtype: DType) -> Term:
        w = self._w
        table = w.transpose(w.reshape(found, (self._parameters, self._each)), (1, 0))
        return w.cast(w.reshape(table, self._shape), dtype)


Attempt = Callable[[Term, _Draws], tuple[Term, Term]]


def _accepted(w: Control, draws: _Draws, found: Term, active: Term, attempt: Attempt) -> Term:
    """Repeat attempts, which give candidates and whether they are accepted, for the numbers that are active."""

    def step(going: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        found, *draws.state = state
        candidates, taken = attempt(going, draws)
        return going & ~taken, [w.select(going & taken, candidates, found), *draws.state]

    found, *draws.state = repeat(w, active, [found, *draws.state], step)
    return found


def _begin(
    w: Control, node: Node, seed: Term, parameters: tuple[Term, ...], apart: Callable[[list[Term]], Term] | None = None
) -> tuple[_Result, _Draws, list[Term]] | None:
    """Return the result, its draws, and the parameters of each number; None without a form.

    `apart` gives the number of blocks between the first ones of two numbers.
    """
    shape, blocks = static_shape(node.attributes["shape"]), philox_stream(w, seed, node.attributes.get("alg", "philox"))
    if shape is None or blocks is None or not all(isinstance(size, int) for x in parameters for size in x.shape):
        return None
    result = _Result(w, shape, *parameters)
    if not result.count:
        return None
    own = [result.of(parameter) for parameter in parameters]
    positions = w.iota((result.count,), 0, uint64)
    return result, _Draws(w, blocks, positions * (RESERVED if apart is None else apart(own))), own


@lowers("stateless_random_gamma")
def gamma(w: Control, node: Node, seed: Term, alpha: Term, *sizes: Term) -> Term | None:
    """Draw by Marsaglia and Tsang's method; an alpha below 1 is raised by 1 first."""
    begun = None if sizes else _begin(w, node, seed, (alpha,))
    if begun is None:
        return None
    result, draws, (alphas,) = begun
    w.fail(~(alphas > 0.0))
    small, exponential = alphas < 1.0, alphas.same(1.0)
    d = alphas + w.select(small, 2.0 / 3.0, w.fill_like(alphas, -1.0 / 3.0, float64))
    c = w.binary("divide", 1.0 / 3.0, w.emit_unary("sqrt", d))
    found = -w.libm("log1p", -draws.uniform(exponential))

    def attempt(going: Term, draws: _Draws) -> tuple[Term, Term]:
        normal = draws.normal(going)
        cube = 1.0 + c * normal
        positive = going & (cube > 0.0)
        cube = w.select(positive, cube, 1.0)
        cube = cube * cube * cube
        uniform, square = draws.uniform(positive), normal * normal
        squeezed = uniform < 1.0 - square * 0.0331 * square
        near = w.libm("log", uniform) < square * 0.5 + d * (1.0 - cube + w.libm("log", cube))
        return d * cube, positive & (squeezed | near)

    found = _accepted(w, draws, found, ~exponential, attempt)
    raised = found * w.binary("power", draws.uniform(small), w.binary("divide", 1.0, alphas))
    return result.arranged(w.select(small, raised, found), node.attributes["dtype"])


@lowers("stateless_random_poisson")
def poisson(w: Control, node: Node, seed: Term, mean: Term, *sizes: Term) -> Term | None:
    """Draw by products of uniform numbers for small means, by Hörmann's method for others."""
    begun = None if sizes else _begin(w, node, seed, (mean,))
    if begun is None:
        return None
    result, draws, (means,) = begun
    w.fail(~(means >= 0.0))
    limit, few = w.libm("exp", -means), means < DIRECT
    zero, one = (w.fill_like(means, number, float64) for number in (0.0, 1.0))

    def step(going: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        product, count, *draws.state = state
        product = w.select(going, product * draws.uniform(going), product)
        going = going & (product > limit)
        return going, [product, w.select(going, count + 1.0, count), *draws.state]

    _, counted, *draws.state = repeat(w, few, [one, zero, *draws.state], step)
    b = 0.931 + w.emit_unary("sqrt", means) * 2.53
    a = -0.059 + b * 0.02483
    inverse = 1.1239 + w.binary("divide", 1.1328, b - 3.4)

    def attempt(going: Term, draws: _Draws) -> tuple[Term, Term]:
        u = draws.uniform(going) - 0.5
        v = draws.uniform(going)
        distance = 0.5 - w.emit_unary("abs", u)
        k = w.emit_unary("floor", (a * 2.0 / distance + b) * u + means + 0.43)
        sure = (distance >= 0.07) & (v <= 0.9277 - w.binary("divide", 3.6224, b - 2.0))
        out = (k < 0.0) | ((distance < 0.013) & (v > distance))
        left = w.libm("log", v * inverse / (a / (distance * distance) + b))
        right = -means + k * w.libm("log", means) - lgamma(w, w.binary("maximum", k, 0.0) + 1.0)
        return k, sure | (~out & (left <= right))

    many = ~few & (means < math.inf)
    start = w.select(few, counted, w.fill_like(means, math.inf, float64))
    return result.arranged(_accepted(w, draws, start, many, attempt), node.attributes["dtype"])


@lowers("stateless_random_binomial")
def binomial(w: Control, node: Node, seed: Term, counts: Term, chances: Term, *sizes: Term) -> Term | None:
    """Draw by geometric steps for small means, by Hörmann's method for others."""
    if sizes:
        return None
    counts, chances = w.broadcast(w.cast(counts, float64), w.cast(chances, float64))

    def is_small(parameters: list[Term]) -> Term:
        return parameters[0] * w.binary("minimum", parameters[1], 1.0 - parameters[1]) < DIRECT

    def apart(parameters: list[Term]) -> Term:
        reserved = w.fill_like(parameters[0], RESERVED, uint64)
        return w.select(is_small(parameters), BLOCKS_OF_STEPS, reserved)

    begun = _begin(w, node, seed, (counts, chances), apart)
    if begun is None:
        return None
    result, draws, (many, likely) = begun
    w.fail(~((many >= 0.0) & (likely >= 0.0) & (likely <= 1.0)))
    turned, small = likely > 0.5, is_small([many, likely])
    p = w.select(turned, 1.0 - likely, likely)
    zero = w.fill_like(many, 0.0, float64)

    def step(going: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        steps, found, *draws.state = state
        logarithms = w.libm("log", draws.uniform(going)), w.libm("log1p", -p)
        length = w.emit_unary("ceil", w.binary("divide", *(w.emit_unary("abs", each) for each in logarithms)))
        steps = w.select(going, steps + length, steps)
        going = going & (steps <= many)
        return going, [steps, w.select(going, found + 1.0, found), *draws.state]

    _, found, *draws.state = repeat(w, small, [zero, zero, *draws.state], step)
    found = _accepted(w, draws, found, ~small, _by_hoermann(w, many, p))
    return result.arranged(w.select(turned, many - found, found), node.attributes["dtype"])


def _by_hoermann(w: Control, many: Term, p: Term) -> Attempt:
    """Return the attempts of Hörmann's BTRS for these counts and probabilities."""
    deviation = w.emit_unary("sqrt", many * p * (1.0 - p))
    b = 1.15 + deviation * 2.53
    a = -0.0873 + b * 0.0248 + p * 0.01
    middle, odds = w.emit_unary("floor", (many + 1.0) * p), p / (1.0 - p)

    def attempt(going: Term, draws: _Draws) -> tuple[Term, Term]:
        u, v = draws.uniform(going), draws.uniform(going)
        u = u - 0.5
        distance = 0.5 - w.emit_unary("abs", u)
        k = w.emit_unary("floor", (a * 2.0 / distance + b) * u + many * p + 0.5)
        sure = (distance >= 0.07) & (v <= 0.92 - w.binary("divide", 4.2, b))
        out = (k < 0.0) | (k > many)
        inner = w.select(k < 0.0, 0.0, w.select(k > many, many, k))
        alpha = (2.83 + w.binary("divide", 5.1, b)) * deviation
        left = w.libm("log", v * alpha / (a / (distance * distance) + b))
        right = (
            (middle + 0.5) * w.libm("log", (middle + 1.0) / (odds * (many - middle + 1.0)))
            + (many + 1.0) * w.libm("log", (many - middle + 1.0) / (many - inner + 1.0))
            + (inner + 0.5) * w.libm("log", odds * (many - inner + 1.0) / (inner + 1.0))
            + _tail(w, middle) + _tail(w, many - middle) - _tail(w, inner) - _tail(w, many - inner)
        )  # fmt: skip
        return k, sure | (~out & (left <= right))

    return attempt


def _tail(w: Control, k: Term) -> Term:
    """Return log(k!) minus Stirling's approximation of it."""
    square = (k + 1.0) * (k + 1.0)
    inner = 1.0 / 360.0 - w.binary("divide", 1.0 / 1260.0, square)
    series = (1.0 / 12.0 - inner / square) / (k + 1.0)
    for i, value in enumerate(TAILS.tolist()):
        series = w.select(k.same(float(i)), value, series)
    return series
