"""Rules of random numbers that are drawn until they are accepted: truncated normal, gamma, Poisson and binomial.

Each number is made of blocks (of four words that the generator makes at once) of its own, those of
`autoconv.ops.random.distributions`, so that the bits are equal. Names of one or few letters are those of the papers:
Marsaglia and Tsang (2000) for gamma, Hörmann (1993) for Poisson (PTRS) and binomial (BTRS).

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
    """Draw in groups of as many numbers as one block makes; a group takes the accepted candidates of its own blocks."""
    shape, dtype = static_shape(node.attributes["shape"]), node.attributes["dtype"]
    blocks = philox_stream(writer, seed, node.attributes.get("alg", "philox"))
    if shape is None or sizes or blocks is None:
        return None
    count, compute_dtype = math.prod(shape), float64 if dtype is float64 else float32
    group_size = 2 if compute_dtype is float64 else 4
    group_count = -(-count // group_size)
    first_blocks = writer.iota((group_count,), 0, uint64) * (RESERVED_WORDS * group_size // BLOCK_WORDS)
    slots = writer.iota((group_count, group_size), 1, int64)

    def fill_slots(active: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        """Draw a block of candidates for each group, and put those below the limit into its free slots."""
        accepted_numbers, filled_count, block_number = state
        words = writer.reshape(blocks(first_blocks + block_number), (4 * group_count,))
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
    accepted_numbers, *_ = writer.repeat(filled_count < group_size, state, fill_slots)
    accepted_numbers = writer.reshape(accepted_numbers, (group_count * group_size,))
    return writer.cast(writer.reshape(writer.static_slice(accepted_numbers, 0, 0, count), shape), dtype)


# The positions in `_Draws.state` of the three terms for uniform numbers, and of those for normal numbers.
_UNIFORM_TERMS, _NORMAL_TERMS = slice(1, 4), slice(4, 7)


class _Draws:
    """The generators of a vector's elements: each element draws uniform and normal numbers from its own blocks.

    A block makes two numbers of one kind, and the second is taken first. `state` holds, for each element, the number
    of the next block; then, for each kind, the two numbers of the last block, and how many of them are left. A loop
    that draws carries `state` as a part of its own state.
    """

    def __init__(self, writer: Control, blocks: Callable[[Term], Term], first_blocks: Term) -> None:
        self._writer, self._blocks, self._count = writer, blocks, int(first_blocks.shape[0])
        zeros, zero_counts = writer.fill_like(first_blocks, 0.0, float64), writer.fill_like(first_blocks, 0, int64)
        self.state = [first_blocks, zeros, zeros, zero_counts, zeros, zeros, zero_counts]

    def uniform(self, active: Term) -> Term:
        """Return a new number in [0, 1) for each active element, and an unspecified number for the others."""
        return self._draw(active, _UNIFORM_TERMS, lambda fractions: fractions)

    def normal(self, active: Term) -> Term:
        """Return a new normal number for each active element, and an unspecified number for the others."""
        return self._draw(
            active, _NORMAL_TERMS, lambda fractions: normal_pairs(self._writer, fractions, self._count, float64)
        )

    def _draw(self, active: Term, terms: slice, convert: Callable[[Term], Term]) -> Term:
        """Take a number that is left, or else one of a new block.

        `terms` are the positions in `state` of the kind of numbers; `convert` makes them of fractions in [0, 1).
        """
        writer, count, (first, second, remaining) = self._writer, self._count, self.state[terms]
        needs_block = active & remaining.same(0)
        words = writer.reshape(self._blocks(self.state[0]), (4 * count,))
        pairs = writer.reshape(convert(words_to_fractions(writer, words, 2 * count, float64)), (count, 2))
        new_numbers = [writer.reshape(writer.static_slice(pairs, 1, i, i + 1), (count,)) for i in range(2)]
        first = writer.select(needs_block, new_numbers[0], first)
        second = writer.select(needs_block, new_numbers[1], second)
        remaining = writer.select(active, writer.select(needs_block, 2, remaining) - 1, remaining)
        self.state[0] = writer.select(needs_block, self.state[0] + 1, self.state[0])
        self.state[terms] = [first, second, remaining]
        return writer.select(remaining.same(1), second, first)  # `remaining` is counted down already


class _ResultLayout:
    """The order in which a result's numbers are drawn: all numbers for the first parameter, then for the second, …

    A parameter is an element of the arrays of parameters, whose shape is the end of the result's. `count` is the
    number of all numbers.
    """

    def __init__(self, writer: Control, shape: tuple[int, ...], parameter: Term) -> None:
        self._writer, self._shape = writer, shape
        parameter_shape = shape[len(shape) - parameter.rank :]
        self._parameter_shape, self._parameter_count = parameter_shape, math.prod(parameter_shape)
        self._draws_per_parameter = math.prod(shape) // max(self._parameter_count, 1)
        self.count = self._draws_per_parameter * self._parameter_count

    def repeat_parameter(self, parameter: Term) -> Term:
        """Return a vector of each number's parameter, in the order of drawing."""
        writer = self._writer
        parameters = writer.expand(writer.cast(parameter, float64), self._parameter_shape)
        column = writer.reshape(parameters, (self._parameter_count, 1))
        return writer.reshape(writer.expand(column, (self._parameter_count, self._draws_per_parameter)), (self.count,))

    def arrange(self, numbers: Term, dtype: DType) -> Term:
        """Return the numbers, given in the order of drawing, in the result's shape and dtype."""
        writer = self._writer
        table = writer.transpose(writer.reshape(numbers, (self._parameter_count, self._draws_per_parameter)), (1, 0))
        return writer.cast(writer.reshape(table, self._shape), dtype)


# A function `attempt(active, draws)` that draws and returns candidates, and the condition that each is accepted.
Attempt = Callable[[Term, _Draws], tuple[Term, Term]]


def _draw_until_accepted(writer: Control, draws: _Draws, numbers: Term, active: Term, attempt: Attempt) -> Term:
    """Repeat attempts until each active number has an accepted candidate; return `numbers` with these candidates."""

    def run_attempt(active: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        numbers, *draws.state = state
        candidates, is_accepted = attempt(active, draws)
        return active & ~is_accepted, [writer.select(active & is_accepted, candidates, numbers), *draws.state]

    numbers, *draws.state = writer.repeat(active, [numbers, *draws.state], run_attempt)
    return numbers


class _Preparation(NamedTuple):
    """The layout of a result, the generators of its numbers, and vectors of the parameters of each number."""

    layout: _ResultLayout
    draws: _Draws
    parameters: list[Term]


def _prepare(
    writer: Control, node: Node, seed: Term, parameters: tuple[Term, ...],
    block_distance: Callable[[list[Term]], Term] | None = None,
) -> _Preparation | None:
    """Return the preparation of a node's result; None if it has no form, or no elements.

    `block_distance` computes, from the parameters of each number, how many blocks are reserved for it.
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
    """Draw by Marsaglia and Tsang's method, or for an alpha of 1 an exponential number.

    For an alpha below 1, a number for alpha + 1 is multiplied by u^(1 / alpha), where u is uniform.
    """
    prepared = None if sizes else _prepare(writer, node, seed, (alpha,))
    if prepared is None:
        return None
    layout, draws, (alphas,) = prepared
    writer.fail_if(~(alphas > 0.0))  # also for nan
    is_small, is_exponential = alphas < 1.0, alphas.same(1.0)
    d = alphas + writer.select(is_small, 2.0 / 3.0, writer.fill_like(alphas, -1.0 / 3.0, float64))
    c = writer.binary("divide", 1.0 / 3.0, writer.emit_unary("sqrt", d))
    numbers = -writer.libm("log1p", -draws.uniform(is_exponential))

    def attempt(active: Term, draws: _Draws) -> tuple[Term, Term]:
        """Return candidates by Marsaglia and Tsang's method, and the condition of their acceptance."""
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
    """Draw by products of uniform numbers for small means, by Hörmann's PTRS for large ones; inf gives inf."""
    prepared = None if sizes else _prepare(writer, node, seed, (mean,))
    if prepared is None:
        return None
    layout, draws, (means,) = prepared
    writer.fail_if(~(means >= 0.0))
    limit, has_small_mean = writer.libm("exp", -means), means < MAX_DIRECT_MEAN
    zero, one = (writer.fill_like(means, number, float64) for number in (0.0, 1.0))

    def multiply_by_uniform(active: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        """Multiply the products by uniform numbers; the result counts the factors before a product is below e^-mean."""
        product, count, *draws.state = state
        product = writer.select(active, product * draws.uniform(active), product)
        active = active & (product > limit)
        return active, [product, writer.select(active, count + 1.0, count), *draws.state]

    _, counts, *draws.state = writer.repeat(has_small_mean, [one, zero, *draws.state], multiply_by_uniform)
    b = 0.931 + writer.emit_unary("sqrt", means) * 2.53
    a = -0.059 + b * 0.02483
    inverse = 1.1239 + writer.binary("divide", 1.1328, b - 3.4)

    def attempt(active: Term, draws: _Draws) -> tuple[Term, Term]:
        """Return candidates of the transformed rejection (PTRS), and the condition of their acceptance."""
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
def binomial(writer: Control, node: Node, seed: Term, trials: Term, probabilities: Term, *sizes: Term) -> Term | None:
    """Draw by geometric steps from success to success for small means, by Hörmann's BTRS for large ones.

    A probability above 1/2 is mirrored: the failures are drawn instead, and subtracted from the trials.
    """
    if sizes:
        return None
    trials, probabilities = writer.broadcast(writer.cast(trials, float64), writer.cast(probabilities, float64))

    def is_mean_small(trials: Term, probabilities: Term) -> Term:
        return trials * writer.binary("minimum", probabilities, 1.0 - probabilities) < MAX_DIRECT_MEAN

    def block_distance(parameters: list[Term]) -> Term:
        distance_for_large_mean = writer.fill_like(parameters[0], RESERVED_BLOCKS, uint64)
        return writer.select(is_mean_small(*parameters), BLOCKS_FOR_STEPS, distance_for_large_mean)

    prepared = _prepare(writer, node, seed, (trials, probabilities), block_distance)
    if prepared is None:
        return None
    layout, draws, (trials, probabilities) = prepared
    writer.fail_if(~((trials >= 0.0) & (probabilities >= 0.0) & (probabilities <= 1.0)))
    is_mirrored, has_small_mean = probabilities > 0.5, is_mean_small(trials, probabilities)
    p = writer.select(is_mirrored, 1.0 - probabilities, probabilities)
    zero = writer.fill_like(trials, 0.0, float64)

    def go_to_next_success(active: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        """Advance active elements to the trial of the next success; one within `trials` is counted."""
        position, success_count, *draws.state = state
        logarithms = writer.libm("log", draws.uniform(active)), writer.libm("log1p", -p)
        magnitudes = [writer.emit_unary("abs", logarithm) for logarithm in logarithms]
        distance = writer.emit_unary("ceil", writer.binary("divide", *magnitudes))
        position = writer.select(active, position + distance, position)
        active = active & (position <= trials)
        return active, [position, writer.select(active, success_count + 1.0, success_count), *draws.state]

    _, success_counts, *draws.state = writer.repeat(has_small_mean, [zero, zero, *draws.state], go_to_next_success)
    attempt = _hoermann_attempt(writer, trials, p)
    success_counts = _draw_until_accepted(writer, draws, success_counts, ~has_small_mean, attempt)
    return layout.arrange(
        writer.select(is_mirrored, trials - success_counts, success_counts), node.attributes["dtype"]
    )


def _hoermann_attempt(writer: Control, trials: Term, p: Term) -> Attempt:
    """Return the attempt of Hörmann's BTRS for numbers of trials and probabilities `p` of success."""
    deviation = writer.emit_unary("sqrt", trials * p * (1.0 - p))
    b = 1.15 + deviation * 2.53
    a = -0.0873 + b * 0.0248 + p * 0.01
    middle, odds = writer.emit_unary("floor", (trials + 1.0) * p), p / (1.0 - p)

    def attempt(active: Term, draws: _Draws) -> tuple[Term, Term]:
        """Return candidates of the transformed rejection (BTRS), and the condition of their acceptance."""
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
