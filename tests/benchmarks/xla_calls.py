"""Warm calls of the backend xla beside jax.jit and native code: `python tests/benchmarks/xla_calls.py [--runs 5]`.

Each row is `np.sin(x) * y + 1.0` of float32. The function of jax.jit has one more result, an int32, as the backend has
its error word. Arguments and results are NumPy arrays, except in the second column of jax, which has jax's own arrays.
The calls are made in turns, in a new order each round because threads of one kind may still wait for work when the next
one begins. The best of the rounds counts: the machine may have other work. A second function of jax.jit that equals the
first one shows the noise: the last line of a size has, for each run, the best and the median times as multiples of
those of jax.jit, of the backend and of the second function.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import autoconv as ac


def formula(x: Any, y: Any) -> Any:
    return np.sin(x) * y + 1.0


def calls(size: int) -> dict[str, Callable[[], Any]]:
    """Return a call of each kind."""
    import jax
    import jax.numpy as jnp

    draw = np.random.default_rng(0)
    x, y = (draw.normal(size=size).astype(np.float32) for _ in range(2))
    jitted, equal = (jax.jit(lambda x, y: (jnp.sin(x) * y + 1.0, jnp.int32(0))) for _ in range(2))
    on_device = jax.device_put(x), jax.device_put(y)
    through_xla, native = ac.compile(backend="xla")(formula), ac.compile(formula)
    return {
        "xla": lambda: through_xla(x, y),
        "jax.jit": lambda: [np.asarray(result) for result in jitted(x, y)],
        "equal jax.jit": lambda: [np.asarray(result) for result in equal(x, y)],
        "jax.jit, its arrays": lambda: jax.block_until_ready(jitted(*on_device)),
        "native": lambda: native(x, y),
    }


def measure(kinds: dict[str, Callable[[], Any]], rounds: int) -> dict[str, tuple[float, float]]:
    """Return the best and the median microseconds of a call of each kind."""
    samples: dict[str, list[float]] = {name: [] for name in kinds}
    counts = {}
    for name, call in kinds.items():
        for _ in range(20):
            call()
        begin = time.perf_counter()
        call()
        counts[name] = max(int(0.001 / (time.perf_counter() - begin)), 1)
    draw = random.Random(0)
    for _ in range(rounds):
        for name, call in draw.sample(list(kinds.items()), len(kinds)):
            begin = time.perf_counter()
            for _ in range(counts[name]):
                call()
            samples[name].append((time.perf_counter() - begin) / counts[name] * 1e6)
    return {name: (min(times), statistics.median(times)) for name, times in samples.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 1_000, 100_000, 1_000_000])
    options = parser.parse_args()
    for size in options.sizes:
        ratios: dict[str, list[str]] = {"xla": [], "equal jax.jit": []}
        for _ in range(options.runs):
            row = measure(calls(size), options.rounds)
            times = (f"{name} {best:.1f} ({median:.1f})" for name, (best, median) in row.items())
            print(f"{size:9}  " + "  ".join(times), flush=True)
            for name, texts in ratios.items():
                texts.append("{:.3f} ({:.3f})".format(*(a / b for a, b in zip(row[name], row["jax.jit"], strict=True))))
        print("           to jax.jit: " + "; ".join(f"{name} {', '.join(texts)}" for name, texts in ratios.items()))


if __name__ == "__main__":
    main()
