"""Raw ops of TensorFlow on strings, sparse and ragged tensors, variables, tables and Python's functions."""

from __future__ import annotations

import sys
from collections.abc import Callable

import autoconv as tf
from autoconv.runtime.annotations import TensorLike
from autoconv.tensorflow.raw_op_updates import variable_of

_STREAMS = {"stdout": sys.stdout, "stderr": sys.stderr}


def _sparse_tensor(indices: TensorLike, values: TensorLike, shape: TensorLike) -> tf.sparse.SparseTensor:
    return tf.sparse.SparseTensor(indices, values, shape)


def _sparse_parts(sparse: tf.sparse.SparseTensor) -> tuple[object, object, object]:
    """Return the results of a raw op for a sparse tensor: indices, values and shape."""
    return sparse.indices, sparse.values, sparse.dense_shape


def _splits_and_values(ragged: tf.RaggedTensor) -> tuple[object, ...]:
    return ragged.row_splits, ragged.values


def _string_split(input: TensorLike, sep: str, maxsplit: int = -1) -> tuple[object, ...]:
    """Split rows of text; without a separator at whitespace, as TensorFlow does."""
    return _sparse_parts(tf.strings.split(input, sep or None, maxsplit).to_sparse())


def _reduce_sparse(
    indices: TensorLike, values: TensorLike, shape: TensorLike, axes: object, keep_dims: bool, function: str
) -> object:
    """Reduce a sparse tensor by the named function of `sparse`."""
    return getattr(tf.sparse, function)(_sparse_tensor(indices, values, shape), axes, keep_dims)


_SCATTERS = ("Add", "Sub", "Mul", "Div", "Min", "Max", "Update")


def _make_scatter(method: str) -> Callable[..., object]:
    """Return the form of an op that changes rows of a variable by the named method of variables."""
    return lambda resource, indices, updates: _assign(
        getattr(variable_of(resource), method), tf.IndexedSlices(updates, indices)
    )


FORMS: dict[str, Callable[..., object]] = {
    # strings
    "StringJoin": lambda inputs, separator="": tf.strings.join(inputs, separator),
    "StringSplitV2": _string_split,
    "StringLength": lambda input, unit="BYTE": tf.strings.length(input, unit),
    "StringLower": lambda input, encoding="": tf.strings.lower(input, encoding),
    "StringUpper": lambda input, encoding="": tf.strings.upper(input, encoding),
    "StringStrip": lambda input: tf.strings.strip(input),
    "StringToNumber": lambda string_tensor, out_type=tf.float32: tf.strings.to_number(string_tensor, out_type),
    "StringToHashBucketFast": lambda input, num_buckets: tf.strings.to_hash_bucket_fast(input, num_buckets),
    "StringToHashBucketStrong": lambda input, num_buckets, key: tf.strings.to_hash_bucket_strong(
        input, num_buckets, key
    ),
    "StringToHashBucket": lambda string_tensor, num_buckets: tf.strings.to_hash_bucket(string_tensor, num_buckets),
    "StringFormat": lambda inputs, template="%s", placeholder="%s", summarize=3: tf.strings.format(
        template, inputs, placeholder, summarize
    ),
    "StaticRegexReplace": lambda input, pattern, rewrite, replace_global=True: tf.strings.regex_replace(
        input, pattern, rewrite, replace_global
    ),
    "StaticRegexFullMatch": lambda input, pattern: tf.strings.regex_full_match(input, pattern),
    "ReduceJoin": lambda inputs, reduction_indices, keep_dims=False, separator="": tf.strings.reduce_join(
        inputs, reduction_indices, keep_dims, separator
    ),
    "DecodeRaw": lambda bytes, out_type, little_endian=True: tf.io.decode_raw(bytes, out_type, little_endian),
    "DecodePaddedRaw": lambda input_bytes, fixed_length, out_type, little_endian=True: tf.io.decode_raw(
        input_bytes, out_type, little_endian, fixed_length
    ),
    "UnicodeEncode": lambda input_values, input_splits, output_encoding, errors="replace", replacement_char=65533: (
        tf.strings.unicode_encode(
            tf.RaggedTensor.from_row_splits(input_values, input_splits), output_encoding, errors, replacement_char
        )
    ),
    # sparse tensors
    "SparseToDense": lambda sparse_indices, output_shape, sparse_values, default_value, validate_indices=True: (
        tf.sparse.to_dense(
            _sparse_tensor(tf.cast(sparse_indices, tf.int64), sparse_values, output_shape),
            default_value,
            validate_indices,
        )
    ),
    "SparseTensorDenseMatMul": lambda a_indices, a_values, a_shape, b, adjoint_a=False, adjoint_b=False: (
        tf.sparse.sparse_dense_matmul(_sparse_tensor(a_indices, a_values, a_shape), b, adjoint_a, adjoint_b)
    ),
    "SparseReorder": lambda input_indices, input_values, input_shape: _sparse_parts(
        tf.sparse.reorder(_sparse_tensor(input_indices, input_values, input_shape))
    )[:2],
    "SparseReshape": lambda input_indices, input_shape, new_shape: _sparse_parts(
        tf.sparse.reshape(_sparse_tensor(input_indices, tf.range(tf.shape(input_indices)[0]), input_shape), new_shape)
    )[::2],
    "SparseConcat": lambda indices, values, shapes, concat_dim: _sparse_parts(
        tf.sparse.concat(concat_dim, list(map(_sparse_tensor, indices, values, shapes)))
    ),
    "SparseSlice": lambda indices, values, shape, start, size: _sparse_parts(
        tf.sparse.slice(_sparse_tensor(indices, values, shape), start, size)
    ),
    "SparseSoftmax": lambda sp_indices, sp_values, sp_shape: tf.sparse.softmax(
        _sparse_tensor(sp_indices, sp_values, sp_shape)
    ).values,
    "SparseAdd": lambda a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh: _sparse_parts(
        tf.sparse.add(
            _sparse_tensor(a_indices, a_values, a_shape), _sparse_tensor(b_indices, b_values, b_shape), thresh
        )
    ),
    **{
        f"SparseSparse{name}": (lambda function: lambda a_indices, a_values, a_shape, b_indices, b_values, b_shape: (
            _sparse_parts(
                getattr(tf.sparse, function)(
                    _sparse_tensor(a_indices, a_values, a_shape), _sparse_tensor(b_indices, b_values, b_shape)
                )
            )[:2]
        ))(name.lower())
        for name in ("Maximum", "Minimum")
    },
    "SparseReduceSum": lambda input_indices, input_values, input_shape, reduction_axes, keep_dims=False: (
        _reduce_sparse(input_indices, input_values, input_shape, reduction_axes, keep_dims, "reduce_sum")
    ),
    "SparseReduceMax": lambda input_indices, input_values, input_shape, reduction_axes, keep_dims=False: (
        _reduce_sparse(input_indices, input_values, input_shape, reduction_axes, keep_dims, "reduce_max")
    ),
    # ragged tensors
    "RaggedRange": lambda starts, limits, deltas, Tsplits=tf.int64: _splits_and_values(
        tf.ragged.range(starts, limits, deltas, row_splits_dtype=Tsplits)
    ),
    "RaggedTensorToSparse": lambda rt_nested_splits, rt_dense_values: _sparse_parts(
        tf.RaggedTensor.from_nested_row_splits(rt_dense_values, rt_nested_splits).to_sparse()
    ),
    # variables and tables
    "ReadVariableOp": lambda resource, dtype: tf.identity(variable_of(resource)),
    "AssignVariableOp": lambda resource, value, validate_shape=False: _assign(variable_of(resource).assign, value),
    "AssignAddVariableOp": lambda resource, value: _assign(variable_of(resource).assign_add, value),
    "AssignSubVariableOp": lambda resource, value: _assign(variable_of(resource).assign_sub, value),
    "VarIsInitializedOp": lambda resource: tf.compat.v1.is_variable_initialized(variable_of(resource)),
    "VariableShape": lambda input, out_type=tf.int32: tf.shape(variable_of(input), out_type),
    "ResourceGather": lambda resource, indices, dtype, batch_dims=0, validate_indices=True: tf.gather(
        variable_of(resource), indices, batch_dims=batch_dims
    ),
    "ResourceGatherNd": lambda resource, indices, dtype: tf.gather_nd(variable_of(resource), indices),
    **{f"ResourceScatter{name}": _make_scatter(f"scatter_{name.lower()}") for name in _SCATTERS},
    "ResourceApplyGradientDescent": lambda var, alpha, delta, use_locking=False: _assign(
        variable_of(var).assign_sub, tf.convert_to_tensor(delta) * alpha
    ),
    "LookupTableFindV2": lambda table_handle, keys, default_value: table_handle.lookup(keys),
    "LookupTableInsertV2": lambda table_handle, keys, values: _assign(table_handle.insert, keys, values),
    "LookupTableSizeV2": lambda table_handle: table_handle.size(),
    # effects and functions
    "Assert": lambda condition, data, summarize=3: tf.debugging.Assert(condition, data, summarize),
    "PrintV2": lambda input, output_stream="stderr", end="\n": tf.print(
        input, output_stream=_STREAMS.get(output_stream, output_stream), end=end
    ),
}  # fmt: skip


def _assign(assign: Callable[..., object], *values: object) -> None:
    """Call a method that assigns, and drop its result: the raw op has none."""
    assign(*values)
