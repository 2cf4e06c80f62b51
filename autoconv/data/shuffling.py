"""Random order, determined by a seed: the same program has the same order in every run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autoconv.data.nodes import INFINITE, Bindings, CountPreservingNode, Element, Node, check_positive
from autoconv.errors import InvalidArgumentError
from autoconv.forks import new_lock
from autoconv.graph.dtypes import int64
from autoconv.ops.random.global_generator import GLOBAL
from autoconv.ops.random.philox import Philox
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.static_values import static_value


class Draws:
    """Random words for one pass over a dataset, in TensorFlow's order of draws from two seeds."""

    def __init__(self, seeds: tuple[int, int]) -> None:
        self._generator = Philox(seeds[0], 0, seeds[1])
        self._buffered_words: list[int] = []

    def draw_below(self, limit: int) -> int:
        """Return a number from 0 to `limit`, exclusive."""
        return self.draw_word() % limit

    def draw_word(self) -> int:
        """Return 32 random bits."""
        if not self._buffered_words:
            self._buffered_words = self._generator.words(256)[::-1].tolist()  # reversed: the last one is popped first
        return self._buffered_words.pop()


class RandomStream:
    """The random numbers of one dataset's passes: different ones for each pass, or the same for all.

    Without a seed, the global seed determines them, and without that the operating system.
    """

    def __init__(self, seed: Any, reshuffles: bool = True) -> None:
        static_seed = None if seed is None else static_value(seed)
        if seed is not None and static_seed is None:
            raise ValueError(f"the seed of a dataset has to be known when it is made, found {seed!r}")
        self._reshuffles = reshuffles
        self._seeds = GLOBAL.seeds(None if static_seed is None else int(static_seed))
        self.pass_number = 0
        self._lock = new_lock()

    def begin(self) -> Draws:
        """Return the draws of the next pass: from the stream's own seeds, or else from two words of the stream.

        The stream's own seeds are used where all passes have the same draws.
        """
        with self._lock:
            pass_number = self.pass_number
            self.pass_number += 1 if self._reshuffles else 0
        if not self._reshuffles:
            return Draws(self._seeds)
        # A block has four words: the seeds of two passes.
        block = Philox(self._seeds[0], 0, self._seeds[1]).blocks(np.array([pass_number // 2], np.uint64))[0].tolist()
        return Draws((block[pass_number % 2 * 2], block[pass_number % 2 * 2 + 1]))


class Shuffle(CountPreservingNode):
    """The elements in random order: each is drawn from a buffer of `size`, which the next element refills.

    If it `reshuffles`, each pass has its own order.
    """

    name = "shuffle"

    def __init__(self, source: Node, size: Any, seed: Any = None, reshuffles: bool = True) -> None:
        self.size = check_positive("buffer_size", size)
        self.stream = RandomStream(seed, reshuffles)
        super().__init__(source.spec, [source], [self.size])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        size, draws = bindings.number(self.size), self.stream.begin()
        if size < 1:
            raise InvalidArgumentError(f"buffer_size has to be positive, found {size}")
        # A ring buffer of the elements from `first` to `end`; the first element moves to the slot of the drawn one.
        buffer: list[Any] = []
        first = end = 0
        source = self.inputs[0].iterate(bindings)
        while True:
            while end - first < size and (element := next(source, None)) is not None:
                if len(buffer) < size:
                    buffer.append(element)
                else:
                    buffer[end % size] = element
                end += 1
            if end == first:
                return
            drawn_slot, first_slot = (first + draws.draw_below(end - first)) % size, first % size
            element, buffer[drawn_slot], buffer[first_slot] = buffer[drawn_slot], buffer[first_slot], None
            first += 1
            yield element


class RandomNumbers(Node):
    """Random int64 numbers, endlessly."""

    name = "random"

    def __init__(self, seed: Any, reshuffles: bool) -> None:
        self.stream = RandomStream(seed, reshuffles)
        super().__init__(TensorSpec((), int64))

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        draws = self.stream.begin()
        while True:
            yield [np.int64(draws.draw_word())]

    def count(self, bindings: Bindings) -> int:
        return INFINITE
