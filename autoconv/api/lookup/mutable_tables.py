"""Tables whose entries a program may add, replace and remove, also in functions under `function`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.api.lookup.static_tables import LookupTable
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, as_dtype, int64
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.recording.regions import recording
from autoconv.runtime.support.shape import TensorShape, TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


class MutableHashTable(LookupTable):
    """A table to which entries are added, and from which they are removed; values are scalars or vectors.

    `checkpoint` and `experimental_is_anonymous` have no effect.

    >>> table = autoconv.lookup.experimental.MutableHashTable(autoconv.string, autoconv.int64, default_value=0)
    >>> table.insert(["a", "b"], autoconv.constant([1, 2], autoconv.int64))
    >>> table.remove(autoconv.constant(["a"]))
    >>> table.lookup(autoconv.constant(["a", "b"])).numpy(), int(table.size())
    (array([0, 2]), 1)
    """

    __autoconv_identity__ = True  # traces read the entries when they run: a new entry leaves them valid

    def __init__(
        self, key_dtype: DTypeLike, value_dtype: DTypeLike, default_value: TensorLike,
        name: str = "MutableHashTable", checkpoint: bool = True, experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self._name = name
        with recording(region=None):
            self._default_value = convert_to_tensor(default_value, self._value_dtype)
        self._entries: dict[Any, np.ndarray] = {}

    @property
    def value_shape(self) -> TensorShape:
        return self._default_value.shape

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of entries, int64."""
        return self._call_on_host(  # type: ignore[no-any-return]
            lambda: np.int64(len(self._entries)), [], TensorSpec([], int64)
        )[0]

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> None:
        """Add entries, or replace the values of existing keys; raises ValueError for keys of another dtype."""
        inputs = [convert_to_tensor(keys, self._key_dtype), convert_to_tensor(values, self._value_dtype)]
        self._call_on_host(self._insert_arrays, inputs)

    def remove(self, keys: TensorLike, name: str | None = None) -> None:
        """Remove entries; absent keys are ignored."""
        self._call_on_host(self._remove_arrays, [self._convert_keys(keys)])

    erase = remove

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return all keys and values."""
        specs = [TensorSpec([None], self._key_dtype), TensorSpec([None, *self.value_shape], self._value_dtype)]
        keys, values = self._call_on_host(self._export_arrays, [], *specs)
        return keys, values

    def _look_up_tensor(self, keys: Tensor) -> Tensor:
        shape = keys.shape.concatenate(self.value_shape)
        return self._call_on_host(  # type: ignore[no-any-return]
            self._look_up_arrays, [keys], TensorSpec(shape, self._value_dtype)
        )[0]

    @staticmethod
    def _call_on_host(function: Callable[..., Any], tensors: list[Tensor], *result_specs: TensorSpec) -> Any:
        """Return the results of a function of arrays, called when the graph runs; `result_specs` are their types."""
        dtypes = tuple(spec.dtype for spec in result_specs)
        shapes = tuple(spec.shape.dims_tuple for spec in result_specs)
        outputs = apply("py_call", *tensors, function=function, dtypes=dtypes, shapes=shapes)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def _insert_arrays(self, keys: np.ndarray, values: np.ndarray) -> list[Any]:
        """Add or replace entries; return no results."""
        expected_shape = (*np.shape(keys), *self._value_sizes())
        if np.shape(values) != expected_shape:
            raise InvalidArgumentError(f"Expected shape {list(expected_shape)} for value, got {list(np.shape(values))}")
        rows = np.reshape(values, (np.size(keys), *self._value_sizes()))
        self._entries.update(zip(np.ravel(keys).tolist(), rows, strict=True))
        return []

    def _remove_arrays(self, keys: np.ndarray) -> list[Any]:
        """Remove entries; return no results."""
        for key in np.ravel(keys).tolist():
            self._entries.pop(key, None)
        return []

    def _look_up_arrays(self, keys: np.ndarray) -> np.ndarray:
        """Return the values of keys, or the default for absent ones, in the shape [*keys.shape, *value_shape]."""
        default = np.asarray(self._default_value.numpy())  # type: ignore[attr-defined]
        result = np.empty((np.size(keys), *self._value_sizes()), _numpy_dtype(self._value_dtype))
        for row, key in enumerate(np.ravel(keys).tolist()):
            result[row] = self._entries.get(key, default)
        return result.reshape((*np.shape(keys), *self._value_sizes()))

    def _export_arrays(self) -> list[np.ndarray]:
        """Return all keys and values."""
        keys = np.empty(len(self._entries), _numpy_dtype(self._key_dtype))
        keys[:] = list(self._entries)
        values = np.empty((len(self._entries), *self._value_sizes()), _numpy_dtype(self._value_dtype))
        for row, value in enumerate(self._entries.values()):
            values[row] = value
        return [keys, values]

    def _value_sizes(self) -> list[int]:
        """Return the shape of a value, with 0 for a size that is not known."""
        return [size or 0 for size in self.value_shape]


def _numpy_dtype(dtype: DType) -> Any:
    """Return the dtype of an array: strings are objects."""
    return object if dtype.is_string else dtype.numpy


class DenseHashTable(MutableHashTable):
    """A MutableHashTable that rejects `empty_key` and `deleted_key` as keys.

    `initial_num_buckets`, `checkpoint` and `experimental_is_anonymous` have no effect.

    >>> table = autoconv.lookup.experimental.DenseHashTable(
    ...     autoconv.int64, autoconv.int64, default_value=-1, empty_key=0, deleted_key=-1)
    >>> table.insert(autoconv.constant([5], autoconv.int64), autoconv.constant([50], autoconv.int64))
    >>> table.lookup(autoconv.constant([5, 6], autoconv.int64)).numpy()
    array([50, -1])
    """

    def __init__(
        self, key_dtype: DTypeLike, value_dtype: DTypeLike, default_value: TensorLike, empty_key: TensorLike,
        deleted_key: TensorLike, initial_num_buckets: int | None = None, name: str = "MutableDenseHashTable",
        checkpoint: bool = True, experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(key_dtype, value_dtype, default_value, name)
        with recording(region=None):
            reserved_tensors = [convert_to_tensor(key, self._key_dtype) for key in (empty_key, deleted_key)]
        self._reserved_keys = {key.numpy() for key in reserved_tensors}  # type: ignore[attr-defined]

    def _insert_arrays(self, keys: np.ndarray, values: np.ndarray) -> list[Any]:
        self._reject_reserved(keys)
        return super()._insert_arrays(keys, values)

    def _remove_arrays(self, keys: np.ndarray) -> list[Any]:
        self._reject_reserved(keys)
        return super()._remove_arrays(keys)

    def _look_up_arrays(self, keys: np.ndarray) -> np.ndarray:
        self._reject_reserved(keys)
        return super()._look_up_arrays(keys)

    def _reject_reserved(self, keys: np.ndarray) -> None:
        """Raise InvalidArgumentError if one of the keys is `empty_key` or `deleted_key`."""
        rejected_keys = self._reserved_keys & set(np.ravel(keys).tolist())
        if rejected_keys:
            raise InvalidArgumentError(
                f"Using the empty_key or deleted_key as a table key is not allowed: {rejected_keys}"
            )
