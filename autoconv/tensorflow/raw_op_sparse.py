"""Raw ops of TensorFlow on sparse and ragged tensors."""

from __future__ import annotations

from collections.abc import Callable

import autoconv as tf
from autoconv.runtime.annotations import TensorLike


def _sparse_tensor(indices: TensorLike, values: TensorLike, shape: TensorLike) -> tf.sparse.SparseTensor:
    return tf.sparse.SparseTensor(indices, values, shape)


def sparse_parts(sparse: tf.sparse.SparseTensor) -> tuple[object, object, object]:
    """Return the results of a raw op for a sparse tensor: indices, values and shape."""
    return sparse.indices, sparse.values, sparse.dense_shape


def _splits_and_values(ragged: tf.RaggedTensor) -> tuple[object, ...]:
    return ragged.row_splits, ragged.values


# Name of a raw op -> a function with its parameters, written in public functions.
FORM_BY_OP: dict[str, Callable[..., object]] = {
    # sparse tensors
    "SparseToDense": lambda sparse_indices, output_shape, sparse_values, default_value, validate_indices=True: (
        tf.sparse.to_dense(
            _sparse_tensor(tf.cast(sparse_indices, tf.int64), sparse_values, output_shape),
            default_value,
            validate_indices,
        )
    ),
    "SparseReorder": lambda input_indices, input_values, input_shape: sparse_parts(
        tf.sparse.reorder(_sparse_tensor(input_indices, input_values, input_shape))
    )[:2],
    "SparseReshape": lambda input_indices, input_shape, new_shape: sparse_parts(
        tf.sparse.reshape(_sparse_tensor(input_indices, tf.range(tf.shape(input_indices)[0]), input_shape), new_shape)
    )[::2],
    "SparseConcat": lambda indices, values, shapes, concat_dim: sparse_parts(
        tf.sparse.concat(concat_dim, list(map(_sparse_tensor, indices, values, shapes)))
    ),
    "SparseSoftmax": lambda sp_indices, sp_values, sp_shape: tf.sparse.softmax(
        _sparse_tensor(sp_indices, sp_values, sp_shape)
    ).values,
    **{
        f"SparseSparse{name}": (lambda function: lambda a_indices, a_values, a_shape, b_indices, b_values, b_shape: (
            sparse_parts(
                getattr(tf.sparse, function)(
                    _sparse_tensor(a_indices, a_values, a_shape), _sparse_tensor(b_indices, b_values, b_shape)
                )
            )[:2]
        ))(name.lower())
        for name in ("Maximum", "Minimum")
    },
    # ragged tensors
    "RaggedRange": lambda starts, limits, deltas, Tsplits=tf.int64: _splits_and_values(
        tf.ragged.range(starts, limits, deltas, row_splits_dtype=Tsplits)
    ),
    "RaggedTensorToSparse": lambda rt_nested_splits, rt_dense_values: sparse_parts(
        tf.RaggedTensor.from_nested_row_splits(rt_dense_values, rt_nested_splits).to_sparse()
    ),
}  # fmt: skip
