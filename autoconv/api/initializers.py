"""Initializers of variables: callables that return a tensor of a given shape and dtype."""

from __future__ import annotations

from typing import Any

from autoconv.api.random.stateful import normal, uniform
from autoconv.api.random.stateless import stateless_normal, stateless_uniform
from autoconv.api.tensors.constants import ones, zeros
from autoconv.api.tensors.shaping import broadcast_to, reshape
from autoconv.graph.dtypes import as_dtype, float32
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


class Initializer:
    """Base class: `initializer(shape, dtype)` returns the initial value of a variable.

    A subclass defines `__call__`, and `get_config` with the arguments of its constructor.
    """

    def __call__(self, shape: TensorLike, dtype: DTypeLike = float32, **kwargs: Any) -> Tensor:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """Return an initializer made from the arguments of its constructor; a `dtype` is dropped."""
        return cls(**{key: value for key, value in config.items() if key != "dtype"})


class Zeros(Initializer):
    """An initializer that returns zeros.

    >>> autoconv.zeros_initializer()([2]).numpy()
    array([0., 0.], dtype=float32)
    """

    def __call__(self, shape: TensorLike, dtype: DTypeLike = float32, **kwargs: Any) -> Tensor:
        return zeros(shape, _check_dtype(dtype, floats_only=False))


class Ones(Initializer):
    """An initializer that returns ones.

    >>> autoconv.ones_initializer()([2]).numpy()
    array([1., 1.], dtype=float32)
    """

    def __call__(self, shape: TensorLike, dtype: DTypeLike = float32, **kwargs: Any) -> Tensor:
        return ones(shape, _check_dtype(dtype, floats_only=False))


class Constant(Initializer):
    """An initializer that returns `value`: one element fills the shape, a list or array is reshaped to it.

    `support_partition` has no effect.

    >>> autoconv.constant_initializer(3)([2]).numpy()
    array([3., 3.], dtype=float32)
    """

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        if not isinstance(value, list | tuple | int | float | complex | str | bytes) and not hasattr(value, "dtype"):
            raise TypeError(f"Invalid type for initial value: {type(value)}. Expected a number, list or array.")
        self.value = value

    def __call__(self, shape: TensorLike, dtype: DTypeLike | None = None, **kwargs: Any) -> Tensor:
        out_dtype = as_dtype(dtype) if dtype is not None else None
        value = convert_to_tensor(self.value, out_dtype or (float32 if isinstance(self.value, int | float) else None))
        return broadcast_to(value, shape) if value.shape.num_elements() == 1 else reshape(value, shape)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


class RandomUniform(Initializer):
    """An initializer that draws uniform numbers in [minval, maxval), the same ones in each call if there is a `seed`.

    >>> values = autoconv.random_uniform_initializer(0.0, 1.0, seed=1)([3]).numpy()
    >>> bool(((0.0 <= values) & (values < 1.0)).all())
    True
    """

    def __init__(self, minval: TensorLike = -0.05, maxval: TensorLike = 0.05, seed: int | None = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: TensorLike, dtype: DTypeLike = float32, **kwargs: Any) -> Tensor:
        dtype = as_dtype(dtype)
        if not (dtype.is_floating or dtype.is_integer):
            raise ValueError(f"Expected float or integer dtype, got {dtype}.")
        if self.seed is None:
            return uniform(shape, self.minval, self.maxval, dtype)
        return stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


class RandomNormal(Initializer):
    """An initializer that draws normal numbers with `mean` and `stddev`, the same ones in each call given a `seed`.

    >>> autoconv.random_normal_initializer(mean=1.0, stddev=0.0)([2]).numpy()
    array([1., 1.], dtype=float32)
    """

    def __init__(self, mean: TensorLike = 0.0, stddev: TensorLike = 0.05, seed: int | None = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: TensorLike, dtype: DTypeLike = float32, **kwargs: Any) -> Tensor:
        dtype = _check_dtype(dtype)
        if self.seed is None:
            return normal(shape, self.mean, self.stddev, dtype)
        return stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


def _check_dtype(dtype: DTypeLike, floats_only: bool = True) -> Any:
    """Return the dtype; raise ValueError unless it is floating, or, if `floats_only` is False, numeric or bool."""
    out_dtype = as_dtype(dtype)
    if floats_only and not out_dtype.is_floating:
        raise ValueError(f"Expected float dtype, got {out_dtype}.")
    if not floats_only and not (out_dtype.is_numeric or out_dtype.is_bool):
        raise ValueError(f"Expected numeric or boolean dtype, got {out_dtype}.")
    return out_dtype
