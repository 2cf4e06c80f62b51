"""Counts of pairs of classes: the confusion matrix."""

from __future__ import annotations

from autoconv.api.control.checks import assert_less, assert_non_negative
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import maximum
from autoconv.api.tensors.constants import ones_like
from autoconv.api.tensors.gather import scatter_nd
from autoconv.api.tensors.reductions import reduce_max
from autoconv.api.tensors.shaping import reshape, stack
from autoconv.graph.dtypes import as_dtype, int32
from autoconv.runtime.annotations import DTypeLike, IntLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def confusion_matrix(
    labels: TensorLike, predictions: TensorLike, num_classes: IntLike | None = None,
    weights: TensorLike | None = None, dtype: DTypeLike = int32, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Count the occurrences of each pair of a label (row) and a prediction (column).

    The result has the shape [num_classes, num_classes]. Given `weights`, one for each pair, it has their sums instead.
    By default `num_classes` is the greatest class plus 1. Raises InvalidArgumentError for a class below 0 or from
    `num_classes` on.

    >>> autoconv.math.confusion_matrix([1, 0, 1], [1, 0, 0]).numpy()
    array([[1, 0],
           [1, 1]], dtype=int32)
    """
    rows, columns = (cast(convert_to_tensor(x), "int64") for x in (labels, predictions))
    if (rows.shape.rank or 0) > 1 or (columns.shape.rank or 0) > 1:
        # TensorFlow stacks along axis 1: a row of the result has two labels, or two predictions.
        pairs = reshape(stack([rows, columns], axis=1), [-1, 2])
        rows, columns = pairs[:, 0], pairs[:, 1]
    rows, columns = reshape(rows, [-1]), reshape(columns, [-1])
    for class_ids, argument_name in ((rows, "`labels`"), (columns, "`predictions`")):
        assert_non_negative(class_ids, f"{argument_name} contains negative values")
    if num_classes is None:
        class_count = maximum(reduce_max(rows), reduce_max(columns)) + 1
    else:
        class_count = cast(convert_to_tensor(num_classes), "int64")
        assert_less(rows, class_count, "`labels` out of bound")
        assert_less(columns, class_count, "`predictions` out of bound")
    out_dtype = as_dtype(dtype)
    if weights is None:
        increments = ones_like(rows, out_dtype)
    else:
        increments = cast(reshape(convert_to_tensor(weights), [-1]), out_dtype)
    return scatter_nd(stack([rows, columns], axis=1), increments, stack([class_count, class_count]))
