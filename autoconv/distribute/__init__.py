"""Distribution over replicas: strategies, the context of the code that runs, distributed values and variables."""

from __future__ import annotations

from typing import Any

from autoconv.api.nn.replica_losses import STRATEGY
from autoconv.api.random.generators import SCOPE
from autoconv.distribute import cluster_resolver, coordinator, experimental
from autoconv.distribute.contexts import Context, ReplicaContext, current_context
from autoconv.distribute.cross_device_ops import (
    CrossDeviceOps,
    HierarchicalCopyAllReduce,
    NcclAllReduce,
    ReductionToOneDevice,
)
from autoconv.distribute.datasets import InputContext
from autoconv.distribute.mirrored import MirroredStrategy
from autoconv.distribute.multi_worker import MultiWorkerMirroredStrategy
from autoconv.distribute.parameter_server import ParameterServerStrategy
from autoconv.distribute.reduction import ReduceOp
from autoconv.distribute.strategy import OneDeviceStrategy, Strategy, ValueContext
from autoconv.distribute.unsupported_strategies import TPUStrategy
from autoconv.distribute.values import DistributedValues


class DistributedDataset:
    """A dataset divided among several replicas, for `isinstance` only: strategies return a Dataset of `autoconv.data`.

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
    strategy: Strategy = current_context().strategy
    return strategy


STRATEGY.set(get_strategy)  # so that `api` finds the strategy without an import of this package


def has_strategy() -> bool:
    """Return whether a scope of a strategy other than the default is entered.

    >>> autoconv.distribute.has_strategy()
    False
    """
    return type(get_strategy()) is not Strategy


def _scope() -> tuple[Any, int | None]:
    """Return the strategy of the enclosing scope and the number of the running replica; None where there is none."""
    replica = get_replica_context()
    replica_number = None if replica is None else replica.replica_id_in_sync_group
    return (get_strategy(), replica_number) if has_strategy() else (None, None)


SCOPE.set(_scope)  # so that random generators find it without an import of this package


def get_replica_context() -> ReplicaContext | None:
    """Return the context of the replica that runs now; None outside of every replica of a strategy with several.

    >>> autoconv.distribute.get_replica_context().replica_id_in_sync_group
    0
    """
    return current_context().replica


def in_cross_replica_context() -> bool:
    """Return whether code runs in the scope of a strategy of several replicas, outside of every replica.

    >>> autoconv.distribute.in_cross_replica_context()
    False
    """
    context: Context = current_context()
    return context.replica is None and context.updated_replica is None


__all__ = [
    "CrossDeviceOps", "DistributedDataset", "DistributedIterator", "DistributedValues", "HierarchicalCopyAllReduce",
    "InputContext", "MirroredStrategy", "MultiWorkerMirroredStrategy", "NcclAllReduce", "OneDeviceStrategy",
    "ParameterServerStrategy", "ReduceOp", "ReductionToOneDevice", "ReplicaContext", "Strategy", "TPUStrategy",
    "ValueContext", "cluster_resolver", "coordinator",
    "experimental", "get_replica_context", "get_strategy", "has_strategy", "in_cross_replica_context",
]  # fmt: skip
