"""Tensors."""

from autoconv.runtime.support.shape import TensorSpec as TensorSpec
from autoconv.runtime.tensors.tensor import Tensor as Tensor
