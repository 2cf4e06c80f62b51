"""The base of generators of programs over one kind of values: choices from a seed, and blocks of statements."""

from __future__ import annotations

import random


class Blocks:
    """A generator of blocks of statements, which a subclass chooses by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.counter = 0

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        """Return the lines of one statement, nested `depth` statements deep."""
        raise NotImplementedError

    def block(self, depth: int, in_loop: bool, length: int) -> list[str]:
        """Return the lines of up to `length` statements."""
        lines: list[str] = []
        for _ in range(self.random.randint(1, length)):
            lines += self.statement(depth, in_loop)
        return lines
