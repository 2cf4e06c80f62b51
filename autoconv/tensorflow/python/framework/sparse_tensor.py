"""Sparse tensors."""

from autoconv.api.sparse.tensor import SparseTensor as SparseTensor
from autoconv.api.sparse.tensor import SparseTensorSpec as SparseTensorSpec
