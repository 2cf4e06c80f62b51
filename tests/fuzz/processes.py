"""Forks in the middle of traces, storms of threads, small stacks, and caches with damaged, cut and swapped entries.

    python tests/fuzz/processes.py [--rounds 20]

Each trial is a process of its own, which has to end well and say what plain Python says. The last line has the figures.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

LIMIT = 120  # seconds for a trial on a busy machine
FUNCTIONS = """
import os, sys, threading
import autoconv as ac

def fresh(k):
    @ac.compile
    def f(x, n):
        total = 0.0
        for i in range(n):
            total += x * i + k
        return total
    return f

def check(k):
    f = fresh(k)
    for x, n in ((1.5, 10), (2.5, 4), (1.5, 10)):
        assert f(x, n) == sum((x * i + k for i in range(n)), 0.0), (k, x, n)
"""
FORKS = """
def trace():
    for _ in range(SIZE):
        check(SEED)
threads = [threading.Thread(target=trace) for _ in range(3)]
for thread in threads:
    thread.start()
children = []
for k in range(SIZE):
    child = os.fork()
    if not child:
        try:
            check(k)
            os._exit(0)
        finally:
            os._exit(1)
    children.append(child)
ends = [os.waitpid(child, 0)[1] for child in children]
for thread in threads:
    thread.join()
assert not any(ends), ends
print("well")
"""
THREADS = """
faults = []
def work(k):
    try:
        check(k % SIZE)
    except BaseException as error:
        faults.append(repr(error))
threads = [threading.Thread(target=work, args=(k,)) for k in range(16 * SIZE)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not faults, faults[:3]
print("well")
"""
STACKS = """
sys.setrecursionlimit(50_000)
@ac.compile
def f(n, x):
    def g(k, x):
        return x if k == 0 else g(k - 1, x + 1.0) + 0.5
    return g(n, x)
for n in (3, 4, 5):
    f(n, 1.0)
def work():
    assert [f(n, 1.0) for n in (10, 3000, 20_000)] == [1 + 1.5 * n for n in (10, 3000, 20_000)]
    print("well")
threading.stack_size(SIZE << 10)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def run(program: str, cache: str | None = None) -> str:
    """What came of it: "right", or what is wrong."""
    environment = {**os.environ, "AUTOCONV_CACHE": cache} if cache else None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "program.py")
        file.write_text(FUNCTIONS + program)
        return ended([sys.executable, "-W", "ignore", str(file)], environment)


def ended(command: list[str], environment: dict[str, str] | None) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode or done.stdout != "well\n" or "Error" in done.stderr:
        return f"ends with {done.returncode}: {done.stdout[-200:]} {done.stderr[-800:]}"
    return "right"


def damaged(number: random.Random, folder: Path) -> None:
    """Does something to the entries of a cache."""
    for kind in ("native", "functions"):
        entries = sorted((folder / kind).glob("*.o"))
        kept = [entry.read_bytes() for entry in entries]
        for i, entry in enumerate(entries):
            how, data = number.choice(("swap", "cut", "flip", "empty", "keep")), kept[i]
            at = number.randrange(len(data)) if data else 0
            if how == "swap":
                data = number.choice(kept)
            elif how == "cut":
                data = data[:at]
            elif how == "flip" and data:
                data = data[:at] + bytes([data[at] ^ 1 << number.randrange(8)]) + data[at + 1 :]
            elif how == "empty":
                data = b""
            entry.write_bytes(data)


def caches(seed: int, size: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program.py")
        program.write_text(FUNCTIONS + f"for k in range({size}):\n    check(k)\nprint('well')\n")
        environment = {**os.environ, "AUTOCONV_CACHE": str(Path(folder, "cache"))}
        command = [sys.executable, str(program)]
        found = ended(command, environment)
        damaged(random.Random(seed), Path(folder, "cache"))
        return found if found != "right" else ended(command, environment)


def filled(program: str, size: int, seed: int = 0) -> str:
    return program.replace("SIZE", str(size)).replace("SEED", str(seed))


# By name: a seed, and how large it is, to what came of it.
TRIALS: dict[str, Callable[[int, int], str]] = {
    "forks": lambda seed, size: run(filled(FORKS, size, seed % 5)),
    "threads": lambda seed, size: run(filled(THREADS, size)),
    "stacks": lambda seed, size: run(filled(STACKS, (64, 128, 256, 512, 1024)[seed % 5])),
    "caches": caches,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    well: collections.Counter[str] = collections.Counter()
    wrong = 0
    for seed in range(options.rounds):
        for name, trial in TRIALS.items():
            found = trial(seed, 4)
            well[name] += found == "right"
            if found != "right":
                wrong += 1
                print(f"{name} {seed}: {found}", flush=True)
    print(", ".join(f"{count} of {options.rounds} {name} right" for name, count in well.items()) + f", {wrong} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
