"""Strategies with a replica on each of several devices of this process, each in a thread."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.tensors.shaping import concat
from autoconv.config.devices import list_logical_devices
from autoconv.config.placement import full_name
from autoconv.distribute.contexts import Context, current_context, push_context
from autoconv.distribute.cross_device_ops import check_cross_device_ops
from autoconv.distribute.datasets import InputContext, group_elements, split_batches
from autoconv.distribute.reduction import ReduceOp, combine, combine_along, reduce_op_of
from autoconv.distribute.replicas import current_replica, run_replicas
from autoconv.distribute.strategy import Strategy, ValueContext
from autoconv.distribute.values import (
    DistributedValues,
    PerReplica,
    leaves_of,
    map_leaves,
    of_replica,
    per_replica,
    regroup,
)
from autoconv.distribute.variables import DistributedVariable, distribute_variable
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.objects.variable_updates import variable_creator_scope
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.structure import pack
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import EagerTensor


class ReplicatedStrategy(Strategy):
    """A strategy with several replicas, `local_replicas` of them in this process."""

    def __init__(self, devices: Sequence[str]) -> None:
        super().__init__()
        self._devices = tuple(devices)
        self.only_replica = None

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return self._devices

    @property
    def local_replicas(self) -> int:  # type: ignore[override]
        return len(self._devices)

    @property
    def num_replicas_in_sync(self) -> int:  # type: ignore[override]
        return self.local_replicas

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        with push_context(Context(self)), variable_creator_scope(self.make_variable):
            yield self

    def make_variable(self, make: Callable[..., Any], **arguments: Any) -> Any:
        """Make a variable with a copy for each replica; replicas make it together, with the first one's arguments.

        Code that updates one copy, and graphs that a replica records by itself, make a variable without copies.
        """
        context, replica = current_context(), current_replica()
        if context.updated_replica is not None:
            return make(**arguments)
        if context.replica is None:
            return self.new_variable(make, arguments)
        if replica is None or replica.strategy is not self or replica.region is not current_region():
            return make(**arguments)
        return replica.merge(lambda strategy: strategy.new_variable(make, arguments), (), {})

    def new_variable(self, make: Callable[..., Variable], arguments: dict[str, Any]) -> Variable:
        """Return a variable for all replicas; `make` creates a variable on the device of the enclosing block."""
        return distribute_variable(self, make, arguments)

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        context = current_context()
        if context.replica is not None and context.replica.strategy is self:
            raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")
        return run_replicas(self, fn, args, dict(kwargs or {}))

    def call_merged(
        self, replica: int, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        this_replica = current_replica()
        assert this_replica is not None
        return this_replica.merge(function, args, kwargs)

    def reduce_in_replica(self, reduce: Callable[[Any, Any], Any], value: Any) -> Any:
        """Return this replica's part of `reduce(strategy, values of all replicas)`; the replicas meet in a merge."""
        replica = current_replica()
        assert replica is not None
        if current_region() is replica.region:
            return replica.merge(reduce, (value,), {})

        # A function that the replica calls is being traced: the replicas merge each time that its graph runs.
        def reduce_leaf(leaf: Any) -> Any:
            return _call_at_run_time(lambda tensor: require_current_replica().merge(reduce, (tensor,), {}), leaf)

        return map_leaves(reduce_leaf, value)

    def all_reduce_structure(self, reduce_op: Any, value: Any) -> Any:
        """Return a reduced structure, with a tensor on the device of each replica."""
        leaves, template = leaves_of(value)
        reduced_leaves = self._reduce_values(reduce_op_of(reduce_op), leaves)
        return pack(template, [self._copy_to_replicas(tensor) for tensor in reduced_leaves])

    def copy_to_all_replicas(self, value: Any) -> Any:
        return map_leaves(self._copy_to_replicas, value)

    def _copy_to_replicas(self, tensor: Any) -> Any:
        """Copy a tensor to the device of each replica; return the copies as one distributed value."""
        copies = []
        for number in range(self.local_replicas):
            with self.on_device(number):
                copies.append(apply("identity", tensor))
        return per_replica(copies)

    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Any:
        op = reduce_op_of(reduce_op)
        if axis is None:
            leaves, template = leaves_of(value)
            return pack(template, self._reduce_values(op, leaves))
        return map_leaves(lambda leaf: self._reduce_along(op, leaf, axis), value)

    def _reduce_along(self, op: ReduceOp, value: Any, axis: int) -> Any:
        """Reduce one value along an axis and over all replicas."""
        values = self.experimental_local_results(value)
        return combine_along(op, values, axis, lambda tensor: self.reduce_across_processes(ReduceOp.SUM, [tensor])[0])

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        (reduced_value,) = self._reduce_values(reduce_op_of(reduce_op), [value])
        return self._copy_to_replicas(reduced_value) if isinstance(destinations, DistributedValues) else reduced_value

    def _reduce_values(self, op: ReduceOp, values: Sequence[Any]) -> list[Any]:
        """Reduce values over all replicas; all values that processes exchange are sent together."""
        result: list[Any] = [None] * len(values)
        exchanged_positions = []
        for i, value in enumerate(values):
            if isinstance(value, DistributedValues) or self.local_replicas == 1:
                # Variables are replaced by their values.
                tensors = [x.value() if hasattr(x, "value") else x for x in self._values_of(value)]
                result[i] = combine(op, tensors)
                exchanged_positions.append(i)
            else:
                result[i] = self._reduce_equal_value(op, value)
        totals = self.reduce_across_processes(op, [result[i] for i in exchanged_positions])
        for i, value in zip(exchanged_positions, totals, strict=True):
            result[i] = value
        return result

    def _values_of(self, value: Any) -> tuple[Any, ...]:
        """Return the values of the replicas in this process; a value that is not distributed counts as one."""
        return value.values if isinstance(value, DistributedValues) else (value,)

    def _reduce_equal_value(self, op: ReduceOp, value: Any) -> Any:
        """Reduce a value that is the same object in each replica."""
        if op is ReduceOp.MEAN:
            return value
        if not hasattr(value, "dtype"):
            text = f"A non-DistributedValues value {value!r} cannot be reduced with the given reduce op {op}."
            raise ValueError(text)
        return value * self.num_replicas_in_sync

    def reduce_across_processes(self, op: ReduceOp, values: Sequence[Any]) -> Sequence[Any]:
        """Reduce the results of this process over all processes."""
        return values

    def value_of_first_replica(self, value: Any) -> Any:
        """Return the value of replica 0 of all processes."""
        return of_replica(value, 0)

    def synchronize_initial_value(self, variable: DistributedVariable) -> None:
        """Give a new variable the same value in all processes."""

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, DistributedValues):
            return value.values
        if isinstance(value, (tuple, list, dict)):
            return tuple(of_replica(value, number) for number in range(self.local_replicas))
        return (value,)

    def gather(self, value: Any, axis: int) -> Any:
        return map_leaves(lambda leaf: concat(list(self.experimental_local_results(leaf)), axis), value)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        return split_batches(dataset, self.local_replicas, first_part=0, replica_count=self.num_replicas_in_sync)

    def distribute_datasets_from_function(self, dataset_fn: Callable[[Any], Any], options: Any = None) -> Any:
        context = InputContext(num_replicas_in_sync=self.num_replicas_in_sync)
        return group_elements(dataset_fn(context), self.local_replicas)

    def experimental_distribute_values_from_function(self, value_fn: Callable[[Any], Any]) -> Any:
        count = self.num_replicas_in_sync
        first_local_replica = self.first_local_replica
        values = [value_fn(ValueContext(first_local_replica + number, count)) for number in range(self.local_replicas)]
        return PerReplica(values) if not isinstance(values[0], (tuple, list, dict)) else regroup(values)

    def update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Apply `fn(copy, *args, **kwargs)` to each copy of a variable; return the results, None if `group`.

        A variable without copies is updated once, and the result of `fn` is returned.
        """
        if not isinstance(var, DistributedVariable):
            return fn(var, *args, **(kwargs or {}))
        results = []
        for number, copy in enumerate(var.values):
            with self.updating(number):
                replica_args, replica_kwargs = of_replica(list(args), number), of_replica(dict(kwargs or {}), number)
                results.append(fn(copy, *replica_args, **replica_kwargs))
        return None if group else results

    def variable_created_in_scope(self, v: Any) -> bool:
        return isinstance(v, DistributedVariable) and v._strategy is self


def require_current_replica() -> Any:
    """Return the replica whose thread this is; raises RuntimeError in any other thread."""
    result = current_replica()
    if result is None:
        raise RuntimeError("a function that calls all_reduce was traced in a replica and is called outside of one")
    return result


def _call_at_run_time(function: Callable[[Any], Any], value: Any) -> Any:
    """Record a call of `function`, from an eager tensor to one of the same shape and dtype."""
    tensor = convert_to_tensor(value)
    result = numpy_function(lambda array: function(EagerTensor(array)).numpy(), [tensor], tensor.dtype)
    result.set_shape(tensor.shape)
    return result


class MirroredStrategy(ReplicatedStrategy):
    """A strategy with a replica on each of several devices, by default all of this process.

    Each replica has a copy of each variable. `run` calls the function in a thread for each replica; replicas meet in
    `merge_call`, `all_reduce`, and where they assign variables with an aggregation. In a `function` replicas are
    recorded one after the other, and the graph runs their parts concurrently. `cross_device_ops` may be any: replicas
    of one process have one memory. Raises AssertionError for a device that is named twice, and ValueError for
    `cross_device_ops` that are no CrossDeviceOps.

    >>> strategy = autoconv.distribute.MirroredStrategy()
    >>> with strategy.scope():
    ...     v = autoconv.Variable(1.0)
    >>> strategy.num_replicas_in_sync == len(v.values) == len(autoconv.config.list_logical_devices())
    True
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        check_cross_device_ops(cross_device_ops)
        names = [device.name for device in list_logical_devices("CPU")] if not devices else list(devices)
        full_names = [full_name(name) for name in names]
        if len(set(full_names)) < len(full_names):
            raise AssertionError(f"No duplicates allowed in `devices` argument: {tuple(full_names)}")
        super().__init__(full_names)
