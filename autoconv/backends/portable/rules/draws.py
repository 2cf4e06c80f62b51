"""Rules of random numbers that are drawn until they are accepted: truncated normal, gamma, Poisson and binomial.

Each number has its own blocks (of four words that the generator makes at once), the same blocks as in
`autoconv.ops.random.distributions`, so that the bits are the same. Constants of one or few letters are those of the
papers: Marsaglia and Tsang (2000) for gamma, Hörmann (1993) for Poisson (PTRS) and binomial (BTRS).

A rule returns None for a node that has no form in other runtimes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.random import normal_pairs, philox_stream, words_to_fractions
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.graph.dtypes import DType, float32, float64, int64, uint64
from autoconv.graph.graph import Node
from autoconv.ops.elements.special import lgamma
from autoconv.ops.random.bits import RESERVED_WORDS, TRUNCATION
from autoconv.ops.random.distributions import BLOCKS_FOR_STEPS, MAX_DIRECT_MEAN, STIRLING_CORRECTIONS
from autoconv.ops.random.global_generator import RESERVED_BLOCKS
from autoconv.ops.random.philox import BLOCK_WORDS


@lowers("stateless_truncated_normal")
def truncated_normal(writer: Control, node: Node, seed: Term, *sizes: Term) -> Term | None:
    """Draw in groups of the size of one block; a group takes the accepted candidates of its own blocks."""
    shape, dtype = static_shape(node.attributes["shape"]), node.attributes["dtype"]
    blocks = philox_stream(writer, seed, node.attributes.get("alg", "philox"))
    if shape is None or sizes or blocks is None:
        return None
    count, compute_dtype = math.prod(shape), float64 if dtype is float64 else float32
    group_size = 2 if compute_dtype is float64 else 4
    group_count = -(-count // group_size)
    starts = writer.iota((group_count,), 0, uint64) * (RESERVED_WORDS * group_size // BLOCK_WORDS)
    slots = writer.iota((group_count, group_size), 1, int64)

    def step(active: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        """Draw one group of normal numbers, and fill the free slots with those below the limit."""
        accepted_numbers, filled_count, block_number = state
        words = writer.reshape(blocks(starts + block_number), (4 * group_count,))
        pair_count = group_count * group_size // 2
        fractions = words_to_fractions(writer, words, 2 * pair_count, compute_dtype)
        pairs = normal_pairs(writer, fractions, pair_count, compute_dtype)
        candidates = writer.reshape(pairs, (group_count, group_size))
        for i in range(group_size):
            candidate = writer.static_slice(candidates, 1, i, i + 1)
            is_accepted = (writer.emit_unary("abs", candidate) < TRUNCATION) & (filled_count < group_size)
            accepted_numbers = writer.select(is_accepted & slots.same(filled_count), candidate, accepted_numbers)
            filled_count = writer.select(is_accepted, filled_count + 1, filled_count)
        return filled_count < group_size, [accepted_numbers, filled_count, block_number + 1]

    filled_count = writer.fill_like(writer.static_slice(slots, 1, 0, 1), 0, int64)
    state = [writer.fill_like(slots, 0, compute_dtype), filled_count, writer.constant(0, uint64)]
    accepted_numbers, *_ = writer.repeat(filled_count < group_size, state, step)
    accepted_numbers = writer.reshape(accepted_numbers, (group_count * group_size,))
    return writer.cast(writer.reshape(writer.static_slice(accepted_numbers, 0, 0, count), shape), dtype)


# Where the terms of each kind (first, second, remaining) begin in `_Draws.state`.
_UNIFORM_STATE, _NORMAL_STATE = 1, 4


class _Draws:
    """The uniform and normal numbers that each element of a vector draws, and the state of a loop that draws.

    A block makes two numbers of one kind, and the second is taken first.
    """

    def __init__(self, writer: Control, blocks: Callable[[Term], Term], first_blocks: Term) -> None:
        self._writer, self._blocks, self._count = writer, blocks, int(first_blocks.shape[0])
        zeros, zero_counts = writer.fill_like(first_blocks, 0.0, float64), writer.fill_like(first_blocks, 0, int64)
        # The next block's number; then for each kind of numbers: the two of the last block, and how many are left.
        self.state = [first_blocks, zeros, zeros, zero_counts, zeros, zeros, zero_counts]

    def uniform(self, active: Term) -> Term:
        """Draw a number in [0, 1) for each element that is active; the others are unspecified."""
        return self._draw(active, _UNIFORM_STATE, lambda fractions: fractions)

    def normal(self, active: Term) -> Term:
        """Draw a normal number for each element that is active; the others are unspecified."""
        return self._draw(
            active, _NORMAL_STATE, lambda fractions: normal_pairs(self._writer, fractions, self._count, float64)
        )

    def _draw(self, active: Term, state_index: int, convert: Callable[[Term], Term]) -> Term:
        """Take a number that is left, or one of a new block, whose fractions in [0, 1) are converted."""
        writer, count, (first, second, remaining) = self._writer, self._count, self.state[state_index : state_index + 3]
        needs_block = active & remaining.same(0)
        words = writer.reshape(self._blocks(self.state[0]), (4 * count,))
        pairs = writer.reshape(convert(words_to_fractions(writer, words, 2 * count, float64)), (count, 2))
        new_numbers = [writer.reshape(writer.static_slice(pairs, 1, i, i + 1), (count,)) for i in range(2)]
        first = writer.select(needs_block, new_numbers[0], first)
        second = writer.select(needs_block, new_numbers[1], second)
        remaining = writer.select(active, writer.select(needs_block, 2, remaining) - 1, remaining)
        self.state[0] = writer.select(needs_block, self.state[0] + 1, self.state[0])
        self.state[state_index : state_index + 3] = [first, second, remaining]
        return writer.select(remaining.same(1), second, first)


class _ResultLayout:
    """The layout of a result: first all numbers of the first element of the parameters, then those of the second, …"""

    def __init__(self, writer: Control, shape: tuple[int, ...], parameter: Term) -> None:
        self._writer, self._shape = writer, shape
        parameter_shape = shape[len(shape) - parameter.rank :]
        self._parameter_shape, self._parameter_count = parameter_shape, math.prod(parameter_shape)
        self._draws_per_parameter = math.prod(shape) // max(self._parameter_count, 1)
        self.count = self._draws_per_parameter * self._parameter_count

    def repeat_parameter(self, parameter: Term) -> Term:
        """Return the parameter of each number."""
        writer = self._writer
        parameters = writer.expand(writer.cast(parameter, float64), self._parameter_shape)
        column = writer.reshape(parameters, (self._parameter_count, 1))
        return writer.reshape(writer.expand(column, (self._parameter_count, self._draws_per_parameter)), (self.count,))

    def arrange(self, numbers: Term, dtype: DType) -> Term:
        """Return the numbers in the shape of the result, converted to the dtype."""
        writer = self._writer
        table = writer.transpose(writer.reshape(numbers, (self._parameter_count, self._draws_per_parameter)), (1, 0))
        return writer.cast(writer.reshape(table, self._shape), dtype)


# A function `attempt(active, draws)` that draws, and returns a candidate for each number and whether it is accepted.
Attempt = Callable[[Term, _Draws], tuple[Term, Term]]


def _draw_until_accepted(writer: Control, draws: _Draws, numbers: Term, active: Term, attempt: Attempt) -> Term:
    """Return `numbers`, with an accepted candidate in place of each that is active: attempts repeat until all have one.
    """

    def step(active: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        numbers, *draws.state = state
        candidates, is_accepted = attempt(active, draws)
        return active & ~is_accepted, [writer.select(active & is_accepted, candidates, numbers), *draws.state]

    numbers, *draws.state = writer.repeat(active, [numbers, *draws.state], step)
    return numbers


class _Preparation(NamedTuple):
    """The layout of a result, the numbers that its elements draw, and for each parameter its value for each element."""

    layout: _ResultLayout
    draws: _Draws
    parameters: list[Term]


def _prepare(
    writer: Control, node: Node, seed: Term, parameters: tuple[Term, ...],
    block_distance: Callable[[list[Term]], Term] | None = None,
) -> _Preparation | None:
    """Return the layout, the draws and the parameters of a node's result; None if there is no form.

    `block_distance` computes, from the parameters, how many blocks are reserved for each element of the result.
    """
    shape = static_shape(node.attributes["shape"])
    blocks = philox_stream(writer, seed, node.attributes.get("alg", "philox"))
    if shape is None or blocks is None or not all(isinstance(size, int) for x in parameters for size in x.shape):
        return None
    layout = _ResultLayout(writer, shape, parameters[0])  # all parameters have one shape
    if not layout.count:
        return None
    values = [layout.repeat_parameter(parameter) for parameter in parameters]
    positions = writer.iota((layout.count,), 0, uint64)
    distance = RESERVED_BLOCKS if block_distance is None else block_distance(values)
    return _Preparation(layout, _Draws(writer, blocks, positions * distance), values)


@lowers("stateless_random_gamma")
def gamma(writer: Control, node: Node, seed: Term, alpha: Term, *sizes: Term) -> Term | None:
    """Draw by Marsaglia and Tsang's method; an alpha below 1 is raised by 1 first."""
    prepared = None if sizes else _prepare(writer, node, seed, (alpha,))
    if prepared is None:
        return None
    layout, draws, (alphas,) = prepared
    writer.fail_if(~(alphas > 0.0))
    is_small, is_exponential = alphas < 1.0, alphas.same(1.0)
    d = alphas + writer.select(is_small, 2.0 / 3.0, writer.fill_like(alphas, -1.0 / 3.0, float64))
    c = writer.binary("divide", 1.0 / 3.0, writer.emit_unary("sqrt", d))
    numbers = -writer.libm("log1p", -draws.uniform(is_exponential))

    def attempt(active: Term, draws: _Draws) -> tuple[Term, Term]:
        """Draw candidates by Marsaglia and Tsang's method for gamma numbers, and whether each is accepted."""
        normal = draws.normal(active)
        root = 1.0 + c * normal
        is_positive = active & (root > 0.0)
        root = writer.select(is_positive, root, 1.0)
        cube = root * root * root
        uniform, square = draws.uniform(is_positive), normal * normal
        passes_squeeze = uniform < 1.0 - square * 0.0331 * square
        passes_exact_test = writer.libm("log", uniform) < square * 0.5 + d * (1.0 - cube + writer.libm("log", cube))
        return d * cube, is_positive & (passes_squeeze | passes_exact_test)

    numbers = _draw_until_accepted(writer, draws, numbers, ~is_exponential, attempt)
    powers = writer.binary("power", draws.uniform(is_small), writer.binary("divide", 1.0, alphas))
    small_alpha_numbers = numbers * powers
    return layout.arrange(writer.select(is_small, small_alpha_numbers, numbers), node.attributes["dtype"])


@lowers("stateless_random_poisson")
def poisson(writer: Control, node: Node, seed: Term, mean: Term, *sizes: Term) -> Term | None:
    """Draw by products of uniform numbers for small means, by Hörmann's PTRS for others."""
    prepared = None if sizes else _prepare(writer, node, seed, (mean,))
    if prepared is None:
        return None
    layout, draws, (means,) = prepared
    writer.fail_if(~(means >= 0.0))
    limit, has_small_mean = writer.libm("exp", -means), means < MAX_DIRECT_MEAN
    zero, one = (writer.fill_like(means, number, float64) for number in (0.0, 1.0))

    def step(active: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        product, count, *draws.state = state
        product = writer.select(active, product * draws.uniform(active), product)
        active = active & (product > limit)
        return active, [product, writer.select(active, count + 1.0, count), *draws.state]

    _, counts, *draws.state = writer.repeat(has_small_mean, [one, zero, *draws.state], step)
    b = 0.931 + writer.emit_unary("sqrt", means) * 2.53
    a = -0.059 + b * 0.02483
    inverse = 1.1239 + writer.binary("divide", 1.1328, b - 3.4)

    def attempt(active: Term, draws: _Draws) -> tuple[Term, Term]:
        """Draw candidates of the transformed rejection for Poisson numbers (PTRS), and whether each is accepted."""
        u = draws.uniform(active) - 0.5
        v = draws.uniform(active)
        distance = 0.5 - writer.emit_unary("abs", u)
        k = writer.emit_unary("floor", (a * 2.0 / distance + b) * u + means + 0.43)
        is_accepted_early = (distance >= 0.07) & (v <= 0.9277 - writer.binary("divide", 3.6224, b - 2.0))
        is_outside = (k < 0.0) | ((distance < 0.013) & (v > distance))
        log_scaled_v = writer.libm("log", v * inverse / (a / (distance * distance) + b))
        log_density = -means + k * writer.libm("log", means) - lgamma(writer, writer.binary("maximum", k, 0.0) + 1.0)
        return k, is_accepted_early | (~is_outside & (log_scaled_v <= log_density))

    has_large_mean = ~has_small_mean & (means < math.inf)
    start = writer.select(has_small_mean, counts, writer.fill_like(means, math.inf, float64))
    return layout.arrange(_draw_until_accepted(writer, draws, start, has_large_mean, attempt), node.attributes["dtype"])


@lowers("stateless_random_binomial")
def binomial(writer: Control, node: Node, seed: Term, counts: Term, chances: Term, *sizes: Term) -> Term | None:
    """Draw by geometric steps from success to success for small means, by Hörmann's BTRS for others."""
    if sizes:
        return None
    counts, chances = writer.broadcast(writer.cast(counts, float64), writer.cast(chances, float64))

    def is_small(parameters: list[Term]) -> Term:
        return parameters[0] * writer.binary("minimum", parameters[1], 1.0 - parameters[1]) < MAX_DIRECT_MEAN

    def block_distance(parameters: list[Term]) -> Term:
        reserved = writer.fill_like(parameters[0], RESERVED_BLOCKS, uint64)
        return writer.select(is_small(parameters), BLOCKS_FOR_STEPS, reserved)

    prepared = _prepare(writer, node, seed, (counts, chances), block_distance)
    if prepared is None:
        return None
    layout, draws, (trials, probabilities) = prepared
    writer.fail_if(~((trials >= 0.0) & (probabilities >= 0.0) & (probabilities <= 1.0)))
    is_mirrored, has_small_mean = probabilities > 0.5, is_small([trials, probabilities])
    p = writer.select(is_mirrored, 1.0 - probabilities, probabilities)
    zero = writer.fill_like(trials, 0.0, float64)

    def step(active: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        """Add a geometric number to the steps of active elements; those within `trials` count a success."""
        steps, numbers, *draws.state = state
        logarithms = writer.libm("log", draws.uniform(active)), writer.libm("log1p", -p)
        magnitudes = [writer.emit_unary("abs", logarithm) for logarithm in logarithms]
        length = writer.emit_unary("ceil", writer.binary("divide", *magnitudes))
        steps = writer.select(active, steps + length, steps)
        active = active & (steps <= trials)
        return active, [steps, writer.select(active, numbers + 1.0, numbers), *draws.state]

    _, numbers, *draws.state = writer.repeat(has_small_mean, [zero, zero, *draws.state], step)
    numbers = _draw_until_accepted(writer, draws, numbers, ~has_small_mean, _by_hoermann(writer, trials, p))
    return layout.arrange(writer.select(is_mirrored, trials - numbers, numbers), node.attributes["dtype"])


def _by_hoermann(writer: Control, trials: Term, p: Term) -> Attempt:
    """Return the attempt of Hörmann's BTRS for these counts of trials and probabilities `p` of success."""
    deviation = writer.emit_unary("sqrt", trials * p * (1.0 - p))
    b = 1.15 + deviation * 2.53
    a = -0.0873 + b * 0.0248 + p * 0.01
    middle, odds = writer.emit_unary("floor", (trials + 1.0) * p), p / (1.0 - p)

    def attempt(active: Term, draws: _Draws) -> tuple[Term, Term]:
        """Draw candidates of the transformed rejection for binomials (BTRS), and whether each is accepted."""
        u, v = draws.uniform(active), draws.uniform(active)
        u = u - 0.5
        distance = 0.5 - writer.emit_unary("abs", u)
        k = writer.emit_unary("floor", (a * 2.0 / distance + b) * u + trials * p + 0.5)
        is_accepted_early = (distance >= 0.07) & (v <= 0.92 - writer.binary("divide", 4.2, b))
        is_outside = (k < 0.0) | (k > trials)
        clipped_k = writer.select(k < 0.0, 0.0, writer.select(k > trials, trials, k))
        alpha = (2.83 + writer.binary("divide", 5.1, b)) * deviation
        log_scaled_v = writer.libm("log", v * alpha / (a / (distance * distance) + b))
        log_density = (
            (middle + 0.5) * writer.libm("log", (middle + 1.0) / (odds * (trials - middle + 1.0)))
            + (trials + 1.0) * writer.libm("log", (trials - middle + 1.0) / (trials - clipped_k + 1.0))
            + (clipped_k + 0.5) * writer.libm("log", odds * (trials - clipped_k + 1.0) / (clipped_k + 1.0))
            + _stirling_error(writer, middle) + _stirling_error(writer, trials - middle)
            - _stirling_error(writer, clipped_k) - _stirling_error(writer, trials - clipped_k)
        )  # fmt: skip
        return k, is_accepted_early | (~is_outside & (log_scaled_v <= log_density))

    return attempt


def _stirling_error(writer: Control, k: Term) -> Term:
    """Return log(k!) minus Stirling's approximation of it."""
    square = (k + 1.0) * (k + 1.0)
    inner_sum = 1.0 / 360.0 - writer.binary("divide", 1.0 / 1260.0, square)
    series = (1.0 / 12.0 - inner_sum / square) / (k + 1.0)
    for i, value in enumerate(STIRLING_CORRECTIONS.tolist()):
        series = writer.select(k.same(float(i)), value, series)
    return series
