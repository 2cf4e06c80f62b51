"""Output of runs that may be revoked: their text is held where the repetition may print another one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from autoconv.ops.python.undo_log import ACTIVE, Log


class HeldOutput:
    """The text that a run prints while `may_revoke()` is true: if the run is revoked, the repetition prints it."""

    def __init__(self, may_revoke: Callable[[], bool]) -> None:
        self._may_revoke = may_revoke
        self._texts: list[str] = []

    def hold(self, text: str, log: Log) -> bool:
        """Return whether the text is held, and not to be written now."""
        if log.is_lost:
            self.write(sys.stdout.write)  # the run will not be revoked after all
            return False
        is_held = bool(self._texts) or self._may_revoke()
        if is_held:
            self._texts.append(text)
        return is_held

    def write(self, write: Callable[[str], Any]) -> None:
        """Write the held text."""
        text, self._texts = "".join(self._texts), []
        if text:
            write(text)


class _Current(threading.local):
    held_output: HeldOutput | None = None  # of the current revocable run in this thread


CURRENT = _Current()


def write_output(text: str) -> None:
    """Write to the current sys.stdout, or hold the text until the end of a run that may be revoked."""
    log, held_output = ACTIVE.log, CURRENT.held_output
    if log is not None and held_output is not None and held_output.hold(text, log):
        return
    sys.stdout.write(text)
    if log is not None:
        log.printed_count += len(text)
