"""The graph types of random generators: NumPy's, and Python's own."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from autoconv.graph.types import ObjectType, Type

GENERATOR = ObjectType("numpy.random.Generator")
RANDOM_STATE = ObjectType("numpy.random.RandomState")
PYTHON_RANDOM = ObjectType("random.Random")
GENERATOR_TYPES: dict[type, ObjectType] = {
    np.random.Generator: GENERATOR, np.random.RandomState: RANDOM_STATE, random.Random: PYTHON_RANDOM,
}  # fmt: skip


def global_generator(type_: Type) -> np.random.RandomState | random.Random:
    """Return the generator of the type that the functions of the module `numpy.random`, or Python's `random`, use."""
    python_module: Any = random
    numpy_module: Any = np.random.mtrand
    return python_module._inst if type_ == PYTHON_RANDOM else numpy_module._rand  # type: ignore[no-any-return]


def generator_class(type_: Type) -> type | None:
    """Return the class of the generators that a type in the graph stands for; None for other types."""
    return next((class_ for class_, generator_type in GENERATOR_TYPES.items() if generator_type == type_), None)
