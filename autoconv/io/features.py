"""What to expect of the features of an Example."""

from __future__ import annotations

import collections
from typing import Any


class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature of one shape: `dtype` is float32, int64 or string. Without a default, each example must have it.

    >>> autoconv.io.FixedLenFeature([2], autoconv.float32).default_value is None
    True
    """

    __slots__ = ()

    def __new__(cls, shape: Any, dtype: Any, default_value: Any = None) -> FixedLenFeature:
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(
    collections.namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])
):
    """A feature whose first dimension varies; the rest has the shape given. A batch is padded to its longest.

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

    Parsing raises UnimplementedError, as there are no sparse tensors; FixedLenSequenceFeature gives a dense one.

    >>> autoconv.io.VarLenFeature(autoconv.int64).dtype
    autoconv.int64
    """

    __slots__ = ()


class RaggedFeature(
    collections.namedtuple(
        "RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"]
    )
):
    """A feature of any length, which is read as a ragged tensor.

    Parsing raises UnimplementedError, as there are no ragged tensors; FixedLenSequenceFeature gives a dense one.

    >>> autoconv.io.RaggedFeature(autoconv.int64).partitions
    ()
    """

    __slots__ = ()

    def __new__(
        cls, dtype: Any, value_key: str | None = None, partitions: Any = (), row_splits_dtype: Any = None,
        validate: bool = False,
    ) -> RaggedFeature:  # fmt: skip
        return super().__new__(cls, dtype, value_key, tuple(partitions), row_splits_dtype, validate)
