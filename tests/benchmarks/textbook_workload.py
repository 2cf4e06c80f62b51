"""The programs of `textbook.py`, and one of them as a workload of `autoconv.bench`. It imports NumPy alone."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from textbook_exercises import EXERCISES
from textbook_fields import FIELDS
from textbook_methods import PROGRAMS
from textbook_numerics import NUMERICS
from textbook_programs import FURTHER, Programs
from textbook_sciences import SCIENCES

ALL_PROGRAMS: Programs = PROGRAMS | FURTHER | EXERCISES | FIELDS | SCIENCES | NUMERICS


class Workload:
    """The members of a workload's module for one program; the seed is the position of the size.

    `with_jax` compiles the same source with `np` bound to jax.numpy, and with Python's ints static.
    """

    def __init__(self, name: str) -> None:
        self.program, self._make, self._sizes = ALL_PROGRAMS[name]

    def make(self, seed: int) -> tuple[Any, ...]:
        size = self._sizes[seed]
        return self._make(np.random.default_rng(size), size)

    def with_jax(self, jax: Any) -> Callable[..., Any]:
        function = self.program
        variables = {**function.__globals__, "np": jax.numpy}
        with_jax_numpy = types.FunctionType(function.__code__, variables, function.__name__, function.__defaults__)
        parameters = inspect.signature(function).parameters
        ints = [name for name, value in zip(parameters, self.make(0), strict=False) if isinstance(value, int)]
        return jax.jit(with_jax_numpy, static_argnames=ints)
