"""Coordination of the threads of a program."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autoconv.errors import OutOfRangeError
from autoconv.forks import new_lock


class Coordinator:
    """A request that several threads stop, made by `request_stop` or by an exception in `stop_on_exception`.

    >>> coordinator = autoconv.train.Coordinator()
    >>> coordinator.request_stop()
    >>> coordinator.should_stop()
    True
    """

    def __init__(self, clean_stop_exception_types: tuple[type[BaseException], ...] | None = None) -> None:
        clean_stop_types = (OutOfRangeError,) if clean_stop_exception_types is None else clean_stop_exception_types
        self._clean_stop_types = tuple(clean_stop_types)
        self._stop_condition = threading.Condition(new_lock())
        self._is_stop_requested = False
        self._error: BaseException | None = None
        self._threads: list[Any] = []

    def should_stop(self) -> bool:
        """Return whether a stop was requested."""
        return self._is_stop_requested

    def request_stop(self, ex: BaseException | tuple[Any, Any, Any] | None = None) -> None:
        """Request that all threads stop, because of an error or the result of `sys.exc_info()` if `ex` is given.

        `join` raises the error of the first request, unless it is one of `clean_stop_exception_types`.
        """
        error = ex[1] if isinstance(ex, tuple) else ex
        with self._stop_condition:
            if not self._is_stop_requested and not isinstance(error, self._clean_stop_types):
                self._error = error
            self._is_stop_requested = True
            self._stop_condition.notify_all()

    def raise_requested_exception(self) -> None:
        """Raise the error with which the stop was requested, if there is one."""
        if self._error is not None:
            raise self._error

    def clear_stop(self) -> None:
        self._is_stop_requested = False
        self._error = None

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait for the request to stop; return whether it was made before the timeout."""
        with self._stop_condition:
            return self._stop_condition.wait_for(lambda: self._is_stop_requested, timeout)

    def register_thread(self, thread: Any) -> None:
        self._threads.append(thread)

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Request that all threads stop if the block raises."""
        try:
            yield
        except Exception as error:
            self.request_stop(error)

    def join(
        self, threads: Sequence[Any] | None = None, stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:  # fmt: skip
        """Wait for the threads to end; raise the error with which the stop was requested.

        Raises RuntimeError for threads that still run `stop_grace_period_secs` after the request.
        """
        all_threads = [*self._threads, *(threads or ())]
        while any(thread.is_alive() for thread in all_threads) and not self.wait_for_stop(0.05):
            pass
        deadline = time.monotonic() + stop_grace_period_secs
        for thread in all_threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self.raise_requested_exception()
        if any(thread.is_alive() for thread in all_threads) and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {all_threads}")
