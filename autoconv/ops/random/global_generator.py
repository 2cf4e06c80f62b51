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

_MODULUS = 2**64  # of keys and counters
RESERVED_BLOCKS = 256  # blocks by which a counter advances for each number of a draw
_MAX_SEED = 2**31 - 1
_DEFAULT_SEED = 87654321  # the global seed where only the draw has a seed


class GlobalGenerator:
    """The state of the stateful ops: a seed from `set_seed`, and a key and counter of Philox for each stream.

    An op-level seed is None or a number; in a trace under `function` it is a tuple of the global seed, the op-level
    seed and the number of the node. Draws with one stream name and one number share a stream, and each tuple has a
    stream of its own. Without any seed, all draws share a stream, which differs from run to run.

    Each pass over a dataset has streams of its own for the nodes of the dataset's functions (`use_streams`).
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

    def pair(self, op_seed: int | None, draw_number: Callable[[], int]) -> tuple[int, int] | None:
        """Return the global seed and the op-level seed of a draw, defaults included; None if neither is set.

        `draw_number()` replaces a missing op-level seed: it numbers such draws.
        """
        if self.seed is None and op_seed is None:
            return None
        global_seed = _DEFAULT_SEED if self.seed is None else self.seed % _MAX_SEED
        own_seed = draw_number() if op_seed is None else op_seed % _MAX_SEED
        return (global_seed, own_seed) if global_seed or own_seed else (0, _MAX_SEED)

    def seeds(self, op_seed: int | None) -> tuple[int, int]:
        """Return the two seeds of a generator object; without any seed, they come from the operating system."""
        with self._lock:
            own_seed = self._seed_source.randint(0, _MAX_SEED) if op_seed is None and self.seed is not None else op_seed
            seed_pair = self.pair(own_seed, lambda: 0)
        return seed_pair or (int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little"))

    def stream(self, name: str, op_seed: Any = None) -> np.ndarray:
        """Return the state of a stream, uint64 [3]: key, lower and upper half of the counter of its next draw.

        The draw adds the number of blocks that it uses to the counter.
        """
        pair: tuple[int, int] | None
        streams = self._streams
        with self._lock:
            if isinstance(op_seed, tuple):
                streams = self._streams if _THREAD.streams is None else _THREAD.streams
                result, pair = streams.get(op_seed), op_seed[:2]
            elif op_seed is None and self.seed is not None:
                pair = self.pair(self._seed_source.randint(0, _MAX_SEED), lambda: 0)
                return _state(*(pair or (0, 0)))
            else:
                pair = self.pair(op_seed, lambda: 0)
                op_seed = None if pair is None else (name, *pair)
                result = self._streams.get(op_seed)
            if result is None:
                entropy = tuple(int.from_bytes(os.urandom(8), "little") for _ in range(2))
                result = streams[op_seed] = _state(*(pair or entropy))
            return result

    def next(self, name: str, count: int, op_seed: Any = None, block_count: int | None = None) -> Philox:
        """Reserve blocks for a draw of `count` numbers, or `block_count` blocks, and return the words from there on."""
        state = self.stream(name, op_seed)
        with self._lock:
            key, low, high = map(int, state)
            state[1] = (low + (count * RESERVED_BLOCKS if block_count is None else block_count)) % _MODULUS
        return Philox(key, low, high)


class _ThreadStreams(threading.local):
    """The streams of the innermost `use_streams` block of the thread."""

    streams: dict[Any, np.ndarray] | None = None


_THREAD = _ThreadStreams()


def _state(key: int, high: int) -> np.ndarray:
    return np.array([key % _MODULUS, 0, high % _MODULUS], np.uint64)


GLOBAL = GlobalGenerator()
