"""A whole function of NumPy's as one op, for those that have no native form: its kernel is the function.

The arguments are written as nested tuples: ("input", i) the i-th operand, ("value", v) a plain value, ("dtype", name),
("list", …) and ("tuple", …) of such.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects
from autoconv.graph.types import Dimension, TensorType, Type
from autoconv.ops.arithmetic import quiet
from autoconv.ops.record import define, none, sample

Argument = tuple[Any, ...]

# Sizes that stand for those that are not known: what is the same for all of them is known.
_SIZES = (2, 5, 11)


def _result(
    *inputs: TensorType, function: str, arguments: tuple[Argument, ...], keywords: tuple[Any, ...] = (),
    by_values: bool = False,
) -> tuple[TensorType, ...]:  # fmt: skip
    """By values: the sizes of the results depend on the values of the operands."""
    return _types(inputs, function, arguments, keywords, by_values)


@functools.lru_cache(maxsize=512)
def _types(inputs: Any, function: str, arguments: Any, keywords: Any, by_values: bool) -> tuple[TensorType, ...]:
    """What the function gives for examples of such arrays: its dtypes, and what is known of its shapes."""
    known = all(x.shape is not None and all(isinstance(d, int) for d in x.shape) for x in inputs)
    found: list[tuple[np.ndarray, ...]] = []
    for size in _SIZES[: 1 if known or by_values else None]:
        try:
            results = _call(
                *(_example(x, size) for x in inputs), function=function, arguments=arguments, keywords=keywords
            )
            found.append(results if isinstance(results, tuple) else (results,))
        except Exception:
            if known:
                raise
    if not found or any(x.shape is None for x in inputs):
        dtypes = [as_dtype(x.dtype) for x in found[0]] if found else [as_dtype(np.float64)]
        return tuple(TensorType(dtype, None) for dtype in dtypes)
    shapes = [
        _common([x.shape for x in each], by_values or len(found) < 2 - known) for each in zip(*found, strict=True)
    ]
    return tuple(TensorType(as_dtype(x.dtype), shape) for x, shape in zip(found[0], shapes, strict=True))


def _common(shapes: Sequence[tuple[int, ...]], unknown: bool) -> tuple[Dimension, ...] | None:
    if len({len(shape) for shape in shapes}) != 1:
        return None
    return tuple(d[0] if len(set(d)) == 1 and not unknown else None for d in zip(*shapes, strict=True))


def _example(x: TensorType, size: int) -> np.ndarray:
    """An array of that type whose values most functions take: small, positive, a matrix that can be inverted."""
    shape = tuple(d if isinstance(d, int) else size for d in x.shape or ())
    dtype = x.dtype.numpy
    if dtype.kind in "iu":
        return np.ones(shape, dtype)
    if dtype.kind == "b":
        return np.arange(int(np.prod(shape))).reshape(shape) % 2 == 0
    array = np.linspace(0.5, 1.0, int(np.prod(shape))).reshape(shape)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        array = array + np.swapaxes(array, -1, -2) + 2 * shape[-1] * np.eye(shape[-1])
    return array.astype(dtype)


def _resolve(argument: Argument, inputs: Sequence[Any]) -> Any:
    kind, *parts = argument
    if kind == "input":
        return inputs[parts[0]]
    if kind == "value":
        return parts[0]
    if kind == "dtype":
        return as_dtype(parts[0]).numpy
    items = [_resolve(part, inputs) for part in parts]
    return items if kind == "list" else tuple(items)


def _call(
    *inputs: Any,
    function: str,
    arguments: tuple[Argument, ...],
    keywords: tuple[Any, ...] = (),
    by_values: bool = False,
) -> Any:
    compute: Any = functools.reduce(getattr, function.split("."), np)
    given = [_resolve(argument, inputs) for argument in arguments]
    found = compute(*given, **{name: _resolve(argument, inputs) for name, argument in keywords})
    if isinstance(found, (tuple, list)) and len(found) > 1:
        return tuple(np.asarray(result) for result in found)
    return np.asarray(found[0] if isinstance(found, (tuple, list)) else found)


def _effects(types: Sequence[Type], attributes: Any) -> Effects:
    return Effects.RAISE if attributes["function"].startswith("linalg.") else Effects.PURE


define(
    name="numpy_call", graphdef="NumpyCall", result=_result, kernel=quiet(_call),
    gradient=none("NumPy computes it as a whole"), effects=_effects,
    samples=(
        sample(np.array([0.5, -1.5]), function="modf", arguments=(("input", 0),)),
        sample(np.array([3, 1, 3]), function="unique", arguments=(("input", 0),), by_values=True),
        sample(
            np.array([1.0, 2.0]), np.array([0.5]), function="concatenate",
            arguments=(("list", ("input", 0), ("input", 1)),), keywords=(("dtype", ("dtype", "float32")),),
        ),
    ),
)  # fmt: skip

__all__ = ["Argument"]
