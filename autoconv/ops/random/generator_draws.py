"""Draws of the random generators of NumPy and of Python, as ordinary code.

The code is converted when a graph is exported. Its numbers are those of the generators, bit for bit if the
elementary functions of the other runtime are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.ops.random.generator_bits import GeneratorBits, fraction_of_word, masked_up_to, next_normal

_ONE = np.uint64(1)
# The numbers at which the tails begin, beyond the layers of the ziggurat.
_NORMAL_TAIL, _EXPONENTIAL_TAIL = 3.6541528853610087963519472518, 7.69711747013104972
# The tolerances of sums of probabilities are the roots of the machine epsilons of float64 and float32.
_SUM_TOLERANCE, _SUM_TOLERANCE_32 = 2.0**-26, 2.0**-11.5
_INVERSE_NORMAL_TAIL = 0.27366123732975827203338247596


def integer(bits: GeneratorBits, state: Any, low: Any, high: Any) -> Any:
    """Draw from `low` up to below `high`."""
    if low >= high:
        raise ValueError("low >= high")
    low_word = np.uint64(np.int64(low))
    return np.int64(low_word + bits.up_to(state, np.uint64(np.int64(high)) - low_word - _ONE))


def closed_integer(bits: GeneratorBits, state: Any, low: Any, last: Any) -> Any:
    """Draw from `low` up to `last`, which is included."""
    return integer(bits, state, low, last + 1)


def permutation(bits: GeneratorBits, state: Any, count: Any) -> Any:
    """Return the integers below `count` in random order."""
    order = np.arange(count)
    for i in range(count - 1, 0, -1):
        j = np.int64(masked_up_to(bits, state, np.uint64(i)))
        swapped_item = order[i]
        order[i] = order[j]
        order[j] = swapped_item
    return order


def permuted_rows(bits: GeneratorBits, state: Any, x: Any) -> Any:
    return x[permutation(bits, state, len(x))]


# ---- floats


def fraction(bits: GeneratorBits, state: Any) -> Any:
    return bits.next_float(state)


def unchecked_uniform(bits: GeneratorBits, state: Any, low: Any, high: Any) -> Any:
    return low + (high - low) * bits.next_float(state)


def uniform(bits: GeneratorBits, state: Any, low: Any, high: Any) -> Any:
    if not -np.inf < high - low < np.inf:
        raise OverflowError("high - low range exceeds valid bounds")
    return unchecked_uniform(bits, state, low, high)


def ascending_uniform(bits: GeneratorBits, state: Any, low: Any, high: Any) -> Any:
    """Draw as `uniform`, but refuse bounds in descending order, as `Generator` does."""
    if -np.inf < high - low:  # -inf is refused as an infinite range
        _refuse_negative(high - low, "high - low < 0")
    return uniform(bits, state, low, high)


# Stages of the ziggurat method. Each takes one word, so that a graph contains the code that draws a word only once.
_LAYER, _WEDGE, _TAIL, _TAIL_TEST, _DRAWN = range(5)


def standard_normal(bits: GeneratorBits, state: Any, limits: Any, widths: Any, densities: Any) -> Any:
    """Draw by the ziggurat method of Marsaglia and Tsang; each table has a number for each of 256 layers."""
    number, is_negative, layer, stage = 0.0, False, np.int64(0), _LAYER
    while stage != _DRAWN:
        word = bits.next_word(state)
        if stage == _LAYER:
            layer, is_negative = np.int64(word & np.uint64(0xFF)), word & np.uint64(0x100) != 0
            distance = (word >> np.uint64(9)) & np.uint64(0x000FFFFFFFFFFFFF)
            number = np.float64(distance) * widths[layer]
            if distance < limits[layer]:
                stage = _DRAWN
            elif layer == 0:
                is_negative, stage = (distance >> np.uint64(8)) & _ONE != 0, _TAIL
            else:
                stage = _WEDGE
        elif stage == _WEDGE:
            height = (densities[layer - 1] - densities[layer]) * fraction_of_word(word) + densities[layer]
            stage = _DRAWN if height < np.exp(-0.5 * number * number) else _LAYER
        elif stage == _TAIL:
            number, stage = -_INVERSE_NORMAL_TAIL * np.log1p(-fraction_of_word(word)), _TAIL_TEST
        else:
            exponential_number = -np.log1p(-fraction_of_word(word))
            if exponential_number + exponential_number > number * number:
                number, stage = _NORMAL_TAIL + number, _DRAWN
            else:
                stage = _TAIL
    return -number if is_negative else number


def standard_exponential(bits: GeneratorBits, state: Any, limits: Any, widths: Any, densities: Any) -> Any:
    """Draw by the ziggurat method, with tables as for `standard_normal`."""
    number, layer, stage = 0.0, np.int64(0), _LAYER
    while stage != _DRAWN:
        word = bits.next_word(state)
        if stage == _LAYER:
            word = word >> np.uint64(3)
            layer, distance = np.int64(word & np.uint64(0xFF)), word >> np.uint64(8)
            number = np.float64(distance) * widths[layer]
            if distance < limits[layer]:
                stage = _DRAWN
            else:
                stage = _TAIL if layer == 0 else _WEDGE
        elif stage == _TAIL:
            number, stage = _EXPONENTIAL_TAIL - np.log1p(-fraction_of_word(word)), _DRAWN
        else:
            height = (densities[layer - 1] - densities[layer]) * fraction_of_word(word) + densities[layer]
            stage = _DRAWN if height < np.exp(-number) else _LAYER
    return number


def _refuse_negative(number: Any, message: str) -> None:
    """Raise ValueError(message) for a number whose sign is negative, also for -0.0 but not for a nan, as NumPy does."""
    if np.signbit(number) and not np.isnan(number):
        raise ValueError(message)


def normal(bits: GeneratorBits, state: Any, loc: Any, scale: Any, *tables: Any) -> Any:
    _refuse_negative(scale, "scale < 0")
    return loc + scale * standard_normal(bits, state, *tables)


def exponential(bits: GeneratorBits, state: Any, scale: Any, *tables: Any) -> Any:
    _refuse_negative(scale, "scale < 0")
    return scale * standard_exponential(bits, state, *tables)


def standard_polar_normal(bits: GeneratorBits, state: Any) -> Any:
    return next_normal(state)


def polar_normal(bits: GeneratorBits, state: Any, loc: Any, scale: Any) -> Any:
    _refuse_negative(scale, "scale < 0")
    return loc + scale * next_normal(state)


def laplace(bits: GeneratorBits, state: Any, loc: Any, scale: Any) -> Any:
    _refuse_negative(scale, "scale < 0")
    number = bits.next_float(state)
    while number == 0.0:
        number = bits.next_float(state)
    return loc - scale * np.log(2.0 - number - number) if number >= 0.5 else loc + scale * np.log(number + number)


def logistic(bits: GeneratorBits, state: Any, loc: Any, scale: Any) -> Any:
    _refuse_negative(scale, "scale < 0")
    number = bits.next_float(state)
    while number == 0.0:
        number = bits.next_float(state)
    return loc + scale * np.log(number / (1.0 - number))


def gumbel(bits: GeneratorBits, state: Any, loc: Any, scale: Any) -> Any:
    _refuse_negative(scale, "scale < 0")
    number = 1.0 - bits.next_float(state)
    while number == 1.0:
        number = 1.0 - bits.next_float(state)
    return loc - scale * np.log(-np.log(number))


# ---- code of whole draws


def same(x: Any) -> Any:
    """Return x; this is the `convert` of `number_code` for numbers that are not converted."""
    return x


def number_code(draw: Callable[..., Any], bits: GeneratorBits, convert: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return the code that draws one number, and converts it."""

    def draw_number(state: Any, *operands: Any) -> Any:
        return convert(draw(bits, state, *operands))

    return draw_number


def array_code(
    draw: Callable[..., Any], bits: GeneratorBits, shape: tuple[int, ...], dtype: Any, ranks: tuple[int, ...]
) -> Any:
    """Return the code that draws an array of `count` numbers.

    The first operands are parameters, as many as `ranks`; those of rank 0 are the same for all numbers. The count is an
    argument so that the loop becomes a loop of the graph, however short it is.
    """

    def draw_array(state: Any, count: int, *operands: Any) -> Any:
        """Draw `count` numbers, each with its own element of the parameters that are arrays."""
        flat_parameters = [
            (x + np.zeros(shape, x.dtype)).reshape(-1) if rank else x
            for x, rank in zip(operands, ranks, strict=False)
        ]
        result = np.empty(shape, dtype)
        numbers = result.reshape(-1)
        for i in range(count):
            parameters = [x[i] if rank else x for x, rank in zip(flat_parameters, ranks, strict=False)]
            numbers[i] = draw(bits, state, *parameters, *operands[len(ranks) :])
        return result

    return draw_array


def choice_code(bits: GeneratorBits, shape: tuple[int, ...], rank: int) -> Callable[..., Any]:
    """Return the code that chooses rows of an array of that rank, or for rank 0, integers below a number."""

    def draw_choice(state: Any, size: int, choices: Any, *probabilities: Any) -> Any:
        """Draw `size` of the choices with replacement: equally likely, or by the probabilities, which are checked.
        """
        count = len(choices) if rank else choices
        indices = np.empty(shape, np.int64)
        numbers = indices.reshape(-1)
        if probabilities:
            sums = np.cumsum(probabilities[0])
            if not np.all(probabilities[0] >= 0.0):
                raise ValueError("Probabilities are not non-negative")
            if not np.abs(sums[-1] - 1.0) < (_SUM_TOLERANCE if sums.dtype == np.float64 else _SUM_TOLERANCE_32):
                raise ValueError("Probabilities do not sum to 1")
            limits = sums / sums[-1]
            for i in range(size):
                numbers[i] = np.searchsorted(limits, bits.next_float(state), side="right")
        else:
            for i in range(size):
                numbers[i] = integer(bits, state, 0, count)
        selection = indices if shape else numbers[0]
        return choices[selection] if rank else selection

    return draw_choice
