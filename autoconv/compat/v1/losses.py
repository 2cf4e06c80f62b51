"""Losses of version 1. Each is also added to the collection `losses` of the graph."""

from __future__ import annotations

from typing import Any

from autoconv import math
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import ones_like, zeros_like
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.shaping import reshape, shape
from autoconv.compat.v1 import nn
from autoconv.compat.v1.collections import GraphKeys, add_to_collection, get_collection
from autoconv.compat.v1.maths import check_weights, squeeze_to_rank
from autoconv.graph.dtypes import float32
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor


class Reduction:
    """The reduction of the losses of elements to the loss of a batch.

    >>> autoconv.compat.v1.losses.Reduction.SUM
    'weighted_sum'
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"


def compute_weighted_loss(
    losses: TensorLike, weights: TensorLike = 1.0, scope: str | None = None, loss_collection: object = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """Return losses, weighted and reduced, and add the result to `loss_collection` unless that is None.

    The sums are computed in float32; the result has the dtype of `losses`. Raises ValueError for another reduction than
    those of `Reduction`, and for weights whose shape does not fit.

    >>> autoconv.compat.v1.losses.compute_weighted_loss([1.0, 3.0], [1.0, 0.0], loss_collection=None).numpy()
    np.float32(1.0)
    """
    losses = convert_to_tensor(losses)
    element_losses, weight_tensor = cast(losses, float32), cast(convert_to_tensor(weights), float32)
    check_weights(weight_tensor, losses)
    weighted_losses = element_losses * weight_tensor
    broadcast_weights = weight_tensor * ones_like(element_losses)
    total_loss = math.reduce_sum(weighted_losses)
    match reduction:
        case Reduction.NONE:
            result = weighted_losses
        case Reduction.SUM:
            result = total_loss
        case Reduction.MEAN:
            result = math.divide_no_nan(total_loss, math.reduce_sum(broadcast_weights))
        case Reduction.SUM_OVER_BATCH_SIZE:
            result = math.divide_no_nan(total_loss, math.reduce_sum(ones_like(element_losses)))
        case Reduction.SUM_BY_NONZERO_WEIGHTS:
            result = math.divide_no_nan(total_loss, cast(math.count_nonzero(broadcast_weights), float32))
        case _:
            raise ValueError(f"Invalid Reduction Key {reduction}.")
    result = cast(result, losses.dtype)
    if loss_collection is not None:
        add_to_collection(loss_collection, result)
    return result


def mean_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: object = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The mean of the squared differences.

    >>> autoconv.compat.v1.losses.mean_squared_error([1.0, 2.0], [1.0, 4.0]).numpy()
    np.float32(2.0)
    """
    truth, values = _float_pair(labels, predictions)
    difference = values - truth
    return compute_weighted_loss(difference * difference, weights, scope, loss_collection, reduction)


def absolute_difference(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: object = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The mean of the absolute differences.

    >>> autoconv.compat.v1.losses.absolute_difference([1.0, 2.0], [1.0, 4.0]).numpy()
    np.float32(1.0)
    """
    truth, values = _float_pair(labels, predictions)
    element_losses = math.abs(values - truth)
    return compute_weighted_loss(element_losses, weights, scope, loss_collection, reduction)


def cosine_distance(
    labels: TensorLike, predictions: TensorLike, axis: int | None = None, weights: TensorLike = 1.0,
    scope: str | None = None, loss_collection: object = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS, dim: int | None = None,
) -> Any:  # fmt: skip
    """The mean of 1 minus the scalar products of vectors along `axis`, which should have the length 1.

    `dim` is an earlier name of `axis`. Raises ValueError if neither is given.

    >>> autoconv.compat.v1.losses.cosine_distance([[1.0, 0.0]], [[0.0, 1.0]], axis=1).numpy()
    np.float32(1.0)
    """
    chosen_axis = dim if axis is None else axis
    if chosen_axis is None:
        raise ValueError("You must specify argument `axis`.")
    truth, values = _float_pair(labels, predictions)
    products = math.reduce_sum(values * truth, axis=chosen_axis, keepdims=True)
    return compute_weighted_loss(1.0 - products, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: object = GraphKeys.LOSSES,
) -> Any:  # fmt: skip
    """The sum over the batch of the mean squared differences between the errors of all pairs of elements.

    `weights` is a number, or a column with a number for each element of the batch.

    >>> autoconv.compat.v1.losses.mean_pairwise_squared_error([[0.0, 1.0, 2.0]], [[0.0, 1.0, 5.0]]).numpy()
    np.float32(6.0)
    """
    truth, values = _float_pair(labels, predictions)
    errors = reshape(values - truth, [truth.shape[0] or -1, -1])
    count = cast(shape(errors)[1], float32)
    squares = math.divide_no_nan(math.reduce_sum(errors * errors, 1, keepdims=True), count - 1.0)
    sums = math.reduce_sum(errors, 1, keepdims=True)
    element_losses = 2.0 * (squares - math.divide_no_nan(sums * sums, count * (count - 1.0)))
    return compute_weighted_loss(element_losses, weights, scope, loss_collection, Reduction.SUM)


def huber_loss(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, delta: float = 1.0,
    scope: str | None = None, loss_collection: object = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The mean of half the squared differences; beyond `delta`, a loss grows linearly with the difference.

    >>> autoconv.compat.v1.losses.huber_loss([0.0], [3.0]).numpy()
    np.float32(2.5)
    """
    truth, values = _float_pair(labels, predictions)
    error = math.abs(values - truth)
    quadratic = math.minimum(error, cast(delta, float32))
    return compute_weighted_loss(
        0.5 * quadratic * quadratic + delta * (error - quadratic), weights, scope, loss_collection, reduction
    )


def log_loss(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, epsilon: float = 1e-7,
    scope: str | None = None, loss_collection: object = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The mean cross entropy of labels from 0 to 1 and probabilities; `epsilon` is added in logarithms.

    >>> autoconv.compat.v1.losses.log_loss([1.0], [0.5]).numpy().round(4)
    np.float32(0.6931)
    """
    truth, probabilities = _float_pair(labels, predictions)
    element_losses = -truth * math.log(probabilities + epsilon) - (1 - truth) * math.log(1 - probabilities + epsilon)
    return compute_weighted_loss(element_losses, weights, scope, loss_collection, reduction)


def hinge_loss(
    labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: object = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The mean of max(0, 1 - t * logits), where t is 1 for the label 1 and -1 for the label 0.

    >>> autoconv.compat.v1.losses.hinge_loss([1.0], [0.5]).numpy()
    np.float32(0.5)
    """
    truth, scores = _float_pair(labels, logits)
    margin = 1 - (2 * truth - 1) * scores
    element_losses = where(margin > 0, margin, zeros_like(margin))
    return compute_weighted_loss(element_losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, label_smoothing: float = 0,
    scope: str | None = None, loss_collection: object = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The mean cross entropy of one-hot labels and the softmax of logits.

    >>> autoconv.compat.v1.losses.softmax_cross_entropy([[1, 0]], [[0.0, 0.0]]).numpy().round(4)
    np.float32(0.6931)
    """
    scores = convert_to_tensor(logits)
    labels = cast(convert_to_tensor(onehot_labels), scores.dtype)
    if label_smoothing > 0:
        class_count = cast(constant(labels.shape.as_list()[1]), scores.dtype)
        labels = labels * (1 - label_smoothing) + label_smoothing / class_count
    element_losses = nn.softmax_cross_entropy_with_logits(labels=labels, logits=scores)
    return compute_weighted_loss(element_losses, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: object = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The mean cross entropy of class ids and the softmax of logits.

    Labels and weights may have a last axis of size 1, which is dropped.

    >>> autoconv.compat.v1.losses.sparse_softmax_cross_entropy([0], [[0.0, 0.0]]).numpy().round(4)
    np.float32(0.6931)
    """
    scores, weight_tensor = convert_to_tensor(logits), convert_to_tensor(weights)
    class_rank = None if scores.shape.rank is None else scores.shape.rank - 1
    ids = squeeze_to_rank(convert_to_tensor(labels), class_rank)
    element_losses = nn.sparse_softmax_cross_entropy_with_logits(labels=ids, logits=scores)
    weight_tensor = squeeze_to_rank(weight_tensor, class_rank)
    return compute_weighted_loss(element_losses, weight_tensor, scope, loss_collection, reduction)


def sigmoid_cross_entropy(
    multi_class_labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, label_smoothing: float = 0,
    scope: str | None = None, loss_collection: object = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """The mean cross entropy of labels from 0 to 1 and the sigmoid of logits.

    >>> autoconv.compat.v1.losses.sigmoid_cross_entropy([[1]], [[0.0]]).numpy().round(4)
    np.float32(0.6931)
    """
    scores = convert_to_tensor(logits)
    labels = cast(convert_to_tensor(multi_class_labels), scores.dtype)
    if label_smoothing > 0:
        labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    element_losses = nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=scores)
    return compute_weighted_loss(element_losses, weights, scope, loss_collection, reduction)


def add_loss(loss: Any, loss_collection: object = GraphKeys.LOSSES) -> None:
    """Add a loss to the collection.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.losses.add_loss(autoconv.constant(1.0))
    ...     len(autoconv.compat.v1.losses.get_losses())
    1
    """
    add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: object = GraphKeys.LOSSES) -> list[Any]:
    """Return the losses in the collection.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.losses.get_losses()
    []
    """
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """Return the losses of the regularizers of variables.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.losses.get_regularization_losses()
    []
    """
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Any:
    """Return the sum of the losses of the regularizers, 0 if there are none.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     session.run(autoconv.compat.v1.losses.get_regularization_loss())
    np.float32(0.0)
    """
    losses = get_regularization_losses(scope)
    return math.add_n(losses) if losses else constant(0.0)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Any:
    """Return the sum of the losses in the collection, and by default also of the regularizers' losses.

    Raises ValueError if there are none.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     loss = autoconv.compat.v1.losses.mean_squared_error([1.0], [3.0])
    ...     session.run(autoconv.compat.v1.losses.get_total_loss())
    np.float32(4.0)
    """
    losses = get_losses(scope) + (get_regularization_losses(scope) if add_regularization_losses else [])
    if not losses:
        raise ValueError("there are no losses to add: call a function of losses, or add_loss")
    return math.add_n(losses)


def _float_pair(labels: TensorLike, predictions: TensorLike) -> tuple[Any, Any]:
    """Return labels and predictions as float32 tensors; raise ValueError if their shapes are incompatible."""
    truth, values = cast(convert_to_tensor(labels), float32), cast(convert_to_tensor(predictions), float32)
    values.shape.assert_is_compatible_with(truth.shape)
    return truth, values
