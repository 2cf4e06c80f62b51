"""Strategies: how computations are distributed over replicas, and the strategies of one replica."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from autoconv.api.tensors.reductions import reduce_mean, reduce_sum
from autoconv.config.placement import full_name, run_as_replica
from autoconv.distribute.contexts import Context, ReplicaContext, push_context, set_default
from autoconv.distribute.datasets import InputContext
from autoconv.distribute.reduction import ReduceOp, reduce_op_of
from autoconv.distribute.replicas import place_on
from autoconv.distribute.values import map_leaves
from autoconv.runtime.recording.regions import current_region


class Strategy:
    """A distribution of computations over replicas; in this class, one replica runs everything.

    >>> strategy = autoconv.distribute.get_strategy()
    >>> strategy.num_replicas_in_sync, strategy.run(lambda x: x + 1, args=(2,))
    (1, 3)
    """

    num_replicas_in_sync = 1  # number of the replicas of all processes
    local_replicas = 1  # number of the replicas of this process

    def __init__(self, extended: Any = None) -> None:
        # The replica of code outside of `run`; None for several replicas.
        self.only_replica: ReplicaContext | None = ReplicaContext(self)

    @property
    def extended(self) -> Any:
        return self

    @property
    def cluster_resolver(self) -> Any:
        """The resolver that the strategy was made with, or None."""
        return None

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The full names of the devices of this process's replicas."""
        return (full_name(""),)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return self.worker_devices

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        """Make this the current strategy in the block."""
        with push_context(Context(self, self.only_replica)):
            yield self

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Call the function in each replica; return its result, or a distributed value of the replicas' results."""
        with push_context(Context(self, ReplicaContext(self))):
            return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Any:
        """Reduce a value over the replicas, and along `axis` unless it is None.

        `reduce_op` is a ReduceOp or its name.
        """
        op = reduce_op_of(reduce_op)
        if axis is None:
            return value
        return map_leaves(lambda leaf: (reduce_mean if op is ReduceOp.MEAN else reduce_sum)(leaf, axis), value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Return the values of the replicas of this process."""
        return (value,)

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """The old name of `experimental_local_results`."""
        return self.experimental_local_results(value)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Return a dataset whose elements have a part of each batch for every replica."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Callable[[Any], Any], options: Any = None) -> Any:
        """Return the dataset that a function of an InputContext creates. Each element of it is for one replica."""
        return dataset_fn(InputContext())

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """Return an iterator of the distributed dataset."""
        return iter(self.experimental_distribute_dataset(dataset))

    def experimental_distribute_values_from_function(self, value_fn: Callable[[Any], Any]) -> Any:
        """Call a function of a ValueContext for each replica; return the distributed value of the results."""
        return value_fn(ValueContext(0, 1))

    def copy_to_all_replicas(self, value: Any) -> Any:
        """Return a structure of distributed values: each tensor of `value` on the device of each replica."""
        return value

    def gather(self, value: Any, axis: int) -> Any:
        """Return the values of all replicas, joined along an axis."""
        return value

    def update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Call the function with the variable, or with each of its copies."""
        return fn(var, *args, **(kwargs or {}))

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Return a context manager without effect: the strategy places variables."""
        return contextlib.nullcontext()

    def variable_created_in_scope(self, v: Any) -> bool:
        return True

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """Return a value reduced over the replicas."""
        return value

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any, options: Any = None) -> list[Any]:
        """Return the values of pairs (value, destination), reduced over the replicas."""
        pairs = value_destination_pairs
        return [self.reduce_to(reduce_op, value, destination, options) for value, destination in pairs]

    def value_container(self, value: Any) -> Any:
        """Return the variable that a value is a copy of; other values as they are."""
        container = getattr(value, "_distributed_container", lambda: None)()
        return value if container is None else container

    # ---- used by contexts and variables

    def device_of(self, replica: int) -> str:
        """Return the device of a replica of this process, given its number among the replicas of all processes."""
        return self.worker_devices[self.local_index(replica)]

    @property
    def first_local_replica(self) -> int:
        """The number, among the replicas of all processes, of the first one of this process."""
        return 0

    def local_index(self, replica: int) -> int:
        """Return the position, among the replicas of this process, of a replica with this number among all."""
        return replica - self.first_local_replica

    def call_merged(
        self, replica: int, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a function once, when all replicas have made this call; return the part of the result for `replica`."""
        return function(self, *args, **kwargs)

    def reduce_in_replica(self, reduce: Callable[[Any, Any], Any], value: Any) -> Any:
        """Return this replica's part of `reduce(strategy, values of all replicas)`."""
        return reduce(self, value)

    def all_reduce_structure(self, reduce_op: Any, value: Any) -> Any:
        """Return a structure of tensors reduced over the replicas; with one replica, the same structure."""
        reduce_op_of(reduce_op)
        return value

    @contextlib.contextmanager
    def on_device(self, replica_index: int) -> Iterator[None]:
        """Place the operations of the block on the device of a replica of this process."""
        with place_on(current_region(), self.worker_devices[replica_index]):
            yield

    @contextlib.contextmanager
    def updating(self, replica_index: int) -> Iterator[None]:
        """Let the block update the copies of variables that one replica of this process has."""
        context = push_context(Context(self, updated_replica=replica_index))
        # A negative replica number gives updates traces of their own.
        with context, self.on_device(replica_index), run_as_replica(-1 - replica_index):
            yield


class ValueContext:
    """The number of a replica and how many there are, for `experimental_distribute_values_from_function`.

    >>> autoconv.distribute.get_strategy().experimental_distribute_values_from_function(
    ...     lambda context: context.num_replicas_in_sync)
    1
    """

    def __init__(self, replica_id_in_sync_group: int, num_replicas_in_sync: int) -> None:
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = num_replicas_in_sync


class OneDeviceStrategy(Strategy):
    """A strategy with one replica on a named device.

    >>> autoconv.distribute.OneDeviceStrategy("/cpu:0").num_replicas_in_sync
    1
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        self.device = device

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return (full_name(self.device),)

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        with super().scope(), self.on_device(0):
            yield self

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        with self.on_device(0):
            return super().run(fn, args, kwargs, options)


set_default(Strategy())
