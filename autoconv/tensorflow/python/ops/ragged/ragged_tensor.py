"""Ragged tensors."""

from autoconv.api.ragged.tensor import RaggedTensor, RaggedTensorSpec

__all__ = ["RaggedTensor", "RaggedTensorSpec"]
