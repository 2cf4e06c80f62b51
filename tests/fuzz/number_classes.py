"""Numbers whose class depends on the path: float or np.float64, int or np.int64, bool or np.bool.

    python tests/fuzz/number_classes.py --programs 1000 [--seed 0]

A program is a loop that assigns elements, arguments and constants to three names, by branches, conditional
expressions, `max`, `min`, `and`, `or`, changes of sign and arithmetic; some print quotients. Plain Python and
`@autoconv.compile` are compared over four calls: results with their classes, errors, the changed array, and the printed
text with the warnings in between. In every third program, warnings are raised.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from differential.counting import compare_calls, load_program, run_command

NAMES = ("u", "v", "w")
FIRST_VALUES = (
    "0.0", "a[0]", "1.5", "0", "k[0]", "x", "n", "-0.0", "np.float64(0.25)", "float('nan')", "True", "a[0] > 0.1",
)  # fmt: skip
OPERANDS = (*NAMES, "a[i]", "k[i]", "x", "n", "0.0", "0", "0.5", "1")
DIVISORS = ("a[i]", "k[i]", "x", "n", "a[0]")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
RESULTS = (
    "u, v, w", "u", "[u, v]", "(u > v), w", "type(u), v, u", "u + v, w", "f'{u!r} {v}'", "{'u': u, 'w': w}",
    "np.sqrt(abs(u)), w", "np.array([u, v])", "u is v, w",
)  # fmt: skip
CALLS = 4


class _Writer:
    """A writer of a program that assigns to the names in `NAMES`."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def program(self) -> str:
        lines = ["def program(a, k, x, n):"]
        lines += [f"    {name} = {self.draw.choice(FIRST_VALUES)}" for name in NAMES]
        lines.append("    for i in range(len(a)):")
        for _ in range(self.draw.randint(2, 4)):
            lines += self.statement()
        if self.draw.random() < 0.4:
            lines.append("    a[0] = u")
        return "\n".join([*lines, f"    return {self.draw.choice(RESULTS)}", ""])

    def statement(self) -> list[str]:
        if self.draw.random() < 0.1:
            return [f"        print(i, {self.operand()} / {self.draw.choice(DIVISORS)})"]
        if self.draw.random() < 0.5:
            return [f"        {self.assignment()}"]
        lines = [f"        if {self.condition()}:", f"            {self.assignment()}"]
        if self.draw.random() < 0.3:
            lines += ["        else:", f"            {self.assignment()}"]
        return lines

    def assignment(self) -> str:
        return f"{self.draw.choice(NAMES)} = {self.value()}"

    def operand(self) -> str:
        return self.draw.choice(OPERANDS)

    def condition(self) -> str:
        forms: list[Callable[[], str]] = [
            lambda: f"{self.operand()} {self.draw.choice(COMPARISONS)} {self.operand()}",
            self.operand,
            lambda: f"not {self.operand()}",
            lambda: f"{self.operand()} < {self.operand()} {self.draw.choice(['and', 'or'])} {self.operand()}",
        ]
        (form,) = self.draw.choices(forms, [6, 2, 1, 2])
        return form()

    def value(self) -> str:
        forms: list[Callable[[], str]] = [
            self.operand,
            lambda: f"{self.draw.choice(['max', 'min'])}({self.operand()}, {self.operand()})",
            lambda: f"{self.operand()} {self.draw.choice(['+', '-', '*'])} {self.operand()}",
            lambda: f"{self.draw.choice(['-{}', '+{}', 'abs({})']).format(self.operand())}",
            lambda: f"({self.operand()} if {self.condition()} else {self.operand()})",
            lambda: f"({self.operand()} {self.draw.choice(COMPARISONS)} {self.operand()})",
            lambda: f"({self.operand()} {self.draw.choice(['and', 'or'])} {self.operand()})",
        ]
        (form,) = self.draw.choices(forms, [4, 3, 3, 2, 2, 1, 1])
        return form()


def program(seed: int) -> str:
    return _Writer(seed).program()


def _arguments(seed: int) -> tuple[Any, ...]:
    numbers = np.random.default_rng(seed)
    size = int(numbers.integers(1, 6))
    halves, integers = numbers.integers(-3, 4, size) / 2.0, numbers.integers(-3, 4, size)
    return halves, integers, float(numbers.integers(-2, 3)), int(numbers.integers(-2, 3))


def _describe(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [_describe(item) for item in value]
    if isinstance(value, dict):
        return [(key, _describe(item)) for key, item in value.items()]
    return type(value).__name__, repr(value)


def outcome(function: Any, seed: int, action: Any = "always") -> Any:
    arguments = _arguments(seed)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as out:
        warnings.simplefilter(action)
        warnings.showwarning = lambda message, *_: print("warning:", message)
        try:
            result: Any = "returned", _describe(function(*arguments))
        except Exception as error:
            result = "raised", type(error).__name__, str(error)
    return result, repr(arguments[0]), out.getvalue()


def check(source: str, number: int) -> tuple[str, str]:
    """Compare a program; return how it ran or "WRONG", and details."""
    plain = load_program(source, f"<program of number classes {number}>", np=np)
    action = "error" if number % 3 == 0 else "always"
    seeds = range(CALLS * number, CALLS * (number + 1))
    return compare_calls(plain, plain, seeds, lambda function, seed: outcome(function, seed, action))


if __name__ == "__main__":
    sys.exit(run_command(__doc__, program, check))
