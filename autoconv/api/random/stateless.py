"""Random numbers that are pure functions of a seed, with a choice of algorithm."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from autoconv.api.random.stateful import (
    broadcast_parameters,
    draw_classes,
    integer_bounds,
    scale_normal,
    scale_to_bounds,
)
from autoconv.api.tensors.accepted_dtypes import check_result_dtype
from autoconv.api.tensors.arguments import shape_argument, vector_argument
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtype_sets import FLOATING, LARGE_INTEGERS
from autoconv.graph.dtypes import as_dtype, float32, float64, int32, int64, uint32, uint64
from autoconv.runtime.annotations import DTypeLike, IntLike, ShapeLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


class Algorithm(enum.Enum):
    """The counter-based generators of Salmon, Moraes, Dror and Shaw (2011).

    Philox (4x32, 10 rounds) gives TensorFlow's numbers; Threefry (2x32, 20 rounds) has a key of 64 bits. AUTO_SELECT is
    Philox.

    >>> autoconv.random.Algorithm.PHILOX.name
    'PHILOX'
    """

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


COUNTER_AS_SEED: Any = object()  # passed as the algorithm: the seed consists of the counter and the key of Philox


def algorithm_of(alg: TensorLike | None) -> Algorithm:
    """Return the algorithm for its name, number or member; Philox by default. Raises ValueError for any other value."""
    if alg is None:
        return Algorithm.PHILOX
    try:
        algorithm = Algorithm[alg.upper()] if isinstance(alg, str) else Algorithm(getattr(alg, "value", alg))
    except (KeyError, ValueError):
        names = ", ".join(repr(member.name.lower()) for member in Algorithm)
        raise ValueError(f"there is no algorithm {alg!r} for random numbers; `alg` is one of {names}") from None
    return Algorithm.PHILOX if algorithm is Algorithm.AUTO_SELECT else algorithm


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """`uniform`, determined by `seed`, two integers. If both bounds are None, any integers of the dtype.

    >>> autoconv.random.stateless_uniform([2], seed=[1, 2]).shape
    TensorShape([2])
    """
    accepted_dtypes = FLOATING | LARGE_INTEGERS | ({uint32, uint64} if minval is None and maxval is None else set())
    out_dtype, (operands, sizes) = check_result_dtype(dtype, accepted_dtypes), vector_argument(shape)
    key = _seed_operand(seed)
    algorithm = _algorithm_attribute(alg)
    if out_dtype.is_integer:
        if minval is None and maxval is None:
            return apply("stateless_random_bits", key, *operands, shape=sizes, dtype=out_dtype, name=name, **algorithm)
        bounds = integer_bounds(minval, maxval, out_dtype)
        return apply("stateless_random_uniform_int", key, *bounds, *operands, shape=sizes, name=name, **algorithm)
    result = apply("stateless_random_uniform", key, *operands, shape=sizes, dtype=out_dtype, name=name, **algorithm)
    return scale_to_bounds(result, minval, maxval)


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """`normal`, determined by `seed`, two integers.

    >>> autoconv.random.stateless_normal([2, 3], seed=[1, 2]).shape
    TensorShape([2, 3])
    """
    operands, sizes = vector_argument(shape)
    result = apply(
        "stateless_random_normal", _seed_operand(seed), *operands, shape=sizes, dtype=as_dtype(dtype), name=name,
        **_algorithm_attribute(alg)
    )
    return scale_normal(result, mean, stddev)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """`truncated_normal`, determined by `seed`, two integers.

    >>> autoconv.random.stateless_truncated_normal([2, 3], seed=[1, 2]).shape
    TensorShape([2, 3])
    """
    operands, sizes = vector_argument(shape)
    result = apply(
        "stateless_truncated_normal", _seed_operand(seed), *operands, shape=sizes, dtype=as_dtype(dtype), name=name,
        **_algorithm_attribute(alg)
    )
    return scale_normal(result, mean, stddev)


def stateless_shuffle(
    value: TensorLike, seed: TensorLike, alg: TensorLike = "auto_select", name: str | None = None
) -> Tensor:
    """`shuffle`, determined by `seed`, two integers.

    >>> sorted(autoconv.random.stateless_shuffle([1, 2, 3], seed=[1, 2]).numpy().tolist())
    [1, 2, 3]
    """
    return apply("stateless_shuffle", _seed_operand(seed), value, name=name, **_algorithm_attribute(alg))


def stateless_categorical(
    logits: TensorLike, num_samples: IntLike, seed: TensorLike, dtype: DTypeLike = int64, name: str | None = None
) -> Tensor:
    """`categorical`, determined by `seed`, two integers.

    >>> autoconv.random.stateless_categorical([[0.0, 1.0]], 4, seed=[1, 2]).shape
    TensorShape([1, 4])
    """
    scores = convert_to_tensor(logits)
    row_count = apply("dimension", scores, axis=0) if scores.shape[0] is None else scores.shape[0]
    draws = stateless_uniform([row_count, num_samples], seed, dtype=float64)
    return draw_classes(scores, draws, dtype, name)


def stateless_gamma(
    shape: ShapeLike,
    seed: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = float32,
    name: str | None = None,
    alg: TensorLike = "auto_select",
) -> Tensor:
    """Gamma distributed numbers of the given `shape`, to which the parameters broadcast, determined by `seed`.

    >>> autoconv.random.stateless_gamma([2], seed=[1, 2], alpha=2.0).shape
    TensorShape([2])
    """
    out_dtype, (operands, sizes) = as_dtype(dtype), shape_argument(shape)
    broadcast_alpha, rate = broadcast_parameters(out_dtype, alpha, 1.0 if beta is None else beta)
    attributes: dict[str, Any] = {"shape": sizes, "dtype": out_dtype, "name": name, **_algorithm_attribute(alg)}
    result = apply("stateless_random_gamma", _seed_operand(seed), broadcast_alpha, *operands, **attributes)
    return result if beta is None else apply("divide", result, rate)


def stateless_poisson(
    shape: ShapeLike, seed: TensorLike, lam: TensorLike, dtype: DTypeLike = int32, name: str | None = None,
    alg: TensorLike = "auto_select"
) -> Tensor:
    """Poisson distributed numbers of the given `shape`, to which the means `lam` broadcast, determined by `seed`.

    >>> autoconv.random.stateless_poisson([2], seed=[1, 2], lam=3.0).shape
    TensorShape([2])
    """
    (mean,), (operands, sizes) = broadcast_parameters(float64, lam), shape_argument(shape)
    attributes: dict[str, Any] = {"shape": sizes, "dtype": as_dtype(dtype), "name": name, **_algorithm_attribute(alg)}
    return apply("stateless_random_poisson", _seed_operand(seed), mean, *operands, **attributes)


def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: Any = int32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """The number of successes of `counts` trials with probability `probs`, determined by `seed`.

    Both parameters broadcast to `shape`.

    >>> autoconv.random.stateless_binomial([2], seed=[1, 2], counts=5.0, probs=0.5).shape
    TensorShape([2])
    """
    (trials, probabilities), (operands, sizes) = broadcast_parameters(float64, counts, probs), shape_argument(shape)
    attributes: dict[str, Any] = {
        "shape": sizes, "dtype": as_dtype(output_dtype), "name": name, **_algorithm_attribute(alg)
    }
    return apply("stateless_random_binomial", _seed_operand(seed), trials, probabilities, *operands, **attributes)


def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Tensor:
    """`num` new seeds derived from `seed`, of shape [num, 2] and the dtype of the seed.

    >>> autoconv.random.split([1, 2], 3).shape
    TensorShape([3, 2])
    """
    seed = convert_to_tensor(seed)
    return stateless_uniform([num, 2], seed, minval=None, maxval=None, dtype=seed.dtype, alg=alg)


def fold_in(seed: TensorLike, data: object, alg: object = "auto_select") -> Tensor:
    """A new seed derived from `seed` and the integer `data`, which is the second number of the new seed.

    >>> autoconv.random.fold_in([1, 2], 7).shape
    TensorShape([2])
    """
    second_word = convert_to_tensor(data)
    first_word = stateless_uniform([], seed, minval=None, maxval=None, dtype=second_word.dtype, alg=alg)
    return convert_to_tensor([first_word, second_word])


def _algorithm_attribute(alg: TensorLike) -> dict[str, str]:
    """Return the attribute `alg` of the stateless ops as a dict, empty for their default: Philox with a seed."""
    if alg is COUNTER_AS_SEED:
        return {"alg": "counter"}
    algorithm = algorithm_of(alg)
    return {} if algorithm is Algorithm.PHILOX else {"alg": algorithm.name.lower()}


def _seed_operand(seed: TensorLike) -> Any:
    """Return a list of ints as an int64 array, any other seed unchanged; raise InvalidArgumentError for a scalar."""
    if isinstance(seed, (int, float, np.generic)) or getattr(seed, "shape", None) == ():
        raise InvalidArgumentError(f"seed must have shape [2], found {seed!r}")
    if isinstance(seed, (list, tuple)) and all(isinstance(word, (int, np.integer)) for word in seed):
        return np.array([to_signed(int(word)) for word in seed])
    return seed


def to_signed(number: int) -> int:
    """Return the int64 with the same 64 bits."""
    return (number + 2**63) % 2**64 - 2**63


def index_shuffle(index: TensorLike, seed: TensorLike, max_index: TensorLike) -> Tensor:
    """The positions of the numbers `index` in a permutation of 0 … `max_index`, which `seed`, two integers, determines.

    Each position is computed independently, so that a dataset can be shuffled without a buffer.

    >>> [int(autoconv.random.experimental.index_shuffle(i, [5, 9], 3)) for i in range(4)]
    [2, 0, 1, 3]
    """
    tensor = convert_to_tensor(seed)
    paddings = ((0, 0),) * ((tensor.shape.rank or 1) - 1) + ((1, 0),)  # one word before those of each seed
    key = apply("pad", tensor, paddings=paddings, mode="CONSTANT", constant_values=_FIRST_KEY_WORD)
    positions = convert_to_tensor(index)
    return apply("index_shuffle", positions, key, convert_to_tensor(max_index, positions.dtype), rounds=4)


_FIRST_KEY_WORD = 498247692  # of a key of three words in `index_shuffle`; the seed has the other two
