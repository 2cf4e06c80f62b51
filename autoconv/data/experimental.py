"""Names of TensorFlow's `data.experimental`."""

from autoconv.data.dataset import Dataset
from autoconv.data.nodes import INFINITE as INFINITE_CARDINALITY
from autoconv.data.nodes import UNKNOWN as UNKNOWN_CARDINALITY
from autoconv.data.readers import Counter, CsvDataset, make_csv_dataset
from autoconv.data.transforms import AUTOTUNE

sample_from_datasets = Dataset.sample_from_datasets
choose_from_datasets = Dataset.choose_from_datasets


def cardinality(dataset: Dataset) -> object:
    """The number of elements of a dataset; see Dataset.cardinality.

    >>> int(autoconv.data.experimental.cardinality(autoconv.data.Dataset.range(3)))
    3
    """
    return dataset.cardinality()


__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Counter", "CsvDataset", "cardinality",
    "choose_from_datasets", "make_csv_dataset", "sample_from_datasets",
]  # fmt: skip
