"""Runs whose changes are undone after they are complete, so that the call can run as plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.ops.python.held_output import CURRENT, HeldOutput, write_output
from autoconv.ops.python.undo_log import ACTIVE, Log


class Revoked(Exception):
    """The changes of a run are undone, and its call has to run as plain Python, which warns.

    `_autoconv_printed` is the number of characters that the run printed.
    """

    _autoconv_printed = 0


def run_revocably(
    run: Callable[[Sequence[Any]], Any],
    values: Sequence[Any],
    arrays: Sequence[np.ndarray],
    must_revoke: Callable[[], bool],
    saved_states: Sequence[tuple[Any, Callable[[], Any]]] = (),
    holds_output: bool = False,
) -> Any:
    """Return run(values); if `must_revoke()` is true then, undo the run's changes, also of `arrays`, and raise Revoked.

    Text that is printed while `must_revoke()` is true is written after the run, if at all: plain Python may issue
    warnings before it. So is all text with `holds_output`, for runs that may end with an exception in plain Python. A
    graph may compute results later than the program.

    `saved_states` are the log's first entries: owners, with functions that restore their states. If a change cannot be
    undone, the result is returned, or the run's own error is raised. An error that has `_autoconv_undone` is raised
    unchanged, since `with_undo` has undone the changes already.
    """
    writable_arrays = [array for array in arrays if array.flags.writeable]
    saved_arrays = [array.copy() for array in writable_arrays]
    outer_log, log = ACTIVE.log, Log()
    outer_output, held_output = CURRENT.held_output, HeldOutput(lambda: holds_output or must_revoke())
    log.entries += saved_states
    ACTIVE.log, CURRENT.held_output = log, held_output
    is_revoked = False
    result, run_error = None, None
    try:
        try:
            result = run(values)
        except Exception as raised:
            run_error = raised
        is_undone = hasattr(run_error, "_autoconv_undone")
        is_revoked = not is_undone and must_revoke() and not log.is_lost
        CURRENT.held_output = outer_output
        if not is_undone and not is_revoked:
            held_output.write(write_output)
        if run_error is not None and not is_revoked:
            raise run_error
        if not is_revoked:
            return result
        ACTIVE.log = None
        log.undo()
        for array, saved_array in zip(writable_arrays, saved_arrays, strict=True):
            array[...] = saved_array
        error = Revoked()
        error._autoconv_printed = log.printed_count
        raise error
    finally:
        ACTIVE.log, CURRENT.held_output = outer_log, outer_output
        if outer_log is not None and not is_revoked:
            outer_log.printed_count += log.printed_count
            if not outer_log.is_lost:
                outer_log.entries += log.entries
                if log.is_lost:
                    outer_log.lose()
