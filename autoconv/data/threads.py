"""Threads that compute elements ahead of their consumer. None outlives the iterator that started it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from autoconv.data.nodes import Element, Run
from autoconv.forks import DATASET, generation, new_lock

_QUICK_SECONDS = 0.0003  # elements that take less time are not worth a thread


def prefetch(source: Iterator[Element], size: int) -> Iterator[Element]:
    """Yield the elements of `source`; a thread computes up to `size` of them in advance."""
    buffer = _Buffer(source, size)
    del source  # only the buffer's thread uses and closes the source
    try:
        yield from iter(buffer.take, _END)
    finally:
        buffer.stop()


def use_threads_if_slow(elements: Iterator[Element], in_threads: Callable[[], Iterator[Element]]) -> Iterator[Element]:
    """Yield the elements; once two of them have taken long, yield the remaining ones from `in_threads()`.

    Passing a quick element from one thread to another takes longer than computing it.
    """
    slow_count = 0
    while slow_count < 2:
        start = time.perf_counter()
        element = next(elements, _END)
        if element is _END:
            return
        slow_count += time.perf_counter() - start > _QUICK_SECONDS
        yield element
    yield from in_threads()


def map_in_threads(
    source: Iterator[Element], run: Run, thread_count: int, keeps_order: bool = True
) -> Iterator[Element]:
    """Yield run(element) for the elements of `source`, computed by `thread_count` threads.

    With `keeps_order` the results have the order of the elements, else that of their completion.
    """
    pool = _Pool(run, thread_count)
    is_exhausted, failure = False, None
    try:
        while True:
            while not is_exhausted and len(pool.jobs) <= thread_count:
                try:
                    element = next(source)
                except StopIteration:
                    is_exhausted = True
                except Exception as error:  # raised after the results of earlier elements
                    is_exhausted, failure = True, error
                else:
                    pool.submit(element)
            if not pool.jobs:
                break
            yield pool.take(keeps_order)
        if failure is not None:
            raise failure
    finally:
        pool.stop()


class _Job:
    """An element and, once a thread has computed it, its result or an error."""

    __slots__ = ("element", "error", "future", "is_done", "result")

    def __init__(self, element: Element) -> None:
        self.element = element
        self.future: Future[None] | None = None
        self.is_done = False
        self.result: Any = None
        self.error: BaseException | None = None

    def run_element(self, run: Run) -> None:
        """Compute the result, or store the error."""
        try:
            self.result = run(self.element)
        except BaseException as error:
            self.error = error
        self.is_done = True


class _Pool:
    """Threads and their queue of jobs. In a forked process, new threads run the unfinished jobs."""

    def __init__(self, run: Run, thread_count: int) -> None:
        self._run, self._thread_count = run, thread_count
        self.jobs: deque[_Job] = deque()
        self._start_threads()

    def _start_threads(self) -> None:
        """Start the threads of this process and submit the jobs that are not done."""
        self._generation = generation()
        self._threads = ThreadPoolExecutor(self._thread_count, thread_name_prefix="autoconv-map")
        for job in self.jobs:
            if not job.is_done:
                job.future = self._threads.submit(job.run_element, self._run)

    def _restart_after_fork(self) -> None:
        """Start threads of this process if the present ones are those of its parent."""
        if self._generation != generation():
            self._start_threads()

    def submit(self, element: Element) -> None:
        """Add a job for an element."""
        self._restart_after_fork()
        job = _Job(element)
        job.future = self._threads.submit(job.run_element, self._run)
        self.jobs.append(job)

    def take(self, keeps_order: bool) -> Any:
        """Remove a job and return its result: without `keeps_order` any finished job, else the first, once it ends."""
        self._restart_after_fork()
        index = 0 if keeps_order else next((i for i, job in enumerate(self.jobs) if job.is_done), 0)
        job = self.jobs[index]
        del self.jobs[index]
        if not job.is_done:
            assert job.future is not None
            job.future.result()  # waits; the job holds the result or the error
        if job.error is not None:
            raise job.error
        return job.result

    def stop(self) -> None:
        """Cancel the waiting jobs and wait for the running ones."""
        if self._generation == generation():
            self._threads.shutdown(wait=True, cancel_futures=True)


_END: Any = object()  # in place of an element, after the last one


class _Buffer:
    """A bounded queue between a producing thread and a consumer.

    Its items are pairs (element, None), and finally (_END, None) or (None, error).

    In a forked process a new thread continues. A fork waits for the element that is being computed, but at most five
    seconds; after that, the child gets an error in its place.
    """

    def __init__(self, source: Iterator[Element], size: int) -> None:
        self._source, self._size = source, size
        self._items: deque[tuple[Any, BaseException | None]] = deque()
        self._compute_lock = new_lock(order=DATASET)
        # The item computed last, until it is appended. A fork may come between the append and the reset to None.
        self._current_item: tuple[Any, BaseException | None] | None = None
        self._is_computing = self._has_ended = self._is_stopped = False
        self._start_threads()

    def _start_threads(self) -> None:
        """Start the producing thread of this process."""
        self._generation = generation()
        self._items_changed = threading.Condition(new_lock())
        self._thread = threading.Thread(target=self._fill, name="autoconv-prefetch", daemon=True)
        self._thread.start()

    def _continue_after_fork(self) -> None:
        """Restart in a forked process."""
        is_appended = bool(self._items) and self._items[-1] is self._current_item
        if self._current_item is not None and not is_appended:
            self._items.append(self._current_item)
        self._current_item = None
        if self._is_computing:  # the fork's wait timed out: a thread that this process lacks is in the source's frames
            self._items.append((None, RuntimeError("the process was forked while this element was computed")))
            self._has_ended = True
        self._is_computing = False
        if self._has_ended:
            self._generation = generation()
            self._items_changed = threading.Condition(new_lock())
        else:
            self._start_threads()

    def _fill(self) -> None:
        """Body of the thread: take from the source until it ends or the buffer is stopped."""
        while not self._has_ended and not self._is_stopped:
            with self._compute_lock:
                self._compute_item()
            self._append_item()
        close: Callable[[], None] | None = getattr(self._source, "close", None)
        if close is not None:
            close()

    def _compute_item(self) -> None:
        """Take the next element from the source and store it, or the end or the error, as the current item."""
        self._is_computing = True
        try:
            self._current_item = next(self._source), None
        except StopIteration:
            self._current_item, self._has_ended = (_END, None), True
        except BaseException as error:
            self._current_item, self._has_ended = (None, error), True
        self._is_computing = False

    def _append_item(self) -> None:
        """Append the element once there is room; the end mark is appended at once."""
        with self._items_changed:
            while len(self._items) >= self._size and not self._has_ended and not self._is_stopped:
                self._items_changed.wait()
            assert self._current_item is not None
            self._items.append(self._current_item)
            self._current_item = None
            self._items_changed.notify_all()

    def take(self) -> Any:
        """Wait for the next element and return it, or `_END` after the last; raise the source's error."""
        if self._generation != generation():
            self._continue_after_fork()
        with self._items_changed:
            while not self._items:
                self._items_changed.wait()
            element, error = self._items.popleft()
            self._items_changed.notify_all()
        if error is not None:
            raise error
        return element

    def stop(self) -> None:
        """Stop the thread and wait until it has ended."""
        if self._generation != generation():  # the thread is in the parent process
            return
        with self._items_changed:
            self._is_stopped = True
            self._items_changed.notify_all()
        # Garbage collection may call `stop` in the buffer's own thread, which cannot join itself.
        if self._thread is not threading.current_thread():
            self._thread.join()
