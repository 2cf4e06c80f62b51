"""Replicas in several processes, each of which runs the same program on its part of the data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.config.placement import DEFAULT_DEVICE
from autoconv.distribute.datasets import InputContext, group_elements, split_batches
from autoconv.distribute.mirrored import ReplicatedStrategy
from autoconv.distribute.mpi_group import MpiGroup, is_started_by_mpi
from autoconv.distribute.process_group import ProcessGroup
from autoconv.distribute.reduction import ReduceOp
from autoconv.distribute.values import map_leaves, of_replica
from autoconv.distribute.variables import DistributedVariable
from autoconv.errors import UnimplementedError
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import EagerTensor


class MultiWorkerMirroredStrategy(ReplicatedStrategy):
    """A strategy with a replica in each of several processes, in which variables have the same values.

    Each process runs the same program. The environment variable `TF_CONFIG` has the addresses of the workers and the
    number of the process, as JSON in TensorFlow's form; the first worker listens at its address. If TF_CONFIG is not
    set, the processes of mpiexec are the workers (the extra `mpi`), else there is one worker. Values are sent by shared
    memory if all workers are on this machine, else by connections, or by MPI; they are added in the order of the
    workers. Raises UnavailableError where a worker does not start, or is lost, DataLossError where a message is
    damaged, and InvalidArgumentError where the workers make different calls.

    >>> strategy = autoconv.distribute.MultiWorkerMirroredStrategy()
    >>> with strategy.scope():
    ...     v = autoconv.Variable(1.0)
    >>> strategy.num_replicas_in_sync, strategy.reduce("SUM", strategy.run(lambda: v + 1.0), axis=None).numpy()
    (1, np.float32(2.0))
    """

    def __init__(self, cluster_resolver: Any = None, communication_options: Any = None) -> None:
        self._group: ProcessGroup | MpiGroup
        if getattr(communication_options, "timeout_seconds", None) is not None:
            raise UnimplementedError("communication has no limit of seconds: `timeout_seconds` has to be None")
        if cluster_resolver is None and "TF_CONFIG" not in os.environ and is_started_by_mpi():
            self._group = MpiGroup()
        else:
            self._group = ProcessGroup(*_worker_addresses(cluster_resolver))
        super().__init__([DEFAULT_DEVICE])

    @property
    def num_replicas_in_sync(self) -> int:  # type: ignore[override]
        return self._group.size * self.local_replicas

    @property
    def first_local_replica(self) -> int:
        return self._group.rank * self.local_replicas

    def reduce_across_processes(self, op: ReduceOp, values: Sequence[Any]) -> Sequence[Any]:
        if self._group.size == 1 or not values:
            return values
        totals = self._call_on_arrays(self._sum_arrays, values)
        return [total / self._group.size for total in totals] if op is ReduceOp.MEAN else totals

    def _sum_arrays(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """Return the sum of each array over the processes; arrays of one dtype are sent together."""
        if len(arrays) == 1:
            return [self._group.all_reduce(arrays[0])]
        sum_by_position: dict[int, np.ndarray] = {}
        for dtype in dict.fromkeys(array.dtype for array in arrays):
            positions = [i for i, array in enumerate(arrays) if array.dtype == dtype]
            total = self._group.all_reduce(np.concatenate([arrays[i].reshape(-1) for i in positions]))
            parts = np.split(total, np.cumsum([arrays[i].size for i in positions])[:-1])
            sum_by_position.update((i, part.reshape(arrays[i].shape)) for i, part in zip(positions, parts, strict=True))
        return [sum_by_position[i] for i in range(len(arrays))]

    def value_of_first_replica(self, value: Any) -> Any:
        value_of_first = of_replica(value, 0)
        if self._group.size == 1:
            return value_of_first
        return self._call_on_arrays(self._group.broadcast, [value_of_first])[0]

    def synchronize_initial_value(self, variable: DistributedVariable) -> None:
        if self._group.size > 1:
            first_value = self._group.broadcast(variable.primary.numpy())
            for copy in variable.values:
                copy.assign(first_value)

    def gather(self, value: Any, axis: int) -> Any:
        return map_leaves(lambda leaf: self._gather_value(leaf, axis), super().gather(value, axis))

    def _gather_value(self, value: Any, axis: int) -> Any:
        """Return the values of all processes, joined along an axis."""
        tensor = convert_to_tensor(value)
        (gathered_value,) = self._call_on_arrays(
            lambda array: self._group.all_gather(array, axis), [tensor], keeps_shape=False
        )
        sizes = tensor.shape.as_list()
        sizes[axis] = None
        gathered_value.set_shape(sizes)
        return gathered_value

    def _call_on_arrays(
        self, function: Callable[..., Any], values: Sequence[Any], keeps_shape: bool = True
    ) -> list[Any]:
        """Call a function of arrays: at once, or each time that the graph being recorded runs.

        With `keeps_shape`, each result has the shape of the value at its position.
        """
        tensors = [convert_to_tensor(value) for value in values]
        if current_region() is None:
            arrays = function(*(tensor.numpy() for tensor in tensors))  # type: ignore[attr-defined]
            return [EagerTensor(array) for array in (arrays if isinstance(arrays, list) else [arrays])]
        results = numpy_function(function, tensors, [tensor.dtype for tensor in tensors])
        for tensor_result, tensor in zip(results, tensors, strict=True):
            if keeps_shape:
                tensor_result.set_shape(tensor.shape)
        return list(results)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        return split_batches(dataset, self.local_replicas, self.first_local_replica, self.num_replicas_in_sync)

    def distribute_datasets_from_function(self, dataset_fn: Callable[[Any], Any], options: Any = None) -> Any:
        context = InputContext(self._group.size, self._group.rank, self.num_replicas_in_sync)
        return group_elements(dataset_fn(context), self.local_replicas)

    def close(self) -> None:
        """End the connections to the other workers."""
        self._group.close()


def _worker_addresses(resolver: Any) -> tuple[list[str], int]:
    """Return the workers' addresses, and the position of this process among them, by a resolver or TF_CONFIG."""
    if resolver is not None:
        jobs, task_type, task_index = resolver.cluster_spec().as_dict(), resolver.task_type, resolver.task_id
    else:
        config_text = os.environ.get("TF_CONFIG", "")
        try:
            config = json.loads(config_text) if config_text else {}
            task = config.get("task", {})
            jobs, task_type, task_index = config.get("cluster", {}), task.get("type", "worker"), task.get("index", 0)
        except (ValueError, AttributeError) as error:
            raise ValueError(f"TF_CONFIG is not the JSON of a cluster and a task: {error}") from None
    workers = list(jobs.get("chief", [])) + list(jobs.get("worker", [])) if isinstance(jobs, Mapping) else []
    if not workers:
        return ["localhost:0"], 0  # a group of this process alone, which does not listen
    rank = int(task_index or 0) + (len(jobs.get("chief", [])) if task_type == "worker" else 0)
    if task_type not in ("chief", "worker") or not 0 <= rank < len(workers):
        raise ValueError(f"the cluster has no task {task_type}:{task_index}; it has {len(workers)} workers")
    return workers, rank
