"""Random number generators whose state is a variable."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from autoconv.api.random.stateful import broadcast_parameters
from autoconv.api.random.stateless import (
    COUNTER_AS_SEED,
    Algorithm,
    algorithm_of,
    stateless_binomial,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
    to_signed,
)
from autoconv.api.tensors.arguments import shape_argument
from autoconv.graph.dtypes import float32, float64, int32, int64, uint64
from autoconv.hooks import Hook
from autoconv.ops.random.global_generator import RESERVED_BLOCKS
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

# () -> (the strategy of the enclosing scope, the number of the replica that runs), each None if there is none.
# There is no strategy before the package is imported.
SCOPE: Hook = Hook("autoconv.distribute")


class Generator:
    """A stream of random numbers. Its state is an int64 variable: the words of the counter, lowest first, then the key.

    `alg` is the algorithm (see `Algorithm`), Philox by default. The key and the counter determine a draw, which
    advances the counter, in a graph, too. Create a generator with `Generator.from_seed(seed)` or
    `Generator.from_non_deterministic_state()`. The replicas of a strategy draw different numbers from a generator that
    was created in the scope of the strategy.

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
        self._strategy = SCOPE()[0] if SCOPE.is_set else None

    @classmethod
    def from_seed(cls, seed: TensorLike, alg: TensorLike | None = None) -> Generator:
        """The generator that `seed`, an integer, determines."""
        return cls(state=_seed_state(seed, algorithm_of(alg)), alg=alg)

    @classmethod
    def from_state(cls, state: Any, alg: TensorLike | None = None) -> Generator:
        """The generator with a state: the words of the counter, then the key."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any = None) -> Generator:
        """The generator with that key and counter; the counter is an integer or its words, the lowest first."""
        return cls(state=_key_and_counter(key, counter, algorithm_of(alg)), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: TensorLike | None = None) -> Generator:
        """A generator with a different state in each run."""
        word_count = _WORD_COUNT_BY_ALGORITHM[algorithm_of(alg)]
        words = [to_signed(int.from_bytes(os.urandom(8), "little")) for _ in range(word_count)]
        return cls(state=np.array(words), alg=alg)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Variable]:
        return {"_state_var": self._state}

    @property
    def state(self) -> Variable:
        """The variable of key and counter."""
        return self._state

    @property
    def key(self) -> Tensor:
        return self._state.read_value()[-1]

    @property
    def algorithm(self) -> int:
        """The number of the algorithm: 1 for Philox, 2 for Threefry."""
        return self._algorithm.value

    def reset(self, state: Any) -> None:
        """Set the state: the words of the counter, then the key."""
        self._state.assign(apply("cast", convert_to_tensor(state, dtype_hint=int64), dtype=int64))

    def reset_from_seed(self, seed: TensorLike) -> None:
        """Restart with the state of `from_seed(seed)`."""
        self._state.assign(_seed_state(seed, self._algorithm))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        self._state.assign(_key_and_counter(key, counter, self._algorithm))

    def skip(self, delta: TensorLike) -> Tensor:
        """Advance the counter as a draw of `delta` numbers does, and return the state before."""
        old_state = self._state.read_value()
        step = apply("multiply", apply("cast", convert_to_tensor(delta), dtype=int64), RESERVED_BLOCKS)
        low_word = apply("add", old_state[0], step)
        if self._algorithm is not Algorithm.PHILOX:
            self._state.assign([low_word, old_state[1]])
            return old_state
        # The unsigned sum is below a summand if there is a carry. A flipped sign bit gives signed words that order.
        ordered_as_unsigned = [apply("bitwise_xor", word, _SIGN_BIT) for word in (low_word, old_state[0])]
        carry = apply("cast", apply("less", *ordered_as_unsigned), dtype=int64)
        self._state.assign([low_word, apply("add", old_state[1], carry), old_state[2]])
        return old_state

    @property
    def _kernel_algorithm(self) -> Any:
        """The argument `alg` of the stateless functions that draw with the results of `_advance`."""
        return COUNTER_AS_SEED if self._algorithm is Algorithm.PHILOX else self._algorithm

    def _advance(self, shape: Any) -> Tensor:
        """Return the state, the seed of a draw of that shape, and advance the counter past the draw."""
        return self._advance_by(_element_count(shape))

    def _advance_by(self, draw_count: Any) -> Tensor:
        """Return the state of this replica, the seed of a draw of `draw_count` numbers; advance the counter past it.

        Raises RuntimeError in the scope of another strategy than that in which the generator was created.
        """
        strategy, replica = (None, None) if self._strategy is None else SCOPE()
        if strategy not in (None, self._strategy):
            raise RuntimeError("A generator of a strategy is used in the scope of another strategy")
        state = self.skip(draw_count)
        return state if replica is None else self._state_of_replica(state, replica)

    def _state_of_replica(self, state: Tensor, replica: int) -> Tensor:
        """Return the state with another key, which is drawn for the number `replica`."""
        seed = convert_to_tensor([replica, *[0] * (_WORD_COUNT_BY_ALGORITHM[self._algorithm] - 2), state[-1]], int64)
        key = stateless_uniform([1], seed, minval=None, dtype=int64, alg=self._kernel_algorithm)
        return apply("concat", state[:-1], key, axis=0)

    def uniform(
        self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, name: str | None = None
    ) -> Tensor:
        """Uniform numbers from `minval` to `maxval`, exclusive (1 by default; required for integers)."""
        return stateless_uniform(shape, self._advance(shape), minval, maxval, dtype, name, self._kernel_algorithm)

    def uniform_full_int(self, shape: Any, dtype: Any = uint64, name: str | None = None) -> Tensor:
        """Integers, uniform over the whole range of the dtype."""
        seed, algorithm = self._advance(shape), self._kernel_algorithm
        return stateless_uniform(shape, seed, minval=None, dtype=dtype, name=name, alg=algorithm)

    def normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, name: str | None = None
    ) -> Tensor:
        """Normally distributed numbers."""
        return stateless_normal(shape, self._advance(shape), mean, stddev, dtype, name, self._kernel_algorithm)

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, name: str | None = None
    ) -> Tensor:
        """Normally distributed numbers within two standard deviations of the mean."""
        return stateless_truncated_normal(
            shape, self._advance(shape), mean, stddev, dtype, name, self._kernel_algorithm
        )

    def binomial(
        self, shape: Any, counts: Any, probs: Any, dtype: Any = int32, name: str | None = None
    ) -> Tensor:
        """The number of successes of `counts` trials with probability `probs`; both broadcast to `shape`."""
        trials, probabilities = broadcast_parameters(float64, counts, probs)
        parameter_count = trials.shape.num_elements() or apply("cast", apply("size", trials), dtype=int64)
        draws_of_each = _element_count(shape) // parameter_count + 3
        seed = self._advance_by(parameter_count * 200 * draws_of_each // 4)  # as many numbers as TensorFlow reserves
        return stateless_binomial(shape, seed, trials, probabilities, dtype, name, self._kernel_algorithm)

    def make_seeds(self, count: Any = 1) -> Tensor:
        """Seeds for the stateless functions: int64 of shape [2, count]."""
        keys = self.uniform_full_int([count], int64)
        return convert_to_tensor([keys, apply("zeros_like", keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """`count` independent generators."""
        keys = self.uniform_full_int([count], int64)
        zeros = [0] * (_WORD_COUNT_BY_ALGORITHM[self._algorithm] - 1)
        return [Generator(state=convert_to_tensor([*zeros, keys[i]], int64), alg=self._algorithm) for i in range(count)]


def _element_count(shape: Any) -> Any:
    """Return the number of elements of a shape, an int where it is known while tracing."""
    operands, static_shape = shape_argument(shape)
    if operands:
        return apply("reduce_prod", apply("cast", operands[0], dtype=int64), axis=None, keepdims=False)
    return math.prod(size or 0 for size in static_shape or ())


def create_rng_state(seed: TensorLike, alg: TensorLike = "auto_select") -> Tensor:
    """Counter and key, int64, of `Generator.from_seed(seed, alg)`.

    >>> autoconv.random.create_rng_state(1, "philox").numpy()
    array([1, 0, 0])
    """
    return convert_to_tensor(_seed_state(seed, algorithm_of(alg)))


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


_SIGN_BIT = np.int64(np.iinfo(np.int64).min)
_WORD_COUNT_BY_ALGORITHM = {Algorithm.PHILOX: 3, Algorithm.THREEFRY: 2}  # 64-bit words of a state: counter and key


def _seed_state(seed: Any, algorithm: Algorithm) -> np.ndarray:
    """Return the state of a seed: the words of an integer, lowest first, or zeros followed by a vector of words."""
    word_count = _WORD_COUNT_BY_ALGORITHM[algorithm]
    if isinstance(seed, (int, np.integer)):
        return np.array([to_signed(int(seed) >> 64 * position) for position in range(word_count)])
    words_of_seed = _signed_words(seed)[:word_count]
    return np.array([0] * (word_count - len(words_of_seed)) + words_of_seed)


def _key_and_counter(key: Any, counter: Any, algorithm: Algorithm) -> np.ndarray:
    """Return the state of a key and a counter, an integer or its words, the lowest first."""
    counter_words = _signed_words(counter)
    missing_count = _WORD_COUNT_BY_ALGORITHM[algorithm] - 1 - len(counter_words)
    return np.array([*counter_words, *[0] * missing_count, to_signed(int(key))])


def _signed_words(values: Any) -> list[int]:
    """Return integers as signed ones of 64 bits. Lists are read in Python: NumPy makes floats of large integers."""
    if not isinstance(values, (list, tuple)):
        values = np.ravel(np.asarray(values))
    return [to_signed(int(value)) for value in values]
