"""Losses over a random sample of many classes, with the parameters of version 1."""

from __future__ import annotations

from typing import Any

from autoconv import nn
from autoconv.compat.v1.nn.layers import join_parts
from autoconv.runtime.annotations import IntLike, TensorLike
from autoconv.runtime.tensors.tensor import Tensor


def nce_loss(
    weights: Any, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: IntLike,
    num_classes: IntLike, num_true: IntLike = 1, sampled_values: Any = None, remove_accidental_hits: bool = False,
    partition_strategy: str = "mod", name: str = "nce_loss",
) -> Tensor:  # fmt: skip
    """The noise-contrastive loss of each row of `inputs` (Gutmann and Hyvärinen, 2010); parameters as in `nn.nce_loss`.

    >>> autoconv.compat.v1.nn.nce_loss(np.zeros((5, 2), "f"), np.zeros(5, "f"), [[1]], np.ones((1, 2), "f"), 2, 5).shape
    TensorShape([1])
    """
    return nn.nce_loss(
        join_parts(weights, partition_strategy), biases, labels, inputs, num_sampled, num_classes, num_true,
        sampled_values, remove_accidental_hits,
    )  # fmt: skip


def sampled_softmax_loss(
    weights: Any, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: IntLike,
    num_classes: IntLike, num_true: IntLike = 1, sampled_values: Any = None, remove_accidental_hits: bool = True,
    partition_strategy: str = "mod", name: str = "sampled_softmax_loss", seed: int | None = None,
) -> Tensor:  # fmt: skip
    """The softmax loss over true and sampled classes of each row of `inputs` (Jean et al., 2014).

    >>> weights, biases, x = np.zeros((5, 2), "f"), np.zeros(5, "f"), np.ones((1, 2), "f")
    >>> autoconv.compat.v1.nn.sampled_softmax_loss(weights, biases, [[1]], x, 2, 5).shape
    TensorShape([1])
    """
    return nn.sampled_softmax_loss(
        join_parts(weights, partition_strategy), biases, labels, inputs, num_sampled, num_classes, num_true,
        sampled_values, remove_accidental_hits, seed,
    )  # fmt: skip
