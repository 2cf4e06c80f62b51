"""The loss of connectionist temporal classification (Graves et al., 2006)."""

from __future__ import annotations

from typing import Any

from autoconv.api.control.functional import foldl
from autoconv.api.nn.layers import log_softmax
from autoconv.api.tensors.arguments import static_int
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import equal, logical_and, not_equal
from autoconv.api.tensors.constants import fill, zeros_like
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather, where
from autoconv.api.tensors.reductions import reduce_logsumexp
from autoconv.api.tensors.shaping import concat, pad, reshape, shape, stack, transpose
from autoconv.runtime.annotations import IntLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor

_NEVER = -1e30  # the logarithm of a probability of 0, whose gradient is defined


def ctc_loss(
    labels: TensorLike, logits: TensorLike, label_length: TensorLike, logit_length: TensorLike,
    logits_time_major: bool = True, unique: object = None, blank_index: IntLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Minus the logarithm of the probability that the frames of `logits` spell the labels, for each of a batch.

    `labels` is [batch, labels], `logits` [frames, batch, classes] ([batch, frames, classes] unless time comes first).
    A frame spells a label, the one before again, or a blank (class `blank_index`, 0 by default).

    >>> autoconv.nn.ctc_loss([[1]], [[[0.0, 0.0]], [[0.0, 0.0]]], [1], [2]).numpy().round(4)
    array([0.2877], dtype=float32)
    """
    frames: Any = convert_to_tensor(logits)
    frames = frames if logits_time_major else transpose(frames, [1, 0, 2])
    blank = 0 if blank_index is None else static_int(blank_index, "blank_index")
    blank = blank + frames.shape[-1] if blank < 0 else blank
    result: Any = cast(convert_to_tensor(labels), "int32")
    lengths: Any = cast(convert_to_tensor(label_length), "int32")
    ends: Any = cast(convert_to_tensor(logit_length), "int32")
    # The path: blank, first label, blank, second label, …, blank.
    blanks = zeros_like(result) + blank
    path: Any = reshape(stack([blanks, result], axis=-1), [shape(result)[0], -1])
    path = concat([path, blanks[:, :1]], axis=1)
    places = tensor_range(shape(path)[1])[None]
    # From a label to the next, unless it is the same. A label may be the blank's class: it is one more label.
    skips = logical_and(equal(places % 2, 1), not_equal(path, pad(path, [[0, 0], [2, 0]])[:, :-2]))
    paths = path[None] + zeros_like(cast(frames[..., :1], "int32"))
    emitted: Any = gather(log_softmax(frames), paths, axis=2, batch_dims=2)
    never = cast(fill(shape(path), _NEVER), emitted.dtype)
    begins = where(logical_and(places < 2, places <= 2 * lengths[:, None]), emitted[0], never)

    def step(scores: Any, frame: Any) -> Any:
        here, number = frame
        one = pad(scores, [[0, 0], [1, 0]], constant_values=_NEVER)[:, :-1]
        two = where(skips, pad(scores, [[0, 0], [2, 0]], constant_values=_NEVER)[:, :-2], never)
        moved = reduce_logsumexp(stack([scores, one, two]), axis=0) + here
        return where((number < ends)[:, None], moved, scores)

    last: Any = foldl(step, (emitted[1:], tensor_range(1, shape(frames)[0])), begins)
    final = where(places == 2 * lengths[:, None], last, where(places == 2 * lengths[:, None] - 1, last, never))
    return -reduce_logsumexp(final, axis=1)
