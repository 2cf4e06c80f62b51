"""Methods of Python's random generators on sequences, as Python code that is converted."""

from __future__ import annotations

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


_METHODS: dict[str, Callable[..., Any]] = {"choice": choose, "shuffle": shuffle}
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
