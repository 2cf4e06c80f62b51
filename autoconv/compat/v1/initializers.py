"""Initializers of version 1: callables that return the initial value of a variable."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv import random
from autoconv.api.matrices import linalg
from autoconv.api.matrices.bands import diag_part
from autoconv.api.tensors import constants, shaping
from autoconv.api.tensors.maths import sign
from autoconv.graph.dtypes import as_dtype, float32
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.support.made_functions import give_name
from autoconv.runtime.tensors import conversion


class Initializer:
    """Base of the initializers: a call with a shape and a dtype returns the initial value of a variable.

    >>> autoconv.compat.v1.zeros_initializer()([2]).numpy()
    array([0., 0.], dtype=float32)
    """

    def __init__(self, dtype: DTypeLike = float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: DTypeLike | None = None, partition_info: object = None) -> Any:
        return self._initial_value([int(size) for size in shape], self.dtype if dtype is None else as_dtype(dtype))

    def get_config(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        return cls(**config)

    def _initial_value(self, shape: list[int], dtype: Any) -> Any:
        """Return the initial value of a variable of this shape and dtype."""
        raise NotImplementedError


class zeros_initializer(Initializer):
    """An initializer that returns zeros.

    >>> autoconv.compat.v1.zeros_initializer()([1, 2]).numpy()
    array([[0., 0.]], dtype=float32)
    """

    def _initial_value(self, shape: list[int], dtype: Any) -> Any:
        return constants.zeros(shape, dtype)


class ones_initializer(Initializer):
    """An initializer that returns ones.

    >>> autoconv.compat.v1.ones_initializer()([2]).numpy()
    array([1., 1.], dtype=float32)
    """

    def _initial_value(self, shape: list[int], dtype: Any) -> Any:
        return constants.ones(shape, dtype)


class constant_initializer(Initializer):
    """An initializer that returns `value`: one number fills the shape, a list or array is reshaped to it.

    With `verify_shape`, a value of another shape raises TypeError.

    >>> autoconv.compat.v1.constant_initializer([1, 2, 3, 4])([2, 2]).numpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """

    def __init__(self, value: Any = 0, dtype: DTypeLike = float32, verify_shape: bool = False) -> None:
        super().__init__(dtype)
        self.value = value
        self._verifies_shape = verify_shape

    def _initial_value(self, shape: list[int], dtype: Any) -> Any:
        array = np.asarray(self.value, dtype.numpy)
        if self._verifies_shape and array.shape != tuple(shape):
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, but got {array.shape}.")
        if array.size == 1:
            return conversion.constant(np.full(shape, array.reshape(())), dtype)
        if array.size != math.prod(shape):
            raise ValueError(f"{array.size} values cannot fill a variable of shape {shape}")
        return conversion.constant(array.reshape(shape), dtype)


class _RandomInitializer(Initializer):
    """Base of the initializers that draw random numbers."""

    def __init__(self, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(dtype)
        self.seed = seed


class random_normal_initializer(_RandomInitializer):
    """An initializer that draws from a normal distribution.

    >>> autoconv.compat.v1.random_normal_initializer(stddev=0.1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(
        self, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: DTypeLike = float32
    ) -> None:
        super().__init__(seed, dtype)
        self.mean, self.stddev = mean, stddev

    def _initial_value(self, shape: list[int], dtype: Any) -> Any:
        return random.normal(shape, self.mean, self.stddev, dtype, self.seed)


class truncated_normal_initializer(random_normal_initializer):
    """An initializer that draws from a normal distribution truncated at two standard deviations.

    >>> autoconv.compat.v1.truncated_normal_initializer()([2]).shape
    TensorShape([2])
    """

    def _initial_value(self, shape: list[int], dtype: Any) -> Any:
        return random.truncated_normal(shape, self.mean, self.stddev, dtype, self.seed)


class random_uniform_initializer(_RandomInitializer):
    """An initializer that draws from a uniform distribution on [minval, maxval).

    >>> autoconv.compat.v1.random_uniform_initializer(-1.0, 1.0)([2]).shape
    TensorShape([2])
    """

    def __init__(
        self, minval: float = 0.0, maxval: float | None = None, seed: int | None = None, dtype: DTypeLike = float32
    ) -> None:
        super().__init__(seed, dtype)
        self.minval, self.maxval = minval, maxval

    def _initial_value(self, shape: list[int], dtype: Any) -> Any:
        return random.uniform(shape, self.minval, 1.0 if self.maxval is None else self.maxval, dtype, self.seed)


class variance_scaling_initializer(_RandomInitializer):
    """An initializer that draws with the variance `scale` / n.

    n is the number of inputs (mode "fan_in"), of outputs ("fan_out"), or the mean of both ("fan_avg").

    `distribution` is "truncated_normal" ("normal"), "untruncated_normal" or "uniform". Raises ValueError for others.

    >>> autoconv.compat.v1.variance_scaling_initializer(2.0)([3, 4]).shape
    TensorShape([3, 4])
    """

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
        seed: int | None = None, dtype: DTypeLike = float32,
    ) -> None:  # fmt: skip
        super().__init__(seed, dtype)
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {mode}")
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(f"there is no distribution {distribution!r}: write 'truncated_normal' or 'uniform'")
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def _initial_value(self, shape: list[int], dtype: Any) -> Any:
        input_count, output_count = _fan_in_and_out(shape)
        count = {"fan_in": input_count, "fan_out": output_count, "fan_avg": (input_count + output_count) / 2}[self.mode]
        variance = self.scale / max(1.0, count)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return random.uniform(shape, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return random.normal(shape, 0.0, math.sqrt(variance), dtype, self.seed)
        # 0.8796… is the standard deviation of a standard normal distribution truncated at ±2.
        return random.truncated_normal(shape, 0.0, math.sqrt(variance) / 0.87962566103423978, dtype, self.seed)


class glorot_uniform_initializer(variance_scaling_initializer):
    """An initializer that draws uniformly with the variance 2 / (inputs + outputs) (Glorot and Bengio, 2010).

    >>> autoconv.compat.v1.glorot_uniform_initializer()([3, 4]).shape
    TensorShape([3, 4])
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(mode="fan_avg", distribution="uniform", seed=seed, dtype=dtype)


class glorot_normal_initializer(variance_scaling_initializer):
    """An initializer like `glorot_uniform_initializer` that draws from a truncated normal distribution.

    >>> autoconv.compat.v1.glorot_normal_initializer()([3, 4]).shape
    TensorShape([3, 4])
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(mode="fan_avg", distribution="truncated_normal", seed=seed, dtype=dtype)


class orthogonal_initializer(_RandomInitializer):
    """An initializer that returns a matrix with orthonormal rows or columns, times `gain`.

    All dimensions but the last one are the rows.

    >>> q = autoconv.compat.v1.orthogonal_initializer()([3, 3])
    >>> np.abs(np.round((q @ autoconv.transpose(q)).numpy(), 3))
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(seed, dtype)
        self.gain = gain

    def _initial_value(self, shape: list[int], dtype: Any) -> Any:
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        factors = linalg.qr(random.normal([max(rows, columns), min(rows, columns)], dtype=dtype, seed=self.seed))
        matrix = factors.q * sign(diag_part(factors.r))  # uniformly distributed over the orthogonal matrices
        return self.gain * shaping.reshape(shaping.transpose(matrix) if rows < columns else matrix, shape)


class identity_initializer(Initializer):
    """An initializer that returns the identity matrix times `gain`.

    >>> autoconv.compat.v1.initializers.identity(2.0)([2, 2]).numpy()
    array([[2., 0.],
           [0., 2.]], dtype=float32)
    """

    def __init__(self, gain: float = 1.0, dtype: DTypeLike = float32) -> None:
        super().__init__(dtype)
        self.gain = gain

    def _initial_value(self, shape: list[int], dtype: Any) -> Any:
        if len(shape) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        return self.gain * constants.eye(shape[0], shape[1], dtype=dtype)


def _make_scaled(name: str, scale: float, distribution: str, author: str = "") -> Callable[[int | None], Initializer]:
    """Return the function that makes an initializer with the variance `scale` / inputs."""

    def make_initializer(seed: int | None = None) -> Initializer:
        return variance_scaling_initializer(scale, distribution=distribution, seed=seed)

    return give_name(make_initializer, name, (
        f"Return an initializer with the variance {scale:g} / inputs, from a {distribution.replace('_', ' ')} "
        f"distribution{author}.\n\n>>> autoconv.compat.v1.initializers.{name}()([3, 4]).shape\nTensorShape([3, 4])\n"
    ))  # fmt: skip


he_normal = _make_scaled("he_normal", 2.0, "truncated_normal", " (He et al., 2015)")
he_uniform = _make_scaled("he_uniform", 2.0, "uniform", " (He et al., 2015)")
lecun_normal = _make_scaled("lecun_normal", 1.0, "truncated_normal")
lecun_uniform = _make_scaled("lecun_uniform", 1.0, "uniform")
INITIALIZER_BY_NAME = {
    "zeros": zeros_initializer, "ones": ones_initializer, "constant": constant_initializer,
    "random_normal": random_normal_initializer, "random_uniform": random_uniform_initializer,
    "truncated_normal": truncated_normal_initializer, "variance_scaling": variance_scaling_initializer,
    "glorot_uniform": glorot_uniform_initializer, "glorot_normal": glorot_normal_initializer,
    "orthogonal": orthogonal_initializer, "identity": identity_initializer,
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Return the initializer of a short name: `initializers.zeros` is `zeros_initializer`."""
    if name in INITIALIZER_BY_NAME:
        return INITIALIZER_BY_NAME[name]
    raise AttributeError(f"module 'autoconv.compat.v1.initializers' has no attribute {name!r}")


def _fan_in_and_out(shape: Sequence[int]) -> tuple[float, float]:
    """Return the numbers of inputs and outputs of a kernel of this shape."""
    if len(shape) < 2:
        size = float(shape[0]) if shape else 1.0
        return size, size
    receptive_field = math.prod(shape[:-2])
    return float(shape[-2] * receptive_field), float(shape[-1] * receptive_field)
