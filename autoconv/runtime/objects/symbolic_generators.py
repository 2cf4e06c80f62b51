"""Random generators of NumPy and of Python that a graph makes or receives."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.graph import Value
from autoconv.hooks import Hook
from autoconv.ops.values.generator_types import GENERATOR_TYPES, generator_class
from autoconv.runtime.recording.numpy_protocol import numpy_refusal
from autoconv.runtime.recording.tracebacks import present_errors
from autoconv.runtime.support.closure_contents import BoundSymbolicMethod

# Records a draw: `DRAW_HOOK(generator, method, args, kwargs)`.
DRAW_HOOK = Hook("autoconv.numpy.generators")


class SymbolicGenerator:
    """A generator in a graph being recorded; its methods return tensors.

    It has the class of NumPy's generator for `isinstance`.
    """

    __slots__ = ("__weakref__", "_value")

    def __init__(self, value: Value) -> None:
        self._value = value

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # type: ignore[override]
        return generator_class(self._value.type) or SymbolicGenerator

    def __autoconv_graph_value__(self) -> Value:
        return self._value

    def __autoconv_wrap__(self) -> Callable[[Any], Any]:
        return _as_generator

    def __getattr__(self, name: str) -> Any:
        class_ = self.__class__
        if name in drawing_methods(class_):
            return SymbolicGeneratorMethod(self, name)
        if hasattr(class_, name) and not name.startswith("__"):
            raise numpy_refusal(f"{name!r} of a random generator")
        raise AttributeError(f"{class_.__module__ + '.' + class_.__name__!r} object has no attribute {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is SymbolicGenerator and other is not self:
            raise numpy_refusal("a comparison of two random generators")
        return other is self

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        raise numpy_refusal("the text of a random generator")


class SymbolicGeneratorMethod(BoundSymbolicMethod[SymbolicGenerator]):
    """A bound method of a symbolic generator, such as `generator.normal`."""

    __slots__ = ()

    @present_errors
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return DRAW_HOOK(self.owner, self.name, args, kwargs)


_COMMON_METHODS = frozenset(
    {
        "beta", "binomial", "chisquare", "choice", "exponential", "f", "gamma", "geometric", "gumbel", "laplace",
        "logistic", "lognormal", "logseries", "multinomial", "multivariate_normal", "negative_binomial", "normal",
        "pareto", "permutation", "poisson", "power", "random", "rayleigh", "shuffle", "standard_cauchy",
        "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "triangular", "uniform", "vonmises",
        "wald", "weibull", "zipf",
    }
)  # fmt: skip
_METHODS: dict[type, frozenset[str]] = {
    np.random.Generator: _COMMON_METHODS | {"integers", "permuted"},
    np.random.RandomState: _COMMON_METHODS | {"rand", "randint", "randn", "random_sample", "seed"},
    random.Random: frozenset(
        {
            "betavariate", "choice", "choices", "expovariate", "gammavariate", "gauss", "lognormvariate",
            "normalvariate", "paretovariate", "randint", "random", "randrange", "sample", "seed", "shuffle",
            "triangular", "uniform", "vonmisesvariate", "weibullvariate",
        }
    ),
}  # fmt: skip
# Drawing methods that are converted Python code, which draws by other methods.
CONVERTED_METHODS: dict[type, frozenset[str]] = {
    np.random.Generator: frozenset(), np.random.RandomState: frozenset(),
    random.Random: frozenset({"choice", "choices", "expovariate", "normalvariate", "sample", "shuffle"}),
}  # fmt: skip


def drawing_methods(class_: type) -> frozenset[str]:
    """Return the names of the methods of a class of generators that a graph supports."""
    return _METHODS.get(class_, frozenset())


def is_generator(value: object) -> bool:
    """Return whether the value is a random generator of a class that graphs support, not of a subclass."""
    return type(value) in GENERATOR_TYPES


def _as_generator(value: Any) -> Any:
    return SymbolicGenerator(value) if isinstance(value, Value) else value
