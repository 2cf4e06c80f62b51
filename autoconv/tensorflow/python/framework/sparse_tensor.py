"""Sparse tensors."""

from autoconv.api.sparse.tensor import SparseTensor, SparseTensorSpec

__all__ = ["SparseTensor", "SparseTensorSpec"]
