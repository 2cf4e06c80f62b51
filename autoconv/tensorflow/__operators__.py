"""`tf.__operators__`: operators of tensors as functions with dispatchers."""

from __future__ import annotations

from typing import Any

from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions
from autoconv.runtime.tensors.conversion import convert_to_tensor as _convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return x + y."""
    return _convert_to_tensor(x) + y


def eq(self: TensorLike, other: TensorLike) -> Tensor:
    """Return x == y."""
    return _convert_to_tensor(self) == other


def ne(self: TensorLike, other: TensorLike) -> Tensor:
    """Return x != y."""
    return _convert_to_tensor(self) != other


def getitem(tensor: TensorLike, slice_spec: Any, var: object = None) -> Tensor:
    """Return tensor[slice_spec]."""
    return _convert_to_tensor(tensor)[slice_spec]


def ragged_getitem(rt_input: Any, key: object) -> object:
    """Return an item of a ragged tensor."""
    if not hasattr(rt_input, "row_splits"):
        raise TypeError(f"ragged_getitem needs a RaggedTensor, found {type(rt_input).__name__}")
    return rt_input[key]


_wrap_public_functions(globals())
