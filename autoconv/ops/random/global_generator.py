"""The global generator of stateful draws of random numbers: a seed, and a stream of words for each kind of draw."""

from __future__ import annotations

import contextlib
import os
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autoconv.forks import new_lock
from autoconv.ops.random.philox import Philox

_MODULUS = 2**64  # keys and halves of counters are below it
RESERVED_BLOCKS = 256  # blocks by which a counter advances for each number of a draw
_MAX_SEED = 2**31 - 1
_DEFAULT_SEED = 87654321  # the global seed of a draw that has a seed if none is set


class GlobalGenerator:
    """The state of the stateful ops: a seed from `set_seed`, and a key and counter of Philox for each stream.

    An op-level seed is None or a number; in a trace under `function` it is a tuple of the global seed, the op-level
    seed and the number of the node. Draws with the same stream name and the same number share a stream. Each tuple has
    its own stream. Draws without any seed share one stream, which differs from run to run.

    Each pass over a dataset, and each session of version 1, has its own streams for the nodes (`use_streams`).
    """

    def __init__(self) -> None:
        self._lock = new_lock()
        self.seed: int | None = None
        self._seed_source = random.Random()
        self._streams: dict[Any, np.ndarray] = {}

    def set_seed(self, seed: int | None) -> None:
        """Restart all streams; None takes fresh keys from the operating system."""
        with self._lock:
            self.seed = seed
            self._seed_source = random.Random(seed)
            self._streams.clear()

    @contextlib.contextmanager
    def use_streams(self, streams: dict[Any, np.ndarray]) -> Iterator[None]:
        """Let nodes draw from `streams` inside the `with` block, in this thread; a first draw adds its stream."""
        outer_streams, _THREAD.streams = _THREAD.streams, streams
        try:
            yield
        finally:
            _THREAD.streams = outer_streams

    def seeds(self, op_seed: int | None) -> tuple[int, int]:
        """Return (global seed, op-level seed) of a generator object; two random numbers if none is set."""
        with self._lock:
            if op_seed is None and self.seed is not None:
                op_seed = self._seed_source.randint(0, _MAX_SEED)
            pair = seed_pair(self.seed, op_seed)
        return pair or (int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little"))

    def stream(self, name: str, op_seed: Any = None) -> np.ndarray:
        """Return the state of a stream, uint64 [3]: key, lower and upper half of the counter of its next draw.

        A draw adds the number of blocks that it uses to the counter. With a global seed only, each call begins another
        stream, with the next number of the global seed as its op-level seed.
        """
        pair: tuple[int, int] | None
        streams = self._streams
        with self._lock:
            if isinstance(op_seed, tuple):
                streams = self._streams if _THREAD.streams is None else _THREAD.streams
                result, pair = streams.get(op_seed), op_seed[:2]
            elif op_seed is None and self.seed is not None:
                pair = seed_pair(self.seed, self._seed_source.randint(0, _MAX_SEED))
                return _state(*(pair or (0, 0)))
            else:
                pair = seed_pair(self.seed, op_seed)
                op_seed = None if pair is None else (name, *pair)
                result = self._streams.get(op_seed)
            if result is None:
                entropy = tuple(int.from_bytes(os.urandom(8), "little") for _ in range(2))
                result = streams[op_seed] = _state(*(pair or entropy))
            return result

    def next(self, name: str, count: int, op_seed: Any = None, block_count: int | None = None) -> Philox:
        """Reserve blocks for a draw of `count` numbers, or `block_count` blocks; return the stream from there on."""
        state = self.stream(name, op_seed)
        with self._lock:
            key, low, high = map(int, state)
            state[1] = (low + (count * RESERVED_BLOCKS if block_count is None else block_count)) % _MODULUS
        return Philox(key, low, high)


def seed_pair(
    global_seed: int | None, op_seed: int | None, draw_number: Callable[[], int] = lambda: 0
) -> tuple[int, int] | None:
    """Return (global seed, op-level seed) of a draw, one of them possibly a default; None if neither is set.

    The default of the op-level seed is `draw_number()`, which numbers the draws without such a seed.
    """
    if global_seed is None and op_seed is None:
        return None
    global_seed = _DEFAULT_SEED if global_seed is None else global_seed % _MAX_SEED
    op_seed = draw_number() if op_seed is None else op_seed % _MAX_SEED
    return (global_seed, op_seed) if global_seed or op_seed else (0, _MAX_SEED)  # (0, 0) would count as no seed


class _ThreadStreams(threading.local):
    """The streams of the innermost `use_streams` block of the thread."""

    streams: dict[Any, np.ndarray] | None = None


_THREAD = _ThreadStreams()


def _state(key: int, high: int) -> np.ndarray:
    """Return the state of a new stream: the key, and a counter with the upper half `high`."""
    return np.array([key % _MODULUS, 0, high % _MODULUS], np.uint64)


GLOBAL = GlobalGenerator()
