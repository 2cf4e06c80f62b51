"""Random programs, run by NumPy and by `@autoconv.compile` in turns: the fuzzer of performance.

    python tests/fuzz/peers.py --programs 300 [--seed 0] [--kind arrays|loops|gradients] [--results FILE] [--tiers auto]

Two kinds of programs: "arrays" compute with whole arrays, "loops" go over their elements. A third of the programs each
has arrays of up to 10^3, 10^5 and 10^6 numbers, where plain Python takes at most a second a call; some arrays are in
Fortran order, transposed or `[::2]`. Every call is timed on its own, on equal arguments, NumPy's and ours in turns;
the best of each counts, on one thread. Results and arguments are compared. What is behind by more than 5 % is timed
twice more, and the median counts. Every fourth program is run by JAX (whole arrays), Numba and clang (loops over
float64 and int64) as well, every twentieth by torch.compile, where they are installed and take it: see
measured/peers.py.

The kind "gradients" is the value and the gradients of the sum of squares of what a program of whole arrays gives. It
needs JAX, whose gradients have to agree, and whose time stands in place of NumPy's.

A ratio is NumPy's time over ours: below 1 we are slower. The graph is measured, however slow it is; `--tiers auto`
measures what a user gets, after the calls that choose between the graph and plain Python. Results are kept in a file,
a line of JSON a program; programs that it has are not run again. At the end: the distribution of ratios, the share
behind, and the worst programs, made small while they stay as slow.
"""

from __future__ import annotations

import argparse
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

HERE = Path(__file__).resolve().parent
EVEN = 0.95
SECONDS = 150  # for one program, all in all


class Worker:
    """A process that measures one program after another: a crash, or a program without end, costs no more than it."""

    def __init__(self, options: argparse.Namespace) -> None:
        variables = ("OPENBLAS_NUM_THREADS", "AUTOCONV_NUM_THREADS", "OMP_NUM_THREADS")
        environment = os.environ | dict.fromkeys(variables, "1") | {"JAX_PLATFORMS": "cpu"}
        command = [sys.executable, str(HERE / "peers.py"), "--worker", "--kind", options.kind, "--tiers", options.tiers]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.asked, self.is_killed = 0, False

    def ask(self, number: int, shrink: bool = False) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.asked += 1
        self.process.stdin.write(json.dumps([number, shrink]) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.process.kill()
        self.is_killed = True
        return {"number": number, "status": "crashed" if ready else "endless"}

    @property
    def is_spent(self) -> bool:
        """Return whether the process ended, or has compiled so much that a new one is better."""
        return self.is_killed or self.asked >= 40

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def measure_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the measurements of the programs that were asked for, those of the file included."""
    options.results.parent.mkdir(parents=True, exist_ok=True)
    known = [json.loads(line) for line in options.results.read_text().splitlines()] if options.results.exists() else []
    wanted = range(options.seed, options.seed + options.programs)
    found = {one["number"]: one for one in known if one["number"] in wanted}
    worker = Worker(options)
    with options.results.open("a") as file:
        for number in wanted:
            if number in found:
                continue
            if worker.is_spent:
                worker.close()
                worker = Worker(options)
            found[number] = worker.ask(number)
            file.write(json.dumps(found[number]) + "\n")
            file.flush()
            if found[number]["status"] in ("WRONG", "crashed", "endless"):
                print(f"--- program {number}: {found[number]['status']} {found[number].get('details', '')}", flush=True)
    worker.close()
    return [found[number] for number in wanted]


def report(found: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Print the distribution of ratios, and the worst programs made small."""
    counts = {
        status: sum(one["status"] == status for one in found) for status in sorted({one["status"] for one in found})
    }
    print(", ".join(f"{status}: {count}" for status, count in counts.items()))
    measured = sorted((one for one in found if "ratio" in one), key=lambda one: one["ratio"])
    if not measured:
        return
    rows = [
        ("all", measured),
        *((f"up to {size}", [one for one in measured if one["class"] == size]) for size in _CLASSES),
    ]
    rows += [(way, [one for one in measured if one["way"] == way]) for way in ("graph", "kernels", "plain")]
    print(f"{'':12}{'programs':>9}{'mean':>8}{'behind':>9}{'<0.8':>7}" + "".join(f"{part:>8}" for part in _QUANTILES))
    for name, ones in rows:
        if ones:
            ratios = [one["ratio"] for one in ones]
            shares = [sum(ratio < limit for ratio in ratios) / len(ratios) for limit in (EVEN, 0.8)]
            cuts = [ratios[round(part * (len(ratios) - 1))] for part in _QUANTILES]
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            print(
                f"{name:12}{len(ones):9}{mean:8.2f}{shares[0]:9.1%}{shares[1]:7.1%}"
                + "".join(f"{c:8.2f}" for c in cuts)
            )
    report_peers(measured)
    for one in measured[: options.worst]:
        if one["ratio"] < EVEN:
            worker = Worker(options)
            small = worker.ask(one["number"], shrink=True)
            worker.close()
            print(f"--- program {one['number']}: {one['ratio']:.2f}, {one['way']}, {one['dtype']} {one['shapes']}")
            print(small.get("source", one["source"]), flush=True)


def report_peers(measured: list[dict[str, Any]]) -> None:
    """Print how each peer's time compares with ours, and the best of NumPy and the peers."""
    for peer in sorted({peer for one in measured for peer in one.get("peers", ())}):
        print_beside(peer, [one["peers"][peer] for one in measured if peer in one.get("peers", ())])
    best = [min(one["ratio"], *one["peers"].values()) for one in measured if one.get("peers")]
    if best:
        print_beside("the best", best)


def print_beside(name: str, ratios: list[float]) -> None:
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    behind, far = (sum(ratio < limit for ratio in ratios) for limit in (EVEN, 0.8))
    print(f"{name}: {len(ratios)} programs, its time over ours {mean:.2f}, behind {behind}, below 0.8 {far}")


_CLASSES = (10**3, 10**5, 10**6)
_QUANTILES = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=("arrays", "loops", "gradients"), default="arrays")
    parser.add_argument("--tiers", choices=("native", "auto"), default="native")
    parser.add_argument("--results", type=Path, help="the file of results; out/peers-KIND-TIERS.jsonl by default")
    parser.add_argument("--worst", type=int, default=5, help="so many programs are made small and printed")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        from measured.worker import serve

        serve(options.kind, options.tiers)
        return 0
    if options.kind == "gradients" and importlib.util.find_spec("jax") is None:
        print("the kind gradients needs JAX: pip install jax", file=sys.stderr)
        return 1
    options.results = options.results or Path(f"out/peers-{options.kind}-{options.tiers}.jsonl")
    found = measure_all(options)
    report(found, options)
    return 1 if any(one["status"] in ("WRONG", "crashed", "endless") for one in found) else 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main())
