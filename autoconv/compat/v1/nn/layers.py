"""Convolution, pooling, dropout, moments, embedding lookup and dense layers, with the parameters of version 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv import nn
from autoconv.api.matrices.linalg import matmul
from autoconv.api.tensors.shaping import concat, reshape, stack
from autoconv.compat.v1.maths import resolve_alias
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.made_functions import give_name
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.tensorflow.raw_ops import FusedBatchNormV3


def conv2d(
    input: TensorLike, filter: Any = None, strides: Any = None, padding: Any = None,
    use_cudnn_on_gpu: bool = True, data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1),
    name: str | None = None, filters: Any = None,
) -> Any:  # fmt: skip
    """Convolve images with a kernel [height, width, channels in, channels out].

    >>> kernel = np.ones([2, 2, 1, 1], "f")
    >>> autoconv.compat.v1.nn.conv2d(np.ones([1, 4, 4, 1], "f"), kernel, [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 3, 3, 1])
    """
    kernel = resolve_alias("filters", filters, "filter", filter)
    return nn.conv2d(input, kernel, strides, padding, data_format, dilations, name)


def _make_pooling(pool: Callable[..., Any], default_name: str, summary: str) -> Callable[..., Any]:
    """Return a function of `nn` that pools, with the parameters of version 1."""
    function_name = pool.__name__

    def pooling(
        value: Any = None, ksize: Any = None, strides: Any = None, padding: Any = None, data_format: str = "NHWC",
        name: str | None = None, input: Any = None,
    ) -> Any:  # fmt: skip
        images = resolve_alias("input", input, "value", value)
        return pool(images, ksize, strides, padding, data_format, name or default_name)

    return give_name(pooling, function_name, (
        f"Return {summary} of each window of images.\n\n"
        f">>> autoconv.compat.v1.nn.{function_name}(np.ones([1, 4, 4, 1], \"f\"), [1, 2, 2, 1], [1, 2, 2, 1], \"SAME\")"
        ".shape\nTensorShape([1, 2, 2, 1])\n"
    ))  # fmt: skip


max_pool = _make_pooling(nn.max_pool, "MaxPool", "the largest element")
avg_pool = _make_pooling(nn.avg_pool, "AvgPool", "the mean")


def dropout(
    x: TensorLike, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None,
    name: str | None = None, rate: Any = None,
) -> Any:  # fmt: skip
    """Set elements to zero with the probability 1 - keep_prob, and scale the others by 1 / keep_prob.

    `rate` is 1 - keep_prob. Raises ValueError unless exactly one of `keep_prob` and `rate` is given.

    >>> autoconv.compat.v1.nn.dropout([1.0, 2.0], keep_prob=1.0).numpy()
    array([1., 2.], dtype=float32)
    """
    if (keep_prob is None) == (rate is None):
        raise ValueError("You must provide a rate to dropout: one of `rate` and `keep_prob`.")
    return nn.dropout(x, 1.0 - keep_prob if rate is None else rate, noise_shape, seed, name)


def moments(
    x: TensorLike, axes: Any, shift: Any = None, name: str | None = None, keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> Any:  # fmt: skip
    """Return the mean and the variance over axes.

    >>> [moment.numpy() for moment in autoconv.compat.v1.nn.moments([1.0, 3.0], [0])]
    [np.float32(2.0), np.float32(1.0)]
    """
    return nn.moments(x, axes, keepdims=bool(resolve_alias("keepdims", keepdims, "keep_dims", keep_dims)), name=name)


def embedding_lookup(
    params: TensorLike, ids: TensorLike, partition_strategy: str = "mod", name: str | None = None,
    validate_indices: bool = True, max_norm: Any = None,
) -> Any:  # fmt: skip
    """Return the rows of a matrix at the positions `ids`.

    The matrix may be a list of parts: with the strategy "mod" its rows are in the parts in turns, with "div" one part
    after the other. Raises ValueError for another strategy.

    >>> autoconv.compat.v1.nn.embedding_lookup([[1.0], [2.0]], [1]).numpy()
    array([[2.]], dtype=float32)
    """
    return nn.embedding_lookup(join_parts(params, partition_strategy), ids, max_norm, name)


def join_parts(params: TensorLike, partition_strategy: str) -> TensorLike:
    """Return the matrix whose rows are in the parts `params`, or `params` itself if it is no list of parts."""
    if partition_strategy not in ("mod", "div"):
        raise ValueError(f"Unrecognized partition strategy: {partition_strategy}. It is either 'mod' or 'div'.")
    if isinstance(params, Sequence) and all(hasattr(part, "shape") for part in params):
        return _join_parts([convert_to_tensor(part) for part in params], in_turns=partition_strategy == "mod")
    return params


def _join_parts(parts: list[Any], in_turns: bool) -> Any:
    """Return the matrix whose rows are in the parts: one row of each part in turns, or one part after the other.

    In turns, the first parts may have one row more than the others.
    """
    if not in_turns:
        return concat(parts, 0)
    row_count = min(int(part.shape[0]) for part in parts)
    row_shape = parts[0].shape.as_list()[1:]
    rows_in_turns = reshape(stack([part[:row_count] for part in parts], 1), [row_count * len(parts), *row_shape])
    return concat([rows_in_turns, *(part[row_count:] for part in parts)], 0)


def xw_plus_b(x: TensorLike, weights: Any, biases: TensorLike, name: str | None = None) -> Any:
    """x @ weights + biases.

    >>> autoconv.compat.v1.nn.xw_plus_b([[1.0]], [[2.0]], [3.0]).numpy()
    array([[5.]], dtype=float32)
    """
    return nn.bias_add(matmul(x, weights), biases, name=name or "xw_plus_b")


def relu_layer(x: TensorLike, weights: Any, biases: TensorLike, name: str | None = None) -> Any:
    """relu(x @ weights + biases).

    >>> autoconv.compat.v1.nn.relu_layer([[1.0]], [[-2.0]], [1.0]).numpy()
    array([[0.]], dtype=float32)
    """
    return nn.relu(xw_plus_b(x, weights, biases), name)


def fused_batch_norm(
    x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike | None = None,
    variance: TensorLike | None = None, epsilon: float = 0.001, data_format: str = "NHWC", is_training: bool = True,
    name: str | None = None, exponential_avg_factor: float = 1.0,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Normalise images by channel; return them, and the running mean and variance.

    While training, the moments are those of the batch; see `raw_ops.FusedBatchNormV3` for `exponential_avg_factor`.
    Else they are `mean` and `variance`, and ValueError is raised where one is missing.

    >>> images, mean, _ = autoconv.compat.v1.nn.fused_batch_norm(np.full([1, 2, 2, 1], 3.0, "f"), [1.0], [0.0])
    >>> images.shape, mean.shape
    (TensorShape([1, 2, 2, 1]), TensorShape([1]))
    """
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or `exponential_avg_factor` != "
            f"1.0. Received: `mean` {mean!r} and `variance` {variance!r}"
        )
    results = FusedBatchNormV3(
        x=x, scale=scale, offset=offset, mean=[] if mean is None else mean, name=name,
        variance=[] if variance is None else variance, epsilon=max(epsilon, 1.001e-5), data_format=data_format,
        is_training=is_training, exponential_avg_factor=exponential_avg_factor,
    )  # fmt: skip
    return results[:3]
