"""Tables whose content does not change. A graph that looks something up holds keys and values as constants."""

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
    """Base of tables: lookups of tensors, and of the values of sparse and ragged tensors."""

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
        """Return the values of keys, in the shape of the keys; the default for a key that is not there.

        Raises TypeError for keys of another dtype.
        """
        if isinstance(keys, SparseTensor):
            return keys.with_values(self._values_of(self._checked(keys.values)))
        if isinstance(keys, RaggedTensor):
            return keys.with_flat_values(self._values_of(self._checked(keys.flat_values)))
        return self._values_of(self._checked(keys))

    def __getitem__(self, keys: RaggedLike | SparseTensor) -> Any:
        return self.lookup(keys)

    def _checked(self, keys: TensorLike | CompositeTensor) -> Tensor:
        if not hasattr(keys, "dtype"):
            return convert_to_tensor(keys, self._key_dtype)
        tensor = convert_to_tensor(keys)
        if tensor.dtype is not self._key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self._key_dtype!r}, received: {tensor.dtype!r}. Cast the keys."
            )
        return tensor

    def _values_of(self, keys: Tensor) -> Tensor:
        raise NotImplementedError


class StaticHashTable(LookupTable):
    """A table that is filled when it is made, by an initializer; a key that is not there has the `default_value`.

    Raises FailedPreconditionError where the initializer has two values for a key.

    >>> initializer = autoconv.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> table = autoconv.lookup.StaticHashTable(initializer, default_value=-1)
    >>> table.lookup(autoconv.constant(["b", "z"])).numpy(), int(table.size())
    (array([ 2, -1], dtype=int32), 2)
    """

    def __init__(
        self, initializer: TableInitializer, default_value: TensorLike, name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        self._initializer = initializer
        self._key_dtype, self._value_dtype = as_dtype(initializer.key_dtype), as_dtype(initializer.value_dtype)
        self._name = name or "hash_table"
        with recording(None):
            self._default_value = convert_to_tensor(default_value, self._value_dtype)
            if self._default_value.shape.rank != 0:
                raise ValueError(f"default_value has to be a scalar, found the shape {self._default_value.shape}")
            empty = [np.zeros(0, dtype.numpy) for dtype in (self._key_dtype, self._value_dtype)]
            self._given_keys, self._given_values = map(EagerTensor, empty)
            self._keys, self._values = self._given_keys, self._given_values
            initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        return self._default_value

    def fill(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Set keys and values; an initializer calls this method once."""
        keys, values = np.ravel(keys), np.ravel(values)
        if len(keys) != len(values):
            raise InvalidArgumentError(f"a table of {len(keys)} keys has {len(values)} values")
        first: dict[Any, Any] = {}
        for key, value in zip(keys.tolist(), values.tolist(), strict=True):
            if first.setdefault(key, value) != value:
                raise FailedPreconditionError(
                    f"HashTable has different value for same key. Key {key!r} has {first[key]!r} and trying to add "
                    f"value {value!r}"
                )
        if len(first) < len(keys):
            first_rows = sorted(np.unique(keys, return_index=True)[1].tolist())
            keys, values = keys[first_rows], values[first_rows]
        order = np.argsort(keys, kind="stable")
        self._given_keys, self._given_values = EagerTensor(keys), EagerTensor(values)
        self._keys, self._values = EagerTensor(keys[order]), EagerTensor(values[order])

    @property
    def count(self) -> int:
        return self._keys.shape[0]  # type: ignore[no-any-return]

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of keys, int64."""
        return constant(self.count, int64)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return the keys and the values."""
        return self._given_keys, self._given_values

    def _values_of(self, keys: Tensor) -> Tensor:
        count = self.count
        if not count:
            return fill(shape(keys), self._default_value)
        flat = reshape(keys, [-1])
        place = apply("minimum", searchsorted(self._keys, flat), count - 1)
        is_there = apply("equal", gather(self._keys, place), flat)
        found = where(is_there, gather(self._values, place), self._default_value)
        static_shape = keys.shape
        return reshape(found, list(static_shape) if static_shape.is_fully_defined() else shape(keys))  # type: ignore[arg-type]


class StaticVocabularyTable(LookupTable):
    """A table of ids in which a key that is not there gets one of `num_oov_buckets` further ids, by its hash.

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
        self._table = None if initializer is None else StaticHashTable(initializer, -1)
        self._num_oov_buckets = num_oov_buckets
        stored = string if self._table is None else self._table.key_dtype
        self._key_dtype = as_dtype(lookup_key_dtype) if lookup_key_dtype is not None else stored
        if self._key_dtype is not stored and not (self._key_dtype.is_integer and stored.is_integer):
            raise TypeError(f"Invalid `lookup_key_dtype` {self._key_dtype.name} for keys of {stored.name}.")
        self._value_dtype = int64
        self._name = name or "vocabulary_table"

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of ids, those of missing keys included."""
        return constant(self._count() + self._num_oov_buckets, int64)

    def _count(self) -> int:
        return 0 if self._table is None else self._table.count

    def _values_of(self, keys: Tensor) -> Tensor:
        text = keys if keys.dtype.is_string else apply("as_string", keys)
        hashed = apply("string_to_hash_bucket_fast", text, num_buckets=self._num_oov_buckets)
        buckets = hashed + self._count()
        if self._table is None:
            return buckets
        found = self._table.lookup(cast(keys, self._table.key_dtype) if not keys.dtype.is_string else keys)
        return where(apply("equal", found, -1), buckets, found)
