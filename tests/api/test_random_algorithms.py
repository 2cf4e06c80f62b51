"""Algorithms of random numbers: Threefry, and the choice of an algorithm by name, number or member."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv
import autoconv.random as random
from autoconv.config import SETTINGS
from autoconv.graph.dtypes import int32
from autoconv.ops.random.threefry import Threefry, threefry2x32
from autoconv.runtime.tensors.conversion import constant
from tests.api.figures import values

# Test vectors of Random123 (Salmon and others): counter, key, block.
KNOWN_THREEFRY = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("counter", "key", "block"), KNOWN_THREEFRY)
def test_threefry_known_answers(counter: Any, key: Any, block: Any) -> None:
    found = threefry2x32(key, np.array([counter, counter], np.uint32))
    assert found.tolist() == [list(block)] * 2


def test_threefry_words_are_consecutive() -> None:
    key = tuple(threefry2x32((7, 0), np.array([[42, 0]], np.uint32))[0].tolist())
    blocks = threefry2x32(key, np.array([[i, 0] for i in range(6)], np.uint32))
    bits = Threefry(7, 42)
    assert [*bits.words(4).tolist(), *bits.words(8).tolist()] == blocks.reshape(-1).tolist()
    full = random.stateless_uniform([5], (7, 42), None, None, autoconv.uint64, alg="threefry")
    assert full.numpy().tolist() == [int(low) + (int(high) << 32) for low, high in blocks[:5]]


def stateless_draws() -> list[Any]:
    seed, how = constant([3, 4]), {"alg": "threefry"}
    return [
        random.stateless_uniform([3], seed, **how),
        random.stateless_uniform([3], seed, 0, 100, int32, **how),
        random.stateless_normal([3], seed, 1.0, 2.0, **how),
        random.stateless_truncated_normal([3], seed, **how),
        random.stateless_shuffle(constant([1, 2, 3, 4, 5]), seed, **how),
        random.stateless_gamma([3], seed, 0.5, **how),
        random.stateless_poisson([3], seed, 4.0, **how),
        random.stateless_binomial([3], seed, 10, 0.5, **how),
        random.split(seed, 2, alg=random.Algorithm.THREEFRY),
        random.fold_in(seed, 5, alg=2),
    ]


def generator_draws(generator: random.Generator) -> list[Any]:
    return [
        generator.uniform([3]),
        generator.uniform([3], 0, 100, int32),
        generator.uniform_full_int([2]),
        generator.normal([3]),
        generator.truncated_normal([3]),
        generator.binomial([3], 10, 0.5),
        generator.make_seeds(2),
    ]


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_threefry_in_all_execution_modes(monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    monkeypatch.setattr(SETTINGS, "backend", backend)
    assert values(*autoconv.function(stateless_draws)()) == values(*stateless_draws())
    generator = random.Generator.from_seed(1, alg="threefry")
    assert generator.algorithm == 2 and random.Generator(copy_from=generator).algorithm == 2
    at_once = values(*generator_draws(generator))
    generator.reset_from_seed(1)
    assert values(*autoconv.function(lambda: generator_draws(generator))()) == at_once
    by_philox = values(*generator_draws(random.Generator.from_seed(1)))
    assert all(a != b for a, b in zip(at_once, by_philox, strict=True))
    assert [g.algorithm for g in generator.split(2)] == [2, 2]


def test_algorithms_by_name_number_and_member() -> None:
    for alg in ("philox", "auto_select", 1, 3, None, random.Algorithm.PHILOX):
        assert random.Generator.from_seed(1, alg=alg).algorithm == 1
    for alg in ("threefry", "THREEFRY", 2, random.Algorithm.THREEFRY):
        assert random.Generator.from_seed(1, alg=alg).algorithm == 2
    with pytest.raises(ValueError, match=r"no algorithm 'mt19937'.*'philox', 'threefry'"):
        random.stateless_uniform([2], (1, 2), alg="mt19937")
    state = random.create_rng_state(1, "threefry")
    drawn = [random.Generator.from_state(state, "threefry"), random.Generator.from_seed(1, "threefry")]
    assert len({tuple(generator.uniform([3]).numpy().tolist()) for generator in drawn}) == 1


def test_binomial_draws_of_a_generator_reserve_as_many_numbers_as_in_tensorflow() -> None:
    for shape, counts, advanced in (([1], 5.0, 200), ([5], 5.0, 400), ([2, 2], 5.0, 350), ([3, 2], [5.0, 6.0], 600)):
        generator = random.Generator.from_seed(3)
        generator.binomial(shape, counts, 0.3)
        assert generator.state.numpy()[0] == 3 + 256 * advanced
