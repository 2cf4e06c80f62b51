"""Optimizers of version 1: steps that change variables by the gradients of a loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.api.control.graphs import graph_being_built
from autoconv.api.gradients.custom import gradients
from autoconv.api.gradients.tape import GradientTape
from autoconv.api.scopes import control_dependencies, name_scope
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import ones_like, zeros_like
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.maths import sign, sqrt
from autoconv.compat.v1.collections import trainable_variables
from autoconv.compat.v1.operations import group
from autoconv.compat.v1.variables import Variable
from autoconv.runtime.objects.storage import Storage
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.conversion import convert_to_tensor


class Optimizer:
    """Base of the optimizers of version 1. A subclass defines `_update(gradient, variable)`, the assignments of a step.

    While a graph is built, the loss is a tensor, and a step is an operation to run in a session. With eager execution,
    the loss is a function of no arguments, and a step is taken at once.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     v = autoconv.Variable(1.0)
    ...     step = autoconv.compat.v1.train.GradientDescentOptimizer(0.25).minimize(v * v)
    ...     session.run(v.initializer)
    ...     session.run(step)
    ...     session.run(v)
    np.float32(0.5)
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking: bool = False, name: str = "Optimizer") -> None:
        self._name = name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._shared_variables: dict[str, Any] = {}

    def get_name(self) -> str:
        return self._name

    def minimize(
        self, loss: Any, global_step: Any = None, var_list: Sequence[Any] | None = None, gate_gradients: int = GATE_OP,
        aggregation_method: object = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:  # fmt: skip
        """Return the operation of one step, which applies the gradients of the loss and then increments `global_step`.

        Raises ValueError if no variable has a gradient.
        """
        pairs = self.compute_gradients(loss, var_list, grad_loss=grad_loss)
        if all(gradient is None for gradient, _ in pairs):
            names = [variable.name for _, variable in pairs]
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {names} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self, loss: Any, var_list: Sequence[Any] | None = None, gate_gradients: int = GATE_OP,
        aggregation_method: object = None, colocate_gradients_with_ops: bool = False, grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:  # fmt: skip
        """Return pairs (gradient, variable); the gradient is None if the loss does not depend on the variable.

        The variables are by default the trainable ones of the graph, or those that the traced function has used.
        Raises ValueError without variables.
        """
        region = current_region()
        if region is None:
            return self._eager_gradients(loss, var_list, grad_loss)
        value = loss() if callable(loss) else loss
        if var_list is None:
            var_list = trainable_variables() if graph_being_built() is not None else _variables_used_in(region.trace)
        variables = list(var_list)
        if not variables:
            raise ValueError("No variables to optimize.")
        with name_scope("gradients"):
            result = gradients(value, variables, None if grad_loss is None else [grad_loss])
        return list(zip(result, variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Sequence[tuple[Any, Any]], global_step: Any = None, name: str | None = None
    ) -> Any:
        """Return the operation that changes each variable by its gradient, and increments `global_step`.

        Raises ValueError if all gradients are None.
        """
        pairs = [
            (convert_to_tensor(gradient), variable) for gradient, variable in grads_and_vars if gradient is not None
        ]
        if not pairs:
            names = [variable.name for _, variable in grads_and_vars]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        with name_scope(name or self._name) as scope:
            self._prepare([variable for _, variable in pairs])
            assignments = [
                assignment
                for gradient, variable in pairs
                for assignment in self._update(cast(gradient, variable.dtype), variable)
            ]
            assignments += self._finish()
            if global_step is not None:
                with control_dependencies(assignments):
                    assignments = [global_step.assign_add(1), *assignments]
        return group(*assignments, name=scope)

    def get_slot(self, var: Any, name: str) -> Any:
        """Return the optimizer's variable `name` for `var`, None if there is none."""
        return self._slots.get(name, {}).get(var.ref())

    def get_slot_names(self) -> list[str]:
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """Return the variables of the optimizer itself."""
        return [*self._shared_variables.values(), *(slot for slots in self._slots.values() for slot in slots.values())]

    def _prepare(self, variables: Sequence[Any]) -> None:
        """Compute values that all updates of a step share; called once in each step, before `_update`."""

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        """Return the assignments of a step for one variable and the optimizer's variables that belong to it."""
        raise NotImplementedError("an optimizer has a method _update(gradient, variable)")

    def _finish(self) -> list[Any]:
        """Return the assignments that follow all updates of a step."""
        return []

    def _slot(self, variable: Any, name: str, initial: float = 0.0, label: str | None = None) -> Any:
        """Return the optimizer's variable `name` for `variable`, created at the first request.

        Its name in the graph and in checkpoints ends with `label`, by default the optimizer's name.
        """
        slots = self._slots.setdefault(name, {})
        if variable.ref() not in slots:
            owner = variable.name.removesuffix(":0")

            def initial_slot() -> Any:
                tensor = _initial_tensor(variable)
                return ones_like(tensor) * initial if initial else zeros_like(tensor)

            with name_scope(""):
                slots[variable.ref()] = Variable(
                    initial_slot, trainable=False, name=f"{owner}/{label or self._name}"
                )
        return slots[variable.ref()]

    def _shared_variable(self, name: str, initial: float, variable: Any) -> Any:
        """Return the optimizer's variable `name`, shared by all trained variables, created at the first request."""
        if name not in self._shared_variables:
            with name_scope(""):
                self._shared_variables[name] = Variable(initial, trainable=False, name=name, dtype=variable.dtype)
        return self._shared_variables[name]

    @staticmethod
    def _hyperparameter(value: Any, variable: Any) -> Any:
        """Return a hyperparameter (a number, a tensor, or a function that returns one) in the dtype of a variable."""
        return cast(convert_to_tensor(value() if callable(value) else value), variable.dtype)

    def _eager_gradients(self, loss: Any, var_list: Any, grad_loss: Any) -> list[tuple[Any, Any]]:
        """Return the pairs of `compute_gradients` with eager execution."""
        if not callable(loss):
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled."
            )
        with GradientTape() as tape:
            value = loss()
        variables = list(tape.watched_variables() if var_list is None else var_list)
        return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))


class GradientDescentOptimizer(Optimizer):
    """Gradient descent: v -= learning_rate * gradient.

    >>> v = autoconv.Variable(1.0)
    >>> autoconv.compat.v1.train.GradientDescentOptimizer(0.25).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(0.5)
    """

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        return [variable.assign_sub(self._hyperparameter(self._learning_rate, variable) * gradient)]


class MomentumOptimizer(Optimizer):
    """Gradient descent with momentum: accumulation = momentum * accumulation + gradient; v -= rate * accumulation.

    With `use_nesterov`, v -= rate * (gradient + momentum * accumulation).

    >>> v = autoconv.Variable(1.0)
    >>> optimizer = autoconv.compat.v1.train.MomentumOptimizer(0.25, momentum=0.5)
    >>> for _ in range(2):
    ...     optimizer.minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(0.0)
    """

    def __init__(
        self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum, self._nesterov = learning_rate, momentum, use_nesterov

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        rate = self._hyperparameter(self._learning_rate, variable)
        momentum = self._hyperparameter(self._momentum, variable)
        slot = self._slot(variable, "momentum")
        new_momentum = slot.assign(momentum * slot + gradient)
        step = gradient + momentum * new_momentum if self._nesterov else new_momentum
        return [new_momentum, variable.assign_sub(rate * step)]


class AdagradOptimizer(Optimizer):
    """Adagrad (Duchi, Hazan and Singer, 2011): v -= rate * gradient / sqrt(sum of the squared gradients).

    >>> v = autoconv.Variable(1.0)
    >>> autoconv.compat.v1.train.AdagradOptimizer(0.5).minimize(lambda: v * v)
    >>> v.numpy().round(4)
    np.float32(0.5061)
    """

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        self._learning_rate, self._initial_accumulator = learning_rate, initial_accumulator_value

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        slot = self._slot(variable, "accumulator", self._initial_accumulator)
        sum_of_squares = slot.assign_add(gradient * gradient)
        rate = self._hyperparameter(self._learning_rate, variable)
        return [sum_of_squares, variable.assign_sub(rate * gradient / sqrt(sum_of_squares))]


class AdadeltaOptimizer(Optimizer):
    """Adadelta (Zeiler, 2012): gradient * sqrt(mean squared updates) / sqrt(mean squared gradients).

    >>> v = autoconv.Variable(1.0)
    >>> autoconv.compat.v1.train.AdadeltaOptimizer(1.0).minimize(lambda: v * v)
    >>> v.numpy().round(4)
    np.float32(0.9996)
    """

    def __init__(
        self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._learning_rate, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        rate, rho, epsilon = (
            self._hyperparameter(value, variable) for value in (self._learning_rate, self._rho, self._epsilon)
        )
        squares, updates = self._slot(variable, "accum"), self._slot(variable, "accum_update", label=f"{self._name}_1")
        mean_square = squares.assign(rho * squares + (1 - rho) * gradient * gradient)
        step = sqrt(updates + epsilon) / sqrt(mean_square + epsilon) * gradient
        return [mean_square, updates.assign(rho * updates + (1 - rho) * step * step), variable.assign_sub(rate * step)]


class RMSPropOptimizer(Optimizer):
    """RMSProp (Tieleman and Hinton, 2012): the gradient divided by the root of a moving average of its square.

    The average starts at 1. With `centered`, the square of the gradient's moving average is subtracted under the root.

    >>> v = autoconv.Variable(1.0)
    >>> autoconv.compat.v1.train.RMSPropOptimizer(0.5).minimize(lambda: v * v)
    >>> v.numpy().round(4)
    np.float32(0.1229)
    """

    def __init__(
        self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
        use_locking: bool = False, centered: bool = False, name: str = "RMSProp",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._hyperparameters = learning_rate, decay, momentum, epsilon
        self._centered = centered

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        rate, decay, momentum, epsilon = (self._hyperparameter(value, variable) for value in self._hyperparameters)
        squares = self._slot(variable, "rms", initial=1.0)
        velocity = self._slot(variable, "momentum", label=f"{self._name}_{2 if self._centered else 1}")
        mean_square = squares.assign(decay * squares + (1 - decay) * gradient * gradient)
        assignments, variance = [mean_square], mean_square
        if self._centered:
            gradients = self._slot(variable, "mg", label=f"{self._name}_1")
            mean_gradient = gradients.assign(decay * gradients + (1 - decay) * gradient)
            assignments, variance = [mean_square, mean_gradient], mean_square - mean_gradient * mean_gradient
        step = velocity.assign(momentum * velocity + rate * gradient / sqrt(variance + epsilon))
        return [*assignments, step, variable.assign_sub(step)]


class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2015), with epsilon outside of the bias correction, as at the end of the paper's section 2.

    >>> v = autoconv.Variable(1.0)
    >>> autoconv.compat.v1.train.AdamOptimizer(0.5).minimize(lambda: v * v)
    >>> v.numpy().round(4)
    np.float32(0.5)
    """

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
        use_locking: bool = False, name: str = "Adam",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._learning_rate, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _prepare(self, variables: Sequence[Any]) -> None:
        self._beta1_power = self._shared_variable("beta1_power", self._beta1, variables[0])
        self._beta2_power = self._shared_variable("beta2_power", self._beta2, variables[0])
        self._correction = sqrt(1 - self._beta2_power.value()) / (1 - self._beta1_power.value())

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        hyperparameters = self._learning_rate, self._beta1, self._beta2, self._epsilon
        rate, beta1, beta2, epsilon = (self._hyperparameter(value, variable) for value in hyperparameters)
        means, squares = self._slot(variable, "m"), self._slot(variable, "v", label=f"{self._name}_1")
        mean = means.assign(beta1 * means + (1 - beta1) * gradient)
        mean_square = squares.assign(beta2 * squares + (1 - beta2) * gradient * gradient)
        step = rate * cast(self._correction, variable.dtype) * mean / (sqrt(mean_square) + epsilon)
        return [mean, mean_square, variable.assign_sub(step)]

    def _finish(self) -> list[Any]:
        powers = (self._beta1_power, self._beta1), (self._beta2_power, self._beta2)
        return [power.assign(power * self._hyperparameter(beta, power)) for power, beta in powers]


class FtrlOptimizer(Optimizer):
    """FTRL-proximal (McMahan et al., 2013), with regularisation by the norms l1 and l2.

    >>> v = autoconv.Variable(1.0)
    >>> autoconv.compat.v1.train.FtrlOptimizer(0.5).minimize(lambda: v * v)
    >>> v.numpy().round(4)
    np.float32(0.35)
    """

    def __init__(
        self, learning_rate: Any, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0, use_locking: bool = False,
        name: str = "Ftrl",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._learning_rate, self._rate_power = learning_rate, learning_rate_power
        self._initial_accumulator = initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _update(self, gradient: Any, variable: Any) -> list[Any]:
        rate, l1, l2 = (self._hyperparameter(value, variable) for value in (self._learning_rate, self._l1, self._l2))
        squares = self._slot(variable, "accum", self._initial_accumulator)
        linear = self._slot(variable, "linear", label=f"{self._name}_1")
        old_sum = squares.value()
        new_sum = old_sum + gradient * gradient
        change = (new_sum**-self._rate_power - old_sum**-self._rate_power) / rate
        new_linear = linear.assign_add(gradient - change * variable)
        step = (l1 * sign(new_linear) - new_linear) / (new_sum**-self._rate_power / rate + 2 * l2)
        new_value = where(abs(new_linear) > l1, step, zeros_like(step))
        return [new_linear, squares.assign(new_sum), variable.assign(new_value)]


def _variables_used_in(trace: Any) -> list[Any]:
    """Return the trainable variables that a traced function has used so far."""
    storages = [captured for captured, _ in trace.captures.values() if isinstance(captured, Storage)]
    variables = [storage.variable() for storage in storages]
    return [variable for variable in variables if variable is not None and variable.trainable]


def _initial_tensor(variable: Any) -> Any:
    """Return a tensor of the variable's shape. In a graph, a session can run it before the variable's initializer."""
    return variable.initialized_value() if variable.initializer is not None else variable.value()
