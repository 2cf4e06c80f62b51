"""The types in the graph of NumPy's random generators."""

from __future__ import annotations

import numpy as np

from autoconv.graph.types import ObjectType, Type

GENERATOR = ObjectType("numpy.random.Generator")
RANDOM_STATE = ObjectType("numpy.random.RandomState")
GENERATOR_TYPES: dict[type, ObjectType] = {np.random.Generator: GENERATOR, np.random.RandomState: RANDOM_STATE}


def global_generator() -> np.random.RandomState:
    """Return the generator behind the functions of `numpy.random`."""
    return np.random.mtrand._rand  # type: ignore[attr-defined, no-any-return]


def generator_class(type_: Type) -> type | None:
    """Return NumPy's class of the generators that a type in the graph stands for; None for other types."""
    return next((kind for kind, generator_type in GENERATOR_TYPES.items() if generator_type == type_), None)


__all__ = ["GENERATOR", "GENERATOR_TYPES", "RANDOM_STATE", "generator_class", "global_generator"]
