"""Functions for neural networks."""

from types import SimpleNamespace

from autoconv.api.nn.blocks import depth_to_space, space_to_depth
from autoconv.api.nn.convolution import (
    atrous_conv2d,
    conv1d,
    conv2d,
    conv3d,
    convolution,
    depthwise_conv2d,
    separable_conv2d,
)
from autoconv.api.nn.ctc import ctc_loss
from autoconv.api.nn.layers import (
    batch_normalization,
    bias_add,
    elu,
    embedding_lookup,
    gelu,
    in_top_k,
    l2_loss,
    leaky_relu,
    log_softmax,
    moments,
    relu,
    relu6,
    selu,
    sigmoid_cross_entropy_with_logits,
    silu,
    softmax,
    softmax_cross_entropy_with_logits,
    softsign,
    sparse_softmax_cross_entropy_with_logits,
    swish,
    tanh,
    top_k,
)
from autoconv.api.nn.pooling import avg_pool, avg_pool1d, avg_pool2d, max_pool, max_pool1d, max_pool2d, pool
from autoconv.api.nn.replica_losses import compute_average_loss, scale_regularization_loss
from autoconv.api.nn.statistics import (
    crelu,
    local_response_normalization,
    log_poisson_loss,
    lrn,
    normalize_moments,
    sufficient_statistics,
    weighted_cross_entropy_with_logits,
    weighted_moments,
)
from autoconv.api.nn.transposed_convolution import (
    conv1d_transpose,
    conv2d_transpose,
    conv3d_transpose,
    conv_transpose,
)
from autoconv.api.random.dropout import dropout, stateless_dropout
from autoconv.api.sparse.ctc_decoding import ctc_beam_search_decoder, ctc_greedy_decoder
from autoconv.api.sparse.embedding import embedding_lookup_sparse, safe_embedding_lookup_sparse
from autoconv.api.tensors.maths import log_sigmoid, sigmoid, softplus
from autoconv.api.tensors.norms import l2_normalize
from autoconv.api.tensors.reductions import zero_fraction
from autoconv.runtime.recording.tracebacks import present_functions as _present_functions

experimental = SimpleNamespace(stateless_dropout=stateless_dropout)

__all__ = [
    "atrous_conv2d", "avg_pool", "avg_pool1d", "avg_pool2d", "batch_normalization", "bias_add",
    "compute_average_loss", "conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose", "conv3d",
    "conv3d_transpose", "conv_transpose", "convolution", "crelu", "ctc_beam_search_decoder", "ctc_greedy_decoder",
    "ctc_loss", "depth_to_space", "depthwise_conv2d", "dropout", "elu", "embedding_lookup",
    "embedding_lookup_sparse", "gelu", "in_top_k", "l2_loss", "l2_normalize", "leaky_relu",
    "local_response_normalization", "log_poisson_loss", "log_sigmoid", "log_softmax", "lrn", "max_pool",
    "max_pool1d", "max_pool2d", "moments", "normalize_moments", "pool", "relu", "relu6",
    "safe_embedding_lookup_sparse", "scale_regularization_loss", "selu", "separable_conv2d", "sigmoid",
    "sigmoid_cross_entropy_with_logits", "silu", "softmax", "softmax_cross_entropy_with_logits", "softplus",
    "softsign", "space_to_depth", "sparse_softmax_cross_entropy_with_logits", "sufficient_statistics", "swish",
    "tanh", "top_k", "weighted_cross_entropy_with_logits", "weighted_moments", "zero_fraction",
]  # fmt: skip

_present_functions(globals())
