"""All exit codes of the command."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes in ascending severity: the code of several files is the highest (see `highest_code`)."""

    FINE = 0
    INCOMPLETE = 1  # --check would change something, a construct is unsupported, or an upgrade leaves work to do
    USAGE = 2  # an option, a target or an output path is wrong
    UNREADABLE = 3  # a source cannot be read or parsed
    BUG = 4  # an internal error
    INTERRUPTED = 130  # ctrl-C
