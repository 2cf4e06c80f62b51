"""Learning rates that depend on the step: tensors in graphs, functions of no arguments with eager execution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.api.control.graphs import graph_being_built
from autoconv.api.scopes import name_scope
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import maximum, minimum
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.maths import ceil, exp, floor, log
from autoconv.api.tensors.trigonometry import cos
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor


def exponential_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """learning_rate * decay_rate ** (global_step / decay_steps); with `staircase` the exponent is rounded down.

    >>> autoconv.compat.v1.train.exponential_decay(0.1, 10, 5, 0.5)().numpy()
    np.float32(0.025)
    """

    def rate_at_step(initial_rate: Any, step: Any) -> Any:
        exponent = step / cast(decay_steps, initial_rate.dtype)
        return initial_rate * cast(decay_rate, initial_rate.dtype) ** (floor(exponent) if staircase else exponent)

    return _schedule(rate_at_step, learning_rate, global_step, name or "ExponentialDecay")


def natural_exp_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """learning_rate * exp(-decay_rate * global_step / decay_steps); with `staircase` the quotient is rounded down.

    >>> autoconv.compat.v1.train.natural_exp_decay(1.0, 10, 5, 0.5)().numpy().round(4)
    np.float32(0.3679)
    """

    def rate_at_step(initial_rate: Any, step: Any) -> Any:
        quotient = step / cast(decay_steps, initial_rate.dtype)
        return initial_rate * exp(-cast(decay_rate, initial_rate.dtype) * (floor(quotient) if staircase else quotient))

    return _schedule(rate_at_step, learning_rate, global_step, name or "NaturalExpDecay")


def inverse_time_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """learning_rate / (1 + decay_rate * global_step / decay_steps); with `staircase` the quotient is rounded down.

    >>> autoconv.compat.v1.train.inverse_time_decay(1.0, 10, 5, 0.5)().numpy()
    np.float32(0.5)
    """

    def rate_at_step(initial_rate: Any, step: Any) -> Any:
        quotient = step / cast(decay_steps, initial_rate.dtype)
        return initial_rate / (1 + cast(decay_rate, initial_rate.dtype) * (floor(quotient) if staircase else quotient))

    return _schedule(rate_at_step, learning_rate, global_step, name or "InverseTimeDecay")


def polynomial_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001, power: Any = 1.0,
    cycle: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Decay from `learning_rate` to `end_learning_rate` over `decay_steps`, by a power of the fraction of steps left.

    With `cycle`, `decay_steps` is replaced by its smallest multiple that is not below the step.

    >>> autoconv.compat.v1.train.polynomial_decay(1.0, 5, 10, 0.0)().numpy()
    np.float32(0.5)
    """

    def rate_at_step(initial_rate: Any, step: Any) -> Any:
        steps, end = cast(decay_steps, initial_rate.dtype), cast(end_learning_rate, initial_rate.dtype)
        if cycle:
            steps = steps * maximum(cast(1.0, initial_rate.dtype), ceil(step / steps))
        else:
            step = minimum(step, steps)
        return (initial_rate - end) * (1 - step / steps) ** cast(power, initial_rate.dtype) + end

    return _schedule(rate_at_step, learning_rate, global_step, name or "PolynomialDecay")


def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0, name: str | None = None
) -> Any:
    """Decay from `learning_rate` to alpha * learning_rate over `decay_steps`, by half a cosine (Loshchilov and Hutter).

    >>> autoconv.compat.v1.train.cosine_decay(1.0, 5, 10)().numpy().round(4)
    np.float32(0.5)
    """

    def rate_at_step(initial_rate: Any, step: Any) -> Any:
        steps = cast(decay_steps, initial_rate.dtype)
        fraction = 0.5 * (1 + cos(math.pi * minimum(step, steps) / steps))
        return initial_rate * ((1 - alpha) * fraction + alpha)

    return _schedule(rate_at_step, learning_rate, global_step, name or "CosineDecay")


def cosine_decay_restarts(
    learning_rate: Any, global_step: Any, first_decay_steps: Any, t_mul: float = 2.0, m_mul: float = 1.0,
    alpha: float = 0.0, name: str | None = None,
) -> Any:  # fmt: skip
    """`cosine_decay` with restarts: each cycle has `t_mul` times the length and `m_mul` times the rate of the last.

    >>> autoconv.compat.v1.train.cosine_decay_restarts(1.0, 10, 10)().numpy().round(4)
    np.float32(1.0)
    """

    def rate_at_step(initial_rate: Any, step: Any) -> Any:
        cycles = step / cast(first_decay_steps, initial_rate.dtype)
        if t_mul == 1.0:
            restarts = floor(cycles)
            fraction = cycles - restarts
        else:
            restarts = floor(log(1.0 - cycles * (1.0 - t_mul)) / math.log(t_mul))
            cycle_start = (1.0 - t_mul**restarts) / (1.0 - t_mul)
            fraction = (cycles - cycle_start) / t_mul**restarts
        factor = 0.5 * m_mul**restarts * (1.0 + cos(math.pi * fraction))
        return initial_rate * ((1 - alpha) * factor + alpha)

    return _schedule(rate_at_step, learning_rate, global_step, name or "SGDRDecay")


def linear_cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, num_periods: float = 0.5, alpha: float = 0.0,
    beta: float = 0.001, name: str | None = None,
) -> Any:  # fmt: skip
    """learning_rate * ((alpha + linear) * cosine + beta), where linear falls to 0 and cosine has `num_periods` periods.

    >>> autoconv.compat.v1.train.linear_cosine_decay(1.0, 5, 10)().numpy().round(4)
    np.float32(0.251)
    """

    def rate_at_step(initial_rate: Any, step: Any) -> Any:
        steps = cast(decay_steps, initial_rate.dtype)
        fraction = minimum(step, steps) / steps
        cosine = 0.5 * (1.0 + cos(2.0 * math.pi * num_periods * fraction))
        return initial_rate * ((alpha + (1.0 - fraction)) * cosine + beta)

    return _schedule(rate_at_step, learning_rate, global_step, name or "LinearCosineDecay")


def piecewise_constant(x: TensorLike, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None) -> Any:
    """values[0] for x <= boundaries[0], values[1] for x <= boundaries[1], …, and the last value beyond.

    Raises ValueError unless there is one more value than boundaries.

    >>> autoconv.compat.v1.train.piecewise_constant(7, [5, 10], [1.0, 0.5, 0.1])().numpy()
    np.float32(0.5)
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")

    def rate_at_step(initial_rate: Any, step: Any) -> Any:
        result = cast(values[-1], initial_rate.dtype)
        for boundary, value in reversed(list(zip(boundaries, values, strict=False))):
            result = where(step <= cast(boundary, step.dtype), cast(value, initial_rate.dtype), result)
        return result

    return _schedule(rate_at_step, values[0], x, name or "PiecewiseConstant", keeps_step_dtype=True)


piecewise_constant_decay = piecewise_constant


def _schedule(
    rate_at_step: Callable[[Any, Any], Any], learning_rate: Any, step: Any, name: str, keeps_step_dtype: bool = False
) -> Any:
    """Return the tensor `rate_at_step(learning_rate, step)` in a graph, a function that computes it if eager.

    The step is cast to the dtype of the rate unless `keeps_step_dtype`.
    """
    if step is None:
        raise ValueError("global_step is required for a learning rate that depends on it.")

    def current_rate() -> Any:
        with name_scope(name):
            initial_rate = convert_to_tensor(learning_rate)
            current_step = convert_to_tensor(step() if callable(step) else step)
            if not keeps_step_dtype:
                current_step = cast(current_step, initial_rate.dtype)
            return rate_at_step(initial_rate, current_step)

    return current_rate if graph_being_built() is None else current_rate()
