"""Measure two workers on this machine beside one process: training by sums of gradients, and a map over a dataset.

    python tests/benchmarks/two_workers.py [--seconds 5] [--mpiexec]

Training: steps of stochastic gradient descent of a network of two layers, 256 examples a step, split among the workers
of `MultiWorkerMirroredStrategy`. Map: examples a second through a function of 64 KiB arrays, each worker with its half
of the dataset. Each process has one thread for its graphs; one process with two threads is measured, too. Rounds of the
cases alternate, and the median of the rounds counts. The load of the machine before each round is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

WIDTH, BATCH, FEATURES = 512, 256, 256


def work(seconds: float) -> None:
    """Train and map for so many seconds each; print the steps and the examples a second."""
    import autoconv as ac

    strategy = ac.distribute.MultiWorkerMirroredStrategy()
    draw = np.random.default_rng(0)
    with strategy.scope():
        first = ac.Variable(draw.normal(size=(FEATURES, WIDTH), scale=0.05).astype(np.float32))
        second = ac.Variable(draw.normal(size=(WIDTH, 1), scale=0.05).astype(np.float32))

    def step(x: object, y: object) -> object:
        with ac.GradientTape() as tape:
            loss = ac.reduce_sum((ac.nn.relu(x @ first) @ second - y) ** 2) / BATCH
        gradients = tape.gradient(loss, [first, second])
        gradients = ac.distribute.get_replica_context().all_reduce("SUM", gradients)
        for variable, gradient in zip((first, second), gradients, strict=True):
            variable.assign_sub(0.001 * gradient)
        return loss

    @ac.function
    def train(x: object, y: object) -> object:
        return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

    size = BATCH // strategy.num_replicas_in_sync
    x = ac.constant(draw.normal(size=(size, FEATURES)).astype(np.float32))
    y = ac.constant(draw.normal(size=(size, 1)).astype(np.float32))
    for _ in range(3):
        train(x, y)
    strategy.reduce("SUM", ac.zeros([1]), axis=None)
    # The number of steps is reduced over workers, as all have to make the same calls.
    start = time.perf_counter()
    for _ in range(10):
        train(x, y).numpy()
    seconds_per_step = float(strategy.reduce("SUM", ac.constant(time.perf_counter() - start), axis=None)) / 10
    count = max(10, int(seconds / seconds_per_step * strategy.num_replicas_in_sync))
    start = time.perf_counter()
    for _ in range(count):
        train(x, y).numpy()
    steps = count / (time.perf_counter() - start)

    @ac.function
    def grown(row: object) -> object:
        for _ in ac.range(8):
            row = ac.sin(row) + row * 0.5
        return ac.reduce_sum(row)

    rows = ac.data.Dataset.from_tensors(np.ones(1 << 14, np.float32)).repeat().map(grown)
    options = ac.data.Options()
    options.experimental_distribute.auto_shard_policy = ac.data.experimental.AutoShardPolicy.OFF
    iterator = iter(rows.with_options(options))
    next(iterator)
    strategy.reduce("SUM", ac.zeros([1]), axis=None)
    start, count_mapped = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        for _ in range(50):
            next(iterator)
        count_mapped += 50
    rate = count_mapped / (time.perf_counter() - start)
    print(json.dumps([steps, rate]))


def run(count: int, threads: int, seconds: float, mpiexec: str | None = None) -> tuple[float, float]:
    """Return the steps and the examples a second of so many workers."""
    environment = {**os.environ, "AUTOCONV_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("TF_CONFIG", None)
    command = [sys.executable, __file__, "--work", str(seconds)]
    if mpiexec:
        processes = [subprocess.Popen([mpiexec, "-n", str(count), *command], env=environment, stdout=subprocess.PIPE)]
    else:
        with socket.create_server(("localhost", 0)) as server:
            port = server.getsockname()[1]
        workers = [f"localhost:{port}", *(f"localhost:{1 + i}" for i in range(1, count))]
        configs = [{"cluster": {"worker": workers}, "task": {"type": "worker", "index": i}} for i in range(count)]
        processes = [
            subprocess.Popen(command, env={**environment, "TF_CONFIG": json.dumps(process)}, stdout=subprocess.PIPE)
            for process in configs
        ]
    text = "".join(process.communicate()[0].decode() for process in processes)
    results = [json.loads(part) for part in re.findall(r"\[[^\]]*\]", text)]  # mpiexec may mix the lines
    return results[0][0], sum(rate for _, rate in results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mpiexec", action="store_true")
    parser.add_argument("--work", type=float)
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return
    cases = {"one process, one thread": (1, 1), "one process, two threads": (1, 2), "two workers": (2, 1)}
    results: dict[str, list[tuple[float, float]]] = {}
    for _ in range(options.rounds):
        for name, (count, threads) in cases.items():
            print(f"load {os.getloadavg()[0]:.1f}", end="; ", flush=True)
            results.setdefault(name, []).append(run(count, threads, options.seconds))
        if options.mpiexec:
            local_mpiexec = Path(sys.executable).with_name("mpiexec")
            command = str(local_mpiexec) if local_mpiexec.exists() else shutil.which("mpiexec")
            results.setdefault("two workers, MPI", []).append(run(2, 1, options.seconds, command))
    print()
    for name, rows in results.items():
        steps, rate = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{name}: {steps:.0f} steps a second, {rate:.0f} examples mapped a second")


if __name__ == "__main__":
    main()
