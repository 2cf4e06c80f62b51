"""Ragged tensors."""

from autoconv.api.ragged.tensor import RaggedTensor as RaggedTensor
from autoconv.api.ragged.tensor import RaggedTensorSpec as RaggedTensorSpec
