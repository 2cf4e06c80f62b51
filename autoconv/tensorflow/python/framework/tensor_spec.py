"""`tensorflow.python.framework.tensor_spec`: specs of dense tensors."""

from __future__ import annotations

from typing import Any

from autoconv.graph.dtypes import DType, as_dtype
from autoconv.runtime.annotations import DTypeLike, ShapeLike
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.support.shape import TensorSpec as TensorSpec
from autoconv.runtime.support.type_spec import TypeSpec


class DenseSpec(TypeSpec):
    """Base of the specs that a library writes for values with a shape and a dtype of their own."""

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: ShapeLike, dtype: DTypeLike = "float32", name: str | None = None) -> None:
        self._shape, self._dtype, self._name = TensorShape(shape), as_dtype(dtype), name

    @property
    def shape(self) -> TensorShape:
        """The shape, with None for sizes that vary."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, which equality of specs ignores."""
        return self._name

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name
