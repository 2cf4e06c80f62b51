"""Dropout: random elements are set to zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.api.random.stateful import op_seed
from autoconv.api.random.stateless import stateless_uniform
from autoconv.api.tensors.arguments import shape_argument
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.shaping import shape
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

    def draw(noise_sizes: ShapeLike, dtype: DType) -> Tensor:
        operands, static_shape = shape_argument(noise_sizes)
        return apply("random_uniform", *operands, shape=static_shape, dtype=dtype, seed=op_seed(seed))

    return _drop(x, rate, noise_shape, draw, name)


def stateless_dropout(
    x: TensorLike, rate: Any, seed: Any, rng_alg: str = "auto_select", noise_shape: Any = None, name: str | None = None
) -> Tensor:
    """`dropout` whose draws are determined by `seed`, two ints: the same seed drops the same elements.

    `rng_alg` has no effect.

    >>> x = autoconv.ones([4])
    >>> first, second = (autoconv.nn.experimental.stateless_dropout(x, 0.5, seed=[1, 2]) for _ in range(2))
    >>> bool(autoconv.reduce_all(first == second))
    True
    """
    return _drop(x, rate, noise_shape, lambda sizes, dtype: stateless_uniform(sizes, seed, 0, 1, dtype), name)


def _drop(x: TensorLike, rate: Any, noise_shape: Any, draw: Callable[..., Tensor], name: str | None) -> Tensor:
    """Return `x` with 0 where a number of `draw(shape, dtype)` is below the rate, and the other elements scaled."""
    tensor = convert_to_tensor(x)
    if not tensor.dtype.is_floating:
        raise ValueError(f"dropout scales `x`, which has to be floating; found {tensor.dtype.name}")
    static_rate = static_value(rate)
    if static_rate is not None and not 0 <= static_rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: {rate}")
    if static_rate is not None and static_rate == 0:
        return tensor
    draws = draw(apply("shape", tensor) if noise_shape is None else noise_shape, tensor.dtype)
    drop_rate = rate if static_rate is None else float(static_rate)
    is_kept = apply("greater_equal", draws, drop_rate)
    scaled_x = apply("divide", tensor, apply("subtract", 1.0, drop_rate) if static_rate is None else 1.0 - drop_rate)
    return apply("select", is_kept, scaled_x, apply("zeros_like", scaled_x), name=name)


def general_dropout(
    x: TensorLike, rate: Any, uniform_sampler: Callable[..., Tensor], noise_shape: ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Dropout with random numbers of `uniform_sampler(shape=…, dtype=…)`, see `dropout`.

    Elements with a number below `rate` become 0, others are scaled.

    >>> def sampler(shape, dtype):
    ...     return autoconv.constant([0.1, 0.9], dtype)
    >>> autoconv.nn.experimental.general_dropout([1.0, 1.0], 0.5, sampler).numpy()
    array([0., 2.], dtype=float32)
    """
    tensor: Any = convert_to_tensor(x)
    draws: Any = uniform_sampler(shape=shape(tensor) if noise_shape is None else noise_shape, dtype=tensor.dtype)
    drop_rate = cast(convert_to_tensor(rate), tensor.dtype)
    scaled_x = tensor / (1.0 - drop_rate)
    return where(apply("greater_equal", draws, drop_rate), scaled_x, apply("zeros_like", scaled_x))
