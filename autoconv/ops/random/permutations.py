"""Random permutations of rows: each row but the last is swapped with itself or a later one, as in TensorFlow.

There are also ops that permute positions. Native code shuffles rows by such a permutation and a gather, so that sizes
may be open.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype, int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.movement.constants import check_shape, static_shape
from autoconv.ops.random.bits import Bits, from_seed, with_seed_operand
from autoconv.ops.random.global_generator import GLOBAL
from autoconv.ops.record import define, no_gradient, sample
from autoconv.ops.rules import same_type
from autoconv.ops.traits import SizeOperand

_NO_GRADIENT_REASON = "positions have no derivatives"


def swap_block_count(count: int) -> int:
    """Return how many blocks of four words the swaps of `count` rows use: one word for each row but the last."""
    return (count + 2) // 4


def _permutation(bits: Bits, count: int) -> Any:
    """Return the integers below `count` in random order, int64."""
    order = list(range(count))
    for i, word in enumerate(bits.words(max(count - 1, 0)).tolist()):
        j = i + word % (count - i)
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)


def _draw_permutation(count: int, stream: str, seed: Any) -> Any:
    """Return a random order of the integers below `count` by the next words of a stream of the global generator."""
    return _permutation(GLOBAL.next(stream, count, seed, swap_block_count(count)), count)


def row_shuffle_stream(dtype: DType) -> str:
    """Return the name of the stream for shuffles of rows of a dtype."""
    return f"shuffle {dtype.name}"


def _shuffle(x: Any, *, seed: Any = None) -> Any:
    return x[_draw_permutation(len(x), row_shuffle_stream(as_dtype(x.dtype)), seed)] if np.ndim(x) else x


def _stateless_shuffle(seed: Any, x: Any, *, alg: str = "philox") -> Any:
    return x[_permutation(from_seed(seed, alg), len(x))] if np.ndim(x) else x


def _permutation_type(shape_vector: TensorType | None = None, *, shape: Any, **_: Any) -> TensorType:
    return TensorType(int64, static_shape("a permutation", shape, shape_vector))


def _row_count(shape: Any, shape_vector: Any) -> int:
    """Return the number of positions, the only size of the shape."""
    (count,) = shape if shape_vector is None else check_shape("a permutation", shape_vector)
    return int(count)


def _random_permutation(shape_vector: Any = None, *, shape: Any, stream: str, seed: Any = None) -> Any:
    return _draw_permutation(_row_count(shape, shape_vector), stream, seed)


def _stateless_permutation(seed: Any, shape_vector: Any = None, *, shape: Any, alg: str = "philox") -> Any:
    return _permutation(from_seed(seed, alg), _row_count(shape, shape_vector))


_ROWS, _SEED = np.array([[1, 2], [3, 4], [5, 6]]), np.array([7, 42], np.int64)
random_shuffle = define(
    name="random_shuffle", graphdef="RandomShuffle", result=same_type, kernel=_shuffle,
    gradient=no_gradient("the permutation is not kept"), effects=Effects.RANDOM, samples=(sample(_ROWS),),
)  # fmt: skip
stateless_shuffle = define(
    name="stateless_shuffle", graphdef="StatelessShuffle", result=with_seed_operand(same_type),
    kernel=_stateless_shuffle, gradient=no_gradient("the permutation is not kept"), samples=(sample(_SEED, _ROWS),),
)  # fmt: skip
random_permutation = define(
    name="random_permutation", graphdef="RandomPermutation", result=_permutation_type, kernel=_random_permutation,
    gradient=no_gradient(_NO_GRADIENT_REASON), effects=Effects.RANDOM, sizes=SizeOperand("shape", 0),
    samples=(sample(shape=(9,), stream="shuffle int64", seed=1),),
)  # fmt: skip
stateless_permutation = define(
    name="stateless_permutation", graphdef="StatelessPermutation", result=with_seed_operand(_permutation_type),
    kernel=_stateless_permutation, gradient=no_gradient(_NO_GRADIENT_REASON), sizes=SizeOperand("shape", 1),
    samples=(sample(_SEED, shape=(9,)), sample(_SEED, np.array([5]), shape=(None,))),
)  # fmt: skip
