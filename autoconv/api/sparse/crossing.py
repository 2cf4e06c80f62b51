"""Crosses of features: for each row, every combination of one value of each input."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.api.sparse.tensor import SparseTensor
from autoconv.api.tensors.casts import cast
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import DType, int64, string
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.text.fingerprint import fingerprint
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply

_DEFAULT_KEY = 0xDECAFCAFFE  # start of the hash of features
_MASK_64 = (1 << 64) - 1  # for the lowest 64 bits
_HASH_FACTOR = 0xC6A4A7935BD1E995  # of MurmurHash64A


def cross(inputs: Sequence[Any], name: str | None = None, separator: str | None = None) -> SparseTensor:
    """Return for each row every combination of one value of each input, as text joined by `separator` (default `_X_`).

    The inputs are sparse or dense matrices of strings or integers.

    >>> crossed = autoconv.sparse.cross([autoconv.constant([["a"]]), autoconv.constant([["b", "c"]])])
    >>> crossed.values.numpy().tolist()
    [b'a_X_b', b'a_X_c']
    """
    return _cross(inputs, string, JoinedFeatures(_are_sparse(inputs), separator or "_X_"))


def cross_hashed(
    inputs: Sequence[Any], num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """Return for each row the hash of every combination of one value of each input, modulo `num_buckets`.

    With `num_buckets` 0, the hash is modulo 2^63 - 1.
    The inputs are sparse or dense matrices of strings or integers.

    >>> autoconv.sparse.cross_hashed([autoconv.constant([["a"]]), autoconv.constant([[1]])], num_buckets=10).dtype
    autoconv.int64
    """
    key = _DEFAULT_KEY if hash_key is None else int(hash_key)
    return _cross(inputs, int64, HashedFeatures(_are_sparse(inputs), int(num_buckets), key))


def _are_sparse(inputs: Sequence[Any]) -> tuple[bool, ...]:
    """Return whether each input is sparse; raise TypeError unless the inputs are a list."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    return tuple(isinstance(operand, SparseTensor) for operand in inputs)


def _cross(inputs: Sequence[Any], dtype: DType, function: Callable[..., Any]) -> SparseTensor:
    """Return the sparse tensor of the combinations, which a function of NumPy's arrays computes."""
    operands: list[Any] = []
    for operand in inputs:
        if isinstance(operand, SparseTensor):
            operands += [operand.indices, _as_feature(operand.values), operand.dense_shape]
        else:
            operands.append(_as_feature(convert_to_tensor(operand)))
    dtypes, shapes = (int64, dtype, int64), ((None, 2), (None,), (2,))
    return SparseTensor(*apply("py_call", *operands, function=function, dtypes=dtypes, shapes=shapes))


def _as_feature(values: Any) -> Any:
    """Return strings unchanged, numbers as int64."""
    return values if values.dtype.is_string else cast(values, int64)


@dataclass(frozen=True)
class Features:
    """Base of functions that combine the features of rows; `are_sparse[i]` is True if input i is sparse.

    Their arguments are an array for each dense input, and indices, values and shape for each sparse one. They return
    indices, values and shape of the sparse result.
    """

    are_sparse: tuple[bool, ...]

    def __call__(self, *operands: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        remaining_arrays = iter(operands)
        columns = [list(_iterate_rows(remaining_arrays, is_sparse)) for is_sparse in self.are_sparse]
        indices, values, width = [], [], 0
        for row, features in enumerate(zip(*columns, strict=True)):
            combined_features = [self.combine(combination) for combination in itertools.product(*features)]
            indices += [(row, index) for index in range(len(combined_features))]
            values += combined_features
            width = max(width, len(combined_features))
        array = self.as_array(values)
        height = len(columns[0]) if columns else 0
        return np.array(indices, np.int64).reshape(-1, 2), array, np.array([height, width], np.int64)

    def combine(self, features: Sequence[Any]) -> Any:
        """Return the value of one combination of features."""
        raise NotImplementedError

    def as_array(self, values: Sequence[Any]) -> np.ndarray:
        """Return the values of all combinations as an array."""
        raise NotImplementedError


def _iterate_rows(arrays: Iterator[np.ndarray], is_sparse: bool) -> Iterator[list[Any]]:
    """Yield the features of each row of the next input: one array, or the three arrays of a sparse tensor."""
    if not is_sparse:
        yield from (list(row) for row in next(arrays))
        return
    indices, values, shape = next(arrays), next(arrays), next(arrays)
    rows: list[list[Any]] = [[] for _ in range(int(shape[0]))]
    for (row, *_), value in zip(indices.tolist(), values, strict=True):
        rows[row].append(value)
    yield from rows


@attribute_class
@dataclass(frozen=True)
class JoinedFeatures(Features):
    """Join features as text, with `separator` between them."""

    separator: str

    def combine(self, features: Sequence[Any]) -> bytes:
        return self.separator.encode().join(
            feature if isinstance(feature, bytes) else str(int(feature)).encode() for feature in features
        )

    def as_array(self, values: Sequence[Any]) -> np.ndarray:
        result = np.empty(len(values), object)
        result[:] = values
        return result


@attribute_class
@dataclass(frozen=True)
class HashedFeatures(Features):
    """Hash the features of a combination in their order, starting with `key`, modulo `buckets` (0: 2^63 - 1)."""

    buckets: int
    key: int

    def combine(self, features: Sequence[Any]) -> int:
        hash_ = self.key
        for feature in features:
            hash_ = _combine_fingerprints(
                hash_, fingerprint(feature) if isinstance(feature, bytes) else int(feature) & _MASK_64
            )
        return hash_ % (self.buckets or (1 << 63) - 1)

    def as_array(self, values: Sequence[Any]) -> np.ndarray:
        return np.array(values, np.int64)


def _combine_fingerprints(first: int, second: int) -> int:
    """Return the fingerprint of two fingerprints, as TensorFlow's FingerprintCat64."""
    hash_value = first ^ _HASH_FACTOR
    hash_value ^= (_shift_mix(second * _HASH_FACTOR & _MASK_64) * _HASH_FACTOR) & _MASK_64
    hash_value = hash_value * _HASH_FACTOR & _MASK_64
    return _shift_mix(_shift_mix(hash_value) * _HASH_FACTOR & _MASK_64)


def _shift_mix(value: int) -> int:
    """Return the number of 64 bits xor itself shifted right by 47 bits."""
    return value ^ (value >> 47)
