"""Distribution over replicas: one replica, on this process's device."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator
from typing import Any

from autoconv.errors import UnimplementedError


class ReduceOp(enum.Enum):
    """How the values of replicas become one.

    >>> autoconv.distribute.ReduceOp.SUM.value
    'SUM'
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """Return the reduction of a variable's aggregation; raises ValueError for one that has none."""
        found = {"SUM": ReduceOp.SUM, "MEAN": ReduceOp.MEAN}.get(getattr(aggregation, "name", ""))
        if found is None:
            raise ValueError(f"the aggregation {aggregation} of variables has no ReduceOp")
        return found


class Strategy:
    """How computations are distributed: here, one replica that runs everything.

    >>> strategy = autoconv.distribute.get_strategy()
    >>> strategy.num_replicas_in_sync, strategy.run(lambda x: x + 1, args=(2,))
    (1, 3)
    """

    num_replicas_in_sync = 1

    @property
    def extended(self) -> Strategy:
        return self

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Make this the current strategy in the block."""
        _STRATEGIES.append(self)
        try:
            yield self
        finally:
            _STRATEGIES.pop()

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Call the function in each replica; return its result, as there is one."""
        return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Any:
        """Reduce a value over the replicas, and along `axis` unless it is None.

        `reduce_op` is a ReduceOp or its name.
        """
        from autoconv.api.tensors.reductions import reduce_mean, reduce_sum

        if axis is None:
            return value
        kind = getattr(reduce_op, "value", reduce_op)
        return (reduce_mean if str(kind).upper() == "MEAN" else reduce_sum)(value, axis)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Return the values of the replicas of this process."""
        return (value,)

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """The old name of `experimental_local_results`."""
        return self.experimental_local_results(value)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Return the dataset: its batches go to the one replica whole."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Callable[[Any], Any], options: Any = None) -> Any:
        """Return the dataset that the function makes for the one worker."""
        return dataset_fn(InputContext())

    def gather(self, value: Any, axis: int) -> Any:
        """Return the values of all replicas, joined along an axis: that of the one replica."""
        return value

    def update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Call the function with the variable."""
        return fn(var, *args, **(kwargs or {}))

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Return a block in which variables are created on the device of another one."""
        return contextlib.nullcontext()

    def variable_created_in_scope(self, v: Any) -> bool:
        return True

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        return value

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any, options: Any = None) -> list[Any]:
        return [value for value, _ in value_destination_pairs]

    def value_container(self, value: Any) -> Any:
        return value


class OneDeviceStrategy(Strategy):
    """A strategy with one replica on a named device.

    >>> autoconv.distribute.OneDeviceStrategy("/cpu:0").num_replicas_in_sync
    1
    """

    def __init__(self, device: str) -> None:
        self.device = device


class MirroredStrategy(Strategy):
    """A strategy with a replica on each device of this machine: one, as there is one CPU.

    Raises UnimplementedError for a list of several devices.

    >>> autoconv.distribute.MirroredStrategy().num_replicas_in_sync
    1
    """

    def __init__(self, devices: Any = None, cross_device_ops: Any = None) -> None:
        if devices is not None and len(devices) > 1:
            raise UnimplementedError(f"several replicas are not implemented; found the devices {list(devices)}")


class MultiWorkerMirroredStrategy(Strategy):
    """Replicas in several processes, which are not implemented: raises UnimplementedError.

    >>> isinstance(autoconv.distribute.get_strategy(), autoconv.distribute.MultiWorkerMirroredStrategy)
    False
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnimplementedError("several processes are not implemented; use autoconv.distribute.get_strategy()")


class TPUStrategy(Strategy):
    """Replicas on TPUs, which are not implemented: raises UnimplementedError.

    >>> isinstance(autoconv.distribute.get_strategy(), autoconv.distribute.TPUStrategy)
    False
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnimplementedError("TPUs are not implemented; use autoconv.distribute.get_strategy()")


class InputContext:
    """What a function that makes a worker's dataset is told: one worker with one replica.

    >>> autoconv.distribute.InputContext().get_per_replica_batch_size(32)
    32
    """

    num_input_pipelines = 1
    input_pipeline_id = 0
    num_replicas_in_sync = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Return the batch size of a replica."""
        return global_batch_size


class ReplicaContext:
    """The replica that runs now.

    >>> context = autoconv.distribute.get_replica_context()
    >>> context.replica_id_in_sync_group, context.num_replicas_in_sync
    (0, 1)
    """

    replica_id_in_sync_group = 0
    num_replicas_in_sync = 1

    @property
    def strategy(self) -> Strategy:
        return get_strategy()

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Call the function with the strategy and the values of the one replica."""
        return merge_fn(self.strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Return the value, reduced over one replica."""
        return value


class DistributedValues:
    """A value for each of several replicas; with one replica there are none.

    >>> isinstance(1.0, autoconv.distribute.DistributedValues)
    False
    """


class DistributedDataset:
    """A dataset divided among several replicas; with one replica there are none.

    >>> isinstance([], autoconv.distribute.DistributedDataset)
    False
    """


class DistributedIterator:
    """An iterator of a DistributedDataset.

    >>> isinstance([], autoconv.distribute.DistributedIterator)
    False
    """


def get_strategy() -> Strategy:
    """Return the current strategy; outside of every scope the default one.

    >>> autoconv.distribute.get_strategy().num_replicas_in_sync
    1
    """
    return _STRATEGIES[-1]


def has_strategy() -> bool:
    """Return whether a scope of a strategy other than the default is entered.

    >>> autoconv.distribute.has_strategy()
    False
    """
    return get_strategy() is not _DEFAULT


def get_replica_context() -> ReplicaContext:
    """Return the context of the replica that runs now.

    >>> autoconv.distribute.get_replica_context().replica_id_in_sync_group
    0
    """
    return _CONTEXT


def in_cross_replica_context() -> bool:
    """Return whether code runs outside of every replica: never, with one replica.

    >>> autoconv.distribute.in_cross_replica_context()
    False
    """
    return False


_DEFAULT = Strategy()
_STRATEGIES = [_DEFAULT]
_CONTEXT = ReplicaContext()

__all__ = [
    "DistributedDataset", "DistributedIterator", "DistributedValues", "InputContext", "MirroredStrategy",
    "MultiWorkerMirroredStrategy", "OneDeviceStrategy", "ReduceOp", "ReplicaContext", "Strategy", "TPUStrategy",
    "get_replica_context", "get_strategy", "has_strategy", "in_cross_replica_context",
]  # fmt: skip
