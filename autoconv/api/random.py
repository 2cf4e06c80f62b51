"""The names of `autoconv.random`.

The plain functions draw from a global generator, anew on every call and on every run of a graph; the
stateless ones are pure functions of a seed; a `Generator` keeps its own state in a variable.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from autoconv.api.arguments import shape_argument
from autoconv.graph.dtypes import DType, as_dtype, float32, float64, int32, int64, uint64
from autoconv.ops.random import GLOBAL
from autoconv.runtime.convert import convert_to_tensor
from autoconv.runtime.dispatch import apply
from autoconv.runtime.tensor import Tensor
from autoconv.runtime.variable import Variable


def set_seed(seed: int | None) -> None:
    """Starts the global generator anew, so that what follows is the same on every run."""
    GLOBAL.set_seed(None if seed is None else int(seed))


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers from `minval` up to but not including `maxval` (1 by default; integers need it)."""
    wanted, (extra, static) = as_dtype(dtype), shape_argument(shape)
    if wanted.is_integer:
        low, high = _integer_bounds(minval, maxval, wanted)
        return apply("random_uniform_int", low, high, *extra, shape=static, seed=seed, name=name)
    drawn = apply("random_uniform", *extra, shape=static, dtype=wanted, seed=seed, name=name)
    return _between(drawn, minval, maxval)


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normally distributed numbers."""
    extra, static = shape_argument(shape)
    drawn = apply("random_normal", *extra, shape=static, dtype=as_dtype(dtype), seed=seed, name=name)
    return _scaled(drawn, mean, stddev)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normally distributed numbers within two standard deviations of the mean; others are drawn again."""
    wanted, (extra, static) = as_dtype(dtype), shape_argument(shape)
    drawn = apply("random_truncated_normal", *extra, shape=static, dtype=wanted, seed=seed, name=name)
    return _scaled(drawn, mean, stddev)


def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows of `value` (along its first axis) in random order."""
    return apply("random_shuffle", value, seed=seed, name=name)


def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """`num_samples` classes for each row of `logits` [batch, classes], int64 by default."""
    scores = convert_to_tensor(logits)
    rows = apply("dimension", scores, axis=0) if scores.shape[0] is None else scores.shape[0]
    draw = uniform([rows, num_samples], dtype=scores.dtype, seed=seed)
    return _categorical(scores, draw, dtype, name)


def gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Gamma distributed numbers of that shape for each alpha and rate `beta` (1 by default): the shape of the result
    is `shape`, then that of the parameters."""
    wanted = as_dtype(dtype)
    shaped, rate = _parameters(wanted, alpha, 1.0 if beta is None else beta)
    extra, static = _with_parameters(shape, shaped)
    drawn = apply("random_gamma", shaped, *extra, shape=static, dtype=wanted, seed=seed, name=name)
    return drawn if beta is None else apply("divide", drawn, rate)


def poisson(shape: Any, lam: Any, dtype: Any = float32, seed: int | None = None, name: str | None = None) -> Tensor:
    """Poisson distributed numbers of that shape for each mean: the shape of the result is `shape`, then that of
    `lam`."""
    (mean,) = _parameters(float64, lam)
    extra, static = _with_parameters(shape, mean)
    return apply("random_poisson", mean, *extra, shape=static, dtype=as_dtype(dtype), seed=seed, name=name)


def _parameters(dtype: DType, *given: Any) -> list[Tensor]:
    """The parameters of a distribution, broadcast."""
    tensors = [apply("cast", convert_to_tensor(x), dtype=dtype) for x in given]
    if len(tensors) == 1:
        return tensors
    zero = apply("multiply", functools.reduce(functools.partial(apply, "add"), tensors), 0)
    return [apply("add", tensor, zero) for tensor in tensors]


def _with_parameters(shape: Any, parameter: Tensor) -> tuple[Any, Any]:
    """The arguments of an op for a shape followed by that of the parameters."""
    extra, static = shape_argument(shape)
    if not extra and parameter.shape.is_fully_defined():
        return (), (*(static or ()), *parameter.shape.as_list())
    parts = [extra[0] if extra else np.array(static, np.int32), apply("shape", parameter)]
    whole = apply("concat", *[apply("cast", convert_to_tensor(part), dtype=int32) for part in parts], axis=0)
    return shape_argument(whole)


def _categorical(scores: Tensor, draw: Tensor, dtype: Any, name: str | None) -> Tensor:
    """By the inverse of the distribution function."""
    total = apply("cumsum", apply("softmax", scores, axis=-1), axis=-1, exclusive=False, reverse=False)
    whole = apply("reduce_max", total, axis=(-1,), keepdims=True)
    wanted = int64 if dtype is None else as_dtype(dtype)
    return apply(
        "searchsorted", total, apply("multiply", draw, whole), side="right", dtype=wanted, name=name
    )


# ---- pure functions of a seed


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """As `uniform`, decided by `seed`, two integers. With both bounds None, all integers of the dtype."""
    wanted, (extra, static), key = as_dtype(dtype), shape_argument(shape), _seed(seed)
    if wanted.is_integer:
        if minval is None and maxval is None:
            return apply("stateless_random_bits", key, *extra, shape=static, dtype=wanted, name=name)
        low, high = _integer_bounds(minval, maxval, wanted)
        return apply("stateless_random_uniform_int", key, low, high, *extra, shape=static, name=name)
    drawn = apply("stateless_random_uniform", key, *extra, shape=static, dtype=wanted, name=name)
    return _between(drawn, minval, maxval)


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """As `normal`, decided by `seed`, two integers."""
    extra, static = shape_argument(shape)
    drawn = apply(
        "stateless_random_normal", _seed(seed), *extra, shape=static, dtype=as_dtype(dtype), name=name
    )
    return _scaled(drawn, mean, stddev)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """As `truncated_normal`, decided by `seed`, two integers."""
    extra, static = shape_argument(shape)
    drawn = apply(
        "stateless_truncated_normal", _seed(seed), *extra, shape=static, dtype=as_dtype(dtype), name=name
    )
    return _scaled(drawn, mean, stddev)


def stateless_shuffle(value: Any, seed: Any, alg: str = "auto_select", name: str | None = None) -> Tensor:
    """As `shuffle`, decided by `seed`, two integers."""
    return apply("stateless_shuffle", _seed(seed), value, name=name)


def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = int64, name: str | None = None
) -> Tensor:
    """As `categorical`, decided by `seed`, two integers."""
    scores = convert_to_tensor(logits)
    rows = apply("dimension", scores, axis=0) if scores.shape[0] is None else scores.shape[0]
    draw = stateless_uniform([rows, num_samples], seed, dtype=scores.dtype)
    return _categorical(scores, draw, dtype, name)


def stateless_gamma(
    shape: Any, seed: Any, alpha: Any, beta: Any = None, dtype: Any = float32, name: str | None = None
) -> Tensor:
    """Gamma distributed numbers, decided by `seed`; the parameters broadcast to `shape`, that of the result."""
    wanted, (extra, static) = as_dtype(dtype), shape_argument(shape)
    shaped, rate = _parameters(wanted, alpha, 1.0 if beta is None else beta)
    drawn = apply("stateless_random_gamma", _seed(seed), shaped, *extra, shape=static, dtype=wanted, name=name)
    return drawn if beta is None else apply("divide", drawn, rate)


def stateless_poisson(shape: Any, seed: Any, lam: Any, dtype: Any = int32, name: str | None = None) -> Tensor:
    """Poisson distributed numbers, decided by `seed`; the means broadcast to `shape`, that of the result."""
    (mean,), (extra, static) = _parameters(float64, lam), shape_argument(shape)
    return apply(
        "stateless_random_poisson", _seed(seed), mean, *extra, shape=static, dtype=as_dtype(dtype), name=name
    )


def stateless_binomial(
    shape: Any, seed: Any, counts: Any, probs: Any, output_dtype: Any = int32, name: str | None = None
) -> Tensor:
    """How many of `counts` trials succeed with probability `probs`, decided by `seed`; both broadcast to `shape`."""
    (many, likely), (extra, static) = _parameters(float64, counts, probs), shape_argument(shape)
    return apply(
        "stateless_random_binomial", _seed(seed), many, likely, *extra, shape=static, dtype=as_dtype(output_dtype),
        name=name,
    )  # fmt: skip


def split(seed: Any, num: Any = 2, alg: str = "auto_select") -> Tensor:
    """`num` new seeds made from one, of shape [num, 2] and int64."""
    return stateless_uniform([num, 2], seed, minval=None, maxval=None, dtype=int64)


def fold_in(seed: Any, data: Any, alg: str = "auto_select") -> Tensor:
    """A new seed made from a seed and an integer."""
    key = apply("cast", convert_to_tensor(_seed(seed)), dtype=int64)
    mixed = stateless_uniform([2], key, minval=None, maxval=None, dtype=int64)
    number = apply("cast", convert_to_tensor(data), dtype=int64)
    return stateless_uniform([2], apply("bitwise_xor", mixed, number), minval=None, maxval=None, dtype=int64)


class Generator:
    """A stream of random numbers with its own state: a variable of two int64, the key and the counter.

    A draw takes the numbers that belong to key and counter and moves the counter on, in a graph as well. Make
    one with `Generator.from_seed(seed)` or `Generator.from_non_deterministic_state()`.
    """

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            state = copy_from.state
        if state is None:
            raise ValueError("Generator takes a state or a generator to copy; see Generator.from_seed(seed)")
        value = apply("cast", convert_to_tensor(state, dtype_hint=int64), dtype=int64)
        self._state = Variable(value, trainable=False, dtype=int64, name="StateVar")

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """The generator whose numbers `seed`, an integer, decides."""
        return cls(state=_state_of(seed))

    @classmethod
    def from_state(cls, state: Any, alg: Any = None) -> Generator:
        """The generator with that key and counter."""
        return cls(state=state)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any = None) -> Generator:
        """The generator with that key and counter, two integers."""
        return cls(state=np.array([_signed(int(key)), _signed(int(counter))]))

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator that differs from run to run."""
        return cls(state=_state_of(int.from_bytes(os.urandom(8), "little")))

    @property
    def state(self) -> Variable:
        """The variable of key and counter."""
        return self._state

    @property
    def key(self) -> Tensor:
        return self._state.read_value()[0]

    @property
    def algorithm(self) -> int:
        """Philox, by TensorFlow's number."""
        return 1

    def reset(self, state: Any) -> None:
        """Sets key and counter."""
        self._state.assign(apply("cast", convert_to_tensor(state, dtype_hint=int64), dtype=int64))

    def reset_from_seed(self, seed: Any) -> None:
        """Starts again as `from_seed(seed)` does."""
        self._state.assign(_state_of(seed))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        self._state.assign(np.array([_signed(int(key)), _signed(int(counter))]))

    def skip(self, delta: Any) -> None:
        """Moves the counter on by `delta` draws."""
        step = apply("cast", convert_to_tensor(delta), dtype=int64)
        self._state.assign_add(apply("multiply", np.array([0, 1]), step))

    def _next(self) -> Tensor:
        """The seed of one draw, after which the counter stands at the next."""
        seed = self._state.read_value()
        self._state.assign_add(np.array([0, 1]))
        return seed

    def uniform(
        self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, name: str | None = None
    ) -> Tensor:
        """Numbers from `minval` up to but not including `maxval` (1 by default; integers need it)."""
        return stateless_uniform(shape, self._next(), minval, maxval, dtype, name)

    def uniform_full_int(self, shape: Any, dtype: Any = uint64, name: str | None = None) -> Tensor:
        """Integers from the whole range of the dtype."""
        return stateless_uniform(shape, self._next(), None, None, dtype, name)

    def normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, name: str | None = None
    ) -> Tensor:
        """Normally distributed numbers."""
        return stateless_normal(shape, self._next(), mean, stddev, dtype, name)

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, name: str | None = None
    ) -> Tensor:
        """Normally distributed numbers within two standard deviations of the mean."""
        return stateless_truncated_normal(shape, self._next(), mean, stddev, dtype, name)

    def binomial(
        self, shape: Any, counts: Any, probs: Any, dtype: Any = int32, name: str | None = None
    ) -> Tensor:
        """How many of `counts` trials succeed with probability `probs`; both broadcast to `shape`."""
        return stateless_binomial(shape, self._next(), counts, probs, dtype, name)

    def make_seeds(self, count: Any = 1) -> Tensor:
        """Seeds for the stateless functions: int64 of shape [2, count]."""
        return stateless_uniform([2, count], self._next(), None, None, int64)

    def split(self, count: int = 1) -> list[Generator]:
        """`count` generators whose numbers have nothing to do with each other."""
        seeds = self.make_seeds(count)
        return [Generator(state=seeds[:, i]) for i in range(count)]


_global_generator: Generator | None = None


def get_global_generator() -> Generator:
    """The generator shared by all who ask for it, made when first asked for."""
    global _global_generator
    if _global_generator is None:
        _global_generator = Generator.from_non_deterministic_state()
    return _global_generator


def set_global_generator(generator: Generator) -> None:
    """Makes `generator` the one that `get_global_generator` answers."""
    global _global_generator
    _global_generator = generator


# ---- arguments


def _seed(seed: Any) -> Any:
    """A seed as a tensor of two integers; one integer stands for itself and zero."""
    if isinstance(seed, (int, np.integer)):
        seed = (0, int(seed))
    if isinstance(seed, (list, tuple)) and all(isinstance(s, (int, np.integer)) for s in seed):
        return np.array([_signed(int(s)) for s in seed])
    return seed


def _state_of(seed: Any) -> Any:
    """Key and counter of a new stream: the key is the seed, mixed so that near seeds are not near."""
    if isinstance(seed, (int, np.integer)):
        bits = np.random.Philox(key=np.array([int(seed) % 2**64, 0], np.uint64)).random_raw(1)
        return np.array([_signed(int(bits[0])), 0])
    values = np.ravel(np.asarray(seed))
    key = 0
    for value in values:
        key = int(np.random.Philox(key=np.array([int(value) % 2**64, key], np.uint64)).random_raw(1)[0])
    return np.array([_signed(key), 0])


def _signed(number: int) -> int:
    """The int64 of the same 64 bits."""
    return (number + 2**63) % 2**64 - 2**63


def _integer_bounds(minval: Any, maxval: Any, dtype: DType) -> tuple[Any, Any]:
    if maxval is None:
        raise ValueError(f"Must specify maxval for integer dtype {dtype.name}")
    return convert_to_tensor(minval, dtype), convert_to_tensor(maxval, dtype)


def _between(drawn: Tensor, minval: Any, maxval: Any) -> Tensor:
    """Numbers in [0, 1) stretched over the bounds."""
    low = 0 if minval is None else minval
    high = 1 if maxval is None else maxval
    if _is(low, 0) and _is(high, 1):
        return drawn
    low, high = convert_to_tensor(low, drawn.dtype), convert_to_tensor(high, drawn.dtype)
    return apply("add", apply("multiply", drawn, apply("subtract", high, low)), low)


def _scaled(drawn: Tensor, mean: Any, stddev: Any) -> Tensor:
    if not _is(stddev, 1):
        drawn = apply("multiply", drawn, convert_to_tensor(stddev, drawn.dtype))
    return drawn if _is(mean, 0) else apply("add", drawn, convert_to_tensor(mean, drawn.dtype))


def _is(value: Any, number: int) -> bool:
    return isinstance(value, (int, float)) and value == number
