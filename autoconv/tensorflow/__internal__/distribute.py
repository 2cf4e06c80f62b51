"""Replica contexts inside of a strategy's `run`."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from autoconv.distribute import get_replica_context, get_strategy


def strategy_supports_no_merge_call() -> bool:
    """Return whether there is only one replica, which may update variables without a merge call."""
    return get_strategy().num_replicas_in_sync == 1


def _maybe_merge_call(function: Callable[..., Any], strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function once for all replicas, from the replica that runs."""
    replica = get_replica_context()
    if replica is None or strategy.num_replicas_in_sync == 1:
        return function(strategy, *args, **kwargs)
    return replica.merge_call(function, args, kwargs)


interim = SimpleNamespace(maybe_merge_call=_maybe_merge_call)
