"""Random programs, run by NumPy and by `@autoconv.compile` in turns: the fuzzer of performance.

    python tests/fuzz/peers.py --programs 300 [--seed 0] [--kind arrays|loops|gradients] [--results FILE] [--tiers auto]
        [--peer-period 4]

Programs of the kind "arrays" compute with whole arrays, those of the kind "loops" iterate over elements. The arrays of
a third of the programs have up to 10^3 numbers, of a third 10^5, of a third 10^6, unless plain Python takes more than a
second a call; some arrays are in Fortran order, transposed or `[::2]`. Each call is timed separately, on equal
arguments, NumPy's and ours in turns on one thread, and the best times count. Results and arguments are compared. If
ours is slower by more than 5 %, the measurement is repeated twice, and the median counts. Every fourth program, or one
of `--peer-period` programs, also runs by JAX (whole arrays), Numba and clang (loops over float64 and int64), every
twentieth by torch.compile, if they are installed and compile it: see measured/peers.py. "clang" is the time of a call
from Python by ctypes, "clang in C" that of a call in C, which no call from Python reaches.

The kind "gradients" is the value and the gradients of the sum of the squared results of a program of whole arrays. It
needs JAX, whose gradients must agree, and whose time replaces NumPy's.

A ratio is NumPy's time over ours: below 1 ours is slower. The graph is always measured; `--tiers auto` measures the
choice between the graph and plain Python, after the calls that decide it. Results are kept in a file, a line of JSON a
program; programs in it do not run again. The last lines have the distribution of ratios, the share of slower programs,
and the slowest programs, reduced as far as they stay slow.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import math
import os
import select
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from measured.peers import BARE_CALLS

HERE = Path(__file__).resolve().parent
MIN_EVEN_RATIO = 0.95
PROGRAM_SECONDS = 150  # limit of one program


class Worker:
    """A process that measures programs, so that a crash or an endless program does not end the search."""

    def __init__(self, options: argparse.Namespace) -> None:
        variables = ("OPENBLAS_NUM_THREADS", "AUTOCONV_NUM_THREADS", "OMP_NUM_THREADS")
        environment = os.environ | dict.fromkeys(variables, "1") | {"JAX_PLATFORMS": "cpu"}
        command = [sys.executable, str(HERE / "peers.py"), "--worker", "--kind", options.kind, "--tiers", options.tiers]
        command += ["--peer-period", str(options.peer_period)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.request_count, self.is_killed = 0, False

    def measure(self, number: int, shrink: bool = False) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.request_count += 1
        self.process.stdin.write(json.dumps([number, shrink]) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], PROGRAM_SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.process.kill()
        self.is_killed = True
        return {"number": number, "status": "crashed" if ready else "endless"}

    @property
    def is_spent(self) -> bool:
        """Return whether the process ended, or has compiled so many programs that a new one is better."""
        return self.is_killed or self.request_count >= 40

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def measure_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the measurements of the requested programs, including those in the file."""
    options.results.parent.mkdir(parents=True, exist_ok=True)
    lines = options.results.read_text().splitlines() if options.results.exists() else []
    numbers = range(options.seed, options.seed + options.programs)
    measurements = {row["number"]: row for row in map(json.loads, lines) if row["number"] in numbers}
    worker = Worker(options)
    with options.results.open("a") as file:
        for number in numbers:
            if number in measurements:
                continue
            if worker.is_spent:
                worker.close()
                worker = Worker(options)
            measurements[number] = worker.measure(number)
            file.write(json.dumps(measurements[number]) + "\n")
            file.flush()
            if measurements[number]["status"] in ("WRONG", "crashed", "endless"):
                status, details = measurements[number]["status"], measurements[number].get("details", "")
                print(f"--- program {number}: {status} {details}", flush=True)
    worker.close()
    return [measurements[number] for number in numbers]


def print_report(measurements: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Print the distribution of ratios, and the slowest programs in reduced form."""
    counts = collections.Counter(row["status"] for row in measurements)
    print(", ".join(f"{status}: {count}" for status, count in sorted(counts.items())))
    measured = sorted((row for row in measurements if "ratio" in row), key=lambda row: row["ratio"])
    if not measured:
        return
    rows = [
        ("all", measured),
        *((f"up to {size}", [row for row in measured if row["class"] == size]) for size in _SIZE_CLASSES),
    ]
    rows += [(way, [row for row in measured if row["way"] == way]) for way in ("graph", "kernels", "plain")]
    print(f"{'':12}{'programs':>9}{'mean':>8}{'behind':>9}{'<0.8':>7}" + "".join(f"{part:>8}" for part in _QUANTILES))
    for name, selected in rows:
        if selected:
            ratios = [row["ratio"] for row in selected]
            shares = [sum(ratio < limit for ratio in ratios) / len(ratios) for limit in (MIN_EVEN_RATIO, 0.8)]
            quantiles = [ratios[round(part * (len(ratios) - 1))] for part in _QUANTILES]
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            print(
                f"{name:12}{len(selected):9}{mean:8.2f}{shares[0]:9.1%}{shares[1]:7.1%}"
                + "".join(f"{c:8.2f}" for c in quantiles)
            )
    print_peers(measured)
    for measurement in measured[: options.worst]:
        if measurement["ratio"] < MIN_EVEN_RATIO:
            worker = Worker(options)
            reduced = worker.measure(measurement["number"], shrink=True)
            worker.close()
            shapes = f"{measurement['dtype']} {measurement['shapes']}"
            print(f"--- program {measurement['number']}: {measurement['ratio']:.2f}, {measurement['way']}, {shapes}")
            print(reduced.get("source", measurement["source"]), flush=True)


def print_peers(measured: list[dict[str, Any]]) -> None:
    """Print the ratios of each peer, and those of the fastest among NumPy and the peers."""
    for peer in sorted({peer for row in measured for peer in row.get("peers", ())}):
        print_comparison(peer, [row["peers"][peer] for row in measured if peer in row.get("peers", ())])
    best = [
        min(row["ratio"], *(ratio for peer, ratio in row["peers"].items() if peer not in BARE_CALLS))
        for row in measured
        if row.get("peers")
    ]
    if best:
        print_comparison("the best", best)


def print_comparison(name: str, ratios: list[float]) -> None:
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    behind, far_behind = (sum(ratio < limit for ratio in ratios) for limit in (MIN_EVEN_RATIO, 0.8))
    print(f"{name}: {len(ratios)} programs, its time over ours {mean:.2f}, behind {behind}, below 0.8 {far_behind}")


_SIZE_CLASSES = (10**3, 10**5, 10**6)
_QUANTILES = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=("arrays", "loops", "gradients"), default="arrays")
    parser.add_argument("--tiers", choices=("native", "auto"), default="native")
    parser.add_argument("--peer-period", type=int, default=4, help="number of programs of which one runs by peers")
    parser.add_argument("--results", type=Path, help="the file of results; out/peers-KIND-TIERS.jsonl by default")
    parser.add_argument("--worst", type=int, default=5, help="number of programs to reduce and print")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        from measured.worker import serve

        serve(options.kind, options.tiers, options.peer_period)
        return 0
    if options.kind == "gradients" and importlib.util.find_spec("jax") is None:
        print("the kind gradients needs JAX: pip install jax", file=sys.stderr)
        return 1
    options.results = options.results or Path(f"out/peers-{options.kind}-{options.tiers}.jsonl")
    measurements = measure_all(options)
    print_report(measurements, options)
    return 1 if any(measurement["status"] in ("WRONG", "crashed", "endless") for measurement in measurements) else 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main())
