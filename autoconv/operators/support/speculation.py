"""Speculative recording that can be undone, such as when a condition turns out to be a tensor.

The construct with that condition is then recorded once more, with a region for each of its paths.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.runtime.recording.journal import Journal
from autoconv.runtime.recording.regions import Region, current_region


class Attempt:
    """The effects between `Attempt()` and `keep()` or `undo()`: recorded nodes, writes to Python objects, prints.

    `mark` is the last node before the attempt, None if there is none.
    """

    def __init__(self) -> None:
        region = current_region()
        assert region is not None
        self.region: Region = region
        self.mark = region.graph.mark()
        self.frozen_objects = dict(region.trace.frozen_objects)
        self.outer_journal, region.journal = region.journal, Journal(outer=region.journal)
        self.outer_output, region.trace.pending_output = region.trace.pending_output, []

    def keep(self) -> None:
        """End the attempt and keep its effects; prints are emitted now, or once an enclosing attempt is kept."""
        journal, output = self._close()
        journal.merge_into(self.outer_journal)
        for print_output in output:
            emit_output(self.region, print_output)

    def undo(self) -> None:
        """End the attempt and undo its effects."""
        journal, _ = self._close()
        journal.roll_back()
        self.region.trace.frozen_objects = self.frozen_objects
        self.region.graph.truncate(self.region.graph.position(self.mark))

    def _close(self) -> tuple[Journal, list[Callable[[], None]]]:
        """End the attempt; return its journal and the functions that emit its prints."""
        journal, output = self.region.journal, self.region.trace.pending_output
        assert journal is not None and output is not None
        self.region.journal, self.region.trace.pending_output = self.outer_journal, self.outer_output
        return journal, output


def attempt(evaluate: Callable[[], Any], must_undo: Callable[[Any], bool]) -> Any:
    """Return `evaluate()`; undo all its effects if `must_undo(value)`. An exception of `evaluate()` keeps them."""
    if current_region() is None:
        return evaluate()
    speculation = Attempt()
    try:
        value = evaluate()
    except BaseException:
        speculation.keep()
        raise
    if must_undo(value):
        speculation.undo()
    else:
        speculation.keep()
    return value


def emit_output(region: Region, print_output: Callable[[], None]) -> None:
    """Call `print_output` now, or once the enclosing attempt is kept."""
    pending_output = region.trace.pending_output
    if pending_output is None:
        print_output()
    else:
        pending_output.append(print_output)
