"""Functions for neural networks."""

from autoconv.api.nn.convolution import conv1d, conv2d
from autoconv.api.nn.layers import (
    batch_normalization,
    bias_add,
    dropout,
    elu,
    embedding_lookup,
    gelu,
    in_top_k,
    l2_loss,
    l2_normalize,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    moments,
    relu,
    relu6,
    selu,
    sigmoid,
    sigmoid_cross_entropy_with_logits,
    silu,
    softmax,
    softmax_cross_entropy_with_logits,
    softplus,
    softsign,
    sparse_softmax_cross_entropy_with_logits,
    swish,
    tanh,
    top_k,
)
from autoconv.api.nn.pooling import avg_pool, avg_pool1d, avg_pool2d, max_pool, max_pool1d, max_pool2d
from autoconv.api.tensors.reductions import zero_fraction
from autoconv.runtime.recording.tracebacks import present_functions as _present_functions

__all__ = [
    "avg_pool", "avg_pool1d", "avg_pool2d", "batch_normalization", "bias_add", "conv1d", "conv2d", "dropout",
    "elu", "embedding_lookup", "gelu", "in_top_k", "l2_loss", "l2_normalize", "leaky_relu", "log_sigmoid",
    "log_softmax", "max_pool", "max_pool1d", "max_pool2d", "moments", "relu", "relu6", "selu", "sigmoid",
    "sigmoid_cross_entropy_with_logits", "silu", "softmax", "softmax_cross_entropy_with_logits", "softplus",
    "softsign", "sparse_softmax_cross_entropy_with_logits", "swish", "tanh", "top_k", "zero_fraction",
]  # fmt: skip

_present_functions(globals())
