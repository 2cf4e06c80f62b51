"""Neural networks in version 1: the ops of `nn` with the parameters of version 1, and recurrent networks."""

from __future__ import annotations

from typing import Any

from autoconv import nn
from autoconv.compat.v1.nn import rnn_cell
from autoconv.compat.v1.nn.layers import (
    avg_pool,
    conv2d,
    dropout,
    embedding_lookup,
    fused_batch_norm,
    max_pool,
    moments,
    relu_layer,
    xw_plus_b,
)
from autoconv.compat.v1.nn.losses import (
    in_top_k,
    log_softmax,
    sigmoid_cross_entropy_with_logits,
    softmax,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from autoconv.compat.v1.nn.rnn import bidirectional_dynamic_rnn, dynamic_rnn, static_rnn
from autoconv.compat.v1.nn.sampling import nce_loss, sampled_softmax_loss
from autoconv.random import log_uniform_candidate_sampler

__all__ = [
    "avg_pool", "bidirectional_dynamic_rnn", "conv2d", "dropout", "dynamic_rnn", "embedding_lookup",
    "fused_batch_norm", "in_top_k", "log_softmax", "log_uniform_candidate_sampler", "max_pool", "moments", "nce_loss",
    "relu_layer", "rnn_cell", "sampled_softmax_loss", "sigmoid_cross_entropy_with_logits", "softmax",
    "softmax_cross_entropy_with_logits", "softmax_cross_entropy_with_logits_v2",
    "sparse_softmax_cross_entropy_with_logits", "static_rnn", "weighted_cross_entropy_with_logits", "xw_plus_b",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Return a name of `autoconv.nn` whose meaning is the same in both versions."""
    return getattr(nn, name)
