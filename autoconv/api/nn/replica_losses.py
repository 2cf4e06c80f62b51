"""Losses of one replica, scaled so that their sum over all replicas is the mean over all examples."""

from __future__ import annotations

from typing import Any

from autoconv.api.tensors.arithmetic import divide_no_nan
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.reductions import reduce_sum
from autoconv.api.tensors.shaping import shape
from autoconv.hooks import Hook
from autoconv.runtime.annotations import IntLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor

STRATEGY: Hook = Hook("autoconv.distribute")  # () -> the current strategy


def compute_average_loss(
    per_example_loss: TensorLike, sample_weight: TensorLike | None = None, global_batch_size: IntLike | None = None
) -> Tensor:
    """The sum of the (weighted) losses of examples, divided by the number of examples of all replicas.

    By default each replica has as many examples as this one. The loss of no examples is 0. Raises
    ValueError for a loss without a dimension of examples.

    >>> autoconv.nn.compute_average_loss([1.0, 3.0], global_batch_size=8).numpy()
    np.float32(0.5)
    """
    losses = convert_to_tensor(per_example_loss)
    if losses.shape.rank == 0:
        raise ValueError(f"per_example_loss has to have a dimension of examples, found {losses!r}")
    if sample_weight is not None:
        weights = cast(convert_to_tensor(sample_weight), losses.dtype)
        for _ in range((losses.shape.rank or 0) - (weights.shape.rank or 0)):
            weights = weights[..., None]
        losses = losses * weights
    if global_batch_size is None:
        global_batch_size = shape(losses)[0] * _replica_count()
    return divide_no_nan(reduce_sum(losses), cast(convert_to_tensor(global_batch_size), losses.dtype))


def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """The sum of a regularization loss divided by the number of replicas, each of which computes the whole loss.

    >>> autoconv.nn.scale_regularization_loss([1.0, 3.0]).numpy()
    np.float32(4.0)
    """
    losses = convert_to_tensor(regularization_loss)
    return reduce_sum(losses) / cast(convert_to_tensor(_replica_count()), losses.dtype)


def _replica_count() -> Any:
    """Return the number of replicas of the current strategy."""
    return STRATEGY().num_replicas_in_sync
