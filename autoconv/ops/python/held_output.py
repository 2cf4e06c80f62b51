"""Output of runs that may be revoked: their text is held where the repetition may print another one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from autoconv.ops.python.undo_log import ACTIVE, Log


class HeldOutput:
    """The text that a run prints while `may_revoke()` is true: if the run is revoked, the repetition prints it."""

    def __init__(self, may_revoke: Callable[[], bool]) -> None:
        self._may_revoke = may_revoke
        self._prints: list[tuple[str, bool]] = []  # texts, and whether to flush the stream after them

    def hold(self, text: str, flush: bool, log: Log) -> bool:
        """Return whether the text is held, and not to be written now."""
        if log.is_lost:
            self.write(_write)  # the run will not be revoked after all
            return False
        is_held = bool(self._prints) or self._may_revoke()
        if is_held:
            self._prints.append((text, flush))
        return is_held

    def write(self, write: Callable[[str, bool], None]) -> None:
        """Write the held text."""
        prints, self._prints = self._prints, []
        for text, flush in prints:
            write(text, flush)


class _Current(threading.local):
    """The output that is held in each thread."""

    held_output: HeldOutput | None = None  # of the current revocable run in this thread


CURRENT = _Current()


def write_output(text: str, flush: bool = False) -> None:
    """Write to the current sys.stdout, or hold the text until the end of a run that may be revoked."""
    log, held_output = ACTIVE.log, CURRENT.held_output
    if log is not None and held_output is not None and held_output.hold(text, flush, log):
        return
    _write(text, flush)
    if log is not None:
        log.printed_count += len(text)


def _write(text: str, flush: bool) -> None:
    """Write to the current sys.stdout, which is None in a program without a console."""
    if sys.stdout is not None:
        sys.stdout.write(text)
        if flush:
            sys.stdout.flush()
