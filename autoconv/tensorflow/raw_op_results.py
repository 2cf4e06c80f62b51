"""The names of the results of raw ops that have several: they are fields of a named tuple with the op's name."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable

# The fields of results, and the ops that have them.
_OPS_BY_FIELDS = {
    "sampled_candidates true_expected_count sampled_expected_count": (
        "AllCandidateSampler LearnedUnigramCandidateSampler LogUniformCandidateSampler UniformCandidateSampler"
    ),
    "indices ids weights": "ComputeAccidentalHits",
    "nmsed_boxes nmsed_scores nmsed_classes valid_detections": "CombinedNonMaxSuppression",
    "e v": "Eig SelfAdjointEigV2",
    "sign log_abs_determinant": "LogMatrixDeterminant",
    "lu p": "Lu",
    "q r": "Qr",
    "s u v": "Svd",
    "audio sample_rate": "DecodeWav",
    "values indices": "ApproxTopK TopK TopKV2",
    "y batch_mean batch_variance reserve_space_1 reserve_space_2": "FusedBatchNormV2",
    "output segments": "IsotonicRegression",
    "output argmax": "MaxPoolWithArgmax",
    "loss backprop": "SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits",
    "sum_indices sum_values sum_shape": "SparseAdd",
    "output_indices output_values output_shape": "SparseConcat SparseSlice",
    "output_indices output_values": "SparseReorder SparseSparseMaximum SparseSparseMinimum",
    "output_indices output_shape": "SparseReshape",
    "sparse_indices sparse_values sparse_dense_shape": "RaggedTensorToSparse",
    "r0 r1": "BroadcastGradientArgs",
    "out idx": "ListDiff",
    "y idx": "Unique UniqueV2",
    "y idx count": "UniqueWithCounts UniqueWithCountsV2",
    "i cs f o ci co h": "BlockLSTM BlockLSTMV2 LSTMBlockCell",
    "r u c h": "GRUBlockCell",
    "indices values shape": "StringSplit StringSplitV2",
    "rt_nested_splits rt_dense_values": "RaggedRange",
}
_FIELDS_BY_OP = {op: fields for fields, ops in _OPS_BY_FIELDS.items() for op in ops.split()}


@functools.cache
def result_class(op: str) -> Callable[..., object] | None:
    """Return the class of the results of an op; None for an op with one result, or whose results have no names."""
    return namedtuple(op, _FIELDS_BY_OP[op]) if op in _FIELDS_BY_OP else None  # type: ignore[misc]
