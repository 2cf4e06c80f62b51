"""NumPy's random generators in a graph: made from a seed, with draws in program order.

The arguments of a draw have the form of those of `numpy_call`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects
from autoconv.graph.types import ObjectType, TensorType, Type
from autoconv.ops.numpy.calls import Argument, example, resolve
from autoconv.ops.record import define, no_gradient

GENERATOR = ObjectType("Generator")
_EFFECTS = Effects.READ | Effects.WRITE | Effects.RAISE


def _make(*seed: Any) -> tuple[Any]:
    """Make a generator from a seed, an array of one number or of several."""
    return (np.random.default_rng(*(np.asarray(part).tolist() for part in seed)),)


def _draw(
    generator: Any, *inputs: Any, method: str, arguments: tuple[Argument, ...], keywords: tuple[Any, ...], type: Any
) -> Any:
    draws = getattr(generator, method)(
        *(resolve(argument, inputs) for argument in arguments),
        **{name: resolve(argument, inputs) for name, argument in keywords},
    )
    return np.asarray(draws, type.dtype.numpy)


def type_of_draw(
    inputs: Sequence[TensorType], method: str, arguments: tuple[Argument, ...], keywords: tuple[Any, ...]
) -> TensorType:
    """Return the type of a draw: a Python number where NumPy returns one, else an array.

    Example draws determine it. Raises NumPy's error where there are no tensor arguments, and StagingError where no
    example arguments are accepted.
    """
    is_static = all(x.shape is not None and all(isinstance(d, int) for d in x.shape) for x in inputs)
    examples = [example(x, 1) for x in inputs]
    draws, last_error = _example_draws(examples, method, arguments, keywords)
    if not draws and inputs:  # floats may be probabilities
        examples = [x / np.sum(x, dtype=x.dtype) if x.dtype.kind == "f" and x.size else x for x in examples]
        draws, last_error = _example_draws(examples, method, arguments, keywords)
    if not draws:
        assert last_error is not None
        if inputs:
            raise StagingError(f"what {method!r} draws is not known while tracing") from last_error
        raise last_error
    shapes = [np.shape(drawn) for drawn in draws]
    shape: Any = None
    if is_static and len({len(drawn_shape) for drawn_shape in shapes}) == 1:
        is_uncertain = len(draws) == 1 and last_error is not None
        shape = tuple(None if is_uncertain or len(set(sizes)) > 1 else sizes[0] for sizes in zip(*shapes, strict=True))
    return TensorType(as_dtype(np.asarray(draws[0]).dtype), shape, isinstance(draws[-1], (bool, int, float)))


def _example_draws(
    examples: Sequence[np.ndarray], method: str, arguments: tuple[Argument, ...], keywords: tuple[Any, ...]
) -> tuple[list[Any], Exception | None]:
    """Return the results of example draws, and the last error."""
    draws_by_example: list[Any] = []
    last_error: Exception | None = None
    for increment in (0, 2, 50):  # an integer may be the requested size, or the number of items to choose from
        arrays = [x + x.dtype.type(increment) if x.dtype.kind in "iu" else x for x in examples]
        try:
            drawn = getattr(np.random.default_rng(0), method)(
                *(resolve(argument, arrays) for argument in arguments),
                **{name: resolve(argument, arrays) for name, argument in keywords},
            )
        except Exception as error:
            last_error = error
        else:
            draws_by_example.append(drawn)
    return draws_by_example, last_error


def _draw_type(generator: Type, *inputs: Type, type: Any, **_: Any) -> Any:
    return type


define(
    name="generator_make", graphdef="GeneratorMake", result=lambda *_: GENERATOR, kernel=_make,
    gradient=no_gradient("a generator of random numbers"), effects=_EFFECTS,
)  # fmt: skip
define(
    name="generator_draw", graphdef="GeneratorDraw", result=_draw_type, kernel=_draw,
    gradient=no_gradient("random numbers"), effects=_EFFECTS,
)  # fmt: skip

__all__ = ["GENERATOR", "type_of_draw"]
