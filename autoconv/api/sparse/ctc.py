"""The loss of connectionist temporal classification (Graves et al., 2006)."""

from __future__ import annotations

from typing import Any

from autoconv.api.control.functional import foldl
from autoconv.api.nn.layers import log_softmax
from autoconv.api.sparse.conversion import to_dense
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.api.tensors.arguments import static_int
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import equal, logical_and, not_equal
from autoconv.api.tensors.constants import fill, ones_like, zeros_like
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather, unsorted_segment_sum, where
from autoconv.api.tensors.reductions import reduce_logsumexp
from autoconv.api.tensors.shaping import concat, pad, reshape, shape, stack, transpose
from autoconv.errors import InvalidArgumentError
from autoconv.graph.types import are_shapes_compatible
from autoconv.runtime.annotations import IntLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor

_LOG_ZERO = -1e30  # the logarithm of a probability of 0, whose gradient is defined


def ctc_loss(
    labels: TensorLike | SparseTensor, logits: TensorLike, label_length: TensorLike | None, logit_length: TensorLike,
    logits_time_major: bool = True, unique: object = None, blank_index: IntLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Minus the logarithm of the probability that the frames of `logits` spell the labels, for each row of a batch.

    `labels` is [batch, labels], `logits` [frames, batch, classes], or [batch, frames, classes] without
    `logits_time_major`. `label_length` and `logit_length` are the numbers of labels and frames of each row. A frame
    spells the next label, repeats the previous one, or is blank (class `blank_index`, 0 by default). `unique` has no
    effect. A SparseTensor of labels gives their numbers, in the place of `label_length`; it raises ValueError without
    `blank_index`. Raises InvalidArgumentError unless `label_length` has one number for each row of `labels`.

    >>> autoconv.nn.ctc_loss([[1]], [[[0.0, 0.0]], [[0.0, 0.0]]], [1], [2]).numpy().round(4)
    array([0.2877], dtype=float32)
    """
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError("Argument `blank_index` must be provided when labels is a SparseTensor.")
        row_numbers, row_count = labels.indices[:, 0], labels.dense_shape[0]
        label_length = unsorted_segment_sum(ones_like(row_numbers), row_numbers, row_count)
        labels = to_dense(labels)
    logits_by_frame: Any = convert_to_tensor(logits)
    logits_by_frame = logits_by_frame if logits_time_major else transpose(logits_by_frame, [1, 0, 2])
    blank_class = 0 if blank_index is None else static_int(blank_index, "blank_index")
    blank_class = blank_class + logits_by_frame.shape[-1] if blank_class < 0 else blank_class
    label_ids: Any = cast(convert_to_tensor(labels), "int32")
    lengths: Any = cast(convert_to_tensor(label_length), "int32")
    frame_counts: Any = cast(convert_to_tensor(logit_length), "int32")
    if not are_shapes_compatible(lengths.type.shape, label_ids.type.shape and label_ids.type.shape[:1]):
        raise InvalidArgumentError(f"label_length has shape {lengths.shape}, and labels {label_ids.shape}")
    # The extended labels: blank, first label, blank, second label, …, blank.
    blanks = zeros_like(label_ids) + blank_class
    extended_labels: Any = reshape(stack([blanks, label_ids], axis=-1), [shape(label_ids)[0], -1])
    extended_labels = concat([extended_labels, blanks[:, :1]], axis=1)
    positions = tensor_range(shape(extended_labels)[1])[None]
    # A blank between two labels may be skipped unless they are equal. Odd positions are always labels.
    second_previous = pad(extended_labels, [[0, 0], [2, 0]])[:, :-2]
    may_skip = logical_and(equal(positions % 2, 1), not_equal(extended_labels, second_previous))
    extended_labels_by_frame = extended_labels[None] + zeros_like(cast(logits_by_frame[..., :1], "int32"))
    emissions: Any = gather(log_softmax(logits_by_frame), extended_labels_by_frame, axis=2, batch_dims=2)
    log_zero = cast(fill(shape(extended_labels), _LOG_ZERO), emissions.dtype)
    first_scores = where(logical_and(positions < 2, positions <= 2 * lengths[:, None]), emissions[0], log_zero)

    def step(scores: Any, frame: Any) -> Any:
        """Return the log-probability that the frames until this one end at each position in the extended labels."""
        emission, frame_number = frame
        from_previous = pad(scores, [[0, 0], [1, 0]], constant_values=_LOG_ZERO)[:, :-1]
        from_skipped = where(may_skip, pad(scores, [[0, 0], [2, 0]], constant_values=_LOG_ZERO)[:, :-2], log_zero)
        new_scores = reduce_logsumexp(stack([scores, from_previous, from_skipped]), axis=0) + emission
        return where((frame_number < frame_counts)[:, None], new_scores, scores)

    last_scores: Any = foldl(step, (emissions[1:], tensor_range(1, shape(logits_by_frame)[0])), first_scores)
    label_end_scores = where(positions == 2 * lengths[:, None] - 1, last_scores, log_zero)
    final_scores = where(positions == 2 * lengths[:, None], last_scores, label_end_scores)
    return -reduce_logsumexp(final_scores, axis=1)
