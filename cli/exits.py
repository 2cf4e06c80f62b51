"""What the command's exit codes mean; there are no others."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """`worst` of several files decides: the highest code."""

    FINE = 0
    DIFFERS = 1  # --check would change something, or a construct is unsupported
    USAGE = 2  # an option, a target or an output path is wrong
    UNREADABLE = 3  # a source cannot be read or parsed
    BUG = 4  # ours
    INTERRUPTED = 130  # ctrl-C
