"""Names of TensorFlow's `data.experimental`."""

from collections.abc import Callable

from autoconv.data.dataset import Dataset
from autoconv.data.nodes import INFINITE as INFINITE_CARDINALITY
from autoconv.data.nodes import UNKNOWN as UNKNOWN_CARDINALITY
from autoconv.data.optional import Optional
from autoconv.data.options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ThreadingOptions,
)
from autoconv.data.readers import Counter, CsvDataset, make_csv_dataset
from autoconv.data.transformations import (
    RandomDataset,
    assert_cardinality,
    at,
    bucket_by_sequence_length,
    copy_to_device,
    enumerate_dataset,
    from_list,
    get_next_as_optional,
    get_single_element,
    get_structure,
    group_by_window,
    ignore_errors,
    map_and_batch,
    parallel_interleave,
    prefetch_to_device,
    rejection_resample,
    scan,
    shuffle_and_repeat,
    snapshot,
    take_while,
    unbatch,
    unique,
)
from autoconv.data.transforms import AUTOTUNE
from autoconv.graph.dtypes import int64
from autoconv.runtime.annotations import DTypeLike, IntLike, ShapeLike

sample_from_datasets = Dataset.sample_from_datasets
save, load = Dataset.save, Dataset.load
choose_from_datasets = Dataset.choose_from_datasets


def cardinality(dataset: Dataset) -> object:
    """The number of elements of a dataset; see Dataset.cardinality.

    >>> int(autoconv.data.experimental.cardinality(autoconv.data.Dataset.range(3)))
    3
    """
    return dataset.cardinality()


def dense_to_ragged_batch(
    batch_size: IntLike, drop_remainder: bool = False, row_splits_dtype: DTypeLike = int64
) -> Callable[[Dataset], Dataset]:
    """A function for `Dataset.apply` that batches elements of different sizes; see Dataset.ragged_batch.

    >>> dataset = autoconv.data.Dataset.range(4).map(lambda x: autoconv.range(x))
    >>> [batch.to_list() for batch in dataset.apply(autoconv.data.experimental.dense_to_ragged_batch(2))]
    [[[], [0]], [[0, 1], [0, 1, 2]]]
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: IntLike, row_shape: ShapeLike) -> Callable[[Dataset], Dataset]:
    """A function for `Dataset.apply` that batches tensors of any size as sparse tensors.

    >>> dataset = autoconv.data.Dataset.range(1, 3).map(lambda x: autoconv.fill([x], x))
    >>> batch = next(iter(dataset.apply(autoconv.data.experimental.dense_to_sparse_batch(2, [3]))))
    >>> autoconv.sparse.to_dense(batch).numpy()
    array([[1, 0, 0],
           [2, 2, 0]])
    """
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


__all__ = [
    "AUTOTUNE", "AutoShardPolicy", "AutotuneAlgorithm", "AutotuneOptions", "Counter", "CsvDataset",
    "DistributeOptions", "ExternalStatePolicy", "INFINITE_CARDINALITY", "OptimizationOptions", "Optional",
    "RandomDataset", "ThreadingOptions", "UNKNOWN_CARDINALITY", "assert_cardinality", "at", "bucket_by_sequence_length",
    "cardinality", "choose_from_datasets", "copy_to_device", "enumerate_dataset", "from_list", "get_next_as_optional",
    "get_single_element", "get_structure", "group_by_window", "make_csv_dataset", "map_and_batch",
    "ignore_errors", "load", "parallel_interleave", "prefetch_to_device", "rejection_resample", "sample_from_datasets",
    "save", "scan", "shuffle_and_repeat", "snapshot", "take_while", "unbatch", "unique",
]  # fmt: skip
