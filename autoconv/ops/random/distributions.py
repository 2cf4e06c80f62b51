"""Random numbers with parameters per element: gamma, Poisson and binomial.

As in `random`, the conversion of bits is implemented here, so that a seed gives TensorFlow's numbers everywhere.
Each number of a result has blocks of words of its own, from which rejected candidates are drawn again.
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
from autoconv.ops.random.bits import GLOBAL, RESERVED, Bits, fractions, from_seed, pairs, seeded
from autoconv.ops.record import define, no_gradient, sample
from autoconv.ops.traits import SizeOperand

_NO = no_gradient("random numbers are not differentiated through")
DIRECT = 10.0  # largest mean of Poisson numbers drawn by Knuth's products
BLOCKS_OF_STEPS = 42  # between the words of binomial numbers by geometric steps, as in TensorFlow


def gamma(bits: Bits, shape: tuple[int, ...], alpha: Any) -> np.ndarray:
    """Marsaglia and Tsang (2000), float64; an alpha below 1 is raised by 1 first."""
    alphas, outputs = _outputs(bits, shape, alpha)
    if not np.all(alphas > 0):
        raise InvalidArgumentError(f"gamma takes a positive alpha, found {np.min(alphas)}")
    small = alphas < 1
    d = alphas + np.where(small, 2.0 / 3.0, -1.0 / 3.0)
    c = 1.0 / 3.0 / np.sqrt(d)
    found = np.empty(alphas.size)
    exponential = np.flatnonzero(alphas == 1.0)
    found[exponential] = -np.log1p(-outputs.uniform(exponential))

    def attempt(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        normal = outputs.normal(places)
        cube = 1.0 + c[places] * normal
        positive = cube > 0
        places, normal, cube = places[positive], normal[positive], cube[positive] ** 3
        uniform, square = outputs.uniform(places), normal * normal
        squeezed = uniform < 1.0 - 0.0331 * square * square
        taken = squeezed | (np.log(uniform) < 0.5 * square + d[places] * (1.0 - cube + np.log(cube)))
        candidates = np.zeros(positive.size)
        candidates[positive] = d[places] * cube
        accepted = np.zeros(positive.size, bool)
        accepted[positive] = taken
        return candidates, accepted

    _accept(found, np.flatnonzero(alphas != 1.0), attempt)
    raised = np.flatnonzero(small)
    found[raised] *= outputs.uniform(raised) ** (1.0 / alphas[raised])
    return outputs.arranged(found)


def poisson(bits: Bits, shape: tuple[int, ...], mean: Any) -> np.ndarray:
    """Knuth's products for small means; Hörmann's PTRS (1993) for others. float64 counts."""
    means, outputs = _outputs(bits, shape, mean)
    if not np.all(means >= 0):
        raise InvalidArgumentError(f"poisson takes a mean of at least 0, found {np.min(means)}")
    found = np.full(means.size, np.inf)
    going = np.flatnonzero(means < DIRECT)
    limit, product, count = np.exp(-means), np.ones(means.size), np.zeros(means.size)
    while going.size:
        product[going] *= outputs.uniform(going)
        ended = product[going] <= limit[going]
        found[going[ended]] = count[going[ended]]
        going = going[~ended]
        count[going] += 1
    b = 0.931 + 2.53 * np.sqrt(means)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)

    def attempt(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u, v = outputs.uniform(places) - 0.5, outputs.uniform(places)
        distance = 0.5 - np.abs(u)
        k = np.floor((2.0 * a[places] / distance + b[places]) * u + means[places] + 0.43)
        sure = (distance >= 0.07) & (v <= 0.9277 - 3.6224 / (b[places] - 2.0))
        out = (k < 0) | ((distance < 0.013) & (v > distance))
        left = np.log(v * inverse[places] / (a[places] / distance**2 + b[places]))
        right = -means[places] + k * np.log(means[places]) - _log_factorial(np.maximum(k, 0.0))
        return k, sure | (~out & (left <= right))

    _accept(found, np.flatnonzero((means >= DIRECT) & np.isfinite(means)), attempt)
    return outputs.arranged(found)


def binomial(bits: Bits, shape: tuple[int, ...], counts: Any, probabilities: Any) -> np.ndarray:
    """Geometric steps for small means; Hörmann's BTRS (1993) for others. float64 counts."""
    parameters = np.broadcast_arrays(np.asarray(counts, np.float64), np.asarray(probabilities, np.float64))
    many, outputs = _outputs(bits, shape, parameters[0])
    likely = outputs.of_parameter(parameters[1])
    if not np.all(many >= 0) or not np.all((likely >= 0) & (likely <= 1)):
        raise InvalidArgumentError("binomial takes counts of at least 0 and probabilities from 0 to 1")
    turned = likely > 0.5
    p = np.where(turned, 1.0 - likely, likely)
    found = np.zeros(many.size)
    small = many * p < DIRECT
    outputs.begin(np.where(small, BLOCKS_OF_STEPS, RESERVED))
    going, steps = np.flatnonzero(small), np.zeros(many.size)
    while going.size:
        steps[going] += np.ceil(np.log(outputs.uniform(going)) / np.log1p(-p[going]))
        going = going[steps[going] <= many[going]]
        found[going] += 1
    deviation = np.sqrt(many * p * (1.0 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    middle, odds = np.floor((many + 1.0) * p), p / (1.0 - p)

    def attempt(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n, mode, ratio = many[places], middle[places], odds[places]
        u, v = outputs.uniform(places), outputs.uniform(places)
        u = u - 0.5
        distance = 0.5 - np.abs(u)
        k = np.floor((2.0 * a[places] / distance + b[places]) * u + n * p[places] + 0.5)
        sure = (distance >= 0.07) & (v <= 0.92 - 4.2 / b[places])
        out = (k < 0) | (k > n)
        inner = np.clip(k, 0.0, n)
        alpha = (2.83 + 5.1 / b[places]) * deviation[places]
        left = np.log(v * alpha / (a[places] / distance**2 + b[places]))
        right = (
            (mode + 0.5) * np.log((mode + 1.0) / (ratio * (n - mode + 1.0)))
            + (n + 1.0) * np.log((n - mode + 1.0) / (n - inner + 1.0))
            + (inner + 0.5) * np.log(ratio * (n - inner + 1.0) / (inner + 1.0))
            + _tail(mode) + _tail(n - mode) - _tail(inner) - _tail(n - inner)
        )  # fmt: skip
        return k, sure | (~out & (left <= right))

    _accept(found, np.flatnonzero(~small), attempt)
    return outputs.arranged(np.where(turned, many - found, found))


class _Outputs:
    """The numbers of a result, parameter by parameter, each with blocks of random words of its own.

    A block makes two uniform or two normal numbers, and the second is taken first.
    """

    def __init__(self, bits: Bits, parameters: int, shape: tuple[int, ...]) -> None:
        self._bits, self._shape, self._parameters = bits, shape, parameters
        self._count = int(np.prod(shape, dtype=np.int64)) // max(parameters, 1)
        size = self._count * parameters
        self._next = np.zeros(size, np.uint64)
        self.begin(np.full(size, RESERVED))
        self._pairs = {kind: np.empty((size, 2)) for kind in ("uniform", "normal")}
        self._left = {kind: np.zeros(size, np.int64) for kind in self._pairs}

    def begin(self, apart: np.ndarray) -> None:
        """Begin each number at the block of its position times `apart`."""
        self._next = np.arange(apart.size, dtype=np.uint64) * apart.astype(np.uint64)

    def of_parameter(self, values: np.ndarray) -> np.ndarray:
        """Return the parameter of each number."""
        return np.repeat(values.ravel(), self._count)

    def arranged(self, found: np.ndarray) -> np.ndarray:
        """Return the numbers as the result has them: parameters are its last dimensions."""
        return found.reshape(self._parameters, self._count).T.reshape(self._shape)

    def uniform(self, places: np.ndarray) -> np.ndarray:
        return self._drawn("uniform", places, lambda words: fractions(words.reshape(-1, 2, 2)))

    def normal(self, places: np.ndarray) -> np.ndarray:
        return self._drawn("normal", places, pairs)

    def _drawn(self, kind: str, places: np.ndarray, made: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        found, left = self._pairs[kind], self._left[kind]
        empty = places[left[places] == 0]
        if empty.size:
            found[empty] = made(self._bits.blocks(self._next[empty]))
            self._next[empty] += np.uint64(1)
            left[empty] = 2
        left[places] -= 1
        numbers: np.ndarray = found[places, left[places]]
        return numbers


def _outputs(bits: Bits, shape: tuple[int, ...], parameter: Any) -> tuple[np.ndarray, _Outputs]:
    """Return the parameter of each number of a result of that shape, and their words."""
    given = np.asarray(parameter, np.float64)
    given = np.broadcast_to(given, shape[len(shape) - given.ndim :])
    outputs = _Outputs(bits, given.size, shape)
    return outputs.of_parameter(given), outputs


def _log_factorial(k: np.ndarray) -> np.ndarray:
    return np.array([math.lgamma(x + 1.0) for x in k.tolist()])


TAILS = np.array([
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
])  # fmt: skip


def _tail(k: np.ndarray) -> np.ndarray:
    """Return log(k!) minus Stirling's approximation of it."""
    square = (k + 1.0) ** 2
    series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)
    found: np.ndarray = np.where(k <= 9, TAILS[np.minimum(k, 9).astype(np.int64)], series)
    return found


def _accept(
    found: np.ndarray, places: np.ndarray, attempt: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
) -> None:
    """Rejection sampling: attempt(places) returns candidates, and which are accepted; the others are retried."""
    while places.size:
        candidates, taken = attempt(places)
        found[places[taken]] = candidates[taken]
        places = places[~taken]


def _reaches(given: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Return whether the shape `given` broadcasts to `wanted`."""
    return len(given) <= len(wanted) and all(a in (1, b) for a, b in zip(given[::-1], wanted[::-1], strict=False))


def _rule(name: str, parameters: int) -> Callable[..., TensorType]:
    def rule(*inputs: TensorType, shape: tuple[int | None, ...] | None, dtype: DType = float32, **_: Any) -> TensorType:
        for given in inputs[:parameters]:
            if not given.dtype.is_floating:
                raise TypeError(f"{name} takes floating parameters, found {given.dtype.name}")
        if not (dtype.is_floating or dtype.is_integer):
            raise TypeError(f"{name} draws numbers, found dtype {dtype.name}")
        return TensorType(dtype, static_shape(name, shape, inputs[parameters] if len(inputs) > parameters else None))

    return rule


def _define(name: str, graphdefs: tuple[str, str], draw: Callable[..., np.ndarray], *parameters: Any) -> None:
    """Define the stateful and the stateless op; `parameters` are samples of the distribution's parameters."""
    count = len(parameters)

    def numbers(bits: Any, inputs: tuple[Any, ...], shape: Any, dtype: DType) -> Any:
        wanted = check_shape(name, inputs[count]) if len(inputs) > count else shape
        for given in inputs[:count]:
            if not _reaches(np.shape(given), tuple(wanted)):
                raise InvalidArgumentError(
                    f"the parameters of {name}, {list(np.shape(given))}, do not extend to the shape {list(wanted)}"
                )
        return draw(bits, tuple(wanted), *inputs[:count]).astype(dtype.numpy)

    def stateful(*inputs: Any, shape: Any, dtype: DType = float32, seed: Any = None) -> Any:
        wanted = check_shape(name, inputs[count]) if len(inputs) > count else shape
        bits = GLOBAL.next(f"{name} {dtype.name}", int(np.prod(wanted, dtype=np.int64)), seed)
        return numbers(bits, inputs, shape, dtype)

    def stateless(key: Any, *inputs: Any, shape: Any, dtype: DType = float32, alg: str = "philox") -> Any:
        return numbers(from_seed(key, alg), inputs, shape, dtype)

    vector = np.array([3, 2], np.int32)
    rule = _rule(name, count)
    define(
        name=f"random_{name}", graphdef=graphdefs[0], result=rule, kernel=quiet(stateful), gradient=_NO,
        effects=Effects.RANDOM | Effects.RAISE,
        samples=(
            sample(*parameters, shape=(3, 2), dtype=float32, differentiable=()),
            sample(*parameters, vector, shape=(None, 2), dtype=int32, seed=1, differentiable=()),
        ),
        sizes=SizeOperand("shape", count),
    )  # fmt: skip
    define(
        name=f"stateless_random_{name}", graphdef=graphdefs[1], result=seeded(rule), kernel=quiet(stateless),
        gradient=_NO, effects=Effects.RAISE,
        samples=(
            sample(np.array([7, 42], np.int64), *parameters, shape=(3, 2), dtype=float64, differentiable=()),
            sample(np.array([7, 42], np.int64), *parameters, vector, shape=(None, 2), dtype=int64, differentiable=()),
        ),
        sizes=SizeOperand("shape", count + 1),
    )  # fmt: skip


_PAIR = np.array([0.5, 30.0])
_define("gamma", ("RandomGamma", "StatelessRandomGammaV3"), gamma, _PAIR)
_define("poisson", ("RandomPoissonV2", "StatelessRandomPoisson"), poisson, _PAIR)
_define("binomial", ("StatefulRandomBinomial", "StatelessRandomBinomial"), binomial, np.array([5.0, 9.0]), _PAIR / 60)
