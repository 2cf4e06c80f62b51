"""Threads that work ahead of whoever goes over a dataset. None outlives the iterator that started it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from autoconv.data.nodes import Element, Run


def prefetched(source: Iterator[Element], size: int) -> Iterator[Element]:
    """The elements of `source`, of which a thread of its own computes up to `size` in advance."""
    buffer = _Buffer(size)
    thread = threading.Thread(target=buffer.fill, args=(source,), name="autoconv-prefetch", daemon=True)
    thread.start()
    del source
    try:
        yield from iter(buffer.take, _END)
    finally:
        buffer.stop()
        if thread is not threading.current_thread():  # a cycle may be collected by any thread
            thread.join()


def mapped(source: Iterator[Element], run: Run, workers: int, in_order: bool = True) -> Iterator[Element]:
    """run(element) for the elements of `source`, computed by that many threads; in the order of the elements, or as
    they come."""
    pool = ThreadPoolExecutor(workers, thread_name_prefix="autoconv-map")
    pending: deque[Future[Element]] = deque()
    failure: Exception | None = None
    try:
        while True:
            while failure is None and len(pending) <= workers:
                try:
                    element = next(source)
                except StopIteration:
                    failure = _Over()
                except Exception as error:  # raised once what came before it has been given out
                    failure = error
                else:
                    pending.append(pool.submit(run, element))
            if not pending:
                break
            yield _first(pending, in_order).result()
        if failure is not None and not isinstance(failure, _Over):
            raise failure
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _first(pending: deque[Future[Element]], in_order: bool) -> Future[Element]:
    if not in_order:
        for position, future in enumerate(pending):
            if future.done():
                del pending[position]
                return future
    return pending.popleft()


class _Over(Exception):
    """The source has no more elements."""


_END: Any = object()


class _Buffer:
    """What one thread puts and another takes: elements, and in the end an error or nothing."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: deque[tuple[Any, BaseException | None]] = deque()
        self._changed = threading.Condition()
        self._stopped = False

    def fill(self, source: Iterator[Element]) -> None:
        """Runs in the thread: takes from `source` until it ends or nobody wants more."""
        end: tuple[Any, BaseException | None] = (_END, None)
        try:
            for element in source:
                if not self._put((element, None)):
                    return
        except BaseException as error:
            end = (None, error)
        finally:
            close: Callable[[], None] | None = getattr(source, "close", None)
            if close is not None:
                close()
            self._put(end, wait=False)

    def take(self) -> Any:
        with self._changed:
            while not self._items:
                self._changed.wait()
            element, error = self._items.popleft()
            self._changed.notify_all()
        if error is not None:
            raise error
        return element

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _put(self, item: tuple[Any, BaseException | None], wait: bool = True) -> bool:
        with self._changed:
            while wait and len(self._items) >= self._size and not self._stopped:
                self._changed.wait()
            self._items.append(item)
            self._changed.notify_all()
            return not self._stopped
