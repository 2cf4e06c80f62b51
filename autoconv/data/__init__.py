"""Datasets: sequences of elements from tensors, generators and files, and their transformations."""

from __future__ import annotations

from autoconv.data import experimental
from autoconv.data.dataset import Dataset, DatasetSpec
from autoconv.data.iterators import Iterator, IteratorSpec
from autoconv.data.nodes import INFINITE as INFINITE_CARDINALITY
from autoconv.data.nodes import UNKNOWN as UNKNOWN_CARDINALITY
from autoconv.data.options import Options, ThreadingOptions
from autoconv.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from autoconv.data.transforms import AUTOTUNE

__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec",
    "FixedLengthRecordDataset", "Iterator", "IteratorSpec", "Options", "TFRecordDataset", "TextLineDataset",
    "ThreadingOptions", "experimental",
]  # fmt: skip
