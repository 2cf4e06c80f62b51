"""Raw ops that update variables by gradients, as optimizers do, and raw ops that update elements of variables.

The parameters have the names of the raw ops: `var` is the trained variable; others, such as the moments `m` and `v` of
Adam, are the state of the optimizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import autoconv as tf
from autoconv import Tensor, Variable
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.storage import Storage


def variable_of(resource: object) -> Any:
    """Return the variable of a handle."""
    return tf.Variable.of_storage(resource) if isinstance(resource, Storage) else resource


def _make_update(form: Callable[..., None], *variables: str) -> Callable[..., None]:
    """Return the raw op of an update: `form` gets the handles named in `variables` as variables.

    `form` gets all other arguments, except bools, as tensors of the dtype of `var`.
    """

    def update(use_locking: bool = False, **arguments: object) -> None:
        converted_arguments: dict[str, object] = {name: variable_of(arguments.pop(name)) for name in variables}
        dtype = cast(Variable, converted_arguments["var"]).dtype
        for name, value in arguments.items():
            converted_arguments[name] = value if isinstance(value, bool) else tf.convert_to_tensor(value, dtype)
        form(**converted_arguments)

    return update


def _adam(
    var: Variable, m: Variable, v: Variable, beta1_power: Tensor, beta2_power: Tensor, lr: Tensor, beta1: Tensor,
    beta2: Tensor, epsilon: Tensor, grad: Tensor, use_nesterov: bool = False, vhat: Variable | None = None,
) -> None:  # fmt: skip
    """Move the variable by Adam's rule; with `vhat` by AMSGrad's."""
    mean = m.assign_add((grad - m) * (1 - beta1))
    square: TensorLike = v.assign_add((grad**2 - v) * (1 - beta2))
    if vhat is not None:
        square = vhat.assign(tf.maximum(vhat, square))
    rate = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
    direction = beta1 * mean + grad * (1 - beta1) if use_nesterov else mean
    var.assign_sub(rate * direction / (tf.sqrt(square) + epsilon))


def _ada_max(
    var: Variable, m: Variable, v: Variable, beta1_power: Tensor, lr: Tensor, beta1: Tensor, beta2: Tensor,
    epsilon: Tensor, grad: Tensor,
) -> None:  # fmt: skip
    mean = m.assign_add((grad - m) * (1 - beta1))
    norm = v.assign(tf.maximum(beta2 * v, tf.abs(grad)))
    var.assign_sub(lr / (1 - beta1_power) * (mean / (norm + epsilon)))


def _momentum(
    var: Variable, accum: Variable, lr: Tensor, grad: Tensor, momentum: Tensor, use_nesterov: bool = False
) -> None:
    velocity = accum.assign(momentum * accum + grad)
    var.assign_sub(grad * lr + momentum * lr * velocity if use_nesterov else lr * velocity)


def _keras_momentum(
    var: Variable, accum: Variable, lr: Tensor, grad: Tensor, momentum: Tensor, use_nesterov: bool = False
) -> None:
    velocity = accum.assign(momentum * accum - grad * lr)
    var.assign_add(momentum * velocity - grad * lr if use_nesterov else velocity)


def _adagrad(
    var: Variable, accum: Variable, lr: Tensor, grad: Tensor, epsilon: TensorLike = 0.0, update_slots: bool = True
) -> None:
    squares = accum.assign_add(grad**2) if update_slots else accum
    var.assign_sub(grad * lr / (tf.sqrt(squares) + epsilon))


def _adadelta(
    var: Variable, accum: Variable, accum_update: Variable, lr: Tensor, rho: Tensor, epsilon: Tensor, grad: Tensor
) -> None:
    square = accum.assign(rho * accum + grad**2 * (1 - rho))
    step = tf.sqrt(epsilon + accum_update) / tf.sqrt(epsilon + square) * grad
    accum_update.assign(rho * accum_update + step**2 * (1 - rho))
    var.assign_sub(step * lr)


def _rms_prop(
    var: Variable, ms: Variable, mom: Variable, lr: Tensor, rho: Tensor, momentum: Tensor, epsilon: Tensor,
    grad: Tensor, mg: Variable | None = None,
) -> None:  # fmt: skip
    """Move the variable by RMSProp's rule; with `mg` the gradients are centred."""
    variance = epsilon + ms.assign_add((grad**2 - ms) * (1 - rho))
    if mg is not None:
        variance = variance - tf.square(mg.assign_add((grad - mg) * (1 - rho)))
    var.assign_sub(mom.assign(momentum * mom + grad * lr / tf.sqrt(variance)))


def _make_scatter_nd(method: str) -> Callable[..., None]:
    """Return the raw op that updates elements by the named method of variables."""

    def scatter(
        ref: object, indices: TensorLike, updates: TensorLike, use_locking: bool = True, bad_indices_policy: str = ""
    ) -> None:
        getattr(variable_of(ref), method)(indices, updates)

    return scatter


_EXTREME_FUNCTIONS = {"Max": tf.tensor_scatter_nd_max, "Min": tf.tensor_scatter_nd_min}


def _make_scatter_nd_extreme(name: str) -> Callable[..., None]:
    """Return the raw op that replaces elements by the larger ("Max") or smaller ("Min") of element and update."""

    def scatter(
        ref: object, indices: TensorLike, updates: TensorLike, use_locking: bool = True, bad_indices_policy: str = ""
    ) -> None:
        variable = variable_of(ref)
        variable.assign(_EXTREME_FUNCTIONS[name](variable, indices, updates))

    return scatter


# Name of a raw op -> a function with its parameters, written in public functions.
FORM_BY_OP: dict[str, Callable[..., object]] = {
    "ResourceApplyAdam": _make_update(_adam, "var", "m", "v"),
    "ResourceApplyAdamWithAmsgrad": _make_update(_adam, "var", "m", "v", "vhat"),
    "ResourceApplyAdaMax": _make_update(_ada_max, "var", "m", "v"),
    "ResourceApplyMomentum": _make_update(_momentum, "var", "accum"),
    "ResourceApplyKerasMomentum": _make_update(_keras_momentum, "var", "accum"),
    "ResourceApplyAdagrad": _make_update(_adagrad, "var", "accum"),
    "ResourceApplyAdagradV2": _make_update(_adagrad, "var", "accum"),
    "ResourceApplyAdadelta": _make_update(_adadelta, "var", "accum", "accum_update"),
    "ResourceApplyRMSProp": _make_update(_rms_prop, "var", "ms", "mom"),
    "ResourceApplyCenteredRMSProp": _make_update(_rms_prop, "var", "ms", "mom", "mg"),
    **{f"ResourceScatterNd{name}": _make_scatter_nd(f"scatter_nd_{name.lower()}") for name in ("Add", "Sub", "Update")},
    **{f"ResourceScatterNd{name}": _make_scatter_nd_extreme(name) for name in _EXTREME_FUNCTIONS},
}
