"""A call of a cluster's worker beside a call of an actor of plain Ray: `python tests/benchmarks/remote_calls.py`.

Each row is a call with an array of 10 or 100,000 float64. The first figure waits for each call; the second begins 50
calls before it reads their results. The calls are made in turns, and the median of the rounds counts.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import autoconv as ac

QUEUED = 50


def calls(size: int) -> dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]]:
    """Return each kind of call, and the function that waits for its result."""
    import ray

    class Plain:
        def scaled(self, x: np.ndarray) -> np.ndarray:
            return x * 2.0

    actor = ray.remote(Plain).options(num_cpus=0).remote()
    array = np.arange(float(size))
    reference = ray.put(array)

    @ac.function
    def scaled(x: Any) -> Any:
        return x * 2.0

    with ac.device("/job:worker/task:0"):
        remote_tensor = ac.constant(array) + 0.0
        variable = ac.Variable(array)

    def on_worker(call: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            with ac.device("/job:worker/task:0"):
                return call()

        return run

    def fetch(result: Any) -> Any:
        return result.numpy()

    return {
        "plain Ray, the array in the store": (lambda: actor.scaled.remote(reference), ray.get),
        "eager op on a tensor of the worker": (on_worker(lambda: remote_tensor * 2.0), fetch),
        "function of a tensor of the worker": (on_worker(lambda: scaled(remote_tensor)), fetch),
        "assign_add of a variable there": (on_worker(lambda: variable.assign_add(remote_tensor)), fetch),
    }


def seconds_per_call(begin: Callable[[], Any], wait: Callable[[Any], Any], count: int) -> float:
    start = time.perf_counter()
    for result in [begin() for _ in range(count)]:
        wait(result)
    return (time.perf_counter() - start) / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    ac.config.experimental_connect_to_cluster(ac.train.ClusterSpec({"worker": ["localhost:2222"]}))
    for size in (10, 100_000):
        kinds = calls(size)
        samples: dict[tuple[str, int], list[float]] = {}
        for turn in range(options.rounds + 3):
            for name, (begin, wait) in kinds.items():
                for count in (1, QUEUED):
                    elapsed = seconds_per_call(begin, wait, count)
                    if turn >= 3:
                        samples.setdefault((name, count), []).append(elapsed)
        for name in kinds:
            row = [statistics.median(samples[name, count]) * 1e6 for count in (1, QUEUED)]
            print(f"{size:7} {name:36} {row[0]:8.0f} us waited for {row[1]:8.0f} us queued", flush=True)


if __name__ == "__main__":
    main()
