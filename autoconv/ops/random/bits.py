"""Random numbers of counter-based generators (Philox, Threefry): each number is a pure function of key and counter.

The stateless ops take the key as a tensor; the stateful ones draw key and counter from `GLOBAL`. Words become numbers
as in TensorFlow: a seed gives TensorFlow's uniform numbers and integers, and its normal numbers up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, as_dtype, float32, float64, int32, int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, are_shapes_compatible
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.movement.constants import check_shape, static_shape
from autoconv.ops.random.global_generator import GLOBAL
from autoconv.ops.random.philox import BLOCK_WORDS, Philox
from autoconv.ops.random.threefry import Threefry
from autoconv.ops.record import define, no_gradient, sample
from autoconv.ops.traits import SizeOperand

TRUNCATION = 2.0  # bound of truncated normal numbers, in standard deviations
PRECISION = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}  # random bits of a uniform number, by dtype
RESERVED_WORDS = 256  # for each truncated normal number
MIN_UNIFORM = 1e-7  # lower bound of uniform numbers before their logarithm is taken


class Bits(Protocol):
    """A stream of random words."""

    def blocks(self, numbers: np.ndarray, /) -> np.ndarray:
        """Return the blocks with these numbers, counted from 0, of four words each: uint32 [n, 4]."""

    def words(self, count: int, /) -> np.ndarray:
        """Return the next words, uint32 [count]."""


def stream_name(op: str, dtype: DType) -> str:
    """Return the name of the stream for draws of an op and a dtype.

    Streams of different names and one seed start with the same words.
    """
    return f"{op.removeprefix('random_')} {dtype.name}"


def from_seed(seed: Any, alg: str) -> Bits:
    """Return the stream for a seed of two integers.

    If `alg` is "counter", the seed has three: the lower and the upper half of Philox' counter, and its key.
    """
    size = seed_size(alg)
    if np.shape(seed) != (size,):
        raise InvalidArgumentError(f"seed must have shape [{size}], not {list(np.shape(seed))}")
    numbers = [int(number) for number in seed]
    if alg == "counter":
        return Philox(numbers[2], numbers[0], numbers[1])
    return Threefry(*numbers) if alg == "threefry" else Philox.of_seed(*numbers)


def seed_size(alg: str) -> int:
    return 3 if alg == "counter" else 2


# ---- from words to numbers


def _element_count(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def _draw_words(bits: Bits, shape: tuple[int, ...], has_64_bits: bool = True) -> Any:
    """Return random bits as uint64: words of 32 bits, or if `has_64_bits` pairs of words, the first in the lower half.
    """
    count = _element_count(shape)
    if not has_64_bits:
        return bits.words(count).astype(np.uint64).reshape(shape)
    pairs = bits.words(2 * count).astype(np.uint64).reshape(-1, 2)
    return (pairs[:, 0] | (pairs[:, 1] << np.uint64(32))).reshape(shape)


def _words_to_fractions(words: Any, dtype: DType) -> Any:
    """Return numbers in [0, 1) from the lower bits of words.

    For float64, pairs of words in the last axis become numbers of float64; for other dtypes, words become float32.
    """
    precision = PRECISION[dtype.name]
    if dtype is not float64:
        return (words & np.uint32(2**precision - 1)).astype(np.float32) * np.float32(2.0**-precision)
    upper = (words[..., 0] & np.uint32(2 ** (precision - 32) - 1)).astype(np.uint64) << np.uint64(32)
    return (upper | words[..., 1]) * 2.0**-precision


def _draw_uniform(bits: Bits, shape: tuple[int, ...], dtype: DType) -> Any:
    """Return uniform numbers in [0, 1), all multiples of the dtype's epsilon."""
    count = _element_count(shape)
    words = bits.words(2 * count).reshape(-1, 2) if dtype is float64 else bits.words(count)
    return _words_to_fractions(words, dtype).astype(dtype.numpy, copy=False).reshape(shape)


def to_fractions(words: np.ndarray) -> Any:
    """Return float64 numbers in [0, 1) for pairs of words, in the last axis."""
    return _words_to_fractions(words, float64)


def _words_to_normal_pairs(words: Any, dtype: DType) -> Any:
    """Return two normal numbers, float64, in the last axis for the words in it, by the Box-Muller transform.

    Unless the dtype is float64, each step is rounded to float32.
    """
    if dtype is float64:
        first, second = _words_to_fractions(words[..., :2], float64), _words_to_fractions(words[..., 2:], float64)
        radius, angle = np.sqrt(-2.0 * np.log(np.maximum(first, MIN_UNIFORM))), 2.0 * np.pi * second
        return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], axis=-1)
    single = np.float32
    first, second = (_words_to_fractions(words[..., i], float32) for i in range(2))
    logarithm = np.log(np.maximum(first, single(MIN_UNIFORM)).astype(np.float64)).astype(single)
    radius = np.sqrt(single(-2.0) * logarithm)
    angle = (2.0 * np.pi * second.astype(np.float64)).astype(single).astype(np.float64)
    waves = np.stack([np.sin(angle), np.cos(angle)], axis=-1).astype(single)
    return (waves * radius[..., None]).astype(np.float64)


def to_normal_pairs(words: np.ndarray) -> Any:
    """Return two normal numbers, float64, for each block of four words."""
    return _words_to_normal_pairs(words, float64)


def words_per_normal_pair(dtype: DType) -> int:
    """Return how many words make two normal numbers."""
    return 4 if dtype is float64 else 2


def _draw_normal(bits: Bits, shape: tuple[int, ...], dtype: DType) -> Any:
    count, words_per_pair = _element_count(shape), words_per_normal_pair(dtype)
    pair_count = (count + 1) // 2
    numbers = _words_to_normal_pairs(bits.words(words_per_pair * pair_count).reshape(-1, words_per_pair), dtype)
    return numbers.reshape(-1)[:count].astype(dtype.numpy).reshape(shape)


def _draw_truncated(bits: Bits, shape: tuple[int, ...], dtype: DType) -> Any:
    """Return normal numbers within two standard deviations.

    The result is divided into groups of as many numbers as one block makes. Each group has its own range of blocks, and
    takes one block after the other until it is full of accepted numbers.
    """
    count, words_per_pair = _element_count(shape), words_per_normal_pair(dtype)
    group_size = 8 // words_per_pair
    group_count = -(-count // group_size)
    results, accepted_counts = np.zeros((group_count, group_size)), np.zeros(group_count, np.int64)
    unfilled, taken_count = np.arange(group_count), 0
    while unfilled.size:
        blocks_per_group = RESERVED_WORDS * group_size // BLOCK_WORDS
        starts = unfilled.astype(np.uint64) * np.uint64(blocks_per_group) + np.uint64(taken_count)
        candidate_rounds = _words_to_normal_pairs(
            bits.blocks(starts).reshape(unfilled.size, -1, words_per_pair), dtype
        ).reshape(unfilled.size, -1)
        for candidates in candidate_rounds.T:
            is_accepted = (np.abs(candidates) < TRUNCATION) & (accepted_counts[unfilled] < group_size)
            results[unfilled[is_accepted], accepted_counts[unfilled[is_accepted]]] = candidates[is_accepted]
            accepted_counts[unfilled[is_accepted]] += 1
        unfilled, taken_count = unfilled[accepted_counts[unfilled] < group_size], taken_count + 1
    return results.reshape(-1)[:count].astype(dtype.numpy).reshape(shape)


def _draw_integers(bits: Bits, shape: tuple[int, ...], low: Any, high: Any) -> Any:
    """Return integers in [low, high) as remainders of a word, or of two words for 64 bits, with a small bias."""
    dtype = np.asarray(low).dtype
    if not np.all(np.less(low, high)):
        raise InvalidArgumentError(f"Need minval < maxval, got {np.max(low)} >= {np.min(high)}")
    unsigned_low = np.asarray(low).astype(np.int64 if dtype.kind == "i" else np.uint64).astype(np.uint64)
    unsigned_high = np.asarray(high).astype(np.int64 if dtype.kind == "i" else np.uint64).astype(np.uint64)
    words = _draw_words(bits, shape, dtype.itemsize == 8)
    return np.asarray(unsigned_low + words % (unsigned_high - unsigned_low)).astype(dtype)


# ---- the ops


def _resolve_shape(op: str, shape: Any, shape_vector: Any) -> tuple[int, ...]:
    """Return the shape of a result: the values of the operand `shape_vector` if it is passed, else the attribute."""
    return shape if shape_vector is None else check_shape(op, shape_vector)


def _float_type(name: str) -> Callable[..., TensorType]:
    """Return the type rule of the op `name`, which draws floating numbers."""

    def rule(shape_vector: TensorType | None = None, *, shape: Any, dtype: DType = float32, **_: Any) -> TensorType:
        if not dtype.is_floating:
            raise TypeError(f"{name} draws floating numbers, found dtype {dtype.name}")
        return TensorType(dtype, static_shape(name, shape, shape_vector))

    return rule


def _integer_type(name: str) -> Callable[..., TensorType]:
    """Return the type rule of the op `name`, which draws integers between bounds."""

    def rule(low: TensorType, high: TensorType, shape_vector: TensorType | None = None, *, shape: Any, **_: Any) -> Any:
        if not low.dtype.is_integer or low.dtype is not high.dtype:
            raise TypeError(f"{name} takes integer bounds of one dtype, found {low.dtype.name} and {high.dtype.name}")
        return TensorType(low.dtype, static_shape(name, shape, shape_vector))

    return rule


def with_seed_operand(rule: Callable[..., TensorType]) -> Callable[..., TensorType]:
    """Return the type rule of an op that has a seed before the operands of `rule`."""

    def with_seed(seed: TensorType, *inputs: TensorType, **attributes: Any) -> TensorType:
        """Check dtype and shape of the seed, and return the type of the numbers."""
        if not seed.dtype.is_integer:
            raise TypeError(f"seed must be of integers, found {seed.dtype.name}")
        size = seed_size(attributes.get("alg", ""))
        if not are_shapes_compatible(seed.shape, (size,)):
            raise ValueError(f"seed must have shape [{size}], found {seed}")
        return rule(*inputs, **attributes)

    return with_seed


_NO_GRADIENT = no_gradient("random numbers do not depend on what they are drawn with")
_SHAPE_VECTOR, _SEED = np.array([2, 3], np.int32), np.array([7, 42], np.int64)


def _define_float_ops(name: str, stateless_name: str, graphdefs: tuple[str, str], draw: Callable[..., Any]) -> None:
    """Define the stateful and the stateless op of a floating distribution."""

    def stateful(shape_vector: Any = None, *, shape: Any, dtype: DType = float32, seed: Any = None) -> Any:
        result_shape = _resolve_shape(name, shape, shape_vector)
        return draw(GLOBAL.next(stream_name(name, dtype), _element_count(result_shape), seed), result_shape, dtype)

    def stateless(
        seed: Any, shape_vector: Any = None, *, shape: Any, dtype: DType = float32, alg: str = "philox"
    ) -> Any:
        return draw(from_seed(seed, alg), _resolve_shape(name, shape, shape_vector), dtype)

    define(
        name=f"random_{name}", graphdef=graphdefs[0], result=_float_type(f"random_{name}"),
        kernel=quiet(stateful), gradient=_NO_GRADIENT, effects=Effects.RANDOM,
        samples=(sample(shape=(2, 3), dtype=float32), sample(_SHAPE_VECTOR, shape=(None, 3), dtype=float64, seed=1)),
        sizes=SizeOperand("shape", 0),
    )  # fmt: skip
    define(
        name=stateless_name, graphdef=graphdefs[1], result=with_seed_operand(_float_type(stateless_name)),
        kernel=quiet(stateless), gradient=_NO_GRADIENT,
        samples=(
            sample(_SEED, shape=(2, 3), dtype=float32),
            sample(_SEED, _SHAPE_VECTOR, shape=(None, 3), dtype=float64),
            sample(_SEED, shape=(2, 3), dtype=float32, alg="threefry"),
        ),
        sizes=SizeOperand("shape", 1),
    )  # fmt: skip


_define_float_ops("uniform", "stateless_random_uniform", ("RandomUniform", "StatelessRandomUniformV2"), _draw_uniform)
_define_float_ops(
    "normal", "stateless_random_normal", ("RandomStandardNormal", "StatelessRandomNormalV2"), _draw_normal
)
_define_float_ops(
    "truncated_normal", "stateless_truncated_normal",
    ("TruncatedNormal", "StatelessTruncatedNormalV2"), _draw_truncated,
)  # fmt: skip


def _random_uniform_int(low: Any, high: Any, shape_vector: Any = None, *, shape: Any, seed: Any = None) -> Any:
    result_shape = _resolve_shape("random_uniform_int", shape, shape_vector)
    bits = GLOBAL.next(stream_name("uniform_int", as_dtype(low.dtype)), _element_count(result_shape), seed)
    return _draw_integers(bits, result_shape, low, high)


def _stateless_uniform_int(
    seed: Any, low: Any, high: Any, shape_vector: Any = None, *, shape: Any, alg: str = "philox"
) -> Any:
    return _draw_integers(
        from_seed(seed, alg), _resolve_shape("stateless_random_uniform_int", shape, shape_vector), low, high
    )


def _bits_type(shape_vector: TensorType | None = None, *, shape: Any, dtype: DType, **_: Any) -> TensorType:
    if not dtype.is_integer:
        raise TypeError(f"random bits make integers, found dtype {dtype.name}")
    return TensorType(dtype, static_shape("stateless_random_bits", shape, shape_vector))


def _stateless_bits(seed: Any, shape_vector: Any = None, *, shape: Any, dtype: DType, alg: str = "philox") -> Any:
    result_shape = _resolve_shape("stateless_random_bits", shape, shape_vector)
    return _draw_words(from_seed(seed, alg), result_shape, dtype.size == 8).astype(dtype.numpy)


def _random_bits(shape_vector: Any = None, *, shape: Any, dtype: DType, seed: Any = None) -> Any:
    result_shape = _resolve_shape("random_bits", shape, shape_vector)
    bits = GLOBAL.next(stream_name("bits", dtype), _element_count(result_shape), seed)
    return _draw_words(bits, result_shape, dtype.size == 8).astype(dtype.numpy)


_LOW, _HIGH = np.int32(-3), np.int32(9)

random_uniform_int = define(
    name="random_uniform_int", graphdef="RandomUniformInt", result=_integer_type("random_uniform_int"),
    kernel=quiet(_random_uniform_int), gradient=_NO_GRADIENT, effects=Effects.RANDOM | Effects.RAISE, unify=(0, 1),
    samples=(sample(_LOW, _HIGH, shape=(2, 3)), sample(_LOW, _HIGH, _SHAPE_VECTOR, shape=(None, 3), seed=1)),
    sizes=SizeOperand("shape", 2),
)  # fmt: skip
stateless_random_uniform_int = define(
    name="stateless_random_uniform_int", graphdef="StatelessRandomUniformIntV2",
    result=with_seed_operand(_integer_type("stateless_random_uniform_int")), kernel=quiet(_stateless_uniform_int),
    gradient=_NO_GRADIENT, effects=Effects.RAISE, unify=(1, 2),
    samples=(sample(_SEED, _LOW, _HIGH, shape=(2, 3)), sample(_SEED, _LOW, _HIGH, _SHAPE_VECTOR, shape=(None, 3))),
    sizes=SizeOperand("shape", 3),
)  # fmt: skip
stateless_random_bits = define(
    name="stateless_random_bits", graphdef="StatelessRandomUniformFullIntV2", result=with_seed_operand(_bits_type),
    kernel=_stateless_bits, gradient=_NO_GRADIENT,
    samples=(sample(_SEED, shape=(2, 3), dtype=int64), sample(_SEED, _SHAPE_VECTOR, shape=(None, 3), dtype=int32)),
    sizes=SizeOperand("shape", 1),
)  # fmt: skip
random_bits = define(
    name="random_bits", graphdef="RandomUniformFullInt", result=_bits_type,
    kernel=_random_bits,
    gradient=_NO_GRADIENT, effects=Effects.RANDOM, samples=(sample(shape=(2, 3), dtype=int64, seed=1),),
    sizes=SizeOperand("shape", 0),
)  # fmt: skip
