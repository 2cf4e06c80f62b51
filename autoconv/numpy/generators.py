"""Random generators of NumPy and of Python in a graph: made from a seed, passed as arguments, or global.

They give the numbers that NumPy and Python would give.
"""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.numpy.creation import creates
from autoconv.numpy.kernels import encode_argument
from autoconv.numpy.operands import NotStaged, computes, holds_tensors, is_weak, refusal, refuse, tensor
from autoconv.numpy.writes import note_change
from autoconv.ops.numpy.generators import type_of_draw
from autoconv.ops.values.generator_types import GENERATOR_TYPES
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.arrays.symbolic_arrays import wrap_new_arrays
from autoconv.runtime.objects.symbolic_generators import (
    CONVERTED_METHODS,
    DRAW_HOOK,
    SymbolicGenerator,
    drawing_methods,
)
from autoconv.runtime.recording.numpy_protocol import CREATION_FUNCTIONS, numpy_refusal
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.dispatch import graph_value, wrap_results
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor


def _draw(generator: SymbolicGenerator, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Record the call of a generator's method, and return its numbers."""
    region = current_region()
    if region is None:
        raise StagingError("a random generator of a graph is used after it was recorded", current_place())
    is_of_numpy = generator.__class__ is not random.Random
    region.trace.uses_arrays |= region.contract.numpy_arrays and is_of_numpy
    inputs: list[Tensor] = []
    try:
        if method == "shuffle":
            return _shuffle(generator, *args, **kwargs)
        if kwargs.pop("out", None) is not None:
            refuse("is given out")
        arguments = tuple(encode_argument(x, inputs) for x in args)
        keywords = tuple((key, encode_argument(x, inputs)) for key, x in kwargs.items())
    except NotStaged as error:
        raise refusal(f"{method!r} of a random generator", error) from None
    graph_inputs = [generator.__autoconv_graph_value__(), *(graph_value(region, x) for x in inputs)]
    operands = [region.lift(value) for value in graph_inputs]
    if method == "seed":
        region.record("generator_seed", operands, {"arguments": (*arguments, *(value for _, value in keywords))})
        return None
    type_ = type_of_draw(generator.__class__, [x.type for x in inputs], method, arguments, keywords)
    attributes = {"method": method, "arguments": arguments, "keywords": keywords, "type": type_}
    numbers = wrap_results(region.record("generator_draw", operands, attributes).results)
    return wrap_new_arrays(numbers) if region.trace.memory and not type_.weak else numbers


def _shuffle(generator: SymbolicGenerator, x: Any, axis: int = 0) -> None:
    """Replace the rows of an array in memory by those of a permutation, which takes the same random numbers."""
    region = current_region()
    assert region is not None
    if not region.contract.numpy_arrays:
        raise numpy_refusal("'shuffle' of a random generator")
    if axis != 0 or not holds_tensors(x) or is_weak(x):
        refuse("is given anything but an array and axis 0")
    if isinstance(x, SymbolicTensor):
        note_change(x)
    x[...] = generator.permutation(x)


@creates("random.default_rng")
def default_rng(seed: TensorLike | None = None) -> Any:
    """Create a generator in the graph; raise StagingError without a seed: the numbers would differ on every call."""
    return _make_generator(np.random.Generator, seed)


@creates("random.RandomState")
def random_state(seed: TensorLike | None = None) -> Any:
    """Create a generator of NumPy's older kind, as `default_rng` does."""
    return _make_generator(np.random.RandomState, seed)


@computes(random.Random)
def python_random(x: TensorLike | None = None) -> Any:
    """Create a generator of Python's from a Python number, as `default_rng` does."""
    if x is None or (not is_weak(x) and type(x) not in (bool, int, float)):
        refuse("is given another seed than a Python number")
    return _make_generator(random.Random, x)


def _make_generator(generator_class: type, seed: TensorLike | None) -> Any:
    """Return a new generator of the graph, made from the seed; refuse a seed that no graph can hold."""
    region = current_region()
    is_of_graph = type(seed) is SymbolicGenerator
    if is_of_graph and isinstance(seed, np.random.Generator) and generator_class is np.random.Generator:
        return seed  # as `default_rng` does
    generator_classes = np.random.RandomState, np.random.Generator, np.random.BitGenerator
    if seed is None or region is None or isinstance(seed, generator_classes) or is_of_graph:
        refuse("is given no seed that a graph can hold")
    operand = region.lift(graph_value(region, tensor(seed)))
    attributes = {"type": GENERATOR_TYPES[generator_class]}
    return SymbolicGenerator(region.record("generator_make", [operand], attributes).results[0])


def _register_global_functions() -> None:
    """Register functions such as `numpy.random.rand` and `random.random`, which draw from global generators."""
    for module, generator_class in ((np.random, np.random.RandomState), (random, random.Random)):
        for name in drawing_methods(generator_class) - CONVERTED_METHODS[generator_class]:
            function = getattr(module, name)
            computes(function)(functools.partial(_draw_from_global_generator, module, generator_class, name))
            CREATION_FUNCTIONS.add(function)


def _draw_from_global_generator(module: Any, generator_class: type, method: str, *args: Any, **kwargs: Any) -> Any:
    """Draw from the global generator of a module; outside of graphs, the module itself draws."""
    region = current_region()
    if region is None:
        return getattr(module, method)(*args, **kwargs)
    attributes = {"type": GENERATOR_TYPES[generator_class]}
    generator = SymbolicGenerator(region.record("generator_global", [], attributes).results[0])
    return getattr(generator, method)(*args, **kwargs)


CREATION_FUNCTIONS.add(random.Random)
_register_global_functions()
DRAW_HOOK.set(_draw)
