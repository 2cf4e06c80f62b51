"""Raw ops that find distinct elements, or distinct slices along an axis, and differences of lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autoconv as tf
from autoconv import Tensor
from autoconv.runtime.annotations import DTypeLike, TensorLike


def _unique(x: TensorLike, axis: TensorLike, out_idx: DTypeLike = tf.int32) -> tuple[Any, Any]:
    """Return the distinct slices in the order of their first occurrence, and the index of each slice among them."""
    values: Any = tf.convert_to_tensor(x)
    axes = np.asarray(axis).reshape(-1)
    rank = values.shape.rank
    slice_axis = int(axes[0]) % rank if len(axes) else 0
    if rank == 1:
        distinct, positions = tf.unique(values, out_idx)
        return distinct, positions
    other_axes = [i for i in range(rank) if i != slice_axis]
    sizes = tf.shape(values, tf.int64)
    slice_count, slice_size = sizes[slice_axis], tf.reduce_prod(tf.gather(sizes, other_axes))
    rows = tf.reshape(tf.transpose(values, [slice_axis, *other_axes]), [slice_count, slice_size])
    # A class is a set of equal slices; classes are numbered in the order of their first slices.
    classes = tf.foldl(_refine_classes, tf.transpose(rows), tf.zeros([slice_count], tf.int64))
    class_count = tf.reduce_max(tf.concat([classes, [-1]], 0)) + 1
    first_positions = tf.math.unsorted_segment_min(tf.range(slice_count), classes, class_count)
    return tf.gather(values, first_positions, axis=slice_axis), tf.cast(classes, out_idx)


def _refine_classes(classes: Tensor, column: Tensor) -> Any:
    """Return the classes of slices that are equal up to this column, given the classes up to the previous column."""
    _, column_classes = tf.unique(column, tf.int64)
    _, refined_classes = tf.unique(classes * tf.size(column, tf.int64) + column_classes, tf.int64)
    return refined_classes


def _unique_with_counts(x: TensorLike, axis: TensorLike, out_idx: DTypeLike = tf.int32) -> tuple[Any, Any, Any]:
    distinct, positions = _unique(x, axis, out_idx)
    return distinct, positions, tf.cast(tf.math.bincount(tf.cast(positions, tf.int32)), out_idx)


def _list_difference(x: TensorLike, y: TensorLike, out_idx: DTypeLike = tf.int32) -> tuple[object, object]:
    """Return the elements of `x` that are not in `y`, and their indices."""
    return tf.compat.v1.setdiff1d(x, y, out_idx)  # type: ignore[no-any-return]


# Name of a raw op -> a function with its parameters, written in public functions.
FORM_BY_OP: dict[str, Callable[..., object]] = {
    "ListDiff": _list_difference,
    "UniqueV2": _unique,
    "UniqueWithCountsV2": _unique_with_counts,
}
