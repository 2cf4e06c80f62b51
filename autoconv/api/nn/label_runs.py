"""Labels of sequences: merging of repeated ones, and the distinct labels of each sequence."""

from __future__ import annotations

from typing import Any

from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import zeros
from autoconv.api.tensors.gather import scatter_nd, where
from autoconv.api.tensors.reductions import reduce_max, reduce_sum
from autoconv.api.tensors.shaping import concat, reshape, sequence_mask, shape, stack
from autoconv.api.tensors.sorting import unique
from autoconv.graph.dtypes import as_dtype, int32, int64
from autoconv.ops.index_spec import Mask
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def collapse_repeated(
    labels: TensorLike, seq_length: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Merge equal neighbouring labels in the first `seq_length` labels of each row.

    Returns the merged rows, padded with zeros, and their lengths.

    >>> merged, lengths = autoconv.nn.collapse_repeated([[1, 1, 2, 2, 1]], [5])
    >>> merged.numpy(), lengths.numpy()
    (array([[1, 2, 1]], dtype=int32), array([3], dtype=int32))
    """
    tensor: Any = convert_to_tensor(labels)
    given_lengths = convert_to_tensor(seq_length)
    lengths = cast(given_lengths, int32)
    is_first = apply("ones_like", get_item(tensor, (slice(None), slice(None, 1))), dtype=as_dtype("bool"))
    later_labels = get_item(tensor, (slice(None), slice(1, None)))
    earlier_labels = get_item(tensor, (slice(None), slice(None, -1)))
    is_changed = apply("not_equal", later_labels, earlier_labels)
    is_run_start = apply("logical_and", concat([is_first, is_changed], 1), sequence_mask(lengths, shape(tensor)[1]))
    run_counts: Any = reduce_sum(cast(is_run_start, int32), 1)
    width = reduce_max(run_counts)
    run_starts = where(is_run_start)
    row_numbers = get_item(run_starts, (slice(None), 0))
    column_numbers: Any = apply("cumsum", cast(is_run_start, int64), axis=1, exclusive=True, reverse=False)
    result_columns = apply("get_item", column_numbers, is_run_start, spec=(Mask(),))
    values = apply("get_item", tensor, is_run_start, spec=(Mask(),))
    out_shape = stack([cast(shape(tensor)[0], int64), cast(width, int64)])
    return scatter_nd(stack([row_numbers, result_columns], 1), values, out_shape), cast(run_counts, given_lengths.dtype)


def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> list[Tensor]:
    """The distinct labels of each row [batch, time], padded with zeros, and for each label its index among these.

    >>> distinct, indices = autoconv.nn.ctc_unique_labels([[3, 4, 3]])
    >>> distinct.numpy(), indices.numpy()
    (array([[3, 4, 0]]), array([[0, 1, 0]], dtype=int32))
    """
    tensor = convert_to_tensor(labels)
    row_count = tensor.shape[0]
    if row_count is None:
        raise ValueError("ctc_unique_labels takes labels of a known batch")
    distinct_rows, indices = [], []
    width = shape(tensor)[1] if row_count else 0
    for i in range(row_count):
        distinct_labels = unique(get_item(tensor, i))
        missing_count = width - shape(distinct_labels.y)[0]
        distinct_rows.append(concat([cast(distinct_labels.y, int64), zeros(reshape(missing_count, [1]), int64)], 0))
        indices.append(distinct_labels.idx)
    return [stack(distinct_rows), stack(indices)] if indices else [zeros([0], int64), zeros([0], int32)]
