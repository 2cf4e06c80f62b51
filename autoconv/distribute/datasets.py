"""Datasets whose elements are divided among replicas."""

from __future__ import annotations

from typing import Any

from autoconv.api.tensors.shaping import shape
from autoconv.data.dataset import Dataset
from autoconv.distribute.values import map_leaves, per_replica


class InputContext:
    """The context of a function that makes a worker's dataset: the worker's number, and counts of workers and replicas.

    >>> autoconv.distribute.InputContext(num_replicas_in_sync=4).get_per_replica_batch_size(32)
    8
    """

    def __init__(
        self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1
    ) -> None:
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Return the batch size of a replica; raises ValueError if replicas cannot have equal parts."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by `num_replicas_in_sync` "
                f"{self.num_replicas_in_sync!r}"
            )
        return global_batch_size // self.num_replicas_in_sync


def split_batches(dataset: Dataset, part_count: int, first_part: int, replica_count: int) -> Dataset:
    """Divide each batch into `replica_count` parts; return a dataset of `part_count` of them, from `first_part` on.

    The parts have equal sizes, except for the last ones, which may be smaller or empty.
    """

    def divide(*element: Any) -> Any:
        structure = element[0] if len(element) == 1 else element
        return map_leaves(lambda leaf: _select_parts(leaf, part_count, first_part, replica_count), structure)

    return dataset.map(divide)


def _select_parts(batch: Any, part_count: int, first_part: int, replica_count: int) -> Any:
    """Return some parts of a batch (see `split_batches`), as one distributed value if there are several."""
    batch_size = shape(batch)[0]
    part_size = (batch_size + replica_count - 1) // replica_count
    numbers = range(first_part, first_part + part_count)
    parts = [batch[number * part_size : (number + 1) * part_size] for number in numbers]
    return per_replica(parts) if part_count > 1 else parts[0]


def group_elements(dataset: Dataset, count: int) -> Dataset:
    """Return a dataset of `count` consecutive elements at a time, one for each replica."""
    if count == 1:
        return dataset
    windows = dataset.batch(count, drop_remainder=True)

    def divide(*element: Any) -> Any:
        structure = element[0] if len(element) == 1 else element
        return map_leaves(lambda leaf: per_replica([leaf[number] for number in range(count)]), structure)

    return windows.map(divide)
