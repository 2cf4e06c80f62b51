"""Convert the files of a plan, in this process or in several worker processes."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from .outcomes import Outcome, convert_job
from .output import delay_signals
from .plan import Job

# Number of files from which several processes are worth their start (some 0.3 s each).
MANY_FILES = 24


def convert_all(
    jobs: Sequence[Job], process_count: int, progress: Callable[[Job], None] = lambda job: None
) -> list[Outcome]:
    """Return the outcomes of the jobs, in their order. If `process_count` is 0, the number of files decides."""
    default_count = (os.cpu_count() or 1) if len(jobs) >= MANY_FILES else 1
    count = min(process_count or default_count, max(len(jobs), 1))
    if count == 1:
        outcomes = []
        for job in jobs:
            outcomes.append(convert_job(job))
            progress(job)
        return outcomes
    with _worker_processes(count) as submit:
        futures = {submit(job): job for job in jobs}
        for future in as_completed(futures):
            future.result()
            progress(futures[future])
        return [future.result() for future in futures]


@contextlib.contextmanager
def _worker_processes(count: int) -> Iterator[Callable[[Job], Future[Outcome]]]:
    """Start worker processes for the block; yields a function that submits a job.

    Ctrl-C does not reach the workers, and they are killed at the end of the block in any case.
    """
    processes: list[subprocess.Popen[bytes]] = []
    idle_processes: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
    threads = ThreadPoolExecutor(count)  # each thread waits for one process
    try:
        with delay_signals(signal.SIGINT):  # inherited by the processes; in this one ctrl-C is delayed
            for _ in range(count):
                processes.append(_start_process())
                idle_processes.put(processes[-1])
        yield lambda job: threads.submit(_convert_in_process, idle_processes, job)
    finally:
        with delay_signals(signal.SIGINT, signal.SIGTERM):
            threads.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()
            threads.shutdown()  # returns at once, since the processes are gone
            for process in processes:
                process.communicate()


def _start_process() -> subprocess.Popen[bytes]:
    """Start a process that runs `_serve_jobs`, with exactly this process's import path.

    The current folder and folders that the command has removed are absent.
    """
    environment = {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", f"from {__name__} import _serve_jobs; _serve_jobs()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # Windows has no signal masks
    )


def _convert_in_process(idle_processes: queue.SimpleQueue[subprocess.Popen[bytes]], job: Job) -> Outcome:
    """Convert a job in the next idle process, which is idle again afterwards; return its outcome."""
    process = idle_processes.get()
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(pickle.dumps(job))
        process.stdin.flush()
        outcome: Outcome = pickle.load(process.stdout)
    except (EOFError, OSError, pickle.UnpicklingError) as error:
        raise RuntimeError(f"{job.name}: the process that converts it ended ({process.wait()})") from error
    finally:
        idle_processes.put(process)
    return outcome


def _serve_jobs() -> None:
    """Convert jobs read from standard input and write the outcomes, until there are no more."""
    jobs, outcomes = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # prints must not corrupt the outcomes
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            outcomes.write(pickle.dumps(convert_job(pickle.load(jobs))))
            outcomes.flush()
    os._exit(0)  # without another attempt to flush
