"""Methods of Python's random generators that are Python code, for conversion."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, MutableSequence, Sequence
from typing import Any

from autoconv.runtime.objects.symbolic_generators import SymbolicGeneratorMethod


def choose(generator: Any, sequence: Sequence[Any]) -> Any:
    """Implement `choice`, as CPython does."""
    if not len(sequence):
        raise IndexError("Cannot choose from an empty sequence")
    return sequence[generator.randrange(len(sequence))]


def shuffle(generator: Any, items: MutableSequence[Any]) -> None:
    """Implement `shuffle`, as CPython does."""
    for i in reversed(range(1, len(items))):
        j = generator.randrange(i + 1)
        items[i], items[j] = items[j], items[i]


def draw_exponential(generator: Any, lambd: float) -> float:
    """Implement `expovariate`, by the inverse of the distribution function."""
    return -math.log(1.0 - generator.random()) / lambd


def draw_normal(generator: Any, mu: float = 0.0, sigma: float = 1.0) -> float:
    """Implement `normalvariate`, by the ratio of uniform numbers of Kinderman and Monahan."""
    while True:
        numerator = generator.random()
        denominator = 1.0 - generator.random()
        ratio = _RATIO_SCALE * (numerator - 0.5) / denominator
        if ratio * ratio / 4.0 <= -math.log(denominator):
            break
    return mu + ratio * sigma


_RATIO_SCALE = 4 * math.exp(-0.5) / math.sqrt(2.0)
_METHODS: dict[str, Callable[..., Any]] = {
    "choice": choose, "expovariate": draw_exponential, "normalvariate": draw_normal, "shuffle": shuffle,
}  # fmt: skip
for _name in ("expovariate", "normalvariate"):  # some versions of Python require all arguments
    _METHODS[_name].__defaults__ = getattr(random.Random, _name).__defaults__
_GLOBAL_METHODS: dict[Any, Callable[..., Any]] = {getattr(random, name): source for name, source in _METHODS.items()}


def random_source(function: Any) -> tuple[Callable[..., Any], Any] | None:
    """Return the code of such a method, and its generator; None for another function."""
    if type(function) is SymbolicGeneratorMethod and function.generator.__class__ is random.Random:
        source = _METHODS.get(function.method)
        return None if source is None else (source, function.generator)
    try:
        source = _GLOBAL_METHODS.get(function)
    except TypeError:  # unhashable
        return None
    return None if source is None else (source, random)


__all__ = ["random_source"]
