"""Public functions that compute the gradients of `depthwise_conv2d`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.api.gradients.tape import GradientTape
from autoconv.api.nn.convolution import depthwise_conv2d
from autoconv.api.tensors.constants import zeros
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def depthwise_conv2d_backprop_input(
    input_sizes: ShapeLike, filter: TensorLike, out_backprop: TensorLike, strides: Any, padding: str,
    data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None,
) -> Tensor:  # fmt: skip
    """The gradient of `depthwise_conv2d` with respect to its input, of the shape `input_sizes`.

    >>> kernel, cotangent = autoconv.ones([2, 2, 1, 1]), autoconv.ones([1, 1, 1, 1])
    >>> autoconv.nn.depthwise_conv2d_backprop_input([1, 2, 2, 1], kernel, cotangent, [1] * 4, "VALID").numpy().ravel()
    array([1., 1., 1., 1.], dtype=float32)
    """
    kernel = convert_to_tensor(filter)
    return _gradient_at(
        lambda x: depthwise_conv2d(x, kernel, strides, padding, data_format, dilations),
        zeros(input_sizes, kernel.dtype), out_backprop,
    )  # fmt: skip


def depthwise_conv2d_backprop_filter(
    input: TensorLike, filter_sizes: ShapeLike, out_backprop: TensorLike, strides: Any, padding: str,
    data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None,
) -> Tensor:  # fmt: skip
    """The gradient of `depthwise_conv2d` with respect to its filter, of the shape `filter_sizes`.

    >>> x, cotangent = autoconv.ones([1, 2, 2, 1]), autoconv.ones([1, 1, 1, 1])
    >>> autoconv.nn.depthwise_conv2d_backprop_filter(x, [2, 2, 1, 1], cotangent, [1] * 4, "VALID").numpy().ravel()
    array([1., 1., 1., 1.], dtype=float32)
    """
    x = convert_to_tensor(input)
    return _gradient_at(
        lambda kernel: depthwise_conv2d(x, kernel, strides, padding, data_format, dilations),
        zeros(filter_sizes, x.dtype), out_backprop,
    )  # fmt: skip


def _gradient_at(function: Callable[[Tensor], Tensor], point: Tensor, cotangent: TensorLike) -> Any:
    """Return the vjp of a function at a point, for this cotangent of its result."""
    with GradientTape() as tape:
        tape.watch(point)
        result = function(point)
    return tape.gradient(result, point, output_gradients=convert_to_tensor(cotangent))
