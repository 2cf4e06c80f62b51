"""Datasets: elements from tensors, generators and files, and what is done to them on the way to a loop."""

from __future__ import annotations

from autoconv.data.dataset import Dataset, DatasetSpec
from autoconv.data.iterators import Iterator, IteratorSpec
from autoconv.data.nodes import INFINITE as INFINITE_CARDINALITY
from autoconv.data.nodes import UNKNOWN as UNKNOWN_CARDINALITY
from autoconv.data.readers import Counter, CsvDataset, TextLineDataset, TFRecordDataset, make_csv_dataset
from autoconv.data.transforms import AUTOTUNE


class Options:
    """Options of datasets; any attribute may be set, and changes nothing."""


class experimental:
    """Names that were new once."""

    AUTOTUNE = AUTOTUNE
    INFINITE_CARDINALITY = INFINITE_CARDINALITY
    UNKNOWN_CARDINALITY = UNKNOWN_CARDINALITY
    CsvDataset = CsvDataset
    Counter = staticmethod(Counter)
    make_csv_dataset = staticmethod(make_csv_dataset)
    sample_from_datasets = staticmethod(Dataset.sample_from_datasets)
    choose_from_datasets = staticmethod(Dataset.choose_from_datasets)

    @staticmethod
    def cardinality(dataset: Dataset) -> object:
        """How many elements a dataset has; see Dataset.cardinality."""
        return dataset.cardinality()


__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec", "Iterator", "IteratorSpec",
    "Options", "TFRecordDataset", "TextLineDataset", "experimental",
]  # fmt: skip
