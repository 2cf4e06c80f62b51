"""The table of conditions on the arguments of public functions.

A key is the path of the function's module in `autoconv.api`, `autoconv.runtime` or `autoconv`, and its name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.errors import AssertionFailedError, TensorConversionError, UnsupportedCastError
from autoconv.graph.dtype_sets import (
    ANY,
    COMPLEX,
    FLOATING,
    IEEE_FLOATING,
    INDICES,
    INTEGERS,
    LARGE_INTEGERS,
    NUMERIC,
    REAL,
    SIGNED,
    SINGLE_OR_DOUBLE,
)
from autoconv.graph.dtypes import bfloat16, bool_, float16, float32, float64, int32, string, uint16, uint32, uint64
from autoconv.runtime.recording.media_conditions import MEDIA_CONDITIONS
from autoconv.runtime.recording.parameter_checks import (
    Table,
    ascending,
    at_least,
    bind,
    constants,
    dtypes,
    dtypes_checked_in_python,
    first_decides_dtype,
    flags,
    has_attribute,
    in_graphs,
    integers,
    keeps_dtype,
    lists,
    numbers,
    ranks,
    refuses,
    result_dtypes,
    same_dtype,
    scalars,
    shared_conditions,
)

_SET_ITEMS = (INTEGERS - {uint32, uint64}) | {string}


_FACTORS, _FACTOR_KERNELS = IEEE_FLOATING | COMPLEX, SINGLE_OR_DOUBLE | COMPLEX  # of decompositions of matrices
_DECOMPOSITIONS = {
    **shared_conditions(
        "matrices.linalg.cholesky matrices.linalg.det matrices.linalg.slogdet matrices.functions.expm "
        "matrices.functions.sqrtm matrices.factors.lu",
        dtypes("input", _FACTORS, _FACTOR_KERNELS),
    ),
    **shared_conditions(
        "matrices.linalg.eigh matrices.linalg.eigvalsh matrices.linalg.svd",
        dtypes("tensor", _FACTORS, _FACTOR_KERNELS),
    ),
    "matrices.functions.logm": (dtypes("input", COMPLEX),),
    "matrices.linalg.logdet": (dtypes("matrix", _FACTORS, _FACTOR_KERNELS),),
    "matrices.linalg.pinv": (dtypes_checked_in_python("a", FLOATING), dtypes("a", FLOATING, _FACTOR_KERNELS)),
    "matrices.factors.matrix_rank": (dtypes("a", FLOATING, SINGLE_OR_DOUBLE, tensors_only=True),),
    "matrices.linalg.solve": (
        dtypes("matrix rhs", _FACTORS, _FACTOR_KERNELS),
    ),
    "matrices.linalg.triangular_solve": (
        dtypes("matrix rhs", _FACTORS | {bfloat16}, _FACTOR_KERNELS), ranks("matrix rhs", 2),
    ),
    "matrices.linalg.cholesky_solve": (
        dtypes("chol rhs", _FACTORS | {bfloat16}, _FACTOR_KERNELS),
    ),
    "matrices.factor_solutions.banded_triangular_solve": (
        dtypes("bands rhs", _FACTORS, _FACTOR_KERNELS), ranks("bands rhs", 2),
    ),
    "matrices.factor_solutions.lu_matrix_inverse": (
        dtypes("lower_upper", _FACTORS | {bfloat16}, _FACTOR_KERNELS, tensors_only=True),
    ),
}

_PRODUCTS = FLOATING | INDICES | COMPLEX
_MATRICES = {
    "matrices.linalg.matvec": (dtypes("a b", NUMERIC, _PRODUCTS), first_decides_dtype("a", "b")),
    "matrices.linalg.matmul": (first_decides_dtype("a", "b"),),
    "matrices.functions.lstsq": (dtypes("matrix rhs", NUMERIC, _PRODUCTS),),
    "matrices.linalg.cross": (dtypes("a b", REAL),),
    "matrices.bands.diag": (integers("num_rows num_cols"), scalars("num_rows num_cols")),
    "matrices.bands.set_diag": (dtypes("input diagonal", ANY, ANY - {string}),),
    "matrices.diagonals.tensor_diag": (
        dtypes("diagonal", _FACTORS | {bfloat16} | LARGE_INTEGERS, _FACTORS | LARGE_INTEGERS),
    ),
    "matrices.diagonals.tensor_diag_part": (
        dtypes("input", _FACTORS | {bfloat16} | LARGE_INTEGERS, _FACTORS | LARGE_INTEGERS),
        *in_graphs(ranks("input", 1)),
    ),
}

_MATHEMATICS = {
    "tensors.arithmetic.truediv": (first_decides_dtype("x", "y"),),
    "tensors.positions.scalar_mul": (has_attribute("x", "dtype"),),
    **shared_conditions(
        "tensors.special.bessel_i0 tensors.special.bessel_i1 tensors.special.bessel_i0e tensors.special.bessel_i1e "
        "tensors.maths.lgamma tensors.maths.digamma tensors.special.lbeta",
        dtypes("x", FLOATING, IEEE_FLOATING),
    ),
    **shared_conditions(
        "tensors.maths.rint tensors.special.erfcinv tensors.special.erfinv tensors.special.ndtri "
        "special_integrals.dawsn special_integrals.expint special_integrals.spence "
        "special_integrals.fresnel_cos special_integrals.fresnel_sin",
        dtypes("x", FLOATING, SINGLE_OR_DOUBLE),
    ),
    **shared_conditions(
        "tensors.special.igamma tensors.special.igammac",
        dtypes("a x", FLOATING, SINGLE_OR_DOUBLE),
    ),
    "tensors.special.betainc": (dtypes("a b x", SINGLE_OR_DOUBLE),),
    "tensors.maths.reciprocal": (dtypes("x", FLOATING | SIGNED | COMPLEX, FLOATING | COMPLEX),),
    "tensors.maths.round": (dtypes("x", NUMERIC, FLOATING | INTEGERS),),
    "tensors.arithmetic.floordiv": (dtypes("x y", NUMERIC, REAL),),
    "tensors.positions.realdiv": (dtypes("x y", NUMERIC, FLOATING | COMPLEX),),
    "tensors.positions.truncatediv": (dtypes("x y", NUMERIC, REAL),),
    "tensors.positions.truncatemod": (dtypes("x y", FLOATING | LARGE_INTEGERS, SINGLE_OR_DOUBLE | LARGE_INTEGERS),),
    "tensors.positions.cumulative_logsumexp": (flags("exclusive reverse"), scalars("axis")),
    "tensors.arithmetic.add": (first_decides_dtype("x", "y"),),
    "tensors.arithmetic.multiply_no_nan": (
        first_decides_dtype("x", "y", TensorConversionError),
        *in_graphs(same_dtype("x", "y", TensorConversionError, tensors_only=True)),
    ),
    **shared_conditions(
        "tensors.sorting.approx_max_k tensors.sorting.approx_min_k",
        dtypes("operand", FLOATING - {float64}), *in_graphs(constants("k")),
    ),
    "tensors.sorting.searchsorted": (
        dtypes("sorted_sequence values", ANY, REAL), first_decides_dtype("sorted_sequence", "values"),
    ),
    **shared_conditions(
        "tensors.sorting.unique tensors.sorting.unique_with_counts",
        dtypes("x", ANY, ANY - COMPLEX),
    ),
    "tensors.sorting.top_k": (integers("k", INDICES),),
    **shared_conditions(
        "tensors.reductions.reduce_std tensors.reductions.reduce_variance",
        dtypes("input_tensor", NUMERIC),
    ),
    "tensors.reductions.argmax": (result_dtypes("output_type", INDICES | {uint16}),),
    "tensors.reductions.argmin": (result_dtypes("output_type", LARGE_INTEGERS),),
    **shared_conditions(
        "tensors.norms.norm matrices.factors.normalize",
        dtypes("tensor", FLOATING | SIGNED | COMPLEX), refuses("axis", np.ndarray, np.generic, error=ValueError),
    ),
    "tensors.comparison.clip_by_value": (dtypes("t clip_value_min clip_value_max", REAL),),
    "tensors.positions.histogram_fixed_width": (
        result_dtypes("dtype", LARGE_INTEGERS), scalars("nbins"), at_least("nbins", 1),
    ),
    "tensors.segments.unsorted_segment_prod": (
        dtypes("data", NUMERIC), dtypes("segment_ids", LARGE_INTEGERS), integers("num_segments", LARGE_INTEGERS)
    ),
    "tensors.gather.unsorted_segment_sum": (
        dtypes("data", NUMERIC), dtypes("segment_ids", INDICES), integers("num_segments", LARGE_INTEGERS)
    ),
    "tensors.segments.segment_prod": (
        ranks("data", 1), dtypes("data", NUMERIC), dtypes("segment_ids", LARGE_INTEGERS, tensors_only=True)
    ),
}

_RANGE = FLOATING | LARGE_INTEGERS
_NUMBERS = (int, float, complex, np.generic, np.ndarray)
_SHAPES = {
    "nn.space_batches.batch_to_space": (
        dtypes("input", ANY, REAL), dtypes("crops", LARGE_INTEGERS), ranks("block_shape", 1, 1), ranks("crops", 2, 2)
    ),
    "nn.space_batches.space_to_batch": (dtypes("input", ANY, REAL),),
    "tensors.static_shapes.broadcast_dynamic_shape": (dtypes("shape_x shape_y", LARGE_INTEGERS),),
    "tensors.shaping.pad": (integers("paddings", LARGE_INTEGERS), ranks("paddings", 2, 2)),
    "tensors.shaping.reverse": (dtypes("axis", LARGE_INTEGERS, tensors_only=True), ranks("axis", 1, 1)),
    "tensors.shaping.shape": (result_dtypes("out_type", LARGE_INTEGERS),),
    "tensors.shaping.shape_n": (lists("input"), result_dtypes("out_type", LARGE_INTEGERS)),
    "tensors.positions.identity_n": (lists("input"),),
    "tensors.positions.dynamic_stitch": (lists("data"),),
    "strings.join": (lists("inputs"),),
    "tensors.constants.eye": (refuses("num_rows num_columns", np.ndarray, list),),
    "sparse.conversion.eye": (refuses("num_rows num_columns", np.ndarray, list, float, np.floating),),
    "tensors.constants.linspace": (integers("num", INTEGERS),),
    "tensors.gather.where": (dtypes("condition", ANY, ANY - {float16}, missing_error=UnsupportedCastError),),
    "tensors.shaping.tile": (dtypes("input", ANY, ANY - {uint16}, missing_error=UnsupportedCastError),),
    "control.checks.Assert": in_graphs(refuses("data", *_NUMBERS), constants("data")),
    "tensors.gather.tensor_scatter_nd_update": (dtypes("indices", INDICES | {uint16}),),
    "tensors.gather.one_hot": (integers("depth"), scalars("depth on_value off_value")),
    "nn.blocks.space_to_depth": (ranks("input", 4, 5), at_least("block_size", 2)),
    "tensors.positions.unravel_index": (ranks("dims", 1, 1),),
    "tensors.constants.range": (
        dtypes("start limit delta", _RANGE, error=AssertionFailedError), ascending("start", "limit", "delta"),
    ),
    "ragged.construction.range_": (dtypes("starts limits deltas", _RANGE, error=AssertionFailedError),),
    "ragged.construction.segment_ids_to_row_splits": (
        dtypes("segment_ids", INTEGERS, tensors_only=True), ranks("segment_ids", 1, 1, ValueError)
    ),
    "ragged.construction.boolean_mask": (
        dtypes("mask", frozenset({bool_}), tensors_only=True, error=TensorConversionError),
    ),
    "tensors.conversion.constant": (keeps_dtype("value", "dtype"),),
    "ragged.construction.constant": (keeps_dtype("pylist", "dtype"),),
    "ragged.construction.stack": (refuses("axis", np.generic, np.ndarray),),
    "tensors.indexing.slice": (ranks("begin size", 1, 1),),
    "tensors.shaping.concat": (dtypes("axis", frozenset({int32}), tensors_only=True, error=TensorConversionError),),
    "tensors.shaping.split": (at_least("num", 1), refuses("num_or_size_splits", float, error=ValueError)),
    "tensors.positions.histogram_fixed_width_bins": (dtypes("values", FLOATING), at_least("nbins", 1)),
    "tensors.shaping.roll": (dtypes("shift axis", LARGE_INTEGERS, tensors_only=True),),
    "tensors.shaping.repeat": (dtypes_checked_in_python("repeats", INTEGERS),),
    "tensors.gather.gather_nd": (ranks("indices", 1, error=ValueError),),
    "control.shape_checks.assert_rank": (scalars("rank", ValueError),),
    "tensors.shaping.sequence_mask": (scalars("maxlen", ValueError),),

}

_SPARSE = {
    "sparse.shaping.reshape": (ranks("shape", 1, 1),),
    **shared_conditions(
        "sparse.computing.minimum sparse.computing.maximum",
        dtypes("sp_a", NUMERIC, REAL, tensors_only=True),
    ),
    "sparse.computing.reduce_sum": (dtypes("sp_input", NUMERIC, tensors_only=True), flags("keepdims")),
    "sparse.computing.reduce_max": (dtypes("sp_input", REAL, tensors_only=True), flags("keepdims")),
    **shared_conditions(
        "sparse.computing.segment_sqrt_n sparse.computing.segment_mean",
        dtypes("data", FLOATING), ranks("segment_ids", 1, 1),
    ),
    "sparse.computing.segment_sum": (dtypes("data", REAL), ranks("segment_ids", 1, 1)),
    "sparse.computing.softmax": (dtypes("sp_input", IEEE_FLOATING, tensors_only=True),),
    "sparse.computing.sparse_dense_matmul": (
        dtypes("sp_a", ANY, FLOATING | COMPLEX | {int32}), same_dtype("sp_a", "b"),
    ),
    "sparse.embedding.safe_embedding_lookup_sparse": (dtypes("embedding_weights", FLOATING),),
    "sparse.sets.size": (dtypes_checked_in_python("a", _SET_ITEMS),),
    **shared_conditions(
        "sparse.sets.union sparse.sets.difference sparse.sets.intersection",
        dtypes_checked_in_python("a", _SET_ITEMS),
    ),
}

_NETWORKS = {
    "nn.isotonic.isotonic_regression": (dtypes("inputs", REAL, FLOATING | SIGNED),),
    "nn.statistics.local_response_normalization": (
        dtypes("input", FLOATING - {float64}, frozenset({float16, float32}), tensors_only=True), ranks("input", 4, 4),
        numbers("depth_radius bias alpha beta"),
    ),
    "nn.layers.softmax_cross_entropy_with_logits": (
        *in_graphs(ranks("labels", 1, error=IndexError)), dtypes("logits", NUMERIC),
    ),
    "nn.layers.bias_add": in_graphs(same_dtype("value", "bias", TensorConversionError, tensors_only=True)),
    "nn.layers.gelu": (dtypes_checked_in_python("features", FLOATING),),
    "nn.statistics.sufficient_statistics": (refuses("axes", int),),
    "nn.layers.leaky_relu": (numbers("alpha"),),
    "nn.label_runs.ctc_unique_labels": (dtypes("labels", ANY, ANY - COMPLEX), ranks("labels", 1, error=ValueError)),
}

_LOGITS = dtypes("logits", REAL, FLOATING)
_SEED = integers("seed", INTEGERS)
_CATEGORICAL = (
    _LOGITS, integers("num_samples"), at_least("num_samples", 0), ranks("logits", 2, 2), scalars("num_samples")
)
_RANDOM = {
    "random.stateful.categorical": _CATEGORICAL,
    "random.stateless.stateless_categorical": (*_CATEGORICAL, _SEED),
    **shared_conditions(
        "random.stateless.stateless_normal random.stateless.stateless_uniform "
        "random.stateless.stateless_truncated_normal image_random.stateless_random_crop",
        _SEED,
    ),
    **shared_conditions(
        "random.stateful.normal random.stateful.uniform random.stateful.truncated_normal",
        dtypes("shape", LARGE_INTEGERS, tensors_only=True), ranks("shape", 1, 1),
    ),
}

CONDITIONS: Table = {
    **_DECOMPOSITIONS, **_MATRICES, **_MATHEMATICS, **_SHAPES, **_SPARSE, **_NETWORKS, **_RANDOM, **MEDIA_CONDITIONS,
}


def argument_check(function: Callable[..., Any]) -> Callable[[Sequence[Any], Mapping[str, Any]], None] | None:
    """Return a function that checks positional and named arguments of a public function; None without conditions."""
    module = function.__module__.removeprefix("autoconv.").removeprefix("api.").removeprefix("runtime.")
    conditions = CONDITIONS.get(f"{module}.{function.__name__}")
    if not conditions:
        return None
    return bind(conditions, function.__name__, list(inspect.signature(function).parameters))
