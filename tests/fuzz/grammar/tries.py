"""Loops over an array of floats with try statements, where an index, a division, an assertion or a raise may raise."""

from __future__ import annotations

import random

import numpy as np

KINDS = ("ZeroDivisionError", "IndexError", "ValueError", "AssertionError", "KeyError")
CLAUSES = (
    *KINDS, "(ValueError, IndexError)", "(ZeroDivisionError, AssertionError)", "ArithmeticError", "LookupError",
    "Exception",
)  # fmt: skip


class Generator:
    """A writer of a function of an array of at least four floats and two ints."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.counter = 0

    def program(self) -> str:
        body = ["t = 0", "z = 0.0", *self.block(0, 3), *self.try_statement(0), *self.block(0, 1)]
        body.append(self.random.choice(["return t", "return t, z", "return z, k", "return t, v"]))
        return "def program(v, k, c):\n" + "\n".join("    " + line for line in body) + "\n"

    def block(self, depth: int, length: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, length)):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> list[str]:
        choice = self.random.random()
        if depth < 3 and choice < 0.2:
            return self.try_statement(depth)
        if depth < 3 and choice < 0.35:
            self.counter += 1
            name = f"i_{self.counter}"
            leave = self.random.choice([[], [f"    if {name} > 2 and t % 3 == 1:", "        break"]])
            return [f"for {name} in range({self.random.choice(['4', 'k', 'len(v)'])}):", f"    t += {name}",
                    *indent(self.block(depth + 1, 2)), *leave]  # fmt: skip
        if depth < 3 and choice < 0.45:
            lines = [f"if {self.test()}:", *indent(self.block(depth + 1, 2))]
            other = ["else:", *indent(self.block(depth + 1, 2))] if self.random.random() < 0.4 else []
            return [*lines, *other]
        if choice < 0.6:
            item = f"v[{self.integer()}]"
            read = self.random.choice([f"z += float({item})"] * 4 + [f"z += {item}"])
            return [self.random.choice([read, f"{item} = z + 1.0", "v[0] += 0.5"])]
        if choice < 0.7:
            return [f"t += {self.integer()} {self.random.choice(['//', '%'])} {self.integer()}"]
        if choice < 0.75:
            return [f"z += 1.0 / ({self.integer()})"]
        if choice < 0.8:
            return [f"assert {self.test()}"]
        if choice < 0.87 and depth:
            return [f"if {self.test()}:", f"    raise {self.random.choice(KINDS)}('no')"]
        return [f"t = (t + {self.integer()}) % 97"]

    def try_statement(self, depth: int) -> list[str]:
        lines = ["try:", *indent(self.block(depth + 1, 3))]
        kinds = self.random.sample(CLAUSES, self.random.choice([0, 1, 1, 1, 2]))
        for kind in sorted(kinds, key=lambda kind: kind == "Exception"):
            handler = self.block(depth + 1, 2)
            if self.random.random() < 0.15:
                handler.append(self.random.choice(["raise", "raise ValueError('again')"]))
            lines += [f"except {kind}:", *indent(handler)]
        if kinds and self.random.random() < 0.3:
            lines += ["else:", *indent(self.block(depth + 1, 1))]
        if not kinds or self.random.random() < 0.25:
            lines += ["finally:", f"    t += {self.random.randint(1, 9)}"]
        return lines

    def integer(self) -> str:
        return self.random.choice(["k", "c", "t", "k - c", "t % 5", "k + 1", "3", "c - 1"])

    def test(self) -> str:
        return self.random.choice(["k > c", "t % 2 == 0", "z < 3.0", "c != 1", "k < 3", "v[0] > 0.5"])


def inputs() -> list[tuple[np.ndarray, int, int]]:
    numbers = [(2, 3), (0, -1), (5, 1), (3, 0), (9, 4), (1, 1)]
    return [(np.arange(4 + i) / 4.0, k, c) for i, (k, c) in enumerate(numbers)]


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
