"""`numpy.random.default_rng(seed)` in a graph: a generator created on every call, with NumPy's own numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.graph import Value
from autoconv.numpy.creation import creates
from autoconv.numpy.kernels import encode_argument
from autoconv.numpy.operands import NotStaged, integer, refusal, refuse, tensor
from autoconv.ops.numpy.generators import type_of_draw
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.arrays.symbolic_arrays import wrap_new_arrays
from autoconv.runtime.recording.numpy_protocol import numpy_refusal
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.recording.tracebacks import present_errors
from autoconv.runtime.support.closure_contents import BoundSymbolicMethod
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.dispatch import graph_value, wrap_results
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor

_METHODS = frozenset(
    {
        "beta", "binomial", "chisquare", "choice", "exponential", "f", "gamma", "geometric", "gumbel", "integers",
        "laplace", "logistic", "lognormal", "logseries", "multinomial", "multivariate_normal", "negative_binomial",
        "normal", "pareto", "permutation", "permuted", "poisson", "power", "random", "rayleigh", "standard_cauchy",
        "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "triangular", "uniform", "vonmises",
        "wald", "weibull", "zipf",
    }
)  # fmt: skip


# Position of the argument `size`, if it is not the third.
_SIZE_POSITIONS = {
    "random": 0, "standard_normal": 0, "standard_exponential": 0, "permutation": 0, "choice": 1, "exponential": 1,
    "poisson": 1, "geometric": 1, "rayleigh": 1, "standard_gamma": 1, "chisquare": 1, "pareto": 1, "power": 1,
    "weibull": 1, "triangular": 3,
}  # fmt: skip


def _specialise_size(size: ShapeLike) -> Any:
    """Return the size, in which arguments of the traced function become static values.

    Each value then has a trace of its own, with native code for the use of the numbers.
    """
    if isinstance(size, (tuple, list)):
        return tuple(map(_specialise_size, size))
    region = current_region()
    positions = region.trace.leaf_positions if region is not None else None
    is_argument = isinstance(size, SymbolicTensor) and positions is not None and size.value_in_graph in positions
    return integer(size) if is_argument else size


class SymbolicGenerator:
    """A generator in a graph being recorded; its methods return tensors."""

    __slots__ = ("__weakref__", "_value")

    def __init__(self, value: Value) -> None:
        self._value = value

    def __autoconv_graph_value__(self) -> Value:
        return self._value

    def __autoconv_wrap__(self) -> Callable[[Any], Any]:
        return _as_generator

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            if hasattr(np.random.Generator, name) and not name.startswith("__"):
                raise numpy_refusal(f"{name!r} of a random generator")
            raise AttributeError(f"'numpy.random._generator.Generator' object has no attribute {name!r}")
        return Draw(self, name)


class Draw(BoundSymbolicMethod):
    """The bound method `generator.normal` and the like."""

    __slots__ = ("generator", "method")

    def __init__(self, generator: SymbolicGenerator, method: str) -> None:
        self.generator = generator
        self.method = method

    @present_errors
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        region = current_region()
        if region is None:
            raise StagingError("a random generator of a graph is used after it was recorded", current_place())
        size_position = _SIZE_POSITIONS.get(self.method, 2)
        args = tuple(_specialise_size(x) if i == size_position else x for i, x in enumerate(args))
        kwargs = {key: _specialise_size(x) if key == "size" else x for key, x in kwargs.items()}
        inputs: list[Tensor] = []
        try:
            arguments = tuple(encode_argument(x, inputs) for x in args)
            keywords = tuple((key, encode_argument(x, inputs)) for key, x in kwargs.items())
        except NotStaged as error:
            raise refusal(f"{self.method!r} of a random generator", error) from None
        type_ = type_of_draw([x.type for x in inputs], self.method, arguments, keywords)
        operands = [region.lift(v) for v in (self.generator._value, *(graph_value(region, x) for x in inputs))]
        attributes = {"method": self.method, "arguments": arguments, "keywords": keywords, "type": type_}
        numbers = wrap_results(region.record("generator_draw", operands, attributes).results)
        return wrap_new_arrays(numbers) if region.trace.memory and not type_.weak else numbers


@creates("random.default_rng")
def default_rng(seed: TensorLike | None = None) -> Any:
    """Create a generator in the graph; raise StagingError without a seed: the numbers would differ on every call."""
    region = current_region()
    if isinstance(seed, SymbolicGenerator):
        return seed
    if seed is None or region is None or isinstance(seed, (np.random.Generator, np.random.BitGenerator)):
        refuse("is given no seed that a graph can hold")
    operand = region.lift(graph_value(region, tensor(seed)))
    return SymbolicGenerator(region.record("generator_make", [operand], {}).results[0])


def _as_generator(value: TensorLike) -> Any:
    return SymbolicGenerator(value) if isinstance(value, Value) else value


__all__ = ["SymbolicGenerator", "default_rng"]
