"""Random numbers with parameters per element: gamma, Poisson and binomial.

As in `random`, the conversion of bits is implemented here, so that a seed gives the same numbers everywhere. Rejected
numbers are drawn again, for the rejected elements alone, from the bits that follow.
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
from autoconv.ops.movement.constants import checked_shape, given_shape
from autoconv.ops.random.bits import GLOBAL, Bits, from_seed, gaussian, seeded, unit
from autoconv.ops.record import define, no_gradient, sample
from autoconv.ops.traits import SizeOperand

_NO = no_gradient("random numbers are not differentiated through")
_DIRECT = 10.0  # largest mean of Poisson numbers drawn by Knuth's products


def gamma(bits: Bits, shape: tuple[int, ...], alpha: Any) -> np.ndarray:
    """Marsaglia and Tsang (2000), float64; alpha below 1 is derived from alpha + 1."""
    alpha = np.broadcast_to(np.asarray(alpha, np.float64), shape)
    if not np.all(alpha > 0):
        raise InvalidArgumentError(f"gamma takes a positive alpha, found {np.min(alpha)}")
    raised = np.where(alpha < 1, alpha + 1, alpha).ravel()
    d = raised - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)

    def attempt(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        normal, uniform = gaussian(bits, places.shape), unit(bits, places.shape)
        cube = (1.0 + c[places] * normal) ** 3
        safe = np.where(cube > 0, cube, 1.0)
        limit = 0.5 * normal**2 + d[places] * (1.0 - safe + np.log(safe))
        return d[places] * cube, (cube > 0) & (np.log1p(-uniform) < limit)

    found = _accepted(raised.size, attempt).reshape(shape)
    power = 1.0 / np.where(alpha < 1, alpha, 1.0)
    return np.where(alpha < 1, found * (1.0 - unit(bits, shape)) ** power, found)


def poisson(bits: Bits, shape: tuple[int, ...], mean: Any) -> np.ndarray:
    """Knuth's products for small means; Hörmann's PTRS (1993) for others. float64 counts."""
    mean = np.broadcast_to(np.asarray(mean, np.float64), shape)
    if not np.all(mean >= 0):
        raise InvalidArgumentError(f"poisson takes a mean of at least 0, found {np.min(mean)}")
    flat = mean.ravel()
    result = np.zeros(flat.size)
    small = np.flatnonzero(flat < _DIRECT)
    if small.size:
        result[small] = _poisson_count(bits, flat[small])
    large = np.flatnonzero(flat >= _DIRECT)
    if large.size:
        result[large] = _transformed(bits, flat[large])
    return result.reshape(shape)


def binomial(bits: Bits, shape: tuple[int, ...], counts: Any, probabilities: Any) -> np.ndarray:
    """Count the numbers, out of `counts` uniform ones, that lie below the probability. float64 counts."""
    counts = np.broadcast_to(np.asarray(counts, np.float64), shape)
    probabilities = np.broadcast_to(np.asarray(probabilities, np.float64), shape)
    if not np.all(counts >= 0) or not np.all((probabilities >= 0) & (probabilities <= 1)):
        raise InvalidArgumentError("binomial takes counts of at least 0 and probabilities from 0 to 1")
    result = np.zeros(shape)
    for turn in range(int(counts.max(initial=0))):
        result += (unit(bits, shape) < probabilities) & (turn < counts)
    return result


def _poisson_count(bits: Bits, mean: np.ndarray) -> np.ndarray:
    """Count the uniform numbers whose product exceeds exp(-mean)."""
    limit, product, count = np.exp(-mean), np.ones(mean.size), np.full(mean.size, -1.0)
    going = np.arange(mean.size)
    while going.size:
        product[going] *= 1.0 - unit(bits, going.shape)
        count[going] += 1
        going = going[product[going] > limit[going]]
    return count


def _transformed(bits: Bits, mean: np.ndarray) -> np.ndarray:
    b = 0.931 + 2.53 * np.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    squeeze = 0.9277 - 3.6224 / (b - 2.0)
    log_mean = np.log(mean)

    def attempt(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u, v = unit(bits, places.shape) - 0.5, 1.0 - unit(bits, places.shape)
        distance = np.maximum(0.5 - np.abs(u), 2.0**-53)
        k = np.floor((2.0 * a[places] / distance + b[places]) * u + mean[places] + 0.43)
        sure = (distance >= 0.07) & (v <= squeeze[places])
        out = (k < 0) | ((distance < 0.013) & (v > distance))
        left = np.log(v * inverse[places] / (a[places] / distance**2 + b[places]))
        right = -mean[places] + k * log_mean[places] - _log_factorial(np.maximum(k, 0.0))
        return k, sure | (~out & (left <= right))

    return _accepted(mean.size, attempt)


def _log_factorial(k: np.ndarray) -> np.ndarray:
    return np.array([math.lgamma(x + 1.0) for x in k.tolist()])


def _accepted(size: int, attempt: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Rejection sampling: attempt(places) returns candidates, and which are accepted; the others are retried."""
    result, places = np.empty(size), np.arange(size)
    while places.size:
        candidates, taken = attempt(places)
        result[places[taken]] = candidates[taken]
        places = places[~taken]
    return result


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
        return TensorType(dtype, given_shape(name, shape, inputs[parameters] if len(inputs) > parameters else None))

    return rule


def _define(name: str, graphdefs: tuple[str, str], draw: Callable[..., np.ndarray], *parameters: Any) -> None:
    """Define the stateful and the stateless op; `parameters` are samples of the distribution's parameters."""
    count = len(parameters)

    def numbers(bits: Any, inputs: tuple[Any, ...], shape: Any, dtype: DType) -> Any:
        wanted = checked_shape(name, inputs[count]) if len(inputs) > count else shape
        for given in inputs[:count]:
            if not _reaches(np.shape(given), tuple(wanted)):
                raise InvalidArgumentError(
                    f"the parameters of {name}, {list(np.shape(given))}, do not extend to the shape {list(wanted)}"
                )
        return draw(bits, tuple(wanted), *inputs[:count]).astype(dtype.numpy)

    def stateful(*inputs: Any, shape: Any, dtype: DType = float32, seed: Any = None) -> Any:
        # The number of draws for a result is not known: the counter advances by what it can count.
        return numbers(GLOBAL.next(f"{name} {dtype.name}", 2**24, seed), inputs, shape, dtype)

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
