"""Methods of Python's random generators as Python code, which is converted."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, MutableSequence, Sequence
from typing import Any

from autoconv.operators.values.library_functions import program_error, refuse
from autoconv.runtime.objects.symbolic_generators import SymbolicGeneratorMethod


def choose(generator: Any, sequence: Sequence[Any]) -> Any:
    """Implement `choice`, as CPython does."""
    if not len(sequence):
        raise IndexError("Cannot choose from an empty sequence")
    return sequence[generator.randrange(len(sequence))]


def choose_several(
    generator: Any, population: Sequence[Any], weights: Any = None, *, cum_weights: Any = None, k: int = 1
) -> list[Any]:
    """Implement `choices`, as CPython does."""
    size = len(population)
    if weights is None and cum_weights is None:
        return [population[math.floor(generator.random() * (size + 0.0))] for _ in range(k)]
    if weights is not None and cum_weights is not None:
        raise program_error(TypeError, "Cannot specify both weights and cumulative weights")
    if isinstance(weights, int):
        raise program_error(TypeError, f"The number of choices must be a keyword argument: k={weights!r}")
    totals = list(itertools.accumulate(weights)) if cum_weights is None else cum_weights
    if len(totals) != size:
        raise program_error(ValueError, "The number of weights does not match the population")
    total = totals[-1] + 0.0
    if total <= 0.0:
        raise program_error(ValueError, "Total of weights must be greater than zero")
    if not math.isfinite(total):
        raise program_error(ValueError, "Total of weights must be finite")
    chosen = []
    for _ in range(k):
        number, low, high = generator.random() * total, 0, size - 1
        while low < high:
            middle = (low + high) // 2
            if number < totals[middle]:
                high = middle
            else:
                low = middle + 1
        chosen.append(population[low])
    return chosen


def draw_sample(generator: Any, population: Sequence[Any], k: int, *, counts: Any = None) -> list[Any]:
    """Implement `sample` without `counts`, as CPython does."""
    if counts is not None or not isinstance(population, (list, tuple, range, str)):
        refuse("random.sample is given counts, or another population than a list, a tuple, a range or a text")
    size = len(population)
    if not 0 <= k <= size:
        raise program_error(ValueError, "Sample larger than population or is negative")
    result = []
    # The size up to which CPython copies the population, as the copy needs less memory than a set of positions.
    if size <= (21 if k <= 5 else 21 + 4 ** math.ceil(math.log(k * 3, 4))):
        pool = [item for item in population]  # noqa: C416 - a loop of the graph, where list() unrolls a long range
        for i in range(k):
            position = generator.randrange(size - i)
            result.append(pool[position])
            pool[position] = pool[size - i - 1]
    else:
        taken = set()
        for _ in range(k):
            position = generator.randrange(size)
            while position in taken:
                position = generator.randrange(size)
            taken.add(position)
            result.append(population[position])
    return result


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
    "choice": choose, "choices": choose_several, "expovariate": draw_exponential, "normalvariate": draw_normal,
    "sample": draw_sample, "shuffle": shuffle,
}  # fmt: skip
for _name in ("expovariate", "normalvariate"):  # some versions of Python require all arguments
    _METHODS[_name].__defaults__ = getattr(random.Random, _name).__defaults__
_GLOBAL_METHODS: dict[Any, Callable[..., Any]] = {getattr(random, name): source for name, source in _METHODS.items()}


def random_source(function: Any) -> tuple[Callable[..., Any], Any] | None:
    """Return (function, generator) for a method that has a function here; None for another one."""
    if type(function) is SymbolicGeneratorMethod and function.owner.__class__ is random.Random:
        source = _METHODS.get(function.name)
        return None if source is None else (source, function.owner)
    try:
        source = _GLOBAL_METHODS.get(function)
    except TypeError:  # unhashable
        return None
    return None if source is None else (source, random)
