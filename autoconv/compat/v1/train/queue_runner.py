"""Queue runners: threads that fill queues."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

from autoconv.compat.v1.collections import GraphKeys, add_to_collection, get_collection
from autoconv.compat.v1.session import get_default_session
from autoconv.config.refused_options import refuse_options
from autoconv.errors import CancelledError, OutOfRangeError
from autoconv.forks import new_lock
from autoconv.runtime.recording.regions import recording


class QueueRunner:
    """Operations that fill a queue; each is run by a thread of its own until the queue is closed.

    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     queue = v1.FIFOQueue(2, autoconv.float32)
    ...     runner = v1.train.QueueRunner(queue, [queue.enqueue(1.5)])
    ...     coordinator = autoconv.train.Coordinator()
    ...     threads = runner.create_threads(session, coordinator, start=True)
    ...     session.run(queue.dequeue())
    ...     coordinator.request_stop()
    ...     coordinator.join(threads)
    np.float32(1.5)
    """

    def __init__(
        self, queue: Any = None, enqueue_ops: Sequence[Any] | None = None, close_op: Any = None,
        cancel_op: Any = None, queue_closed_exception_types: tuple[type[Exception], ...] | None = None,
        queue_runner_def: object = None, import_scope: str | None = None,
    ) -> None:  # fmt: skip
        refuse_options("QueueRunner", queue_runner_def=queue_runner_def)
        if queue is None or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self.queue, self.enqueue_ops = queue, list(enqueue_ops)
        self.close_op = queue.close() if close_op is None else close_op
        self.cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self.queue_closed_exception_types = queue_closed_exception_types or (OutOfRangeError, CancelledError)
        self._lock = new_lock()
        self._running_counts: Counter[Any] = Counter()
        self._errors: list[Exception] = []

    @property
    def name(self) -> str:
        return str(self.queue.name)

    @property
    def exceptions_raised(self) -> list[Exception]:
        """The errors of threads that had no coordinator."""
        return self._errors

    def create_threads(
        self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Return new threads, which stop when `coord` requests it; [] if the runner's threads run already."""
        with self._lock:
            if self._running_counts[sess]:
                return []
            self._running_counts[sess] = len(self.enqueue_ops)
            self._errors = []
        threads = [threading.Thread(target=self._run, args=(sess, op, coord)) for op in self.enqueue_ops]
        if coord is not None:
            threads.append(threading.Thread(target=self._cancel_on_stop, args=(sess, coord)))
        for thread in threads:
            thread.daemon = daemon or coord is not None
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _run(self, session: Any, operation: Any, coordinator: Any) -> None:
        """Run the operation, in a thread, until a stop is requested or its input has ended."""
        has_input_ended = False
        try:
            while coordinator is None or not coordinator.should_stop():
                with recording(region=None):
                    session.run(operation)
        except self.queue_closed_exception_types:
            has_input_ended = True
        except Exception as error:
            if coordinator is not None:
                coordinator.request_stop(error)
            else:
                self._errors.append(error)
        with self._lock:
            self._running_counts[session] -= 1
            is_last_thread = not self._running_counts[session]
        if has_input_ended and is_last_thread:
            _run_quietly(session, self.close_op)

    def _cancel_on_stop(self, session: Any, coordinator: Any) -> None:
        """Wait, in a thread, until a stop is requested, then cancel the queue."""
        coordinator.wait_for_stop()
        _run_quietly(session, self.cancel_op)


def _run_quietly(session: Any, operation: Any) -> None:
    """Run an operation that closes a queue; ignore errors of a closed session, whose queues are closed already."""
    try:
        with recording(region=None):
            session.run(operation)
    except (RuntimeError, CancelledError):
        pass


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Add a runner to a collection of the default graph, from which `start_queue_runners` takes it.

    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default():
    ...     queue = v1.FIFOQueue(2, autoconv.float32)
    ...     v1.train.add_queue_runner(v1.train.QueueRunner(queue, [queue.enqueue(1.5)]))
    ...     len(v1.get_collection(v1.GraphKeys.QUEUE_RUNNERS))
    1
    """
    add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None, coord: Any = None, daemon: bool = True, start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:  # fmt: skip
    """Start the threads of all runners of the graph; return them. Raises ValueError without a session.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session():
    ...     autoconv.compat.v1.train.start_queue_runners()
    []
    """
    session = get_default_session() if sess is None else sess
    if session is None:
        raise ValueError("Cannot start queue runners: No default session is registered. Pass sess=…")
    graph = getattr(session, "graph", None)
    runners = get_collection(collection) if graph is None else graph.get_collection(collection)
    return [thread for runner in runners for thread in runner.create_threads(session, coord, daemon, start)]
