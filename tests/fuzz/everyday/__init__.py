"""Programs of every day, by topics, which `fuzz/traps.py` calls with new arguments each time."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple


class Program(NamedTuple):
    """A function, and another that makes its arguments from random numbers and a size."""

    function: Callable[..., Any]
    arguments: Callable[[random.Random, int], tuple[Any, ...]]


PROGRAMS: dict[str, Program] = {}


def program(arguments: Callable[[random.Random, int], tuple[Any, ...]]) -> Callable[[Any], Any]:
    """Register a function under its name."""

    def register(function: Any) -> Any:
        assert function.__name__ not in PROGRAMS, function.__name__
        PROGRAMS[function.__name__] = Program(function, arguments)
        return function

    return register


def words(draws: random.Random, count: int) -> list[str]:
    return ["".join(draws.choice("abcdeilnorst") for _ in range(draws.randint(1, 8))) for _ in range(count)]


def text(draws: random.Random, count: int) -> str:
    return " ".join(words(draws, count))


def ints(draws: random.Random, count: int, maximum: int = 1000) -> list[int]:
    return [draws.randint(0, maximum) for _ in range(count)]


def floats(draws: random.Random, count: int) -> list[float]:
    return [draws.uniform(-10, 10) for _ in range(count)]
