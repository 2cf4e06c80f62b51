"""The context of the running code: its strategy, and whether it is in a replica, an update, or across replicas."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from autoconv.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Context:
    """The context of code: its strategy, the replica that runs, and the replica whose copies it updates.

    The latter is a position among the replicas of this process. Both are None where there is no such replica.
    """

    strategy: Any
    replica: ReplicaContext | None = None
    updated_replica: int | None = None


class _ContextStack(threading.local):
    """The contexts that a thread has entered, the innermost last."""
    contexts: tuple[Context, ...] = ()


_CONTEXT_STACK = _ContextStack()
_DEFAULT_STRATEGY: list[Any] = []  # one item: the strategy outside of every scope


def set_default(strategy: Any) -> None:
    """Set the strategy that is current outside of every scope."""
    _DEFAULT_STRATEGY[:] = [strategy]


def current_context() -> Context:
    """Return the innermost context; outside of every scope, that of the default strategy."""
    if _CONTEXT_STACK.contexts:
        return _CONTEXT_STACK.contexts[-1]
    (default_strategy,) = _DEFAULT_STRATEGY
    return Context(default_strategy, default_strategy.only_replica)


@contextlib.contextmanager
def push_context(context: Context) -> Iterator[None]:
    """Make a context the innermost one of the block."""
    outer_contexts = _CONTEXT_STACK.contexts
    _CONTEXT_STACK.contexts = (*outer_contexts, context)
    try:
        yield
    finally:
        _CONTEXT_STACK.contexts = outer_contexts


class ReplicaContext:
    """The replica that runs now.

    >>> context = autoconv.distribute.get_replica_context()
    >>> context.replica_id_in_sync_group, context.num_replicas_in_sync
    (0, 1)
    """

    def __init__(self, strategy: Any, replica_id_in_sync_group: int = 0) -> None:
        self._strategy = strategy
        self.replica_id_in_sync_group = replica_id_in_sync_group

    @property
    def strategy(self) -> Any:
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        return int(self._strategy.num_replicas_in_sync)

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of the replica, as the one item of a tuple."""
        return (self._strategy.device_of(self.replica_id_in_sync_group),)

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Call a function once with the strategy and all replicas' arguments; each replica gets its part of the result.

        Each replica has to make the same calls in the same order.
        """
        return self._strategy.call_merged(self.replica_id_in_sync_group, merge_fn, tuple(args), dict(kwargs or {}))

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Return the sum or mean of a value, or of each tensor of a structure, over all replicas."""

        def reduce(strategy: Any, values: Any) -> Any:
            return strategy.all_reduce_structure(reduce_op, values)

        return self._strategy.reduce_in_replica(reduce, value)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """Return the values of all replicas, joined along an axis."""

        def gather(strategy: Any, values: Any) -> Any:
            return strategy.copy_to_all_replicas(strategy.gather(values, axis))

        return self.merge_call(gather, (value,))
