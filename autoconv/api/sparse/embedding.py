"""Embedding lookups for sparse ids: the rows of a matrix at the ids of each row, combined into one row."""

from __future__ import annotations

from typing import Any

from autoconv.api.nn.layers import embedding_lookup
from autoconv.api.sparse.computing import segment_mean, segment_sqrt_n, segment_sum
from autoconv.api.sparse.coordinates import column, static_rank
from autoconv.api.sparse.shaping import fill_empty_rows, retain
from autoconv.api.sparse.shaping import reshape as reshape_sparse
from autoconv.api.sparse.tensor import SparseTensor, sparse_argument
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.constants import zeros_like
from autoconv.api.tensors.gather import segment_sum as sum_by_segment
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.maths import sqrt, square
from autoconv.api.tensors.reductions import reduce_prod
from autoconv.api.tensors.shaping import concat, expand_dims, reshape, shape, size
from autoconv.graph.dtypes import int64
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_COMBINER_BY_NAME = {"sum": segment_sum, "mean": segment_mean, "sqrtn": segment_sqrt_n}


def embedding_lookup_sparse(
    params: TensorLike, sp_ids: SparseTensor, sp_weights: SparseTensor | None, combiner: str | None = None,
    max_norm: float | None = None, name: str | None = None, allow_fast_lookup: bool = False,
) -> Tensor:  # fmt: skip
    """The rows of `params` at the values of each row of `sp_ids`, combined into one.

    `combiner` is "sum", "mean" (by default) or "sqrtn", the sum divided by the root of the sum of squared weights.
    `sp_weights` has a weight for each id; by default all are 1. Raises ValueError for another combiner, TypeError for
    ids that are not sparse. `allow_fast_lookup` has no effect.

    >>> ids = autoconv.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 0, 1], [2, 2])
    >>> autoconv.nn.embedding_lookup_sparse([[1.0, 2.0], [3.0, 4.0]], ids, None).numpy()
    array([[2., 3.],
           [3., 4.]], dtype=float32)
    """
    combiner_name = combiner or "mean"
    if combiner_name not in _COMBINER_BY_NAME:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', found {combiner!r}")
    ids = sparse_argument(sp_ids)
    rows, embeddings = column(ids.indices, 0), embedding_lookup(params, ids.values, max_norm)
    if sp_weights is None:
        return _COMBINER_BY_NAME[combiner_name](embeddings, tensor_range(size(rows)), rows)
    weights = cast(sp_weights.values, embeddings.dtype)
    for _ in range((embeddings.shape.rank or 2) - 1):
        weights = expand_dims(weights, -1)
    total = sum_by_segment(embeddings * weights, rows)
    if combiner_name == "sum":
        return total
    if combiner_name == "mean":
        return total / sum_by_segment(weights, rows)
    return total / sqrt(sum_by_segment(square(weights), rows))


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike, sparse_ids: SparseTensor, sparse_weights: SparseTensor | None = None,
    combiner: str = "mean", default_id: int | None = None, max_norm: float | None = None, name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:  # fmt: skip
    """`embedding_lookup_sparse` without negative ids, and without ids whose weight is 0 or negative.

    The combiner "sum" keeps ids with such weights.

    A row without ids gets the row of `default_id`, or zeros. `allow_fast_lookup` has no effect.

    >>> ids = autoconv.SparseTensor([[1, 0]], [1], [2, 2])
    >>> autoconv.nn.safe_embedding_lookup_sparse([[1.0, 2.0], [3.0, 4.0]], ids).numpy()
    array([[0., 0.],
           [3., 4.]], dtype=float32)
    """
    to_sparse = getattr(sparse_ids, "to_sparse", None)
    sparse = sparse_argument(sparse_ids if to_sparse is None else to_sparse())  # ragged ids
    outer_shape = get_item(sparse.dense_shape, slice(None, -1))
    matrix_shape = concat([expand_dims(reduce_prod(outer_shape), 0), get_item(sparse.dense_shape, slice(-1, None))], 0)
    ids = reshape_sparse(sparse, matrix_shape)
    weights = None if sparse_weights is None else SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
    is_used: Any = ids.values >= 0
    if weights is not None and combiner != "sum":
        is_used = apply("logical_and", is_used, weights.values > 0)
    ids, weights = retain(ids, is_used), None if weights is None else retain(weights, is_used)
    ids, is_empty = fill_empty_rows(ids, default_id or 0)
    if weights is not None:
        weights, _ = fill_empty_rows(weights, default_value=1.0)
    embeddings = embedding_lookup_sparse(embedding_weights, ids, weights, combiner, max_norm)
    if default_id is None:
        embeddings = where(expand_dims(is_empty, 1), zeros_like(embeddings), embeddings)
    result_shape = concat([outer_shape, get_item(shape(embeddings, int64), slice(1, None))], 0)
    result = reshape(embeddings, result_shape)
    if hasattr(result, "set_shape"):
        result.set_shape([*sparse.shape[: static_rank(sparse) - 1], *embeddings.shape[1:]])
    return convert_to_tensor(result)
