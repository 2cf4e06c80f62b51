"""Dropout: random elements become zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.api.random.stateful import op_seed
from autoconv.api.random.stateless import stateless_uniform
from autoconv.api.tensors.arguments import shape_argument
from autoconv.graph.dtypes import DType
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def dropout(
    x: TensorLike, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Set elements to zero with probability `rate` and scale the others by 1 / (1 - rate).

    `noise_shape` broadcasts to the shape of `x`: along dimensions of 1, all elements share one draw. Raises ValueError
    for a rate outside of [0, 1).

    >>> autoconv.nn.dropout(autoconv.ones([2, 3]), rate=0.5).shape
    TensorShape([2, 3])
    """

    def draw(noise: ShapeLike, dtype: DType) -> Tensor:
        extra, shape = shape_argument(noise)
        return apply("random_uniform", *extra, shape=shape, dtype=dtype, seed=op_seed(seed))

    return _dropped(x, rate, noise_shape, draw, name)


def stateless_dropout(
    x: TensorLike, rate: Any, seed: Any, rng_alg: str = "auto_select", noise_shape: Any = None, name: str | None = None
) -> Tensor:
    """`dropout` whose draws are determined by `seed`, two ints: the same seed drops the same elements.

    >>> x = autoconv.ones([4])
    >>> first, second = (autoconv.nn.experimental.stateless_dropout(x, 0.5, seed=[1, 2]) for _ in range(2))
    >>> bool(autoconv.reduce_all(first == second))
    True
    """
    return _dropped(x, rate, noise_shape, lambda noise, dtype: stateless_uniform(noise, seed, 0, 1, dtype), name)


def _dropped(x: TensorLike, rate: Any, noise_shape: Any, draw_of: Callable[..., Tensor], name: str | None) -> Tensor:
    """Return `x` without the elements whose draw is below the rate; `draw_of(shape, dtype)` draws uniformly."""
    tensor = convert_to_tensor(x)
    if not tensor.dtype.is_floating:
        raise ValueError(f"dropout scales `x`, which has to be floating; found {tensor.dtype.name}")
    known = static_value(rate)
    if known is not None and not 0 <= known < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: {rate}")
    if known is not None and known == 0:
        return tensor
    draw = draw_of(apply("shape", tensor) if noise_shape is None else noise_shape, tensor.dtype)
    chance = rate if known is None else float(known)
    keep = apply("greater_equal", draw, chance)
    scaled = apply("divide", tensor, apply("subtract", 1.0, chance) if known is None else 1.0 - chance)
    return apply("select", keep, scaled, apply("zeros_like", scaled), name=name)
