"""Random numbers: counter-based generators (Philox, Threefry), each number a pure function of key and counter.

The stateless ops take the key as a tensor; the stateful ones draw key and counter from `GLOBAL`. The conversion of bits
to numbers is implemented here, not by NumPy, so that a seed gives the same numbers everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.forks import new_lock
from autoconv.graph.dtypes import DType, float32, float64, int32, int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, shapes_compatible
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.movement.constants import checked_shape, given_shape
from autoconv.ops.random.threefry import Threefry
from autoconv.ops.record import define, no_gradient, sample
from autoconv.ops.rules import same
from autoconv.ops.traits import SizeOperand

_BITS = 2**64
TRUNCATION = 2.0  # standard deviations
PRECISION = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}  # random bits of a uniform number


class Bits(Protocol):
    """A stream of random bits."""

    def random_raw(self, size: int, /) -> Any:
        """Return the next numbers of 64 bits, uint64 [size]."""


class GlobalGenerator:
    """The state of the stateful ops: a key from `set_seed`, and the number of draws from each stream.

    A draw with an op-level seed has a stream of its own. Without `set_seed`, draws without an op-level seed
    differ from run to run.
    """

    def __init__(self) -> None:
        self._lock = new_lock()
        self.seed: int | None = None
        self._entropy = int.from_bytes(os.urandom(8), "little")
        self._drawn: dict[int | None, int] = {}

    def set_seed(self, seed: int | None) -> None:
        """Restart all streams; None takes a fresh key from the operating system."""
        with self._lock:
            self.seed = None if seed is None else seed % _BITS
            self._entropy = int.from_bytes(os.urandom(8), "little")
            self._drawn.clear()

    def next(self, op_seed: int | None = None) -> np.random.Philox:
        """Return the bits for one draw, shared with no other draw."""
        return _philox(*map(int, self.advance(op_seed)))

    def advance(self, op_seed: int | None = None) -> np.ndarray:
        """Return the two words of the key and the number of the draw, uint64[3]."""
        with self._lock:
            count = self._drawn.get(op_seed, 0)
            self._drawn[op_seed] = count + 1
            key = self.seed if self.seed is not None else self._entropy if op_seed is None else 0
        # The second word of the key identifies the stream, the counter's upper words the draw.
        stream = 0 if op_seed is None else (op_seed % (_BITS - 1)) + 1
        return np.array([key % _BITS, stream, count % _BITS], np.uint64)


GLOBAL = GlobalGenerator()


def _philox(first: int, second: int, draw: int = 0) -> np.random.Philox:
    key = np.array([first % _BITS, second % _BITS], np.uint64)
    return np.random.Philox(key=key, counter=np.array([0, draw % _BITS, 0, 0], np.uint64))


def from_seed(seed: Any, alg: str) -> Bits:
    if np.shape(seed) != (2,):
        raise InvalidArgumentError(f"seed must have shape [2], not {list(np.shape(seed))}")
    make: Callable[[int, int], Bits] = Threefry if alg == "threefry" else _philox
    return make(int(seed[0]), int(seed[1]))


# ---- from bits to numbers


def _raw(bits: Bits, shape: tuple[int, ...]) -> Any:
    count = int(np.prod(shape, dtype=np.int64))
    return np.asarray(bits.random_raw(count), np.uint64).reshape(shape)


def _unit(bits: Bits, shape: tuple[int, ...], dtype: DType) -> Any:
    """Return multiples of the dtype's epsilon, uniform in [0, 1)."""
    precision = PRECISION[dtype.name]
    return ((_raw(bits, shape) >> np.uint64(64 - precision)) * 2.0**-precision).astype(dtype.numpy)


def unit(bits: Bits, shape: tuple[int, ...]) -> Any:
    """Return float64 numbers in [0, 1)."""
    return _unit(bits, shape, float64)


def gaussian(bits: Bits, shape: tuple[int, ...]) -> Any:
    """Box and Muller's transform in float64."""
    count = int(np.prod(shape, dtype=np.int64))
    half = (count + 1) // 2
    uniform = (_raw(bits, (2, half)) >> np.uint64(11)) * 2.0**-53
    radius = np.sqrt(-2.0 * np.log1p(-uniform[0]))
    angle = 2.0 * np.pi * uniform[1]
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count].reshape(shape)


def _normal(bits: Bits, shape: tuple[int, ...], dtype: DType) -> Any:
    return gaussian(bits, shape).astype(dtype.numpy)


def _truncated(bits: Bits, shape: tuple[int, ...], dtype: DType) -> Any:
    """Return normal numbers; those beyond two standard deviations are drawn again."""
    result = gaussian(bits, shape)
    while True:
        outside = np.abs(result) > TRUNCATION
        missing = int(np.count_nonzero(outside))
        if not missing:
            return result.astype(dtype.numpy)
        if np.ndim(result) == 0:
            result = gaussian(bits, ())
        else:
            result[outside] = gaussian(bits, (missing,))


def _integers(bits: Bits, shape: tuple[int, ...], low: Any, high: Any) -> Any:
    """Return integers in [low, high), by remainder: the bias is below the range divided by 2**64."""
    dtype = np.asarray(low).dtype
    if not np.all(np.less(low, high)):
        raise InvalidArgumentError(f"Need minval < maxval, got {np.max(low)} >= {np.min(high)}")
    start = np.asarray(low).astype(np.int64 if dtype.kind == "i" else np.uint64).astype(np.uint64)
    stop = np.asarray(high).astype(np.int64 if dtype.kind == "i" else np.uint64).astype(np.uint64)
    return np.asarray(start + _raw(bits, shape) % (stop - start)).astype(dtype)


def _permuted(bits: Bits, x: Any) -> Any:
    return x[np.argsort(_raw(bits, np.shape(x)[:1]), kind="stable")]


# ---- the ops


def _shape_of(op: str, shape: Any, vector: Any) -> tuple[int, ...]:
    return shape if vector is None else checked_shape(op, vector)


def _float_type(name: str) -> Callable[..., TensorType]:
    def rule(vector: TensorType | None = None, *, shape: Any, dtype: DType = float32, **_: Any) -> TensorType:
        if not dtype.is_floating:
            raise TypeError(f"{name} draws floating numbers, found dtype {dtype.name}")
        return TensorType(dtype, given_shape(name, shape, vector))

    return rule


def _integer_type(name: str) -> Callable[..., TensorType]:
    def rule(
        low: TensorType, high: TensorType, vector: TensorType | None = None, *, shape: Any, **_: Any
    ) -> TensorType:
        if not low.dtype.is_integer or low.dtype is not high.dtype:
            raise TypeError(
                f"{name} takes integer bounds of one dtype, found {low.dtype.name} and {high.dtype.name}"
            )
        return TensorType(low.dtype, given_shape(name, shape, vector))

    return rule


def seeded(rule: Callable[..., TensorType]) -> Callable[..., TensorType]:
    """Return the type rule of an op whose first operand is its seed."""

    def with_seed(seed: TensorType, *inputs: TensorType, **attributes: Any) -> TensorType:
        if not seed.dtype.is_integer:
            raise TypeError(f"seed must be of integers, found {seed.dtype.name}")
        if not shapes_compatible(seed.shape, (2,)):
            raise ValueError(f"seed must have shape [2], found {seed}")
        return rule(*inputs, **attributes)

    return with_seed


_REASON = no_gradient("random numbers do not depend on what they are drawn with")
_VECTOR = np.array([2, 3], np.int32)
_SEED = np.array([7, 42], np.int64)


def _floats(name: str, stateless_name: str, graphdefs: tuple[str, str], draw: Callable[..., Any]) -> None:
    """Define the stateful and the stateless op of a floating distribution."""

    def stateful(vector: Any = None, *, shape: Any, dtype: DType = float32, seed: int | None = None) -> Any:
        return draw(GLOBAL.next(seed), _shape_of(name, shape, vector), dtype)

    def stateless(
        seed: Any, vector: Any = None, *, shape: Any, dtype: DType = float32, alg: str = "philox"
    ) -> Any:
        return draw(from_seed(seed, alg), _shape_of(name, shape, vector), dtype)

    define(
        name=f"random_{name}", graphdef=graphdefs[0], result=_float_type(f"random_{name}"),
        kernel=quiet(stateful), gradient=_REASON, effects=Effects.RANDOM,
        samples=(
            sample(shape=(2, 3), dtype=float32), sample(_VECTOR, shape=(None, 3), dtype=float64, seed=1),
        ),
        sizes=SizeOperand("shape", 0),
    )  # fmt: skip
    define(
        name=stateless_name, graphdef=graphdefs[1], result=seeded(_float_type(stateless_name)),
        kernel=quiet(stateless), gradient=_REASON,
        samples=(
            sample(_SEED, shape=(2, 3), dtype=float32),
            sample(_SEED, _VECTOR, shape=(None, 3), dtype=float64),
            sample(_SEED, shape=(2, 3), dtype=float32, alg="threefry"),
        ),
        sizes=SizeOperand("shape", 1),
    )  # fmt: skip


_floats("uniform", "stateless_random_uniform", ("RandomUniform", "StatelessRandomUniformV2"), _unit)
_floats("normal", "stateless_random_normal", ("RandomStandardNormal", "StatelessRandomNormalV2"), _normal)
_floats(
    "truncated_normal", "stateless_truncated_normal",
    ("TruncatedNormal", "StatelessTruncatedNormalV2"), _truncated,
)  # fmt: skip


def _random_uniform_int(
    low: Any, high: Any, vector: Any = None, *, shape: Any, seed: int | None = None
) -> Any:
    return _integers(GLOBAL.next(seed), _shape_of("random_uniform_int", shape, vector), low, high)


def _stateless_uniform_int(
    seed: Any, low: Any, high: Any, vector: Any = None, *, shape: Any, alg: str = "philox"
) -> Any:
    return _integers(from_seed(seed, alg), _shape_of("stateless_random_uniform_int", shape, vector), low, high)


def _bits_type(vector: TensorType | None = None, *, shape: Any, dtype: DType, **_: Any) -> TensorType:
    if not dtype.is_integer:
        raise TypeError(f"random bits make integers, found dtype {dtype.name}")
    return TensorType(dtype, given_shape("stateless_random_bits", shape, vector))


def _stateless_bits(seed: Any, vector: Any = None, *, shape: Any, dtype: DType, alg: str = "philox") -> Any:
    return _raw(from_seed(seed, alg), _shape_of("stateless_random_bits", shape, vector)).astype(dtype.numpy)


def _shuffle(x: Any, *, seed: int | None = None) -> Any:
    return _permuted(GLOBAL.next(seed), x) if np.ndim(x) else x


def _stateless_shuffle(seed: Any, x: Any, *, alg: str = "philox") -> Any:
    return _permuted(from_seed(seed, alg), x) if np.ndim(x) else x


_LOW, _HIGH = np.int32(-3), np.int32(9)

random_uniform_int = define(
    name="random_uniform_int", graphdef="RandomUniformInt", result=_integer_type("random_uniform_int"),
    kernel=quiet(_random_uniform_int), gradient=_REASON, effects=Effects.RANDOM | Effects.RAISE, unify=(0, 1),
    samples=(sample(_LOW, _HIGH, shape=(2, 3)), sample(_LOW, _HIGH, _VECTOR, shape=(None, 3), seed=1)),
    sizes=SizeOperand("shape", 2),
)  # fmt: skip
stateless_random_uniform_int = define(
    name="stateless_random_uniform_int", graphdef="StatelessRandomUniformIntV2",
    result=seeded(_integer_type("stateless_random_uniform_int")), kernel=quiet(_stateless_uniform_int),
    gradient=_REASON, effects=Effects.RAISE, unify=(1, 2),
    samples=(sample(_SEED, _LOW, _HIGH, shape=(2, 3)), sample(_SEED, _LOW, _HIGH, _VECTOR, shape=(None, 3))),
    sizes=SizeOperand("shape", 3),
)  # fmt: skip
stateless_random_bits = define(
    name="stateless_random_bits", graphdef="StatelessRandomUniformFullIntV2", result=seeded(_bits_type),
    kernel=_stateless_bits, gradient=_REASON,
    samples=(sample(_SEED, shape=(2, 3), dtype=int64), sample(_SEED, _VECTOR, shape=(None, 3), dtype=int32)),
    sizes=SizeOperand("shape", 1),
)  # fmt: skip
random_bits = define(
    name="random_bits", graphdef="RandomUniformFullInt", result=_bits_type,
    kernel=lambda vector=None, *, shape, dtype, seed=None: _raw(
        GLOBAL.next(seed), _shape_of("random_bits", shape, vector)
    ).astype(dtype.numpy),
    gradient=_REASON, effects=Effects.RANDOM, samples=(sample(shape=(2, 3), dtype=int64, seed=1),),
    sizes=SizeOperand("shape", 0),
)  # fmt: skip
random_shuffle = define(
    name="random_shuffle", graphdef="RandomShuffle", result=same, kernel=_shuffle,
    gradient=no_gradient("the permutation is not kept"), effects=Effects.RANDOM,
    samples=(sample(np.array([[1, 2], [3, 4], [5, 6]])),),
)  # fmt: skip
stateless_shuffle = define(
    name="stateless_shuffle", graphdef="StatelessShuffle", result=seeded(same), kernel=_stateless_shuffle,
    gradient=no_gradient("the permutation is not kept"),
    samples=(sample(_SEED, np.array([[1, 2], [3, 4], [5, 6]])),),
)  # fmt: skip
