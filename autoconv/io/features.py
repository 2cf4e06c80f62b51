"""Specifications of the features of an Example."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from autoconv.graph.dtypes import int32
from autoconv.runtime.annotations import DTypeLike


class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature of a fixed shape: `dtype` is float32, int64 or string. Without a default, each example must have it.

    >>> autoconv.io.FixedLenFeature([2], autoconv.float32).default_value is None
    True
    """

    __slots__ = ()

    def __new__(cls, shape: Any, dtype: Any, default_value: Any = None) -> FixedLenFeature:
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(
    collections.namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])
):
    """A feature whose first dimension varies; the others have the sizes of `shape`.

    In a batch, the first dimension is padded to the longest.

    >>> autoconv.io.FixedLenSequenceFeature([], autoconv.int64, allow_missing=True).allow_missing
    True
    """

    __slots__ = ()

    def __new__(
        cls, shape: Any, dtype: Any, allow_missing: bool = False, default_value: Any = None
    ) -> FixedLenSequenceFeature:
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """A feature of any length, which is read as a sparse tensor.

    >>> autoconv.io.VarLenFeature(autoconv.int64).dtype
    autoconv.int64
    """

    __slots__ = ()


class SparseFeature(
    collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])
):
    """Values under one key, whose positions are under one or several other keys; they give a sparse tensor.

    `size` is the size of the dimension that the positions index, or a list with one for each index key.

    >>> autoconv.io.SparseFeature("at", "values", autoconv.float32, size=10).index_key
    'at'
    """

    __slots__ = ()

    def __new__(
        cls, index_key: str | list[str], value_key: str, dtype: DTypeLike, size: int | list[int],
        already_sorted: bool = False,
    ) -> SparseFeature:
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


class RaggedFeature(
    collections.namedtuple(
        "RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"]
    )
):
    """A feature of any length, which is read as a ragged tensor.

    `value_key` is the key that has the values, by default the feature's own. `partitions` divide the values into rows,
    from the outermost dimension on: RowLengths, RowSplits, RowStarts, RowLimits and ValueRowIds name the key that has
    them, UniformRowLength is a number.

    >>> autoconv.io.RaggedFeature(autoconv.int64).partitions
    ()
    """

    __slots__ = ()

    RowSplits = collections.namedtuple("RowSplits", ["key"])
    RowLengths = collections.namedtuple("RowLengths", ["key"])
    RowStarts = collections.namedtuple("RowStarts", ["key"])
    RowLimits = collections.namedtuple("RowLimits", ["key"])
    ValueRowIds = collections.namedtuple("ValueRowIds", ["key"])
    UniformRowLength = collections.namedtuple("UniformRowLength", ["length"])

    def __new__(
        cls, dtype: DTypeLike, value_key: str | None = None, partitions: Sequence[Any] = (),
        row_splits_dtype: DTypeLike = int32,
        validate: bool = False,
    ) -> RaggedFeature:  # fmt: skip
        return super().__new__(cls, dtype, value_key, tuple(partitions), row_splits_dtype, validate)
