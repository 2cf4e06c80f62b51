"""Calls that ctrl-C or the end of the process interrupts."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

import autoconv as ac
from autoconv.runtime.recording import activity, regions

PRELUDE = """
import sys, threading, time
import numpy as np
import autoconv as ac

def fresh(k):
    @ac.compile
    def f(x, n):
        total = 0.0
        for i in range(n):
            total += x * i + k
        return total
    return f
"""
ENDS = """
def work():
    large, k = np.arange(2e5), 0
    total = ac.compile(lambda a: (a * a + 1).sum())
    while True:
        fresh(k % 3)(1.5, 10), total(large)
        k += 1
fresh(0)(1.5, 3)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print("well")
"""


def plain(x, n, q):
    total = 0.0
    for i in range(n):
        total += x * i
    q.append(total)
    return total, [v * 2 for v in q]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_a_call_that_is_interrupted_leaves_a_function_that_works():
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        start = time.perf_counter()
        ac.compile(plain)(1.5, 10, [1.0])
        span = time.perf_counter() - start
        for part in range(12):
            compiled = ac.compile(plain)
            try:
                signal.setitimer(signal.ITIMER_REAL, span * (part + 0.5) / 12)
                compiled(1.5, 10, [1.0])
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                pass
            for x, n in ((1.5, 10), (2.5, 4), (1.5, 3)):
                compiled_list, plain_list = [1.0], [1.0]
                assert (compiled(x, n, compiled_list), compiled_list) == (plain(x, n, plain_list), plain_list)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("step", range(16))
def test_an_interrupt_between_two_steps_of_recording_leaves_nothing_behind(step):
    code, steps = regions.recording.__wrapped__.__code__, iter(range(1000))

    def interrupt(frame, event, _):
        if frame.f_code is code and event == "line" and next(steps) == step:
            sys.settrace(None)
            raise KeyboardInterrupt
        return interrupt

    compiled, before, busy = ac.compile(plain), sys.gettrace(), activity.BUSY.value
    sys.settrace(interrupt)
    try:
        compiled(1.5, 10, [1.0])
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    assert regions.current_region() is None and activity.BUSY.value == busy
    assert (ac.constant(1) + 1).numpy() == 2
    assert compiled(1.5, 3, [1.0]) == plain(1.5, 3, [1.0])


def test_a_process_ends_while_threads_trace(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PRELUDE + ENDS)
    completed = subprocess.run([sys.executable, "-W", "ignore", str(file)], capture_output=True, text=True)
    assert (completed.returncode, completed.stdout) == (0, "well\n"), completed.stderr[-800:]
