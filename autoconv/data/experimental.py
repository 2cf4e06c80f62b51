"""Names of TensorFlow's `data.experimental`."""

import enum

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


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is divided among workers; with one worker none of them has an effect.

    >>> autoconv.data.experimental.AutoShardPolicy.DATA.name
    'DATA'
    """

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What happens when a dataset with outer state is saved; datasets are not saved here, so none has an effect.

    >>> autoconv.data.experimental.ExternalStatePolicy.IGNORE.name
    'IGNORE'
    """

    WARN = 0
    IGNORE = 1
    FAIL = 2


__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "AutoShardPolicy", "Counter", "CsvDataset",
    "ExternalStatePolicy", "cardinality", "choose_from_datasets", "make_csv_dataset", "sample_from_datasets",
]  # fmt: skip
