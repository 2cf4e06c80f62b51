"""Thread pool over which large loops and products are split: see `thread_pool.ll` and `thread_heuristics.ll`."""

from __future__ import annotations

import functools
import platform
import signal
import time

from autoconv.backends.llvm.runtime import float_flags
from autoconv.backends.llvm.runtime.llvm_text import read

_TURNS = 1500  # iterations of a spin loop; each takes some 20 to 50 ns
_OPEN = 1 << 31  # set in the state of a job while parts of it may be taken


@functools.cache
def text() -> str:
    pauses = platform.machine().lower() in ("x86_64", "amd64")
    pool = read(
        "thread_pool", OPEN=_OPEN, CLOSED=~_OPEN, ACTIVE=_OPEN - 1, WITHIN=(1 << 32) - 1, TURNS=_TURNS,
        PAUSE="call void @llvm.x86.sse2.pause()" if pauses else "",
        SIG_SETMASK=int(getattr(signal, "SIG_SETMASK", 0)), CLOCK_MONOTONIC=int(getattr(time, "CLOCK_MONOTONIC", 0)),
    )  # fmt: skip
    declared = "declare void @llvm.x86.sse2.pause()\n" if pauses else ""
    return f"{pool}\n{read('thread_heuristics')}{float_flags.text()}{declared}"
