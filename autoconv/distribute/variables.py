"""Variables with a copy for each replica."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.distribute.contexts import current_context
from autoconv.distribute.reduction import ReduceOp, combine
from autoconv.distribute.values import DistributedValues, of_replica
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.objects.variable_updates import VariableAggregation, VariableSynchronization


class DistributedVariable(DistributedValues, Variable):
    """A variable with a copy on each device: code of a replica reads its own copy, other code the first.

    Writes in a replica follow the aggregation: without one they change that copy alone; else every copy gets the
    aggregated value. Writes outside of replicas change all copies.
    """

    def __init__(self, copies: Sequence[Variable], strategy: Any, **options: Any) -> None:
        self._copies = tuple(copies)
        self._strategy = strategy
        self._trainable = copies[0].trainable
        self.constraint = copies[0].constraint
        self.synchronization = options["synchronization"] or VariableSynchronization.AUTO
        self.aggregation = options["aggregation"] or VariableAggregation.NONE
        for copy in copies:
            copy._distributed_container = weakref.ref(self)  # type: ignore[attr-defined]

    @property
    def values(self) -> tuple[Variable, ...]:
        return self._copies

    _values = values  # the name that libraries read

    @property
    def primary(self) -> Variable:
        """The copy of the first replica."""
        return self._copies[0]

    @property
    def _current_copy(self) -> Variable:  # type: ignore[override]
        """The copy that the running code reads."""
        context = current_context()
        if context.updated_replica is not None:
            return self._copies[context.updated_replica]
        replica = context.replica
        if replica is None or replica.strategy is not self._strategy:
            return self.primary
        return self._copies[self._strategy.local_index(replica.replica_id_in_sync_group)]

    @property
    def _storage(self) -> Any:  # type: ignore[override]
        return self._current_copy._storage

    @property
    def name(self) -> str:
        return self.primary.name

    @property
    def _shared_name(self) -> str:
        return self.primary._shared_name

    @property
    def _unique_id(self) -> str:
        return self.primary._unique_id

    @property
    def device(self) -> str:
        return self._current_copy.device

    def value(self) -> Any:
        return self._current_copy.value()

    def read_value(self) -> Any:
        return self._current_copy.read_value()

    def _update(self, op: str, value: object, read_value: bool) -> Any:
        """Apply an assigning op to the copies that the running code changes; see the class."""
        context = current_context()
        if context.updated_replica is not None:
            return self._current_copy._update(op, value, read_value)
        if context.replica is None or context.replica.strategy is not self._strategy:
            return self._update_all(op, value, read_value)
        if self.aggregation is VariableAggregation.NONE or self._is_synchronized_on_read():
            return self._current_copy._update(op, value, read_value)

        def update(strategy: Any, values: Any) -> Any:
            return self._update_all(op, self._aggregate(strategy, values), read_value)

        return context.replica.merge_call(update, (value,))

    def _update_all(self, op: str, value: Any, read_value: bool) -> Any:
        """Change every copy by its replica's value; return the result for the first."""
        results = []
        for replica_index, copy in enumerate(self._copies):
            with self._strategy.updating(replica_index):
                results.append(copy._update(op, of_replica(value, replica_index), read_value))
        return results[0]

    def _aggregate(self, strategy: Any, value: Any) -> Any:
        """Return one value for the values that the replicas write, by the variable's aggregation."""
        if self.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return strategy.value_of_first_replica(value)
        return strategy.reduce_to(ReduceOp.from_variable_aggregation(self.aggregation), value, self)

    def _is_synchronized_on_read(self) -> bool:
        """Return whether replicas write their own copies, which are combined when they are read."""
        return self.synchronization is VariableSynchronization.ON_READ

    def __deepcopy__(self, memo: object) -> Variable:
        return Variable(self.primary.numpy(), self.trainable, name=self.primary._shared_name)

    def __reduce__(self) -> Any:
        return self.primary.__reduce__()

    def __repr__(self) -> str:
        lines = ",\n".join(f"  {replica_index}: {copy!r}" for replica_index, copy in enumerate(self._copies))
        return f"{type(self).__name__}:{{\n{lines}\n}}"


class MirroredVariable(DistributedVariable):
    """A variable whose copies are equal as long as every replica writes the same, or an aggregation is given."""

    def __init__(self, copies: Sequence[Variable], strategy: Any, **options: Any) -> None:
        super().__init__(copies, strategy, **options)
        if self.synchronization is VariableSynchronization.AUTO:
            self.synchronization = VariableSynchronization.ON_WRITE


class SyncOnReadVariable(DistributedVariable):
    """A variable whose copies differ.

    Code outside of replicas reads the aggregation of the copies. If the aggregation is the sum, a value that this code
    assigns is divided by the number of replicas. Other updates, such as `assign_add`, and assignments under other
    aggregations reach each copy unchanged.
    """

    def _is_outside_replicas(self) -> bool:
        """Return whether the running code is neither a replica's nor an update of one copy."""
        context = current_context()
        is_in_replica = context.replica is not None and context.replica.strategy is self._strategy
        return context.updated_replica is None and not is_in_replica

    def value(self) -> Any:
        """Return the value of this replica's copy; outside of replicas, the aggregation of all copies."""
        if not self._is_outside_replicas():
            return self._current_copy.value()
        if self.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return self.primary.value()
        op = ReduceOp.from_variable_aggregation(self.aggregation)
        return self._strategy.reduce_across_processes(op, [combine(op, [copy.value() for copy in self._copies])])[0]

    read_value = value

    def numpy(self) -> Any:
        return self.value().numpy()

    def _update_all(self, op: str, value: Any, read_value: bool) -> Any:
        if self.aggregation is VariableAggregation.SUM and op == "assign_variable":
            value = value / self._strategy.num_replicas_in_sync
        return super()._update_all(op, value, read_value)


def distribute_variable(strategy: Any, make: Callable[..., Variable], arguments: dict[str, Any]) -> Variable:
    """Make a variable with a copy for each replica of this process, all with the initial value of the first.

    Raises ValueError for a variable that is never synchronized.
    """
    if arguments.get("synchronization") is VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with tf.distribute strategy. Please change the "
            f"`synchronization` for variable: {arguments.get('name')}"
        )
    copies: list[Variable] = []
    for replica_index in range(strategy.local_replicas):
        options = dict(arguments)
        if copies:
            options["initial_value"] = np.array(copies[0].storage.value)
            options["name"] = f"{arguments.get('name') or 'Variable'}/replica_{replica_index}"
        with strategy.on_device(replica_index):
            copies.append(make(**options))
    synchronizes_on_read = arguments.get("synchronization") is VariableSynchronization.ON_READ
    class_ = SyncOnReadVariable if synchronizes_on_read else MirroredVariable
    result = class_(copies, strategy, **{name: arguments.get(name) for name in ("synchronization", "aggregation")})
    strategy.synchronize_initial_value(result)
    return result
