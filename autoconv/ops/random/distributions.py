"""Random numbers with parameters per element: gamma, Poisson and binomial.

As in `bits`, words are converted to numbers as in TensorFlow, so that a seed gives TensorFlow's numbers. Each number of
a result has its own blocks of words, from which all its candidates are made until one is accepted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, float32, float64, int32, int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.movement.constants import check_shape, static_shape
from autoconv.ops.random.bits import (
    Bits,
    from_seed,
    to_fractions,
    to_normal_pairs,
    with_seed_operand,
)
from autoconv.ops.random.global_generator import GLOBAL, RESERVED_BLOCKS
from autoconv.ops.record import define, no_gradient, sample
from autoconv.ops.traits import SizeOperand

_NO_GRADIENT = no_gradient("random numbers are not differentiated through")
MAX_DIRECT_MEAN = 10.0  # below it, a mean is small: no rejection is needed (Poisson and binomial)
BLOCKS_FOR_STEPS = 42  # blocks reserved for a binomial number by geometric steps, as in TensorFlow


def gamma(bits: Bits, shape: tuple[int, ...], alpha: Any) -> np.ndarray:
    """Draw gamma numbers, float64, by the method of Marsaglia and Tsang (2000).

    For an alpha below 1, a number for alpha + 1 is drawn and scaled down.
    """
    alphas, streams = _parameter_and_streams(bits, shape, alpha)
    if not np.all(alphas > 0):
        raise InvalidArgumentError(f"gamma takes a positive alpha, found {np.min(alphas)}")
    is_below_one = alphas < 1
    shifted_alphas = alphas + np.where(is_below_one, 2.0 / 3.0, -1.0 / 3.0)
    slopes = 1.0 / 3.0 / np.sqrt(shifted_alphas)
    numbers = np.empty(alphas.size)
    exponential_positions = np.flatnonzero(alphas == 1.0)
    numbers[exponential_positions] = -np.log1p(-streams.uniform(exponential_positions))

    def attempt(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return candidates for the positions, and the condition that each is accepted."""
        # A candidate is the cube of a shifted normal number x, accepted with a probability of at least 1 - 0.0331·x⁴.
        normal = streams.normal(positions)
        root = 1.0 + slopes[positions] * normal
        is_positive = root > 0
        positions, normal, cube = positions[is_positive], normal[is_positive], root[is_positive] ** 3
        uniform, square, scale = streams.uniform(positions), normal * normal, shifted_alphas[positions]
        is_surely_accepted = uniform < 1.0 - 0.0331 * square * square
        candidates, is_accepted = np.zeros(is_positive.size), np.zeros(is_positive.size, bool)
        candidates[is_positive] = scale * cube
        is_accepted[is_positive] = is_surely_accepted | (
            np.log(uniform) < 0.5 * square + scale * (1.0 - cube + np.log(cube))
        )
        return candidates, is_accepted

    _draw_until_accepted(numbers, np.flatnonzero(alphas != 1.0), attempt)
    positions_below_one = np.flatnonzero(is_below_one)
    numbers[positions_below_one] *= streams.uniform(positions_below_one) ** (1.0 / alphas[positions_below_one])
    return streams.arrange(numbers)


def poisson(bits: Bits, shape: tuple[int, ...], mean: Any) -> np.ndarray:
    """Draw Poisson counts, float64: for small means by Knuth's products, for others by Hörmann's PTRS (1993)."""
    means, streams = _parameter_and_streams(bits, shape, mean)
    if not np.all(means >= 0):
        raise InvalidArgumentError(f"poisson takes a mean of at least 0, found {np.min(means)}")
    numbers = np.full(means.size, np.inf)
    active_positions = np.flatnonzero(means < MAX_DIRECT_MEAN)
    limit, product, count = np.exp(-means), np.ones(means.size), np.zeros(means.size)
    while active_positions.size:
        product[active_positions] *= streams.uniform(active_positions)
        is_complete = product[active_positions] <= limit[active_positions]
        numbers[active_positions[is_complete]] = count[active_positions[is_complete]]
        active_positions = active_positions[~is_complete]
        count[active_positions] += 1
    hat_widths = 0.931 + 2.53 * np.sqrt(means)
    hat_tails = -0.059 + 0.02483 * hat_widths
    inverse_alpha = 1.1239 + 1.1328 / (hat_widths - 3.4)

    def attempt(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return candidates for the positions, and the condition that each is accepted."""
        # Transformed rejection: a uniform offset is transformed to a candidate below the hat; constants are Hörmann's.
        offset, height = streams.uniform(positions) - 0.5, streams.uniform(positions)
        distance, tail, width = 0.5 - np.abs(offset), hat_tails[positions], hat_widths[positions]
        counts = np.floor((2.0 * tail / distance + width) * offset + means[positions] + 0.43)
        is_surely_accepted = (distance >= 0.07) & (height <= 0.9277 - 3.6224 / (width - 2.0))
        is_outside = (counts < 0) | ((distance < 0.013) & (height > distance))
        log_proposal = np.log(height * inverse_alpha[positions] / (tail / distance**2 + width))
        log_target = -means[positions] + counts * np.log(means[positions]) - _log_factorial(np.maximum(counts, 0.0))
        return counts, is_surely_accepted | (~is_outside & (log_proposal <= log_target))

    _draw_until_accepted(numbers, np.flatnonzero((means >= MAX_DIRECT_MEAN) & np.isfinite(means)), attempt)
    return streams.arrange(numbers)


def binomial(bits: Bits, shape: tuple[int, ...], counts: Any, probabilities: Any) -> np.ndarray:
    """Draw binomial counts, float64: for small means by geometric steps, for others by Hörmann's BTRS (1993)."""
    parameters = np.broadcast_arrays(np.asarray(counts, np.float64), np.asarray(probabilities, np.float64))
    trial_counts, streams = _parameter_and_streams(bits, shape, parameters[0])
    success_probabilities = streams.of_parameter(parameters[1])
    if not np.all(trial_counts >= 0) or not np.all((success_probabilities >= 0) & (success_probabilities <= 1)):
        raise InvalidArgumentError("binomial takes counts of at least 0 and probabilities from 0 to 1")
    is_mirrored = success_probabilities > 0.5
    small_probabilities = np.where(is_mirrored, 1.0 - success_probabilities, success_probabilities)  # at most 1/2
    numbers = np.zeros(trial_counts.size)
    has_small_mean = trial_counts * small_probabilities < MAX_DIRECT_MEAN
    streams.space_blocks(np.where(has_small_mean, BLOCKS_FOR_STEPS, RESERVED_BLOCKS))
    active_positions, trial_positions = np.flatnonzero(has_small_mean), np.zeros(trial_counts.size)
    while active_positions.size:  # go to the trial of the next success
        log_uniform = np.log(streams.uniform(active_positions))
        trial_positions[active_positions] += np.ceil(log_uniform / np.log1p(-small_probabilities[active_positions]))
        active_positions = active_positions[trial_positions[active_positions] <= trial_counts[active_positions]]
        numbers[active_positions] += 1
    deviation = np.sqrt(trial_counts * small_probabilities * (1.0 - small_probabilities))
    hat_widths = 1.15 + 2.53 * deviation
    hat_tails = -0.0873 + 0.0248 * hat_widths + 0.01 * small_probabilities
    modes = np.floor((trial_counts + 1.0) * small_probabilities)
    odds = small_probabilities / (1.0 - small_probabilities)

    def attempt(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return candidates for the positions, and the condition that each is accepted."""
        # Transformed rejection, as for `poisson`.
        n, mode, ratio = trial_counts[positions], modes[positions], odds[positions]
        offset, height = streams.uniform(positions) - 0.5, streams.uniform(positions)
        distance, tail, width = 0.5 - np.abs(offset), hat_tails[positions], hat_widths[positions]
        candidates = np.floor((2.0 * tail / distance + width) * offset + n * small_probabilities[positions] + 0.5)
        is_surely_accepted = (distance >= 0.07) & (height <= 0.92 - 4.2 / width)
        is_outside = (candidates < 0) | (candidates > n)
        successes = np.clip(candidates, 0.0, n)
        alpha = (2.83 + 5.1 / width) * deviation[positions]
        log_proposal = np.log(height * alpha / (tail / distance**2 + width))
        log_target = (
            (mode + 0.5) * np.log((mode + 1.0) / (ratio * (n - mode + 1.0)))
            + (n + 1.0) * np.log((n - mode + 1.0) / (n - successes + 1.0))
            + (successes + 0.5) * np.log(ratio * (n - successes + 1.0) / (successes + 1.0))
            + _stirling_correction(mode) + _stirling_correction(n - mode)
            - _stirling_correction(successes) - _stirling_correction(n - successes)
        )  # fmt: skip
        return candidates, is_surely_accepted | (~is_outside & (log_proposal <= log_target))

    _draw_until_accepted(numbers, np.flatnonzero(~has_small_mean), attempt)
    return streams.arrange(np.where(is_mirrored, trial_counts - numbers, numbers))


class _NumberStreams:
    """The random words for the numbers of a result, in an order in which numbers of one parameter are neighbours.

    Each number has its own blocks of words. A block makes a pair of uniform or of normal numbers; the second of a pair
    is used first. Methods take `positions` in that order.
    """

    def __init__(self, bits: Bits, parameter_count: int, shape: tuple[int, ...]) -> None:
        self._bits, self._shape, self._parameter_count = bits, shape, parameter_count
        self._count_per_parameter = int(np.prod(shape, dtype=np.int64)) // max(parameter_count, 1)
        number_count = self._count_per_parameter * parameter_count
        self._next_blocks = np.zeros(number_count, np.uint64)
        self.space_blocks(np.full(number_count, RESERVED_BLOCKS))
        self._pairs = {kind: np.empty((number_count, 2)) for kind in ("uniform", "normal")}
        self._unused_counts = {kind: np.zeros(number_count, np.int64) for kind in self._pairs}

    def space_blocks(self, distances: np.ndarray) -> None:
        """Set the first block of the number at each position i to block i·distances[i]."""
        self._next_blocks = np.arange(distances.size, dtype=np.uint64) * distances.astype(np.uint64)

    def of_parameter(self, values: np.ndarray) -> np.ndarray:
        """Return the parameter of each number; `values` has each parameter once."""
        return np.repeat(values.ravel(), self._count_per_parameter)

    def arrange(self, numbers: np.ndarray) -> np.ndarray:
        """Return the numbers in the shape of the result, whose last dimensions are those of the parameters."""
        return numbers.reshape(self._parameter_count, self._count_per_parameter).T.reshape(self._shape)

    def uniform(self, positions: np.ndarray) -> np.ndarray:
        return self._draw("uniform", positions, lambda words: to_fractions(words.reshape(-1, 2, 2)))

    def normal(self, positions: np.ndarray) -> np.ndarray:
        return self._draw("normal", positions, to_normal_pairs)

    def _draw(
        self, kind: str, positions: np.ndarray, pairs_of_blocks: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Draw for the results at these positions; `pairs_of_blocks` makes two numbers of each block."""
        drawn_pairs, unused_counts = self._pairs[kind], self._unused_counts[kind]
        exhausted_positions = positions[unused_counts[positions] == 0]
        if exhausted_positions.size:
            blocks = self._bits.blocks(self._next_blocks[exhausted_positions])
            drawn_pairs[exhausted_positions] = pairs_of_blocks(blocks)
            self._next_blocks[exhausted_positions] += np.uint64(1)
            unused_counts[exhausted_positions] = 2
        unused_counts[positions] -= 1
        numbers: np.ndarray = drawn_pairs[positions, unused_counts[positions]]
        return numbers


def _parameter_and_streams(bits: Bits, shape: tuple[int, ...], parameter: Any) -> tuple[np.ndarray, _NumberStreams]:
    """Return the parameter of each number of a result of that shape, and the streams of the numbers."""
    parameter_values = np.asarray(parameter, np.float64)
    parameter_values = np.broadcast_to(parameter_values, shape[len(shape) - parameter_values.ndim :])
    streams = _NumberStreams(bits, parameter_values.size, shape)
    return streams.of_parameter(parameter_values), streams


def _log_factorial(counts: np.ndarray) -> np.ndarray:
    return np.array([math.lgamma(count + 1.0) for count in counts.tolist()])


STIRLING_CORRECTIONS = np.array([
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
])  # fmt: skip


def _stirling_correction(counts: np.ndarray) -> np.ndarray:
    """Return log(count!) minus Stirling's approximation of it, for each count."""
    square = (counts + 1.0) ** 2
    series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (counts + 1.0)
    result: np.ndarray = np.where(counts <= 9, STIRLING_CORRECTIONS[np.minimum(counts, 9).astype(np.int64)], series)
    return result


def _draw_until_accepted(
    numbers: np.ndarray, positions: np.ndarray, attempt: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
) -> None:
    """Sample by rejection: set `numbers` at the positions.

    attempt(positions) returns a candidate for each position, and a bool array of those that are accepted. Positions
    without an accepted candidate are attempted again.
    """
    while positions.size:
        candidates, is_accepted = attempt(positions)
        numbers[positions[is_accepted]] = candidates[is_accepted]
        positions = positions[~is_accepted]


def _can_broadcast(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Return whether the shape `shape` broadcasts to `target`."""
    pairs = zip(shape[::-1], target[::-1], strict=False)
    return len(shape) <= len(target) and all(size in (1, target_size) for size, target_size in pairs)


def _type_rule(name: str, parameter_count: int) -> Callable[..., TensorType]:
    """Return the type rule of a distribution; the operands are its parameters and possibly a shape vector."""

    def rule(*inputs: TensorType, shape: tuple[int | None, ...] | None, dtype: DType = float32, **_: Any) -> TensorType:
        """Return the type of the numbers; raise unless the parameters are floats and the dtype is numeric."""
        for parameter in inputs[:parameter_count]:
            if not parameter.dtype.is_floating:
                raise TypeError(f"{name} takes floating parameters, found {parameter.dtype.name}")
        if not (dtype.is_floating or dtype.is_integer):
            raise TypeError(f"{name} draws numbers, found dtype {dtype.name}")
        shape_vector = inputs[parameter_count] if len(inputs) > parameter_count else None
        return TensorType(dtype, static_shape(name, shape, shape_vector))

    return rule


def _define(name: str, graphdefs: tuple[str, str], draw: Callable[..., np.ndarray], *parameters: Any) -> None:
    """Define the stateful and the stateless op; `parameters` are samples of the distribution's parameters."""
    parameter_count = len(parameters)

    def draw_numbers(bits: Any, inputs: tuple[Any, ...], shape: Any, dtype: DType) -> Any:
        """Draw numbers of the result shape, to which all parameters have to broadcast."""
        result_shape = check_shape(name, inputs[parameter_count]) if len(inputs) > parameter_count else shape
        for parameter in inputs[:parameter_count]:
            if not _can_broadcast(np.shape(parameter), tuple(result_shape)):
                raise InvalidArgumentError(
                    f"the parameters of {name}, {list(np.shape(parameter))}, do not extend to the shape "
                    f"{list(result_shape)}"
                )
        return draw(bits, tuple(result_shape), *inputs[:parameter_count]).astype(dtype.numpy)

    def stateful(*inputs: Any, shape: Any, dtype: DType = float32, seed: Any = None) -> Any:
        result_shape = check_shape(name, inputs[parameter_count]) if len(inputs) > parameter_count else shape
        bits = GLOBAL.next(f"{name} {dtype.name}", int(np.prod(result_shape, dtype=np.int64)), seed)
        return draw_numbers(bits, inputs, shape, dtype)

    def stateless(key: Any, *inputs: Any, shape: Any, dtype: DType = float32, alg: str = "philox") -> Any:
        return draw_numbers(from_seed(key, alg), inputs, shape, dtype)

    shape_vector = np.array([3, 2], np.int32)
    rule = _type_rule(name, parameter_count)
    define(
        name=f"random_{name}", graphdef=graphdefs[0], result=rule, kernel=quiet(stateful), gradient=_NO_GRADIENT,
        effects=Effects.RANDOM | Effects.RAISE,
        samples=(
            sample(*parameters, shape=(3, 2), dtype=float32, differentiable=()),
            sample(*parameters, shape_vector, shape=(None, 2), dtype=int32, seed=1, differentiable=()),
        ),
        sizes=SizeOperand("shape", parameter_count),
    )  # fmt: skip
    define(
        name=f"stateless_random_{name}", graphdef=graphdefs[1], result=with_seed_operand(rule), kernel=quiet(stateless),
        gradient=_NO_GRADIENT, effects=Effects.RAISE,
        samples=(
            sample(np.array([7, 42], np.int64), *parameters, shape=(3, 2), dtype=float64, differentiable=()),
            sample(
                np.array([7, 42], np.int64), *parameters, shape_vector, shape=(None, 2), dtype=int64, differentiable=()
            ),
        ),
        sizes=SizeOperand("shape", parameter_count + 1),
    )  # fmt: skip


_PARAMETERS = np.array([0.5, 30.0])
_define("gamma", ("RandomGamma", "StatelessRandomGammaV3"), gamma, _PARAMETERS)
_define("poisson", ("RandomPoissonV2", "StatelessRandomPoisson"), poisson, _PARAMETERS)
_define(
    "binomial", ("StatefulRandomBinomial", "StatelessRandomBinomial"), binomial,
    np.array([5.0, 9.0]), _PARAMETERS / 60,
)  # fmt: skip
