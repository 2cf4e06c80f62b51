"""The thread pool that shares large loops and products (see `thread_pool.ll` and `thread_heuristics.ll`)."""

from __future__ import annotations

import functools
import platform
import signal
import time

from autoconv.backends.llvm.runtime import float_flags
from autoconv.backends.llvm.runtime.llvm_text import read

_SPIN_ITERATIONS = 1500  # iterations of a spin loop; each takes some 20 to 50 ns
_OPEN_FLAG = 1 << 31  # set in the state of a job while threads may start parts of it


@functools.cache
def text() -> str:
    """Return the LLVM text of a thread pool, with the heuristics and the routines for float flags that it calls."""
    has_pause = platform.machine().lower() in ("x86_64", "amd64")
    pool_text = read(
        "thread_pool", OPEN=_OPEN_FLAG, NOT_OPEN=~_OPEN_FLAG, ACTIVE_COUNT_MASK=_OPEN_FLAG - 1, LOW_HALF=(1 << 32) - 1,
        SPIN_ITERATIONS=_SPIN_ITERATIONS,
        PAUSE="call void @llvm.x86.sse2.pause()" if has_pause else "",
        SIG_SETMASK=int(getattr(signal, "SIG_SETMASK", 0)), CLOCK_MONOTONIC=int(getattr(time, "CLOCK_MONOTONIC", 0)),
    )  # fmt: skip
    declaration = "declare void @llvm.x86.sse2.pause()\n" if has_pause else ""
    return f"{pool_text}\n{read('thread_heuristics')}{float_flags.text()}{declaration}"
