"""The coordinator of parameter servers: a queue of functions, and a thread for each worker that takes and runs them."""

from __future__ import annotations

import collections
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autoconv.api.scopes import device
from autoconv.config.placement import TASKS
from autoconv.distribute.parameter_server import ParameterServerStrategy
from autoconv.errors import CancelledError, UnavailableError
from autoconv.forks import new_lock
from autoconv.runtime.support.structure import map_structure
from autoconv.tracing.api.function import Function
from autoconv.tracing.execute.compiled_trace import ConcreteFunction

_MAX_LOST_WORKERS = 10  # a function does not run again after this many of its workers were lost


class RemoteValue:
    """The result of a function that a worker runs, or will run.

    >>> autoconv.distribute.coordinator.RemoteValue("loss").fetch()
    'loss'
    """

    def __init__(self, value: Any = None, *, is_ready: bool = True) -> None:
        self._changed = threading.Condition(new_lock())
        self._is_ready = is_ready
        self._value = value
        self._error: BaseException | None = None

    def get(self) -> Any:
        """Wait for the function, and return its result. Raises the function's error, or CancelledError."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_ready)
        if self._error is not None:
            raise self._error
        return self._value

    def fetch(self) -> Any:
        """Wait for the function, and return its result with NumPy's arrays instead of tensors."""
        return map_structure(lambda leaf: leaf.numpy() if hasattr(leaf, "numpy") else leaf, self.get())

    def _set(self, value: Any = None, error: BaseException | None = None) -> None:
        """Store the result, or the error, and wake the threads that wait for it."""
        with self._changed:
            self._value, self._error, self._is_ready = value, error, True
            self._changed.notify_all()


class PerWorkerValues:
    """A value for each worker: as an argument of a scheduled function, it stands for the worker's own value.

    >>> len(autoconv.distribute.coordinator.PerWorkerValue([1, 2]).values)
    2
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = tuple(values)


class PerWorkerDataset:
    """A dataset for each worker. In the arguments of a scheduled function, its iterator stands for the worker's own."""

    def __init__(self, datasets: Sequence[Any]) -> None:
        self._datasets = datasets

    @property
    def element_spec(self) -> Any:
        return self._datasets[0].element_spec

    def __iter__(self) -> PerWorkerValues:  # type: ignore[override]
        return PerWorkerIterator([iter(dataset) for dataset in self._datasets])


class PerWorkerIterator(PerWorkerValues):
    """The iterators of a dataset of workers; only scheduled functions take their elements."""

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        raise NotImplementedError(
            "the elements of a dataset of workers are taken in the workers: give the iterator to a function that is "
            "scheduled"
        )


class _ScheduledFunction:
    """A scheduled function, its arguments, and its result."""

    def __init__(self, function: Any, args: Any, kwargs: Any) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.result = RemoteValue(is_ready=False)
        self.lost_worker_count = 0

    def run(self, task_index: int, worker_position: int) -> Any:
        """Run the function in a worker, and return its result when its values are computed.

        `task_index` is the worker's number in its job, `worker_position` its position among the workers.
        """

        def worker_argument(leaf: Any) -> Any:
            if isinstance(leaf, RemoteValue):
                leaf = leaf.get()
            return leaf.values[worker_position] if isinstance(leaf, PerWorkerValues) else leaf

        args, kwargs = map_structure(worker_argument, (self.args, self.kwargs))
        with device(f"/job:worker/task:{task_index}"):
            result = self.function(*args, **kwargs)
        # Wait for the values, so that errors of their computation are raised here.
        map_structure(lambda leaf: leaf.numpy() if hasattr(leaf, "numpy") else leaf, result)
        return result


class _Queue:
    """Scheduled functions, and the first error that one of them has raised."""

    def __init__(self) -> None:
        self._changed = threading.Condition(new_lock())
        self._functions: collections.deque[_ScheduledFunction] = collections.deque()
        self._running_count = 0
        self._error: BaseException | None = None
        self._is_ended = False

    def put(self, scheduled_function: _ScheduledFunction) -> None:
        """Add a function; if an earlier function failed, raise its error instead."""
        with self._changed:
            self._raise_error()
            self._functions.append(scheduled_function)
            self._changed.notify_all()

    def take(self) -> _ScheduledFunction | None:
        """Wait for a function and return it; None after `end`."""
        with self._changed:
            self._changed.wait_for(lambda: self._functions or self._is_ended)
            if self._is_ended:
                return None
            self._running_count += 1
            return self._functions.popleft()

    def finish(self, error: BaseException | None = None, function_to_repeat: _ScheduledFunction | None = None) -> None:
        """Record the end of a function, and its error; a `function_to_repeat`, whose worker was lost, runs next."""
        with self._changed:
            self._running_count -= 1
            if function_to_repeat is not None:
                self._functions.appendleft(function_to_repeat)
            if error is not None and self._error is None:
                self._error = error
                self._cancel()
            self._changed.notify_all()

    def wait(self) -> None:
        """Wait until all functions have run; raise the first error of a function."""
        with self._changed:
            self._changed.wait_for(lambda: self._error is not None or not (self._functions or self._running_count))
            self._changed.wait_for(lambda: not self._running_count)
            self._raise_error()

    def has_finished(self) -> bool:
        """Return whether all functions have run; raise the first error of a function."""
        with self._changed:
            self._raise_error()
            return not (self._functions or self._running_count)

    def end(self) -> None:
        """Cancel what waits, and end the threads that take functions."""
        with self._changed:
            self._is_ended = True
            self._cancel()
            self._changed.notify_all()

    def _cancel(self) -> None:
        """Give a CancelledError to each function that waits."""
        while self._functions:
            text = "The corresponding function is aborted. Please reschedule the function."
            self._functions.popleft().result._set(error=CancelledError(text))

    def _raise_error(self) -> None:
        """Raise the first error of a function, if any, and forget it."""
        error, self._error = self._error, None
        if error is not None:
            raise error


class ClusterCoordinator:
    """Schedule functions on the workers of a ParameterServerStrategy, in any order, several at once.

    A function whose worker is lost runs again, in any worker. `schedule`, `join` and `done` raise the first error of a
    function once; the functions that wait then are cancelled. Raises ValueError for another strategy.

    >>> autoconv.distribute.coordinator.ClusterCoordinator(autoconv.distribute.get_strategy())
    Traceback (most recent call last):
    ...
    ValueError: Only `autoconv.distribute.ParameterServerStrategy` is supported to work with `ClusterCoordinator`.
    """

    def __init__(self, strategy: ParameterServerStrategy) -> None:
        if not isinstance(strategy, ParameterServerStrategy):
            raise ValueError(
                "Only `autoconv.distribute.ParameterServerStrategy` is supported to work with `ClusterCoordinator`."
            )
        self._strategy = strategy
        self._queue = _Queue()
        for worker_position, task_index in enumerate(strategy.workers):
            arguments = self._queue, strategy, task_index, worker_position
            threading.Thread(
                target=_run_scheduled_functions, args=arguments, daemon=True, name=f"worker {task_index}"
            ).start()
        self._end = weakref.finalize(self, self._queue.end)

    @property
    def strategy(self) -> ParameterServerStrategy:
        return self._strategy

    def schedule(self, fn: Any, args: Any = None, kwargs: Any = None) -> RemoteValue:
        """Put a function, compiled by `function`, into the queue; return its future result.

        PerWorkerValues among the arguments are replaced by the worker's own, results of other functions by their
        values. Raises TypeError for a function that is not compiled, and the error of an earlier function.
        """
        if not isinstance(fn, (Function, ConcreteFunction)):
            raise TypeError("`ClusterCoordinator.schedule` only accepts an `autoconv.function` or a concrete function.")
        scheduled_function = _ScheduledFunction(fn, tuple(args or ()), dict(kwargs or {}))
        self._queue.put(scheduled_function)
        return scheduled_function.result

    def join(self) -> None:
        """Wait until all functions have run, or raise the first error of one, after which the others are cancelled."""
        self._queue.wait()

    def done(self) -> bool:
        """Return whether all functions have run; raises the first error of a function, as `join` does."""
        return self._queue.has_finished()

    def create_per_worker_dataset(self, dataset_fn: Callable[[], Any] | Any) -> PerWorkerDataset:
        """Return a dataset for each worker: the result of a function that is called for the worker, or one dataset."""
        make_dataset = dataset_fn if callable(dataset_fn) else lambda: dataset_fn
        with self._strategy.scope():
            return PerWorkerDataset([make_dataset() for _ in self._strategy.workers])

    def fetch(self, val: Any) -> Any:
        """Return a structure with the results of RemoteValues, as NumPy's arrays, in their place."""
        return map_structure(lambda leaf: leaf.fetch() if isinstance(leaf, RemoteValue) else leaf, val)


def _run_scheduled_functions(
    queue: _Queue, strategy: ParameterServerStrategy, task_index: int, worker_position: int
) -> None:
    """Run functions in a worker until the queue ends."""
    task: Any = TASKS["worker", task_index]
    while (scheduled_function := queue.take()) is not None:
        try:
            with strategy.scope():
                result = scheduled_function.run(task_index, worker_position)
        except UnavailableError as error:
            scheduled_function.lost_worker_count += 1
            # Else another task was lost, such as a parameter server, which no other worker can replace.
            if task.name in str(error) and scheduled_function.lost_worker_count < _MAX_LOST_WORKERS:
                queue.finish(function_to_repeat=scheduled_function)
            else:
                scheduled_function.result._set(error=error)
                queue.finish(error)
        except BaseException as error:
            scheduled_function.result._set(error=error)
            queue.finish(error)
        else:
            scheduled_function.result._set(result)
            queue.finish()


PerWorkerValue = PerWorkerValues

__all__ = ["ClusterCoordinator", "PerWorkerValue", "PerWorkerValues", "RemoteValue"]
