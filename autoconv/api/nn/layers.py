"""The names of `autoconv.nn` for activations, losses, normalisation and embedding lookup."""

from __future__ import annotations

import math
from typing import Any

from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.api.tensors.arguments import static_axes, static_int
from autoconv.api.tensors.arithmetic import squared_difference
from autoconv.api.tensors.axis_choice import accepts_run_time_axes
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.maths import log_sigmoid, sigmoid, softplus
from autoconv.api.tensors.norms import l2_normalize
from autoconv.api.tensors.shaping import concat
from autoconv.api.tensors.sorting import in_top_k, top_k
from autoconv.api.tensors.trigonometry import tanh
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtype_sets import FLOATING, INDICES, LARGE_INTEGERS, NUMERIC
from autoconv.graph.dtypes import float16, float32
from autoconv.runtime.annotations import AxisLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

__all__ = [
    "batch_normalization", "bias_add", "elu", "embedding_lookup", "gelu", "in_top_k", "l2_loss",
    "l2_normalize", "leaky_relu", "log_sigmoid", "log_softmax", "moments", "relu", "relu6", "selu", "sigmoid",
    "sigmoid_cross_entropy_with_logits", "silu", "softmax", "softmax_cross_entropy_with_logits", "softplus",
    "softsign", "sparse_softmax_cross_entropy_with_logits", "swish", "tanh", "top_k",
]  # fmt: skip


def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """max(features, 0), element by element.

    >>> autoconv.nn.relu([-1.0, 2.0]).numpy()
    array([0., 2.], dtype=float32)
    """
    return apply("relu", features, name=name)


def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """min(max(features, 0), 6), element by element.

    >>> autoconv.nn.relu6([-1.0, 8.0]).numpy()
    array([0., 6.], dtype=float32)
    """
    # `minimum` gives the cotangent of a tie to its first operand, so that the gradient at 6 is zero.
    return apply("minimum", 6, apply("relu", features), name=name)


def elu(features: TensorLike, name: str | None = None) -> Tensor:
    """x where it is positive, else exp(x) - 1, for each element x.

    >>> autoconv.nn.elu([-1.0, 2.0]).numpy().round(3)
    array([-0.632,  2.   ], dtype=float32)
    """
    return apply("elu", features, name=name)


def selu(features: TensorLike, name: str | None = None) -> Tensor:
    """A scaled elu that preserves mean and variance (Klambauer and others, 2017).

    >>> autoconv.nn.selu([-1.0, 2.0]).numpy().round(3)
    array([-1.111,  2.101], dtype=float32)
    """
    return apply("selu", features, name=name)


def leaky_relu(features: TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """x where it is positive, else alpha·x, for each element x; integers become float32.

    >>> autoconv.nn.leaky_relu([-1.0, 2.0], alpha=0.5).numpy()
    array([-0.5,  2. ], dtype=float32)
    """
    tensor = convert_to_tensor(features)
    if tensor.dtype.is_integer:
        tensor = apply("cast", tensor, dtype=float32)
    return apply("leaky_relu", tensor, alpha=float(alpha), name=name)


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    """x·Φ(x), where Φ is the normal distribution function, or with `approximate` its approximation by tanh.

    >>> autoconv.nn.gelu([-1.0, 2.0]).numpy().round(3)
    array([-0.159,  1.954], dtype=float32)
    """
    x = convert_to_tensor(features)
    if approximate:
        cubic = apply("multiply", apply("power", x, 3.0), 0.044715)
        tanh_argument = apply("multiply", apply("add", x, cubic), math.sqrt(2.0 / math.pi))
        doubled_probability = apply("add", apply("tanh", tanh_argument), 1.0)
    else:
        doubled_probability = apply("add", apply("erf", apply("multiply", x, math.sqrt(0.5))), 1.0)
    return apply("multiply", apply("multiply", x, 0.5), doubled_probability, name=name)


def silu(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """x·sigmoid(beta·x).

    >>> autoconv.nn.silu([0.0, 1.0]).numpy().round(3)
    array([0.   , 0.731], dtype=float32)
    """
    x = convert_to_tensor(features)
    return apply("multiply", x, apply("sigmoid", apply("multiply", x, beta)))


swish = silu


def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """x / (1 + |x|).

    >>> autoconv.math.softsign([1.0, -3.0]).numpy().round(3)
    array([ 0.5 , -0.75], dtype=float32)
    """
    x = convert_to_tensor(features)
    return apply("divide", x, apply("add", apply("abs", x), 1.0), name=name)


@accepts_run_time_axes()
def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """exp(x) divided by its sum over `axis` (the last one by default).

    >>> autoconv.nn.softmax([0.0, 0.0]).numpy()
    array([0.5, 0.5], dtype=float32)
    """
    return apply("softmax", logits, axis=_axis_or_last(axis), name=name)


@accepts_run_time_axes()
def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """log(softmax(x)), accurate where softmax is tiny.

    >>> autoconv.math.log_softmax([0.0, 0.0]).numpy().round(3)
    array([-0.693, -0.693], dtype=float32)
    """
    return apply("log_softmax", logits, axis=_axis_or_last(axis), name=name)


def _axis_or_last(axis: AxisLike) -> int:
    """Return the axis as an int, -1 for None."""
    return -1 if axis is None else static_int(axis, "axis")


def sparse_softmax_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike, name: str | None = None) -> Tensor:
    """The cross-entropy loss, [...], of integer labels [...] for logits [..., classes].

    Raises InvalidArgumentError for a label that is not a class.

    >>> autoconv.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=[[2.0, 0.0]]).numpy().round(3)
    array([0.127], dtype=float32)
    """
    check_dtype("sparse_softmax_cross_entropy_with_logits", LARGE_INTEGERS, labels)
    scores, class_ids = convert_to_tensor(logits), convert_to_tensor(labels)
    if scores.shape.rank is not None and class_ids.shape.rank not in (None, scores.shape.rank - 1):
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. "
            f"Received: labels.shape={class_ids.shape} of rank {class_ids.shape.rank} and "
            f"logits.shape={scores.shape} of rank {scores.shape.rank}"
        )
    log_probabilities = apply("log_softmax", scores, axis=-1)
    selection = apply("take_along_axis", log_probabilities, apply("expand_dims", class_ids, axis=-1), axis=-1)
    return apply("negative", apply("squeeze", selection, axis=(-1,)), name=name)


def softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, axis: AxisLike = -1, name: str | None = None
) -> Tensor:
    """The cross-entropy loss of labels that are distributions over `axis`, and broadcast to the logits.

    The loss has the shape of the logits without `axis`. The gradient is softmax - labels, as in TensorFlow, also
    where labels do not sum up to 1.

    >>> autoconv.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[2.0, 0.0]]).numpy().round(3)
    array([0.127], dtype=float32)
    """
    class_axis, x = static_int(axis, "axis"), convert_to_tensor(logits)
    precise_logits = cast(x, float32) if x.dtype.size == 2 else x
    weights = cast(labels, precise_logits.dtype)
    if weights.shape != precise_logits.shape:  # labels broadcast to the logits
        weights = apply("multiply", weights, apply("ones_like", precise_logits))
    reduction_options: dict[str, Any] = {"axis": (class_axis,), "keepdims": False}
    peak = apply("reduce_max", precise_logits, axis=(class_axis,), keepdims=True)
    shifted_logits = apply("subtract", precise_logits, apply("stop_gradient", peak))
    log_total = apply("log", apply("reduce_sum", apply("exp", shifted_logits), **reduction_options))
    # The loss is log_total · sum(weights) - sum(weights · logits), its gradient that for weights with the sum 1.
    excess_weight = apply("subtract", apply("reduce_sum", weights, **reduction_options), 1.0)
    excess_loss = apply("multiply", excess_weight, apply("stop_gradient", log_total))
    weighted_logits = apply("reduce_sum", apply("multiply", weights, shifted_logits), **reduction_options)
    loss = apply("subtract", apply("add", log_total, excess_loss), weighted_logits, name=name)
    return cast(loss, x.dtype)


def sigmoid_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike, name: str | None = None) -> Tensor:
    """The cross-entropy loss of each label in [0, 1], of the shape and dtype of the logits.

    >>> autoconv.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[0.0, 2.0]).numpy().round(3)
    array([0.693, 2.127], dtype=float32)
    """
    x = convert_to_tensor(logits)
    targets = convert_to_tensor(labels, dtype_hint=x.dtype)
    if not x.shape.is_compatible_with(targets.shape):
        raise ValueError(f"`logits` and `labels` must have the same shape, received ({x.shape} vs {targets.shape})")
    # max(x, 0) - x·target + log(1 + exp(-|x|)); `select` in place of max and abs gives the right derivative at 0
    is_positive = apply("greater_equal", x, apply("zeros_like", x))
    positive_part = apply("select", is_positive, x, apply("zeros_like", x))
    negative_magnitude = apply("select", is_positive, apply("negative", x), x)
    log_term = apply("log1p", apply("exp", negative_magnitude))
    return apply("add", apply("subtract", positive_part, apply("multiply", x, targets)), log_term, name=name)


def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Half the sum of squares of all elements.

    >>> autoconv.nn.l2_loss([3.0, 4.0]).numpy()
    np.float32(12.5)
    """
    check_dtype("l2_loss", FLOATING, t)
    total = apply("reduce_sum", apply("square", t), axis=None, keepdims=False)
    return apply("divide", total, 2.0, name=name)


@accepts_run_time_axes()
def moments(
    x: TensorLike, axes: AxisLike, shift: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return (mean, variance) over `axes`, computed in float32 for float16; `shift` has no effect.

    >>> mean, variance = autoconv.nn.moments([1.0, 2.0, 3.0], axes=[0])
    >>> mean.numpy(), variance.numpy().round(3)
    (np.float32(2.0), np.float32(0.667))
    """
    tensor, axis_tuple = convert_to_tensor(x), static_axes(axes)
    if tensor.dtype is float16:
        mean, variance = moments(cast(tensor, float32), axes, keepdims=keepdims)
        return cast(mean, float16), cast(variance, float16)
    mean = apply("reduce_mean", tensor, axis=axis_tuple, keepdims=True)
    squared_distances = squared_difference(tensor, mean)
    variance = apply("reduce_mean", squared_distances, axis=axis_tuple, keepdims=bool(keepdims))
    if not keepdims:
        mean = apply("reshape_like", mean, variance)
    return mean, variance


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: Any,
    offset: TensorLike | None,
    scale: Any,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) · scale + offset; scale and offset may be None.

    >>> autoconv.nn.batch_normalization([1.0, 3.0], 2.0, 1.0, offset=0.0, scale=1.0, variance_epsilon=0.0).numpy()
    array([-1.,  1.], dtype=float32)
    """
    factor = apply("rsqrt", apply("add", variance, variance_epsilon))
    if scale is not None:
        factor = apply("multiply", factor, scale)
    shift = apply("negative", apply("multiply", mean, factor))
    if offset is not None:
        shift = apply("add", offset, shift)
    return apply("add", apply("multiply", x, factor), shift, name=name)


def bias_add(value: TensorLike, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """`value` plus a vector along its last axis, or along its second one for formats that begin with NC.

    Raises InvalidArgumentError for a value of fewer than two dimensions, or a bias that is no vector of the axis' size.

    >>> autoconv.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]).numpy()
    array([[11., 22.]], dtype=float32)
    """
    check_dtype("bias_add", NUMERIC, value)
    tensor = convert_to_tensor(value)
    bias = convert_to_tensor(bias, dtype_hint=tensor.dtype)
    is_second_axis = data_format is not None and data_format.startswith("NC")
    if tensor.shape.rank is not None and tensor.shape.rank < 2:
        raise InvalidArgumentError(f"Input tensor must be at least 2D: {tensor.shape}")
    if bias.shape.rank not in (None, 1):
        raise InvalidArgumentError(f"Biases must be 1D: {bias.shape}")
    sizes = {tensor.shape[1 if is_second_axis else -1], bias.shape[0]} if tensor.shape.rank and bias.shape.rank else {}
    if None not in sizes and len(sizes) > 1:
        raise InvalidArgumentError(
            f"Must provide as many biases as axis {1 if is_second_axis else -1} of the input has elements: "
            f"{bias.shape} vs. {tensor.shape}"
        )
    if is_second_axis:
        for _ in range((tensor.shape.rank or 2) - 2):
            bias = apply("expand_dims", bias, axis=-1)
    return apply("add", tensor, bias, name=name)


def embedding_lookup(params: TensorLike, ids: Any, max_norm: float | None = None, name: str | None = None) -> Tensor:
    """The rows of `params` at `ids`; rows of a Euclidean norm above `max_norm` are scaled down to it.

    If `params` is a list of tensors, they are first concatenated along axis 0.

    >>> autoconv.nn.embedding_lookup([[1.0, 1.0], [2.0, 2.0]], [1, 0]).numpy()
    array([[2., 2.],
           [1., 1.]], dtype=float32)
    """
    if isinstance(params, list) and all(hasattr(part, "shape") for part in params):
        if not params:
            raise ValueError("Length of params is currently 0. Need at least one param.")
        params = concat([convert_to_tensor(part) for part in params], 0)
    check_dtype("embedding_lookup", INDICES, ids)
    rows = apply("gather", params, convert_to_tensor(ids), axis=0, batch_dims=0, name=name)
    if max_norm is None:
        return rows
    row_axis = convert_to_tensor(ids).shape.rank or 0
    norms = apply("reduce_euclidean_norm", rows, axis=tuple(range(row_axis, rows.shape.rank)), keepdims=True)
    return apply("divide", apply("multiply", rows, max_norm), apply("maximum", norms, max_norm))


def batch_norm_with_global_normalization(
    input: TensorLike, mean: TensorLike, variance: TensorLike, beta: TensorLike, gamma: TensorLike,
    variance_epsilon: float, scale_after_normalization: bool, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`batch_normalization` with the offset `beta`, and the scale `gamma` if `scale_after_normalization`.

    >>> x = autoconv.ones([1, 1, 1, 2])
    >>> autoconv.nn.batch_norm_with_global_normalization(x, 0.0, 1.0, 1.0, 2.0, 0.0, True).numpy().ravel()
    array([3., 3.], dtype=float32)
    """
    scale, shift = gamma if scale_after_normalization else None, convert_to_tensor(beta)
    return batch_normalization(input, mean, variance, shift, scale, variance_epsilon, name)
