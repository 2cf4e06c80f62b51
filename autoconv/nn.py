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
from autoconv.api.nn.convolution_gradients import depthwise_conv2d_backprop_filter, depthwise_conv2d_backprop_input
from autoconv.api.nn.isotonic import isotonic_regression
from autoconv.api.nn.label_runs import (
    collapse_repeated,
    ctc_unique_labels,
)
from autoconv.api.nn.layers import (
    batch_norm_with_global_normalization,
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
from autoconv.api.nn.morphology import dilation2d, erosion2d
from autoconv.api.nn.pooling import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_with_argmax,
    pool,
)
from autoconv.api.nn.replica_losses import compute_average_loss, scale_regularization_loss
from autoconv.api.nn.space_batches import space_to_batch, with_space_to_batch
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
    atrous_conv2d_transpose,
    conv1d_transpose,
    conv2d_transpose,
    conv3d_transpose,
    conv_transpose,
)
from autoconv.api.random.dropout import dropout, general_dropout, stateless_dropout
from autoconv.api.random.sampled_losses import (
    all_candidate_sampler,
    compute_accidental_hits,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    nce_loss,
    sampled_softmax_loss,
)
from autoconv.api.sparse.ctc import ctc_loss
from autoconv.api.sparse.ctc_decoding import ctc_beam_search_decoder, ctc_greedy_decoder
from autoconv.api.sparse.embedding import embedding_lookup_sparse, safe_embedding_lookup_sparse
from autoconv.api.tensors.maths import log_sigmoid, sigmoid, softplus
from autoconv.api.tensors.norms import l2_normalize
from autoconv.api.tensors.reductions import zero_fraction
from autoconv.api.tensors.sorting import approx_max_k, approx_min_k
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

experimental = SimpleNamespace(general_dropout=general_dropout, stateless_dropout=stateless_dropout)

__all__ = [
    "all_candidate_sampler", "approx_max_k", "approx_min_k", "atrous_conv2d", "atrous_conv2d_transpose", "avg_pool",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_norm_with_global_normalization", "batch_normalization", "bias_add",
    "collapse_repeated", "compute_accidental_hits", "compute_average_loss", "conv1d", "conv1d_transpose", "conv2d",
    "conv2d_transpose", "conv3d", "conv3d_transpose", "conv_transpose", "convolution", "crelu",
    "ctc_beam_search_decoder", "ctc_greedy_decoder", "ctc_loss", "ctc_unique_labels", "depth_to_space",
    "depthwise_conv2d", "depthwise_conv2d_backprop_filter", "depthwise_conv2d_backprop_input", "dilation2d", "dropout",
    "elu", "embedding_lookup", "embedding_lookup_sparse", "erosion2d", "fixed_unigram_candidate_sampler", "gelu",
    "in_top_k", "isotonic_regression", "l2_loss", "l2_normalize", "leaky_relu", "learned_unigram_candidate_sampler",
    "local_response_normalization", "log_poisson_loss", "log_sigmoid", "log_softmax", "lrn", "max_pool", "max_pool1d",
    "max_pool2d", "max_pool3d", "max_pool_with_argmax", "moments", "nce_loss", "normalize_moments", "pool", "relu",
    "relu6", "safe_embedding_lookup_sparse", "sampled_softmax_loss", "scale_regularization_loss", "selu",
    "separable_conv2d", "sigmoid", "sigmoid_cross_entropy_with_logits", "silu", "softmax",
    "softmax_cross_entropy_with_logits", "softplus", "softsign", "space_to_batch", "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits", "sufficient_statistics", "swish", "tanh", "top_k",
    "weighted_cross_entropy_with_logits", "weighted_moments", "with_space_to_batch", "zero_fraction",
]  # fmt: skip

_wrap_public_functions(globals())
