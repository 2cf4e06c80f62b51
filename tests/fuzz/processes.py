"""Forks during traces, many threads, small stacks, and caches with damaged, cut and swapped entries.

    python tests/fuzz/processes.py [--rounds 20]

Each trial is a separate process, which must end without an error and give the results of plain Python. The last line
has the counts.
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

LIMIT = 120  # seconds of a trial on a busy machine
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


def run_program(program: str, cache: str | None = None) -> str:
    """Run a program in a process; return "right", or the text of an error."""
    environment = {**os.environ, "AUTOCONV_CACHE": cache} if cache else None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "program.py")
        file.write_text(FUNCTIONS + program)
        return run_command([sys.executable, "-W", "ignore", str(file)], environment)


def run_command(command: list[str], environment: dict[str, str] | None) -> str:
    try:
        completed = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "hangs"
    if completed.returncode or completed.stdout != "well\n" or "Error" in completed.stderr:
        return f"ends with {completed.returncode}: {completed.stdout[-200:]} {completed.stderr[-800:]}"
    return "right"


def damage_cache(rng: random.Random, folder: Path) -> None:
    """Damage random entries of a cache."""
    for kind in ("native", "functions"):
        entries = sorted((folder / kind).glob("*.o"))
        contents = [entry.read_bytes() for entry in entries]
        for i, entry in enumerate(entries):
            damage, data = rng.choice(("swap", "cut", "flip", "empty", "keep")), contents[i]
            offset = rng.randrange(len(data)) if data else 0
            if damage == "swap":
                data = rng.choice(contents)
            elif damage == "cut":
                data = data[:offset]
            elif damage == "flip" and data:
                data = data[:offset] + bytes([data[offset] ^ 1 << rng.randrange(8)]) + data[offset + 1 :]
            elif damage == "empty":
                data = b""
            entry.write_bytes(data)


def check_caches(seed: int, size: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program.py")
        program.write_text(FUNCTIONS + f"for k in range({size}):\n    check(k)\nprint('well')\n")
        environment = {**os.environ, "AUTOCONV_CACHE": str(Path(folder, "cache"))}
        command = [sys.executable, str(program)]
        result = run_command(command, environment)
        damage_cache(random.Random(seed), Path(folder, "cache"))
        return result if result != "right" else run_command(command, environment)


def fill_template(program: str, size: int, seed: int = 0) -> str:
    return program.replace("SIZE", str(size)).replace("SEED", str(seed))


# By name: functions of a seed and a size, which return "right" or the text of an error.
TRIALS: dict[str, Callable[[int, int], str]] = {
    "forks": lambda seed, size: run_program(fill_template(FORKS, size, seed % 5)),
    "threads": lambda seed, size: run_program(fill_template(THREADS, size)),
    "stacks": lambda seed, size: run_program(fill_template(STACKS, (64, 128, 256, 512, 1024)[seed % 5])),
    "caches": check_caches,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    successes: collections.Counter[str] = collections.Counter()
    failures = 0
    for seed in range(options.rounds):
        for name, trial in TRIALS.items():
            result = trial(seed, 4)
            successes[name] += result == "right"
            if result != "right":
                failures += 1
                print(f"{name} {seed}: {result}", flush=True)
    counts = [f"{count} of {options.rounds} {name} right" for name, count in successes.items()]
    print(", ".join([*counts, f"{failures} wrong"]))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
