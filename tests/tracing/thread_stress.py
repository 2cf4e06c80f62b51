"""Many threads call and trace functions that call each other; every result is compared with plain Python's.

    python tests/tracing/thread_stress.py [--threads 16] [--functions 20] [--seconds 60] [--seed 0]

Prints calls, traces and signatures. The exit code is 1 for a wrong result, an error, a trace that was lost or made
twice, or when threads do not end (a deadlock), after printing their stacks.
"""

from __future__ import annotations

import argparse
import faulthandler
import logging
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import autoconv

PATIENCE = 60  # seconds that threads have for stopping


@dataclass
class Subject:
    """A function, its plain function, and the signatures of its calls."""

    function: Any
    plain: Callable[..., Any]
    seen: set[Any] = field(default_factory=set)


@dataclass
class Report:
    calls: int = 0
    traces: int = 0
    signatures: int = 0
    stuck: int = 0
    failures: list[str] = field(default_factory=list)


def make_subjects(count: int) -> list[Subject]:
    """Make functions of four kinds; each but the first calls the one before it, and two call each other."""
    subjects: list[Subject] = []
    for number in range(count):
        before = subjects[-1] if subjects else None
        subjects.append(KINDS[number % len(KINDS)](number, before))
    return subjects


def _condition(number: int, before: Subject | None) -> Subject:
    # Not `before` itself: a trace guards what the objects that it read hold, and `seen` changes.
    following = before and before.function
    following_plain = before and before.plain

    def body(x: Any, n: int) -> Any:
        if autoconv.reduce_sum(x) > number:
            x = x * n
        else:
            x = x - n
        return x if following is None else following(x, n)

    def plain(x: Any, n: int) -> Any:
        x = x * n if x.sum() > number else x - n
        return x if following_plain is None else following_plain(x, n)

    return Subject(autoconv.function(body), plain)


def _loop(number: int, before: Subject | None) -> Subject:
    def body(x: Any, n: int) -> Any:
        total = x
        for i in autoconv.range(n):
            total = total + x * autoconv.cast(i, x.dtype)
        return total

    return Subject(autoconv.function(body), lambda x, n: x + x * sum(range(n)))


def _compiled(number: int, before: Subject | None) -> Subject:
    def body(x: Any, n: int) -> Any:
        total = 0
        while total < n + number:
            total += 2
        return x * total

    def traced(x: Any, n: int) -> Any:
        return compiled(x, n)

    compiled = autoconv.compile(body)
    return Subject(autoconv.function(traced), body)


def _mutual(number: int, before: Subject | None) -> Subject:
    def down(x: Any, n: int) -> Any:
        return x if n <= 0 else second(x + number, n - 1)

    def up(x: Any, n: int) -> Any:
        return x if n <= 0 else first(x * 2, n - 1)

    def plain(x: Any, n: int) -> Any:
        for step in range(n):
            x = x * 2 if step % 2 else x + number
        return x

    first, second = autoconv.function(down), autoconv.function(up)
    return Subject(first, plain)


KINDS = (_condition, _loop, _compiled, _mutual)


def run(threads: int = 16, functions: int = 20, seconds: float = 60.0, seed: int = 0) -> Report:
    """Call with random shapes, dtypes and numbers until the time is over."""
    report, chosen = Report(), make_subjects(functions)
    end, lock = time.monotonic() + seconds, threading.Lock()

    def work(draw: random.Random) -> None:
        calls = 0
        while time.monotonic() < end and not report.failures:
            subject = draw.choice(chosen)
            array = np.full(draw.choice([(), (2,), (3,)]), draw.randrange(4), draw.choice([np.int32, np.float32]))
            number = draw.randrange(4)
            subject.seen.add((array.shape, array.dtype, number))
            try:
                found = subject.function(autoconv.constant(array), number).numpy()
                expected = subject.plain(array, number)
            except Exception as error:
                report.failures.append(f"{subject.function.__name__}: {type(error).__name__}: {error}")
                break
            calls += 1
            if not np.array_equal(found, expected):
                report.failures.append(f"{subject.function.__name__}({array}, {number}): {found}, not {expected}")
        with lock:
            report.calls += calls

    workers = [threading.Thread(target=work, args=(random.Random(seed + i),), daemon=True) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(max(end - time.monotonic(), 0) + PATIENCE)
    report.stuck = sum(worker.is_alive() for worker in workers)
    if report.stuck:
        faulthandler.dump_traceback(all_threads=True)
    _count_traces(report, chosen)
    return report


def _count_traces(report: Report, chosen: list[Subject]) -> None:
    """Compare traces with called signatures: each signature has to be traced once."""
    for subject in chosen:
        traces, kept_count = subject.function.experimental_get_tracing_count(), len(subject.function.concrete_functions)
        report.traces += traces
        report.signatures += len(subject.seen)
        if traces != kept_count or traces < len(subject.seen):
            counts = f"{traces} traces, {kept_count} kept, {len(subject.seen)} signatures called"
            report.failures.append(f"{subject.function!r}: {counts}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--functions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    logging.getLogger("autoconv").setLevel(logging.ERROR)
    report = run(options.threads, options.functions, options.seconds, options.seed)
    print(
        f"{options.threads} threads, {options.functions} functions, {options.seconds:g} s: {report.calls} calls, "
        f"{report.traces} traces of {report.signatures} signatures, {report.stuck} threads stuck"
    )
    print(*report.failures[:10], sep="\n" if report.failures else "")
    return 1 if report.failures or report.stuck else 0


if __name__ == "__main__":
    sys.exit(main())
