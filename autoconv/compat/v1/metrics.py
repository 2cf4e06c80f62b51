"""Metrics of version 1: functions that return the value so far, and a tensor that adds a batch when it is run."""

from __future__ import annotations

from typing import Any

from autoconv import math
from autoconv.api.scopes import control_dependencies
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import ones_like
from autoconv.api.tensors.shaping import expand_dims
from autoconv.compat.v1.collections import GraphKeys, add_to_collections
from autoconv.compat.v1.maths import check_weights, squeeze_to_rank
from autoconv.compat.v1.variables import Variable, variable_scope
from autoconv.graph.dtypes import float32
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor


def mean(
    values: TensorLike, weights: TensorLike | None = None, metrics_collections: object = None,
    updates_collections: object = None, name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the mean of all values so far, and a tensor that adds `values` when it is run; its value is the new mean.

    The sums of the weighted values and of the weights are local variables: `local_variables_initializer()` sets them to
    zero. Weights are a scalar, or have the size of the values or 1 along each axis. They may lack the last axis of the
    values, or have one more, of size 1. Raises ValueError for other weights.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     value, update = autoconv.compat.v1.metrics.mean([1.0, 3.0])
    ...     session.run(autoconv.compat.v1.local_variables_initializer())
    ...     session.run(update), session.run(value)
    (np.float32(2.0), np.float32(2.0))
    """
    elements = cast(convert_to_tensor(values), float32)
    element_weights = ones_like(elements)
    if weights is not None:
        weight_tensor = squeeze_to_rank(cast(convert_to_tensor(weights), float32), elements.shape.rank)
        if weight_tensor.shape.rank and elements.shape.rank == weight_tensor.shape.rank + 1:
            weight_tensor = expand_dims(weight_tensor, -1)
        check_weights(weight_tensor, elements)
        element_weights = weight_tensor * element_weights
    with variable_scope(name, default_name="mean"):
        total, count = _local_variable("total"), _local_variable("count")
    value = math.divide_no_nan(total.value(), count.value())
    updates = [
        total.assign_add(math.reduce_sum(elements * element_weights)),
        count.assign_add(math.reduce_sum(element_weights)),
    ]
    with control_dependencies(updates):
        update = math.divide_no_nan(total.value(), count.value())
    add_to_collections(metrics_collections or (), value)
    add_to_collections(updates_collections or (), update)
    return value, update


def accuracy(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, metrics_collections: object = None,
    updates_collections: object = None, name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the fraction of predictions so far that equal their labels, and a tensor that adds a batch when it is run.

    Predictions are cast to the dtype of the labels.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     value, update = autoconv.compat.v1.metrics.accuracy([1, 2], [1, 3])
    ...     session.run(autoconv.compat.v1.local_variables_initializer())
    ...     session.run(update)
    np.float32(0.5)
    """
    truth, values = _matched(labels, predictions)
    is_correct = math.equal(cast(values, truth.dtype), truth)
    return mean(is_correct, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, metrics_collections: object = None,
    updates_collections: object = None, name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the mean of the squared differences so far, and a tensor that adds a batch when it is run.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     value, update = autoconv.compat.v1.metrics.mean_squared_error([1.0, 2.0], [1.0, 4.0])
    ...     session.run(autoconv.compat.v1.local_variables_initializer())
    ...     session.run(update)
    np.float32(2.0)
    """
    truth, values = _matched(labels, predictions)
    difference = values - truth
    squares = difference * difference
    return mean(squares, weights, metrics_collections, updates_collections, name or "mean_squared_error")


def mean_absolute_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, metrics_collections: object = None,
    updates_collections: object = None, name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the mean of the absolute differences so far, and a tensor that adds a batch when it is run.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     value, update = autoconv.compat.v1.metrics.mean_absolute_error([1.0, 2.0], [1.0, 4.0])
    ...     session.run(autoconv.compat.v1.local_variables_initializer())
    ...     session.run(update)
    np.float32(1.0)
    """
    truth, values = _matched(labels, predictions)
    difference = math.abs(values - truth)
    return mean(difference, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


def _matched(labels: TensorLike, predictions: TensorLike) -> tuple[Any, Any]:
    """Return labels and predictions as tensors; a last axis of size 1 is dropped where the other tensor lacks it.

    Raises ValueError if their shapes are incompatible.
    """
    tensors = convert_to_tensor(labels), convert_to_tensor(predictions)
    truth, values = (squeeze_to_rank(x, y.shape.rank) for x, y in (tensors, tensors[::-1]))
    values.shape.assert_is_compatible_with(truth.shape)
    return truth, values


def _local_variable(name: str) -> Any:
    """Return a new local variable of the initial value 0."""
    collections = [GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES]
    return Variable(0.0, trainable=False, collections=collections, name=name)
