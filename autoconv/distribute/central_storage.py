"""Replicas on several devices that share variables on one device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.api.scopes import device
from autoconv.config.placement import DEFAULT_DEVICE, full_name
from autoconv.distribute.contexts import current_context
from autoconv.distribute.mirrored import ReplicatedStrategy
from autoconv.distribute.variables import DistributedVariable
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.objects.variable_updates import VariableAggregation


class AggregatingVariable(DistributedVariable):
    """A variable that all replicas share; the values that they assign are aggregated first."""

    @property
    def _current_copy(self) -> Variable:  # type: ignore[override]
        return self.primary

    def _update(self, op: str, value: object, read_value: bool) -> Any:
        """Apply an assigning op; raises ValueError in a replica if the variable has no aggregation."""
        context = current_context()
        in_replica = context.replica is not None and context.replica.strategy is self._strategy
        if in_replica and context.updated_replica is None and self.aggregation is VariableAggregation.NONE:
            raise ValueError(
                "You must specify an aggregation method to update a AggregatingVariable in Replica Context. You can do "
                "so by passing an explicit value for argument `aggregation` to autoconv.Variable(…)."
            )
        return super()._update(op, value, read_value)


class CentralStorageStrategy(ReplicatedStrategy):
    """A strategy with a replica on each compute device; each variable is on the parameter device.

    There is by default one compute device, the first of the processor. The parameter device is by default the only
    compute device, else the first of the processor. Replicas assign variables that have an aggregation. Raises
    AssertionError for a device that is named twice.

    >>> strategy = autoconv.distribute.experimental.CentralStorageStrategy()
    >>> with strategy.scope():
    ...     v = autoconv.Variable(1.0)
    >>> strategy.run(lambda: v + 1.0) is not None, v.device == autoconv.Variable(1.0).device
    (True, True)
    """

    def __init__(self, compute_devices: Sequence[str] | None = None, parameter_device: str | None = None) -> None:
        full_names = [full_name(name) for name in compute_devices or (DEFAULT_DEVICE,)]
        if len(set(full_names)) < len(full_names):
            raise AssertionError(f"No duplicates allowed in `compute_devices` argument: {tuple(full_names)}")
        super().__init__(full_names)
        default = full_names[0] if len(full_names) == 1 else DEFAULT_DEVICE
        self._parameter_device = full_name(parameter_device or default)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return (self._parameter_device,)

    def new_variable(self, make: Callable[..., Variable], arguments: dict[str, Any]) -> Variable:
        """Return a variable on the parameter device, with aggregation if there are several replicas."""
        with device(self._parameter_device):
            variable = make(**arguments)
        if self.local_replicas == 1:
            return variable
        options = {name: arguments.get(name) for name in ("synchronization", "aggregation")}
        return AggregatingVariable([variable], self, **options)
