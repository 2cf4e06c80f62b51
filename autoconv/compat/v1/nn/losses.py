"""Softmax and cross entropies, with the parameters of version 1."""

from __future__ import annotations

from typing import Any

from autoconv import math, nn
from autoconv.api.tensors.casts import stop_gradient
from autoconv.compat.v1.maths import resolve_alias
from autoconv.runtime.annotations import AxisLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor


def softmax(
    logits: TensorLike, axis: AxisLike | None = None, name: str | None = None, dim: AxisLike | None = None
) -> Any:
    """exp(logits) divided by its sum along an axis, the last by default.

    >>> autoconv.compat.v1.nn.softmax([0.0, 0.0]).numpy()
    array([0.5, 0.5], dtype=float32)
    """
    chosen_axis = resolve_alias("axis", axis, "dim", dim)
    return nn.softmax(logits, -1 if chosen_axis is None else chosen_axis, name)


def log_softmax(
    logits: TensorLike, axis: AxisLike | None = None, name: str | None = None, dim: AxisLike | None = None
) -> Any:
    """The logarithm of the softmax along an axis, the last by default.

    >>> autoconv.compat.v1.nn.log_softmax([0.0]).numpy()
    array([0.], dtype=float32)
    """
    chosen_axis = resolve_alias("axis", axis, "dim", dim)
    return nn.log_softmax(logits, -1 if chosen_axis is None else chosen_axis, name)


def softmax_cross_entropy_with_logits_v2(
    labels: Any = None, logits: Any = None, axis: AxisLike | None = None,
    name: str | None = None, dim: AxisLike | None = None,
) -> Any:  # fmt: skip
    """The cross entropy of labels and the softmax of logits along an axis; the gradient flows to both.

    >>> autoconv.compat.v1.nn.softmax_cross_entropy_with_logits_v2([[1.0, 0.0]], [[0.0, 0.0]]).numpy().round(4)
    array([0.6931], dtype=float32)
    """
    chosen_axis = resolve_alias("axis", axis, "dim", dim)
    return nn.softmax_cross_entropy_with_logits(labels, logits, -1 if chosen_axis is None else chosen_axis, name)


def softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, dim: int = -1,
    name: str | None = None, axis: AxisLike | None = None,
) -> Any:  # fmt: skip
    """The cross entropy of labels and the softmax of logits along an axis; no gradient flows to the labels.

    >>> loss = autoconv.compat.v1.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[0.0, 0.0]])
    >>> loss.numpy().round(4)
    array([0.6931], dtype=float32)
    """
    _check_keywords("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    return nn.softmax_cross_entropy_with_logits(stop_gradient(labels), logits, dim if axis is None else axis, name)


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """The cross entropy of classes and the softmax of logits.

    >>> autoconv.compat.v1.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=[[0.0, 0.0]]).numpy().round(4)
    array([0.6931], dtype=float32)
    """
    _check_keywords("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    return nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """The cross entropy of labels from 0 to 1 and the sigmoid of logits, element by element.

    >>> autoconv.compat.v1.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]).numpy().round(4)
    array([0.6931], dtype=float32)
    """
    _check_keywords("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    return nn.sigmoid_cross_entropy_with_logits(labels, logits, name)


def weighted_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, pos_weight: Any = None,
    name: str | None = None, targets: Any = None,
) -> Any:  # fmt: skip
    """The cross entropy of labels and the sigmoid of logits, with the factor `pos_weight` of the term of true labels.

    >>> autoconv.compat.v1.nn.weighted_cross_entropy_with_logits([1.0], [0.0], 2.0).numpy().round(4)
    array([1.3863], dtype=float32)
    """
    label_tensor = convert_to_tensor(resolve_alias("labels", labels, "targets", targets))
    scores = convert_to_tensor(logits)
    weight = 1 + (pos_weight - 1) * label_tensor
    return math.add(
        (1 - label_tensor) * scores, weight * (math.log1p(math.exp(-math.abs(scores))) + nn.relu(-scores)), name=name
    )


def in_top_k(predictions: TensorLike, targets: TensorLike, k: Any, name: str | None = None) -> Any:
    """Return whether each target is among the k classes of the largest predictions.

    >>> autoconv.compat.v1.nn.in_top_k([[0.1, 0.9]], [1], 1).numpy()
    array([ True])
    """
    return math.in_top_k(targets, predictions, k, name)


def _check_keywords(function: str, sentinel: Any, labels: Any, logits: Any) -> None:
    """Raise ValueError unless labels and logits are given, both by name."""
    if sentinel is not None:
        raise ValueError(f"Only call `{function}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")
