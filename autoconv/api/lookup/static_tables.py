"""Tables whose content does not change. A graph with lookups holds the keys and values as constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.lookup.initializers import TableInitializer
from autoconv.api.ragged.tensor import RaggedLike, RaggedTensor
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import fill
from autoconv.api.tensors.gather import gather, where
from autoconv.api.tensors.shaping import reshape, shape
from autoconv.api.tensors.sorting import searchsorted
from autoconv.errors import FailedPreconditionError, InvalidArgumentError
from autoconv.graph.dtypes import DType, as_dtype, int64, string
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.objects.resource import TrackableResource
from autoconv.runtime.recording.regions import recording
from autoconv.runtime.support.type_spec import CompositeTensor
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor


class LookupTable(TrackableResource):
    """Base of tables, with lookups of dense, sparse and ragged tensors of keys."""

    _key_dtype: DType
    _value_dtype: DType
    _name: str

    @property
    def key_dtype(self) -> DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        return self._value_dtype

    @property
    def name(self) -> str:
        return self._name

    @property
    def resource_handle(self) -> LookupTable:
        return self

    def lookup(self, keys: RaggedLike | SparseTensor, name: str | None = None) -> Any:
        """Return the values of keys, in the shape of the keys; the default for an absent key.

        Raises TypeError for keys of another dtype.
        """
        if isinstance(keys, SparseTensor):
            return keys.with_values(self._look_up_tensor(self._convert_keys(keys.values)))
        if isinstance(keys, RaggedTensor):
            return keys.with_flat_values(self._look_up_tensor(self._convert_keys(keys.flat_values)))
        return self._look_up_tensor(self._convert_keys(keys))

    def __getitem__(self, keys: RaggedLike | SparseTensor) -> Any:
        return self.lookup(keys)

    def _convert_keys(self, keys: TensorLike | CompositeTensor) -> Tensor:
        """Return the keys as a tensor; raise TypeError for another dtype than the table's."""
        if not hasattr(keys, "dtype"):
            return convert_to_tensor(keys, self._key_dtype)
        tensor = convert_to_tensor(keys)
        if tensor.dtype is not self._key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self._key_dtype!r}, received: {tensor.dtype!r}. Cast the keys."
            )
        return tensor

    def _look_up_tensor(self, keys: Tensor) -> Tensor:
        """Return the values of keys of the table's dtype, and the default value for absent keys."""
        raise NotImplementedError


class StaticHashTable(LookupTable):
    """A table that an initializer fills on construction; the value of an absent key is `default_value`.

    Raises FailedPreconditionError if the initializer has two values for a key. Lookups raise this error if the
    initializer has not filled the table. `experimental_is_anonymous` has no effect.

    >>> initializer = autoconv.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> table = autoconv.lookup.StaticHashTable(initializer, default_value=-1)
    >>> table.lookup(autoconv.constant(["b", "z"])).numpy(), int(table.size())
    (array([ 2, -1], dtype=int32), 2)
    """

    _is_filled = False

    def __init__(
        self, initializer: TableInitializer, default_value: TensorLike, name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        self._initializer = initializer
        self._key_dtype, self._value_dtype = as_dtype(initializer.key_dtype), as_dtype(initializer.value_dtype)
        self._name = name or "hash_table"
        with recording(region=None):
            self._default_value = convert_to_tensor(default_value, self._value_dtype)
            if self._default_value.shape.rank != 0:
                raise ValueError(f"default_value has to be a scalar, found the shape {self._default_value.shape}")
            empty_arrays = [np.zeros(0, dtype.numpy) for dtype in (self._key_dtype, self._value_dtype)]
            self._unsorted_keys, self._unsorted_values = map(EagerTensor, empty_arrays)
            self._sorted_keys, self._sorted_values = self._unsorted_keys, self._unsorted_values
            initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        return self._default_value

    def fill(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Set keys and values; an initializer calls this method once."""
        keys, values = np.ravel(keys), np.ravel(values)
        self._is_filled = True
        if len(keys) != len(values):
            raise InvalidArgumentError(f"a table of {len(keys)} keys has {len(values)} values")
        value_by_key: dict[Any, Any] = {}
        for key, value in zip(keys.tolist(), values.tolist(), strict=True):
            if value_by_key.setdefault(key, value) != value:
                raise FailedPreconditionError(
                    f"HashTable has different value for same key. Key {key!r} has {value_by_key[key]!r} and trying to "
                    f"add value {value!r}"
                )
        if len(value_by_key) < len(keys):  # of equal keys, the first one stays
            _, positions = np.unique(keys, return_index=True)
            first_positions = sorted(positions.tolist())
            keys, values = keys[first_positions], values[first_positions]
        order = np.argsort(keys, kind="stable")
        self._unsorted_keys, self._unsorted_values = EagerTensor(keys), EagerTensor(values)
        self._sorted_keys, self._sorted_values = EagerTensor(keys[order]), EagerTensor(values[order])

    @property
    def count(self) -> int:
        return self._sorted_keys.shape[0]  # type: ignore[no-any-return]

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of keys, int64."""
        return constant(self.count, int64)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return the keys and the values."""
        return self._unsorted_keys, self._unsorted_values

    def _look_up_tensor(self, keys: Tensor) -> Tensor:
        count = self.count
        if not self._is_filled:  # raises the error when the graph runs
            apply("assert_true", constant(False), message=("Table not initialized.",), failure="precondition")
        if not count:
            return fill(shape(keys), self._default_value)
        flat_keys = reshape(keys, [-1])
        positions = apply("minimum", searchsorted(self._sorted_keys, flat_keys), count - 1)
        is_present = apply("equal", gather(self._sorted_keys, positions), flat_keys)
        values = where(is_present, gather(self._sorted_values, positions), self._default_value)
        static_shape = keys.shape
        return reshape(  # type: ignore[arg-type]
            values, list(static_shape) if static_shape.is_fully_defined() else shape(keys)
        )


class StaticVocabularyTable(LookupTable):
    """A table of ids from 0 on; the hash of an absent key gives it one of `num_oov_buckets` further ids.

    `experimental_is_anonymous` has no effect.

    >>> initializer = autoconv.lookup.KeyValueTensorInitializer(["a", "b"], autoconv.constant([0, 1], "int64"))
    >>> table = autoconv.lookup.StaticVocabularyTable(initializer, num_oov_buckets=2)
    >>> table.lookup(autoconv.constant(["b", "z"])).numpy(), int(table.size())
    (array([1, 3]), 4)
    """

    def __init__(
        self, initializer: TableInitializer | None, num_oov_buckets: int, lookup_key_dtype: DTypeLike | None = None,
        name: str | None = None, experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        if num_oov_buckets <= 0:
            raise ValueError(f"Argument `num_oov_buckets` must be > 0. Received: {num_oov_buckets}")
        if initializer is not None and as_dtype(initializer.value_dtype) is not int64:
            raise TypeError(f"Invalid `value_dtype`, expected int64 but got {as_dtype(initializer.value_dtype).name}.")
        self._table = None if initializer is None else StaticHashTable(initializer, -1)  # -1 for absent keys
        self._num_oov_buckets = num_oov_buckets
        stored_dtype = string if self._table is None else self._table.key_dtype
        self._key_dtype = as_dtype(lookup_key_dtype) if lookup_key_dtype is not None else stored_dtype
        if self._key_dtype is not stored_dtype and not (self._key_dtype.is_integer and stored_dtype.is_integer):
            raise TypeError(f"Invalid `lookup_key_dtype` {self._key_dtype.name} for keys of {stored_dtype.name}.")
        self._value_dtype = int64
        self._name = name or "vocabulary_table"

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of ids, including those for absent keys, int64."""
        return constant(self._table_size() + self._num_oov_buckets, int64)

    def _table_size(self) -> int:
        """Return the number of ids in the table, without those for absent keys."""
        return 0 if self._table is None else self._table.count

    def _look_up_tensor(self, keys: Tensor) -> Tensor:
        texts = keys if keys.dtype.is_string else apply("as_string", keys)
        bucket_numbers = apply("string_to_hash_bucket_fast", texts, num_buckets=self._num_oov_buckets)
        bucket_ids = bucket_numbers + self._table_size()
        if self._table is None:
            return bucket_ids
        ids = self._table.lookup(cast(keys, self._table.key_dtype) if not keys.dtype.is_string else keys)
        return where(apply("equal", ids, -1), bucket_ids, ids)
