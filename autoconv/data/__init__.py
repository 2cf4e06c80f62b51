"""Datasets: elements from tensors, generators and files, and transformations of them."""

from __future__ import annotations

from types import SimpleNamespace

from autoconv.data import experimental
from autoconv.data.dataset import Dataset, DatasetSpec
from autoconv.data.iterators import Iterator, IteratorSpec
from autoconv.data.nodes import INFINITE as INFINITE_CARDINALITY
from autoconv.data.nodes import UNKNOWN as UNKNOWN_CARDINALITY
from autoconv.data.readers import TextLineDataset, TFRecordDataset
from autoconv.data.transforms import AUTOTUNE


class Options:
    """Options of datasets; any attribute may be set, without an effect.

    >>> dataset = autoconv.data.Dataset.range(2).with_options(autoconv.data.Options())
    >>> [int(x) for x in dataset]
    [0, 1]
    """

    def __init__(self) -> None:
        self.autotune = SimpleNamespace()
        self.experimental_distribute = SimpleNamespace(auto_shard_policy=experimental.AutoShardPolicy.OFF)
        self.experimental_optimization = SimpleNamespace()
        self.threading = SimpleNamespace()


__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec", "Iterator", "IteratorSpec",
    "Options", "TFRecordDataset", "TextLineDataset", "experimental",
]  # fmt: skip
