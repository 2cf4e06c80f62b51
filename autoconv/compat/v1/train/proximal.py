"""Proximal optimizers of version 1: a step along the gradient, then one that minimises a regulariser exactly."""

from __future__ import annotations

from typing import Any

from autoconv import math
from autoconv.compat.v1.train.optimizer import Optimizer


class ProximalGradientDescentOptimizer(Optimizer):
    """Forward-backward splitting (Duchi and Singer, 2009), with regularisation by the norms l1 and l2.

    With p = v - rate * gradient, v becomes sign(p) * max(|p| - rate * l1, 0) / (1 + rate * l2).

    >>> v = autoconv.Variable(1.0)
    >>> optimizer = autoconv.compat.v1.train.ProximalGradientDescentOptimizer(0.25, l1_regularization_strength=1.0)
    >>> optimizer.minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(0.25)
    """

    def __init__(
        self, learning_rate: Any, l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
        use_locking: bool = False, name: str = "ProximalGradientDescent",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._hyperparameters = learning_rate, l1_regularization_strength, l2_regularization_strength

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        return [self._assign(variable, gradient, 1.0)]

    def _assign(self, variable: Any, gradient: Any, scale: Any) -> Any:
        """Return the assignment of one step, whose rate is the learning rate times `scale`."""
        rate, l1, l2 = (self._hyperparameter(value, variable) for value in self._hyperparameters)
        rate = rate * scale
        point = variable - rate * gradient
        return variable.assign(math.sign(point) * math.maximum(math.abs(point) - rate * l1, 0.0) / (1.0 + rate * l2))


class ProximalAdagradOptimizer(ProximalGradientDescentOptimizer):
    """Adagrad with regularisation by the norms l1 and l2: its rate is learning_rate / sqrt(sum of squared gradients).

    >>> v = autoconv.Variable(1.0)
    >>> autoconv.compat.v1.train.ProximalAdagradOptimizer(0.5, l2_regularization_strength=1.0).minimize(lambda: v * v)
    >>> v.numpy().round(4)
    np.float32(0.4059)
    """

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1, l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0, use_locking: bool = False, name: str = "ProximalAdagrad",
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, l1_regularization_strength, l2_regularization_strength, use_locking, name)
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        self._initial_accumulator = initial_accumulator_value

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        sum_of_squares = self._slot(variable, "accumulator", self._initial_accumulator).assign_add(gradient * gradient)
        return [sum_of_squares, self._assign(variable, gradient, 1.0 / math.sqrt(sum_of_squares))]
