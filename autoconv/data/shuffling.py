"""Random order, determined by a seed: the same program has the same order in every run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autoconv.data.nodes import Bindings, Element, Node, number
from autoconv.errors import InvalidArgumentError
from autoconv.forks import new_lock
from autoconv.graph.dtypes import int64
from autoconv.ops.random.bits import GLOBAL
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.static_values import static_value

_BITS = 2**64  # keys of Philox are taken modulo this


class Draws:
    """Random numbers for one pass over a dataset (Philox: the key is the seed, the counter the pass)."""

    def __init__(self, key: int, turn: int) -> None:
        self._bits = np.random.Philox(
            key=np.array([key % _BITS, 0x64617461], np.uint64), counter=np.array([0, 0, turn, 0], np.uint64)
        )
        self._ahead: list[int] = []

    def below(self, limit: int) -> int:
        """Return a number from 0 to `limit`, exclusive."""
        return self.bits() % limit

    def unit(self) -> float:
        return (self.bits() >> 11) * 2.0**-53

    def bits(self) -> int:
        """Return 64 random bits."""
        if not self._ahead:
            self._ahead = self._bits.random_raw(256)[::-1].tolist()
        return self._ahead.pop()


class Stream:
    """The random numbers of one dataset's passes: different ones for each pass, or the same for all.

    Without a seed, the global seed determines them, and without that the operating system.
    """

    def __init__(self, seed: Any, anew: bool = True) -> None:
        known = None if seed is None else static_value(seed)
        if seed is not None and known is None:
            raise ValueError(f"the seed of a dataset has to be known when it is made, found {seed!r}")
        self._anew = anew
        if known is None:
            self._key = int(GLOBAL.next("dataset", 1).words(2).view(np.uint64)[0])
        else:
            self._key = (int(known) * 2 + 1 + ((GLOBAL.seed or 0) << 32)) % _BITS
        self.turn = 0
        self._lock = new_lock()

    def begin(self, bindings: Bindings) -> Draws:
        with self._lock:
            turn = self.turn
            self.turn += 1 if self._anew else 0
        return Draws(self._key, turn)


class Shuffle(Node):
    """The elements in random order: each is drawn from a buffer of `size`, which the next element refills.

    `anew`: each pass has its own order.
    """

    name = "shuffle"

    def __init__(self, source: Node, size: Any, seed: Any = None, anew: bool = True) -> None:
        self.size = number(size)
        known = static_value(self.size)
        if known is not None and int(known) < 1:
            raise ValueError(f"buffer_size has to be positive, found {int(known)}")
        self.stream = Stream(seed, anew)
        super().__init__(source.spec, [source], [self.size])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        size, draws = bindings.number(self.size), self.stream.begin(bindings)
        if size < 1:
            raise InvalidArgumentError(f"buffer_size has to be positive, found {size}")
        buffer: list[Element] = []
        for element in self.inputs[0].iterate(bindings):
            if len(buffer) < size:
                buffer.append(element)
                continue
            position = draws.below(size)
            yield buffer[position]
            buffer[position] = element
        while buffer:
            position = draws.below(len(buffer))
            buffer[position], buffer[-1] = buffer[-1], buffer[position]
            yield buffer.pop()

    def count(self, bindings: Bindings) -> int:
        return self.inputs[0].count(bindings)


class RandomNumbers(Node):
    """Random int64 numbers, endlessly."""

    name = "random"

    def __init__(self, seed: Any, anew: bool) -> None:
        self.stream = Stream(seed, anew)
        super().__init__(TensorSpec((), int64))

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        draws = self.stream.begin(bindings)
        while True:
            yield [np.int64(draws.bits() >> 32)]

    def count(self, bindings: Bindings) -> int:
        return -1
