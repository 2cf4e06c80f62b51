"""Layers of version 1: functions that create their variables in the enclosing variable scope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv import nn
from autoconv.api.matrices.linalg import tensordot
from autoconv.api.tensors.shaping import reshape, transpose
from autoconv.api.tensors.shaping import shape as shape_of
from autoconv.compat.v1.collections import GraphKeys, add_to_collection
from autoconv.compat.v1.initializers import ones_initializer, zeros_initializer
from autoconv.compat.v1.maths import cond
from autoconv.compat.v1.variables import get_variable, variable_scope
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.made_functions import give_name
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def dense(
    inputs: TensorLike, units: int, activation: Callable[[Any], Any] | None = None, use_bias: bool = True,
    kernel_initializer: Any = None, bias_initializer: Any = zeros_initializer, kernel_regularizer: Any = None,
    bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
    bias_constraint: Any = None, trainable: bool = True, name: str | None = None, reuse: object = None,
) -> Any:  # fmt: skip
    """activation(inputs @ kernel + bias), along the last axis of the inputs.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.layers.dense(autoconv.zeros([2, 3]), 4).shape
    TensorShape([2, 4])
    """
    tensor = convert_to_tensor(inputs)
    features = _known_size(tensor, -1)
    with variable_scope(name, default_name="dense", reuse=reuse):
        kernel = get_variable(
            "kernel", [features, units], tensor.dtype, kernel_initializer, kernel_regularizer, trainable,
            constraint=kernel_constraint,
        )  # fmt: skip
        rank = tensor.shape.rank or 2
        product = tensor @ kernel if rank == 2 else tensordot(tensor, kernel, [[rank - 1], [0]])
        if use_bias:
            product = product + get_variable(
                "bias", [units], tensor.dtype, bias_initializer, bias_regularizer, trainable, constraint=bias_constraint
            )
        return _activate(product, activation, activity_regularizer)


def _make_convolution(rank: int, summary: str, example: str, shape: list[int]) -> Callable[..., Any]:
    """Return `conv1d` or `conv2d`; `example` has the arguments of the docstring's example, and `shape` its result."""
    default_size: Any = 1 if rank == 1 else (1,) * rank

    def convolution(
        inputs: TensorLike, filters: int, kernel_size: Any, strides: Any = default_size, padding: str = "valid",
        data_format: str = "channels_last", dilation_rate: Any = default_size, activation: Any = None,
        use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = zeros_initializer,
        kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
        kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
        reuse: object = None,
    ) -> Any:  # fmt: skip
        tensor = convert_to_tensor(inputs)
        nn_data_format = _data_format(data_format, rank)
        channels = _known_size(tensor, -1 if nn_data_format.endswith("C") else 1)
        with variable_scope(name, default_name=f"conv{rank}d", reuse=reuse):
            kernel = get_variable(
                "kernel", [*_repeat(kernel_size, rank), channels, filters], tensor.dtype, kernel_initializer,
                kernel_regularizer, trainable, constraint=kernel_constraint,
            )  # fmt: skip
            product = nn.convolution(
                tensor, kernel, _repeat(strides, rank), padding.upper(), nn_data_format, _repeat(dilation_rate, rank)
            )
            if use_bias:
                bias = get_variable(
                    "bias", [filters], tensor.dtype, bias_initializer, bias_regularizer, trainable,
                    constraint=bias_constraint,
                )  # fmt: skip
                product = nn.bias_add(product, bias, nn_data_format)
            return _activate(product, activation, activity_regularizer)

    return give_name(convolution, f"conv{rank}d", (
        f"Convolve {summary} with `filters` kernels, and add a bias.\n\n"
        ">>> with autoconv.Graph().as_default():\n"
        f"...     autoconv.compat.v1.layers.conv{rank}d({example}).shape\nTensorShape({shape})\n"
    ))  # fmt: skip


conv1d = _make_convolution(1, "sequences [batch, steps, channels]", "autoconv.zeros([2, 8, 3]), 4, 3", [2, 6, 4])
conv2d = _make_convolution(
    2, "images [batch, height, width, channels]", 'autoconv.zeros([2, 8, 8, 3]), 4, 3, padding="same"', [2, 8, 8, 4]
)


def _make_pooling(function_name: str, pool: Callable[..., Any], summary: str) -> Callable[..., Any]:
    """Return the layer that pools images by `pool`, a function of `nn`."""

    def pooling(
        inputs: TensorLike, pool_size: Any, strides: Any, padding: str = "valid", data_format: str = "channels_last",
        name: str | None = None,
    ) -> Any:  # fmt: skip
        window_size, window_strides = _repeat(pool_size, 2), _repeat(strides, 2)
        return pool(inputs, window_size, window_strides, padding.upper(), _data_format(data_format, 2), name)

    return give_name(pooling, function_name, (
        f"Return {summary} of each window of images.\n\n"
        f">>> autoconv.compat.v1.layers.{function_name}(autoconv.zeros([1, 4, 4, 1]), 2, 2).shape\n"
        "TensorShape([1, 2, 2, 1])\n"
    ))  # fmt: skip


max_pooling2d = _make_pooling("max_pooling2d", nn.max_pool2d, "the largest element")
average_pooling2d = _make_pooling("average_pooling2d", nn.avg_pool2d, "the mean")


def flatten(inputs: TensorLike, name: str | None = None, data_format: str = "channels_last") -> Any:
    """Merge all dimensions but the first into one; those of "channels_first" move their channels to the end first.

    >>> autoconv.compat.v1.layers.flatten(autoconv.zeros([2, 3, 4])).shape
    TensorShape([2, 12])
    """
    tensor = convert_to_tensor(inputs)
    rank = tensor.shape.rank or 0
    if data_format == "channels_first" and rank > 2:
        tensor = transpose(tensor, [0, *range(2, rank), 1])
    feature_count = TensorShape(tensor.shape[1:]).num_elements()
    if feature_count is not None:
        return reshape(tensor, [-1, feature_count], name)
    return reshape(tensor, [shape_of(tensor)[0], -1], name)


def dropout(
    inputs: TensorLike, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None,
    training: TensorLike = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Set elements to zero with the probability `rate` while training, and scale the others by 1 / (1 - rate).

    >>> autoconv.compat.v1.layers.dropout([1.0, 2.0], training=False).numpy()
    array([1., 2.], dtype=float32)
    """
    tensor = convert_to_tensor(inputs)

    def drop() -> Any:
        return nn.dropout(tensor, rate, noise_shape, seed, name)

    if isinstance(training, (bool, int)):
        return drop() if training else tensor
    return cond(training, drop, lambda: tensor + 0)


def batch_normalization(
    inputs: TensorLike, axis: int = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True,
    scale: bool = True, beta_initializer: Any = zeros_initializer, gamma_initializer: Any = ones_initializer,
    moving_mean_initializer: Any = zeros_initializer, moving_variance_initializer: Any = ones_initializer,
    training: TensorLike = False, trainable: bool = True, name: str | None = None, reuse: object = None,
) -> Any:  # fmt: skip
    """Normalise by the mean and variance of the batch while training, else by their moving averages.

    The operations that update the moving averages are in the collection UPDATE_OPS: run them with each training step.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.layers.batch_normalization(autoconv.zeros([2, 3]), training=True).shape
    ...     len(autoconv.compat.v1.get_collection("update_ops"))
    TensorShape([2, 3])
    2
    """
    tensor = convert_to_tensor(inputs)
    rank = tensor.shape.rank or 2
    feature_axis = axis % rank
    features = _known_size(tensor, feature_axis)
    with variable_scope(name, default_name="batch_normalization", reuse=reuse):
        def make_variable(variable_name: str, initializer: Any, trainable: bool) -> Any:
            return get_variable(variable_name, [features], tensor.dtype, initializer, trainable=trainable)

        gamma = make_variable("gamma", gamma_initializer, trainable) if scale else None
        beta = make_variable("beta", beta_initializer, trainable) if center else None
        mean = make_variable("moving_mean", moving_mean_initializer, trainable=False)
        variance = make_variable("moving_variance", moving_variance_initializer, trainable=False)
        batch_moments = nn.moments(tensor, [axis for axis in range(rank) if axis != feature_axis])
        static_training = training if isinstance(training, (bool, int)) else None
        if static_training is None:
            pairs = zip(batch_moments, (mean, variance), strict=True)
            moments = [
                cond(training, lambda moment=moment: moment + 0, lambda variable=variable: variable.value())
                for moment, variable in pairs
            ]
        else:
            moments = list(batch_moments) if static_training else [mean, variance]
        if static_training is None or static_training:
            for variable, moment in ((mean, moments[0]), (variance, moments[1])):
                add_to_collection(GraphKeys.UPDATE_OPS, variable.assign(momentum * variable + (1 - momentum) * moment))
        shape = [1] * rank
        shape[feature_axis] = features
        offset, scale_tensor = (None if parameter is None else reshape(parameter, shape) for parameter in (beta, gamma))
        mean_tensor, variance_tensor = (reshape(moment, shape) for moment in moments)
        return nn.batch_normalization(tensor, mean_tensor, variance_tensor, offset, scale_tensor, epsilon)  # type: ignore[arg-type]


def _activate(output: Any, activation: Callable[[Any], Any] | None, regularizer: Any) -> Any:
    """Return activation(output); add the regularizer's loss of that to the collection REGULARIZATION_LOSSES."""
    result = output if activation is None else activation(output)
    if regularizer is not None:
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, regularizer(result))
    return result


def _known_size(tensor: Tensor, axis: int) -> int:
    """Return the size of an axis; raise ValueError if it is not known."""
    size = tensor.shape.as_list()[axis]
    if size is None:
        raise ValueError(f"The size of axis {axis} of the inputs should be defined. Found {tensor.shape}.")
    return int(size)


def _repeat(value: Any, count: int) -> list[int]:
    """Return a list of `count` numbers, from one number for all positions or from such a list."""
    return [value] * count if isinstance(value, int) else list(value)


def _data_format(data_format: str, rank: int) -> str:
    """Return the data format of `nn`, such as "NHWC", for "channels_last" (or "NCHW" for "channels_first")."""
    axes = "W" if rank == 1 else "HW"
    return f"N{axes}C" if data_format == "channels_last" else f"NC{axes}"
