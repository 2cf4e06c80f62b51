"""Tensors in the memory of another process, fetched when their values are read."""

from __future__ import annotations

import numpy as np

from autoconv.config.placement import eager_device
from autoconv.graph.dtypes import DType
from autoconv.graph.types import TensorType
from autoconv.ops.values.remote_array import RemoteArray
from autoconv.runtime.tensors.tensor import EagerTensor


class RemoteTensor(EagerTensor):
    """An eager tensor whose array is in the memory of another process until its value is read."""

    __slots__ = ("remote",)

    def __init__(self, remote: RemoteArray, device: str = "") -> None:
        self.remote = remote
        self._weak = False
        self._device = device or eager_device()

    @property
    def _array(self) -> np.ndarray:  # type: ignore[override]
        return self.remote.fetch()

    @property
    def type(self) -> TensorType:
        type_: TensorType = self.remote.type
        is_known = type_.shape is not None and all(isinstance(size, int) for size in type_.shape)
        return type_ if is_known else super().type

    @property
    def dtype(self) -> DType:
        return self.type.dtype
