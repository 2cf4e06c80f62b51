"""Sparse tensors."""

from autoconv.api.sparse import handlers as handlers
from autoconv.api.sparse.computing import (
    add,
    map_values,
    mask,
    maximum,
    minimum,
    reduce_max,
    reduce_sum,
    segment_mean,
    segment_sqrt_n,
    segment_sum,
    softmax,
    sparse_dense_matmul,
)
from autoconv.api.sparse.conversion import eye, from_dense, to_dense, to_indicator
from autoconv.api.sparse.counting import bincount
from autoconv.api.sparse.crossing import cross, cross_hashed
from autoconv.api.sparse.shaping import (
    concat,
    expand_dims,
    fill_empty_rows,
    reorder,
    reset_shape,
    reshape,
    retain,
    split,
    transpose,
)
from autoconv.api.sparse.shaping import slice_ as slice
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

__all__ = [
    "SparseTensor", "add", "bincount", "concat", "cross", "cross_hashed", "expand_dims", "eye", "fill_empty_rows",
    "from_dense", "map_values", "mask", "maximum", "minimum", "reduce_max", "reduce_sum", "reorder", "reset_shape",
    "reshape", "retain", "segment_mean", "segment_sqrt_n", "segment_sum", "slice", "softmax", "sparse_dense_matmul",
    "split", "to_dense", "to_indicator", "transpose",
]  # fmt: skip

_wrap_public_functions(globals())
