"""Permutations of integers by the block cipher Simon, computed for single positions, with TensorFlow's constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.record import define, no_gradient, sample
from autoconv.ops.rules import broadcast_shapes

_MIN_BLOCK_BITS = 16
_KEY_CONSTANT = 0xFFFFFFFC
_SEQUENCE = 0x7369F885192C0EF5  # Simon's sequence z for the key schedule: one bit a round, the lowest bit first


def _type(index: TensorType, seed: TensorType, max_index: TensorType, *, rounds: int = 4) -> TensorType:
    """Return the type of the broadcast operands; raise for a seed whose last size is not 3."""
    if not index.dtype.is_integer:
        raise TypeError(f"positions are integers, found {index.dtype.name}")
    has_seed_shape = seed.shape is None or (len(seed.shape) in (1, 2) and seed.shape[-1] in (3, None))
    if not has_seed_shape:
        raise ValueError(f"Seed must be a vector of size [3] or a matrix of size [n, 3], found {seed.shape}")
    if index.shape is None or seed.shape is None or max_index.shape is None:
        return TensorType(index.dtype, None)
    result_shape = broadcast_shapes(broadcast_shapes(index.shape, max_index.shape), seed.shape[:-1])
    return TensorType(index.dtype, result_shape)


def _shuffle(index: Any, seed: Any, max_index: Any, *, rounds: int = 4) -> Any:
    """Return the image of each index; the seed, three words, selects the permutation of 0 … `max_index`."""
    keys = np.asarray(seed)
    if np.any(np.asarray(index) > np.asarray(max_index)) or np.any(np.asarray(index) < 0):
        raise InvalidArgumentError("The index must be at least 0 and at most `max_index`.")
    shape = np.broadcast_shapes(np.shape(index), np.shape(max_index), keys.shape[:-1])
    indices, max_indices = (np.broadcast_to(value, shape).ravel().tolist() for value in (index, max_index))
    words = [np.broadcast_to(keys[..., i], shape).ravel().tolist() for i in range(3)]
    rows = zip(indices, zip(*words, strict=True), max_indices, strict=True)
    permuted_indices = [_permuted_index(*row, rounds) for row in rows]
    return np.array(permuted_indices, np.asarray(index).dtype).reshape(shape)


def _permuted_index(index: int, key: tuple[int, ...], max_index: int, rounds: int) -> int:
    """Return the image of `index` in the permutation of 0 … `max_index`: encrypt it again until it is in this range."""
    bits = max((max_index - 1).bit_length() if max_index > 1 else 0, _MIN_BLOCK_BITS)
    width = (bits + bits % 2) // 2
    schedule = _schedule(key, width, rounds)
    while True:
        index = _encrypt(index, schedule, width)
        if index <= max_index:
            return index


def _schedule(key: tuple[int, ...], width: int, rounds: int) -> list[int]:
    """Return the key of each round; `width` is the number of bits of half a block."""
    mask = (1 << width) - 1
    result = [word & 0xFFFFFFFF & mask for word in key]
    for i in range(3, rounds):
        last = result[-1]
        bit = _SEQUENCE >> (i - 3) & 1
        result.append(
            (_KEY_CONSTANT ^ bit ^ result[i - 3] ^ _rotate_right(last, 3, width) ^ _rotate_right(last, 4, width)) & mask
        )
    return result


def _encrypt(block: int, schedule: list[int], width: int) -> int:
    """Encrypt a block of two halves of `width` bits, two rounds at a time."""
    mask = (1 << width) - 1
    left, right = block >> width & mask, block & mask
    for first_key, second_key in zip(schedule[::2], schedule[1::2], strict=True):
        left ^= _mix(right, width) ^ first_key
        right ^= _mix(left, width) ^ second_key
    return left << width | right


def _mix(word: int, width: int) -> int:
    """Return Simon's round function of half a block."""
    return (_rotate_left(word, 1, width) & _rotate_left(word, 8, width)) ^ _rotate_left(word, 2, width)


def _rotate_left(word: int, count: int, width: int) -> int:
    return (word << count | word >> (width - count)) & ((1 << width) - 1)


def _rotate_right(word: int, count: int, width: int) -> int:
    return (word >> count | word << (width - count)) & ((1 << width) - 1)


index_shuffle = define(
    name="index_shuffle", graphdef="RandomIndexShuffle", result=_type, kernel=_shuffle,
    gradient=no_gradient("positions are integers"), effects=Effects.RAISE,
    samples=(
        sample(np.array([0, 3, 9]), np.array([1, 2, 3]), np.array(9)),
        sample(np.array(5), np.array([[1, 2, 3], [4, 5, 6]]), np.array(70000)),
    ),
)  # fmt: skip
