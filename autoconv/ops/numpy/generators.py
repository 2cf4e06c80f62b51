"""NumPy's random generators in a graph, which makes them from a seed or gets them as arguments.

Draws keep their program order.

The arguments of a draw are `Argument`s, nested tuples such as ("input", 0) or ("value", 2.5): see `calls.py`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, Type
from autoconv.ops.numpy.calls import Argument, example, resolve
from autoconv.ops.record import define, no_gradient
from autoconv.ops.values.generator_types import GENERATOR, generator_class, global_generator

_EFFECTS = Effects.READ | Effects.WRITE | Effects.RAISE
# Changes of the floats of example draws, until a draw succeeds: floats may be probabilities, whose sum is 1, or bounds
# above or below a constant.
_FLOAT_CHANGES: tuple[Callable[[Any], Any], ...] = (
    lambda x: x, lambda x: x / np.sum(x, dtype=x.dtype), lambda x: x + x.dtype.type(1000),
    lambda x: x - x.dtype.type(1000),
)  # fmt: skip
_INCREMENTS = (0, 2, 50)  # added to the integers of example draws


def _make(seed: Any, type: Type) -> tuple[Any]:
    """Make a generator of the type; the seed is an array of one number, or of several for NumPy's Generator."""
    generator_factory: Any = np.random.default_rng if type == GENERATOR else generator_class(type)
    return (generator_factory(np.asarray(seed).tolist()),)


def _seed(generator: Any, *inputs: Any, arguments: tuple[Argument, ...]) -> tuple[()]:
    """Seed an existing generator anew."""
    generator.seed(*(resolve(argument, inputs) for argument in arguments))
    return ()


def _draw(
    generator: Any, *inputs: Any, method: str, arguments: tuple[Argument, ...], keywords: tuple[Any, ...], type: Any
) -> Any:
    """Call the method `method` of the generator, and return its result as an array with the dtype of `type`."""
    return np.asarray(_call_method(generator, inputs, method, arguments, keywords), type.dtype.numpy)


def _call_method(
    generator: Any, inputs: Sequence[Any], method: str, arguments: tuple[Argument, ...], keywords: tuple[Any, ...]
) -> Any:
    """Call the generator's method with the arguments, resolved by `inputs`; `keywords` are pairs (name, argument)."""
    return getattr(generator, method)(
        *(resolve(argument, inputs) for argument in arguments),
        **{name: resolve(argument, inputs) for name, argument in keywords},
    )


def type_of_draw(
    class_: type, inputs: Sequence[TensorType], method: str, arguments: tuple[Argument, ...], keywords: tuple[Any, ...]
) -> TensorType:
    """Return the type of a draw: a Python number where NumPy returns one, else an array.

    `class_` is the class of the generator. Example draws determine the type. If all of them fail, StagingError is
    raised, or NumPy's error if there are no tensor arguments.
    """
    # A scalar counts as an unknown size, since it may be a size of the result.
    are_sizes_known = all(isinstance(dimension, int) for x in inputs for dimension in x.shape or (None,))
    are_ranks_known = all(x.shape is not None for x in inputs)
    draw_examples = functools.partial(
        _draw_examples, class_, inputs, method=method, arguments=arguments, keywords=keywords
    )
    draws: list[Any] = []
    for change_floats in _FLOAT_CHANGES if inputs else _FLOAT_CHANGES[:1]:
        draws, last_error = draw_examples((1,) if are_sizes_known else (1, 3), change_floats)
        if draws:
            break
    if not draws:
        assert last_error is not None
        if inputs:
            raise StagingError(f"what {method!r} draws is not known while tracing") from last_error
        raise last_error
    shapes = [np.shape(value) for value in draws]
    shape: Any = None
    if are_ranks_known and len(set(map(len, shapes))) == 1:
        is_single_success = len(draws) == 1 and last_error is not None  # no other draw has sizes to compare
        shape = tuple(
            None if is_single_success or len(set(axis_sizes)) > 1 else axis_sizes[0]
            for axis_sizes in zip(*shapes, strict=True)
        )
    is_python_number = type(draws[-1]) in (bool, int, float)
    return TensorType(as_dtype(np.asarray(draws[0]).dtype), shape, weak=is_python_number)


def _draw_examples(
    class_: type, inputs: Sequence[TensorType], sizes: Sequence[int], change_floats: Callable[[Any], Any], *,
    method: str, arguments: tuple[Argument, ...], keywords: tuple[Any, ...],
) -> tuple[list[Any], Exception | None]:  # fmt: skip
    """Return the results of draws with example arguments, and the last error, or None.

    Unknown sizes are each of `sizes` in turn. Integers are 1 plus each of `_INCREMENTS` in turn, since an integer may
    be a size or a number of choices. Floats are `change_floats(example)`.
    """
    draws: list[Any] = []
    last_error: Exception | None = None
    for size, increment in itertools.product(sizes, _INCREMENTS):
        arrays = [example(x, size) for x in inputs]
        arrays = [change_floats(x) if x.dtype.kind == "f" and x.size else x for x in arrays]
        arrays = [x + x.dtype.type(increment) if x.dtype.kind in "iu" else x for x in arrays]
        generator: Any = np.random.default_rng(0) if class_ is np.random.Generator else class_(0)
        try:
            draws.append(_call_method(generator, arrays, method, arguments, keywords))
        except Exception as error:
            last_error = error
    return draws, last_error


def _draw_type(generator: Type, *inputs: Type, type: Any, **_: Any) -> Any:
    return type


define(
    name="generator_make", graphdef="GeneratorMake", result=lambda seed, type: type, kernel=_make,
    gradient=no_gradient("a generator of random numbers"), effects=_EFFECTS,
)  # fmt: skip
define(
    name="generator_global", graphdef="GeneratorGlobal", result=lambda type: type,
    kernel=lambda type: (global_generator(type),), gradient=no_gradient("a generator of random numbers"),
)  # fmt: skip
define(
    name="generator_draw", graphdef="GeneratorDraw", result=_draw_type, kernel=_draw,
    gradient=no_gradient("random numbers"), effects=_EFFECTS,
)  # fmt: skip
define(
    name="generator_seed", graphdef="GeneratorSeed", result=lambda *_, **__: (), kernel=_seed,
    gradient=no_gradient("a seed"), effects=_EFFECTS,
)  # fmt: skip
