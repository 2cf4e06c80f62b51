"""Random number generators whose state is a variable."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from autoconv.api.random.stateless import (
    algorithm_of,
    signed,
    stateless_binomial,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)
from autoconv.graph.dtypes import float32, int32, int64, uint64
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


class Generator:
    """A stream of random numbers with its own state: a variable of two int64, the key and the counter.

    `alg` is the algorithm (see `Algorithm`), Philox by default. A draw takes the numbers for key and counter and
    advances the counter, in a graph as well. Create one with `Generator.from_seed(seed)` or
    `Generator.from_non_deterministic_state()`.

    >>> generator = autoconv.random.Generator.from_seed(1)
    >>> generator.normal([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: Any = None) -> None:
        self._algorithm = algorithm_of(alg)
        if copy_from is not None:
            state, self._algorithm = copy_from.state, copy_from._algorithm
        if state is None:
            raise ValueError("Generator takes a state or a generator to copy; see Generator.from_seed(seed)")
        value = apply("cast", convert_to_tensor(state, dtype_hint=int64), dtype=int64)
        self._state = Variable(value, trainable=False, dtype=int64, name="StateVar")

    @classmethod
    def from_seed(cls, seed: TensorLike, alg: TensorLike | None = None) -> Generator:
        """The generator that `seed`, an integer, determines."""
        return cls(state=_state_of(seed), alg=alg)

    @classmethod
    def from_state(cls, state: Any, alg: TensorLike | None = None) -> Generator:
        """The generator with that key and counter."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any = None) -> Generator:
        """The generator with that key and counter, two integers."""
        return cls(state=np.array([signed(int(key)), signed(int(counter))]), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: TensorLike | None = None) -> Generator:
        """A generator with a different state in each run."""
        return cls(state=_state_of(int.from_bytes(os.urandom(8), "little")), alg=alg)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Variable]:
        return {"_state_var": self._state}

    @property
    def state(self) -> Variable:
        """The variable of key and counter."""
        return self._state

    @property
    def key(self) -> Tensor:
        return self._state.read_value()[0]

    @property
    def algorithm(self) -> int:
        """The number of the algorithm: 1 for Philox, 2 for Threefry."""
        return self._algorithm.value

    def reset(self, state: Any) -> None:
        """Set key and counter."""
        self._state.assign(apply("cast", convert_to_tensor(state, dtype_hint=int64), dtype=int64))

    def reset_from_seed(self, seed: TensorLike) -> None:
        """Restart with the state of `from_seed(seed)`."""
        self._state.assign(_state_of(seed))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        self._state.assign(np.array([signed(int(key)), signed(int(counter))]))

    def skip(self, delta: TensorLike) -> None:
        """Advance the counter by `delta` draws."""
        step = apply("cast", convert_to_tensor(delta), dtype=int64)
        self._state.assign_add(apply("multiply", np.array([0, 1]), step))

    def _next(self) -> Tensor:
        """Return the seed of one draw, and advance the counter."""
        seed = self._state.read_value()
        self._state.assign_add(np.array([0, 1]))
        return seed

    def uniform(
        self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, name: str | None = None
    ) -> Tensor:
        """Uniform numbers from `minval` to `maxval`, exclusive (1 by default; required for integers)."""
        return stateless_uniform(shape, self._next(), minval, maxval, dtype, name, self._algorithm)

    def uniform_full_int(self, shape: Any, dtype: Any = uint64, name: str | None = None) -> Tensor:
        """Integers from the whole range of the dtype."""
        return stateless_uniform(shape, self._next(), None, None, dtype, name, self._algorithm)

    def normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, name: str | None = None
    ) -> Tensor:
        """Normally distributed numbers."""
        return stateless_normal(shape, self._next(), mean, stddev, dtype, name, self._algorithm)

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, name: str | None = None
    ) -> Tensor:
        """Normally distributed numbers within two standard deviations of the mean."""
        return stateless_truncated_normal(shape, self._next(), mean, stddev, dtype, name, self._algorithm)

    def binomial(
        self, shape: Any, counts: Any, probs: Any, dtype: Any = int32, name: str | None = None
    ) -> Tensor:
        """The number of successes of `counts` trials with probability `probs`; both broadcast to `shape`."""
        return stateless_binomial(shape, self._next(), counts, probs, dtype, name, self._algorithm)

    def make_seeds(self, count: object = 1) -> Tensor:
        """Seeds for the stateless functions: int64 of shape [2, count]."""
        return stateless_uniform([2, count], self._next(), None, None, int64, None, self._algorithm)

    def split(self, count: int = 1) -> list[Generator]:
        """`count` independent generators."""
        seeds = self.make_seeds(count)
        return [Generator(state=seeds[:, i], alg=self._algorithm) for i in range(count)]


def create_rng_state(seed: TensorLike, alg: TensorLike = "auto_select") -> np.ndarray:
    """Key and counter, int64 [2], of `Generator.from_seed(seed, alg)`.

    >>> autoconv.random.create_rng_state(1, "philox").shape
    (2,)
    """
    algorithm_of(alg)
    return _state_of(seed)


_global_generator: Generator | None = None


def get_global_generator() -> Generator:
    """The process-wide generator, created at the first call.

    >>> autoconv.random.get_global_generator().normal([2]).shape
    TensorShape([2])
    """
    global _global_generator
    if _global_generator is None:
        _global_generator = Generator.from_non_deterministic_state()
    return _global_generator


def set_global_generator(generator: Generator) -> None:
    """Set the generator that `get_global_generator` returns.

    >>> autoconv.random.set_global_generator(autoconv.random.Generator.from_seed(7))
    >>> first = autoconv.random.get_global_generator().normal([2]).numpy()
    >>> autoconv.random.set_global_generator(autoconv.random.Generator.from_seed(7))
    >>> bool((autoconv.random.get_global_generator().normal([2]).numpy() == first).all())
    True
    """
    global _global_generator
    _global_generator = generator


def _state_of(seed: TensorLike) -> np.ndarray:
    """Return key and counter of a new stream: the key is the seed, mixed so that near seeds are not near."""
    if isinstance(seed, (int, np.integer)):
        bits = np.random.Philox(key=np.array([int(seed) % 2**64, 0], np.uint64)).random_raw(1)
        return np.array([signed(int(bits[0])), 0])
    values = np.ravel(np.asarray(seed))
    key = 0
    for value in values:
        key = int(np.random.Philox(key=np.array([int(value) % 2**64, key], np.uint64)).random_raw(1)[0])
    return np.array([signed(key), 0])
