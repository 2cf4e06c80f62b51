"""Type specs of IndexedSlices, tensor arrays and None."""

from __future__ import annotations

from typing import Any

from autoconv.graph.dtypes import as_dtype, float32, int64
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.objects.variable_updates import IndexedSlices
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.support.type_spec import TypeSpec
from autoconv.runtime.tensors.tensor_array import TensorArray


class IndexedSlicesSpec:
    """The type of IndexedSlices: shape, dtype, and the dtypes and shapes of its indices.

    >>> autoconv.IndexedSlicesSpec([3])
    IndexedSlicesSpec(TensorShape([3]), autoconv.float32, autoconv.int64, None, TensorShape([None]))
    """

    value_type = IndexedSlices

    def __init__(
        self, shape: Any = None, dtype: DTypeLike = float32, indices_dtype: DTypeLike = int64,
        dense_shape_dtype: DTypeLike | None = None, indices_shape: Any = None,
    ) -> None:  # fmt: skip
        self.shape = TensorShape(shape)
        self.dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape([None] if indices_shape is None else indices_shape)

    def __repr__(self) -> str:
        arguments = (self.shape, self.dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape)
        return f"IndexedSlicesSpec({', '.join(map(repr, arguments))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IndexedSlicesSpec) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class TensorArraySpec:
    """The type of a TensorArray: the shape and dtype of its elements.

    >>> autoconv.TensorArraySpec([2])
    TensorArraySpec(TensorShape([2]), autoconv.float32, False, True)
    """

    value_type = TensorArray

    def __init__(
        self, element_shape: Any = None, dtype: DTypeLike = float32, dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:  # fmt: skip
        self.element_shape = TensorShape(element_shape)
        self.dtype = as_dtype(dtype)
        self._dynamic_size, self._infer_shape = bool(dynamic_size), bool(infer_shape)

    @staticmethod
    def from_value(value: TensorArray) -> TensorArraySpec:
        """Return the spec of a tensor array.

        >>> autoconv.TensorArraySpec.from_value(autoconv.TensorArray(autoconv.int32, size=2)).dtype.name
        'int32'
        """
        return TensorArraySpec(value.element_shape, value.dtype, bool(value.dynamic_size))

    def __repr__(self) -> str:
        arguments = (self.element_shape, self.dtype, self._dynamic_size, self._infer_shape)
        return f"TensorArraySpec({', '.join(map(repr, arguments))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorArraySpec) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class NoneTensorSpec(TypeSpec):
    """The type of None: in an element of a dataset, a component that consists of no tensors.

    >>> autoconv.data.Dataset.from_tensors((1, None)).element_spec[1]
    NoneTensorSpec()
    """

    value_type = type(None)
    _component_specs = ()

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    def _to_components(self, value: object) -> tuple[()]:
        return ()

    def _from_components(self, components: object) -> None:
        return None

    def _batch(self, batch_size: int | None) -> NoneTensorSpec:
        return self

    def _unbatch(self) -> NoneTensorSpec:
        return self

    def _stack_values(self, values: object) -> None:
        return None

    def is_compatible_with(self, spec_or_value: object) -> bool:
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)
