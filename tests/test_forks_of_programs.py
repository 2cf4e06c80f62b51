"""Programs that fork while modules with fork handlers of their own are imported after the package."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")


def check_program(program: str) -> None:
    """Assert that the program ends in time, without an error or any output."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]  # Python warns of forks with threads
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_a_fork_while_another_thread_first_uses_a_name():
    """The handlers that modules register during the fork's wait print nothing, and the child can use the package."""
    program = """if True:
        import os, threading
        import autoconv
        thread = threading.Thread(target=lambda: autoconv.float32)
        thread.start()
        child = os.fork()
        if not child:
            os._exit(not (autoconv.compile(lambda x: x + 1)(2) == 3))
        thread.join()
        assert os.waitpid(child, 0)[1] == 0 and autoconv.compile(lambda x: x + 1)(2) == 3
    """
    for _ in range(2):
        check_program(program)


def test_a_fork_lets_other_threads_log_and_submit_tasks_while_it_waits_for_them():
    """The package is imported before `logging`, so a fork has acquired the lock of `logging` when it waits for ours."""
    program = """if True:
        import sys
        import autoconv
        from autoconv import forks
        assert not {"logging", "concurrent.futures"} & {*sys.modules}
        import concurrent.futures, logging, os, threading, time
        forks._FORK_TIMEOUT = 600.0
        lock, is_held = forks.new_lock(forks.TRACE), threading.Event()
        executor = concurrent.futures.ThreadPoolExecutor(1)

        def trace():
            with lock:
                is_held.set()
                time.sleep(0.3)
                logging.getLogger("trace")
                assert executor.submit(len, "abc").result() == 3

        thread = threading.Thread(target=trace)
        thread.start()
        is_held.wait()
        child = os.fork()
        free = lock.acquire(timeout=1) and not logging._lock._is_owned() and concurrent.futures.ThreadPoolExecutor(1)
        assert free and free.submit(len, "ab").result() == 2
        if not child:
            os._exit(0)
        thread.join()
        assert os.waitpid(child, 0)[1] == 0
    """
    check_program(program)
