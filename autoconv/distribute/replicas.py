"""Run a function once for each replica, in a thread each.

When all replicas have called `merge_call`, its function runs once, with the arguments of all.

Eager replicas run concurrently. While a graph is recorded, one thread records at a time: a replica records until it
ends or merges, then the next one does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any

from autoconv.config.placement import normalized_request, request_device, run_as_replica
from autoconv.distribute.contexts import Context, ReplicaContext, push_context
from autoconv.distribute.values import of_replica, regroup
from autoconv.forks import release
from autoconv.lazy_dataclass import dataclass
from autoconv.operators.calls.call import convert_callee
from autoconv.runtime.objects.variable_updates import creators_in_scope, variable_creator_scope
from autoconv.runtime.recording.regions import Region, current_region, recording
from autoconv.tracing.specialise.trace import LOCK


@dataclass
class Merge:
    """Message of a replica that waits for the result of `merge_call`: the function and its arguments."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass
class ReplicaResult:
    """Message of a replica that has ended with a result."""

    result: Any


@dataclass
class ReplicaFailure:
    """Message of a replica that has ended with an exception."""

    error: BaseException


class _ReplicaStopped(BaseException):
    """Raised in a replica that waits for a merge, when the merge has failed."""


class Replica:
    """One replica of a run: its thread, the messages that it sends, and the answers."""

    def __init__(self, strategy: Any, number: int, call: Callable[[], Any]) -> None:
        self.number = number
        self.strategy = strategy
        self.device = strategy.worker_devices[number]
        self.messages: SimpleQueue[Merge | ReplicaResult | ReplicaFailure] = SimpleQueue()
        self._answers: SimpleQueue[tuple[bool, Any]] = SimpleQueue()  # whether the replica continues, and the result
        self._call = call
        self.region = region = current_region()
        # The journal and the pending output of the code around the replicas: a merge records its effects there, while
        # the replicas that wait keep the effects of their own unfinished attempts.
        self._outer_effects = (None, None) if region is None else (region.journal, region.trace.pending_output)
        self._outer_creators = creators_in_scope()
        name = f"autoconv-replica-{number}"
        self.thread = threading.Thread(target=copy_context().run, args=(self._run_and_report,), name=name, daemon=True)

    def _run_and_report(self) -> None:
        """Body of the thread: run the function and send its result or its exception."""
        context = Context(self.strategy, ReplicaContext(self.strategy, self.strategy.first_local_replica + self.number))
        _CURRENT.replica = self
        try:
            placement = place_on(self.region, self.device)
            replica_number = self.number + 1  # 0 stands for code outside of replicas
            with push_context(context), placement, run_as_replica(replica_number), self._combined_creators():
                if self.region is None:
                    message: Merge | ReplicaResult | ReplicaFailure = ReplicaResult(self._call())
                else:
                    with LOCK, recording(self.region):
                        message = ReplicaResult(self._call())
        except BaseException as error:
            message = ReplicaFailure(error)
        self.messages.put(message)

    @contextmanager
    def _combined_creators(self) -> Iterator[None]:
        """Create variables by the creators of the block that encloses the run, and last by the strategy's."""
        strategy_creator = self.strategy.make_variable
        with ExitStack() as stack:
            outer_creators = (creator for creator in self._outer_creators if creator != strategy_creator)
            for creator in (strategy_creator, *outer_creators):
                stack.enter_context(variable_creator_scope(creator))
            yield

    def merge(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Wait in the replica's thread for the merged result."""
        if current_region() is not self.region:
            raise RuntimeError(
                "`merge_call` called while defining a new graph or a function: decorate the function that calls "
                "strategy.run with @autoconv.function, or call all_reduce"
            )
        own_effects = self._exchange_effects(self._outer_effects)
        self.messages.put(Merge(function, args, kwargs))
        with release(LOCK):
            may_continue, result = self._answers.get()
        self._exchange_effects(own_effects)
        if not may_continue:
            raise _ReplicaStopped
        if self.region is not None:
            self.region.trace.device = normalized_request(self.device)
        return result

    def _exchange_effects(self, effects: tuple[Any, Any]) -> tuple[Any, Any]:
        """Make the region record effects in a journal and a pending output; return those that it had."""
        region = self.region
        if region is None:
            return effects
        previous_effects = region.journal, region.trace.pending_output
        region.journal, region.trace.pending_output = effects
        return previous_effects

    def send_answer(self, may_continue: bool, result: Any = None) -> None:
        """Resume the replica's thread, which waits in `merge`."""
        self._answers.put((may_continue, result))


class _CurrentReplica(threading.local):
    """The replica that a thread runs, if any."""
    replica: Replica | None = None


_CURRENT = _CurrentReplica()


def current_replica() -> Replica | None:
    """Return the replica whose thread this is."""
    return _CURRENT.replica


@contextmanager
def place_on(region: Region | None, device: str) -> Iterator[None]:
    """Place the operations that the block runs or records on a device."""
    if region is None:
        with request_device(device):
            yield
        return
    outer_device, region.trace.device = region.trace.device, device
    try:
        yield
    finally:
        region.trace.device = outer_device


def run_replicas(strategy: Any, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Run the function in all replicas; return its result with the values of all replicas in each leaf, see `regroup`.

    Raises the error of the first replica that fails.
    """
    region = current_region()
    traced_function = convert_callee(function, region) if region is not None and region.trace.converts else function

    def make_call(number: int) -> Callable[[], Any]:
        return lambda: traced_function(*of_replica(list(args), number), **of_replica(kwargs, number))

    replicas = [Replica(strategy, number, make_call(number)) for number in range(strategy.local_replicas)]
    resumptions: list[Callable[[], None]] = [replica.thread.start for replica in replicas]
    while True:
        messages = _next_messages(replicas, resumptions)
        if all(isinstance(message, ReplicaResult) for message in messages):
            return regroup([message.result for message in messages if isinstance(message, ReplicaResult)])
        try:
            results = _merge(strategy, messages)
        except BaseException:
            for replica, message in zip(replicas, messages, strict=True):
                if isinstance(message, Merge):
                    replica.send_answer(may_continue=False)
            raise
        resumptions = [_answer_function(replica, results) for replica in replicas]


def _answer_function(replica: Replica, results: Any) -> Callable[[], None]:
    """Return a function that resumes a replica with its part of the results."""
    return lambda: replica.send_answer(may_continue=True, result=of_replica(results, replica.number))


def _next_messages(
    replicas: Sequence[Replica], resumptions: Sequence[Callable[[], None]]
) -> list[Merge | ReplicaResult | ReplicaFailure]:
    """Resume the replicas and return the message of each: one by one while a graph is recorded, else all at once."""
    region = replicas[0].region
    if region is None:
        for resume in resumptions:
            resume()
        return [replica.messages.get() for replica in replicas]
    messages = []
    device = region.trace.device
    for replica, resume in zip(replicas, resumptions, strict=True):
        region.trace.device = normalized_request(replica.device)
        with release(LOCK):
            resume()
            messages.append(replica.messages.get())
    region.trace.device = device
    return messages


def _merge(strategy: Any, messages: Sequence[Merge | ReplicaResult | ReplicaFailure]) -> Any:
    """Call the function of `merge_call` once, with the arguments of all replicas; return its result."""
    for message in messages:
        if isinstance(message, ReplicaFailure):
            raise message.error
    merges = [message for message in messages if isinstance(message, Merge)]
    if len(merges) < len(messages):
        text = "some replicas call merge_call or all_reduce where others end: each has to make the same calls"
        raise RuntimeError(text)
    with push_context(Context(strategy)):
        args = regroup([list(merge.args) for merge in merges])
        kwargs = regroup([merge.kwargs for merge in merges])
        return merges[0].function(strategy, *args, **kwargs)
