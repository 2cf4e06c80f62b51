"""What the generators of programs over one kind of values share: choices from a seed, and blocks of statements."""

from __future__ import annotations

import random


class Blocks:
    """Writes statements, which a subclass chooses; each program follows from its seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.counter = 0

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        """The lines of one statement, `depth` statements deep."""
        raise NotImplementedError

    def block(self, depth: int, in_loop: bool, length: int) -> list[str]:
        """The lines of up to `length` statements."""
        lines: list[str] = []
        for _ in range(self.random.randint(1, length)):
            lines += self.statement(depth, in_loop)
        return lines
