"""Random numbers: seeds, streams, generators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv
import autoconv.random as random
from autoconv.config import SETTINGS
from autoconv.graph.dtypes import float64, int32, int64, uint8
from autoconv.ops.random.threefry import Threefry, threefry2x32
from autoconv.runtime.tensors.conversion import constant


def values(*tensors: Any) -> list[Any]:
    return [tensor.numpy().tolist() for tensor in tensors]


def test_uniform() -> None:
    x = random.uniform([1000], -2.0, 3.0).numpy()
    assert x.dtype == np.float32 and x.min() >= -2 and x.max() < 3
    dice = random.uniform((1000,), 1, 7, int32).numpy()
    assert set(dice) == {1, 2, 3, 4, 5, 6}
    assert random.uniform([], dtype=float64).shape.as_list() == []
    assert random.uniform(constant([2, 3])).shape.as_list() == [2, 3]
    with pytest.raises(ValueError, match="Must specify maxval for integer dtype int32"):
        random.uniform([2], dtype=int32)


def test_normal() -> None:
    x = random.normal([2000], 10.0, 2.0, float64).numpy()
    assert abs(x.mean() - 10) < 0.3 and abs(x.std() - 2) < 0.2
    cut = random.truncated_normal([2000], 10.0, 2.0).numpy()
    assert cut.min() >= 6 and cut.max() <= 14


def test_set_seed_starts_all_streams_anew() -> None:
    first, again = [], []
    for drawn in (first, again):
        random.set_seed(5)
        for seed in (None, None, 1, 1):
            drawn.extend(values(random.uniform([2], seed=seed)))
    random.set_seed(6)
    other = values(random.uniform([2]))
    assert first == again and len({str(v) for v in (*first, *other)}) == 5


def test_draws_differ_without_a_seed() -> None:
    random.set_seed(None)
    assert values(random.uniform([4])) != values(random.uniform([4]))


def test_shuffle() -> None:
    random.set_seed(1)
    x = random.shuffle(np.arange(20)).numpy()
    assert sorted(x) == list(range(20)) and x.tolist() != list(range(20))


def test_stateless() -> None:
    assert values(random.stateless_normal([3], [1, 2])) == values(random.stateless_normal([3], [1, 2]))
    assert values(random.stateless_normal([3], [1, 2])) != values(random.stateless_normal([3], [1, 3]))
    every = random.stateless_uniform([500], [1, 2], None, None, uint8).numpy()
    assert every.min() < 10 and every.max() > 245
    seeds = random.split([1, 2], 3)
    assert seeds.shape.as_list() == [3, 2] and seeds.dtype is int64
    assert values(random.fold_in([1, 2], 0)) != values(random.fold_in([1, 2], 1))
    assert sorted(random.stateless_shuffle([1, 2, 3], [1, 2]).numpy()) == [1, 2, 3]


def test_categorical() -> None:
    random.set_seed(1)
    logits = np.log([[0.1, 0.0001, 0.9], [0.0001, 1.0, 0.0001]])
    drawn = random.categorical(logits, 1000).numpy()
    assert drawn.shape == (2, 1000) and drawn.dtype == np.int64
    assert 0.85 < (drawn[0] == 2).mean() < 0.95 and (drawn[1] == 1).mean() > 0.99
    assert random.stateless_categorical(logits, 5, [1, 2], int32).dtype is int32


def test_generator() -> None:
    first, second = random.Generator.from_seed(7), random.Generator.from_seed(7)
    drawn = values(first.normal([2]), first.normal([2]))
    assert drawn == values(second.normal([2]), second.normal([2])) and drawn[0] != drawn[1]
    first.reset_from_seed(7)
    second.reset(first.state)
    assert values(first.uniform([3], 0, 100, int32)) == values(second.uniform([3], 0, 100, int32))
    first.skip(3)
    assert first.state.numpy()[1] == second.state.numpy()[1] + 3
    assert first.make_seeds(4).shape.as_list() == [2, 4]
    one, other = first.split(2)
    assert values(one.uniform([2])) != values(other.uniform([2]))
    copied = random.Generator(copy_from=one)
    assert values(copied.truncated_normal([2])) == values(one.truncated_normal([2]))
    assert values(random.Generator.from_non_deterministic_state().uniform([4])) != values(
        random.Generator.from_non_deterministic_state().uniform([4])
    )


def test_global_generator() -> None:
    assert random.get_global_generator() is random.get_global_generator()
    mine = random.Generator.from_seed(1)
    random.set_global_generator(mine)
    assert random.get_global_generator() is mine


# (counter, key, four numbers): known answers of Philox 4x64 with ten rounds, from the test vectors of Random123
# (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3").
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B)),
    (
        (2**64 - 1,) * 4, (2**64 - 1,) * 2,
        (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0),
    ),
    (
        (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
        (0x452821E638D01377, 0xBE5466CF34E90C6C),
        (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("counter", "key", "wanted"), KNOWN_ANSWERS)
def test_bits_are_those_of_philox(counter: Any, key: Any, wanted: Any) -> None:
    # The generator counts up before it draws.
    before = (sum(word << 64 * place for place, word in enumerate(counter)) - 1) % 2**256
    words = np.array([before >> 64 * place & (2**64 - 1) for place in range(4)], np.uint64)
    assert tuple(map(int, np.random.Philox(key=np.array(key, np.uint64), counter=words).random_raw(4))) == wanted


def test_stateless_bits_are_those_of_philox() -> None:
    """Key: the two seeds. Counter: 1 in its lowest word for the first draw."""
    drawn = random.stateless_uniform([4], [3, 4], None, None, int64).numpy().view(np.uint64)
    wanted = np.random.Philox(key=np.array([3, 4], np.uint64), counter=np.zeros(4, np.uint64)).random_raw(4)
    assert drawn.tolist() == wanted.tolist()


def test_the_same_numbers_eagerly_and_in_a_graph() -> None:
    import autoconv

    def draw() -> Any:
        return (
            random.uniform([3]), random.normal([2, 2], seed=4), random.truncated_normal([3]),
            random.shuffle([1, 2, 3, 4]),
            random.uniform([3], 0, 100, int32), random.categorical([[0.0, 1.0]], 5), random.gamma([3], 2.0),
            random.poisson([3], [1.0, 50.0]), random.stateless_normal([2], [1, 2]),
        )  # fmt: skip

    random.set_seed(9)
    eager = [x.numpy().tolist() for x in draw()]
    traced = autoconv.function(draw)
    random.set_seed(9)
    assert [x.numpy().tolist() for x in traced()] == eager
    assert traced()[0].numpy().tolist() != eager[0]  # anew on every call
    random.set_seed(None)


def test_generators_are_the_same_eagerly_and_in_a_graph() -> None:
    import autoconv

    eager, staged = random.Generator.from_seed(3), random.Generator.from_seed(3)

    @autoconv.function
    def draw() -> Any:
        return staged.normal([2]), staged.binomial([3], 10.0, 0.5), staged.uniform([2], 0, 9, int32)

    for _ in range(2):
        found = [x.numpy().tolist() for x in draw()]
        wanted = eager.normal([2]), eager.binomial([3], 10.0, 0.5), eager.uniform([2], 0, 9, int32)
        assert found == [x.numpy().tolist() for x in wanted]


@pytest.mark.parametrize(("alpha", "beta"), [(0.3, 1.0), (1.0, 2.0), (4.5, 0.5), (100.0, 3.0)])
def test_gamma(alpha: float, beta: float) -> None:
    x = random.stateless_gamma([40_000], [1, 2], alpha, beta, float64).numpy()
    mean, deviation = alpha / beta, np.sqrt(alpha) / beta
    assert (x >= 0).all()
    assert abs(x.mean() - mean) < 5 * deviation / 200 and abs(x.std() - deviation) < 0.05 * deviation
    third = ((x - mean) ** 3).mean() / deviation**3  # the skewness is 2 / sqrt(alpha)
    assert abs(third - 2 / np.sqrt(alpha)) < 0.3 * max(1, 2 / np.sqrt(alpha))


@pytest.mark.parametrize("mean", [0.0, 0.1, 3.0, 9.9, 10.0, 25.5, 1e4])
def test_poisson(mean: float) -> None:
    x = random.stateless_poisson([40_000], [1, 2], mean, int64).numpy()
    assert x.dtype == np.int64 and (x >= 0).all()
    assert abs(x.mean() - mean) <= 5 * np.sqrt(mean) / 200
    assert abs(x.var() - mean) <= 0.06 * mean
    if 0 < mean < 30:  # the probabilities themselves
        for count in range(int(mean), int(mean) + 3):
            chance = np.exp(count * np.log(mean) - mean - np.sum(np.log(np.arange(1, count + 1))))
            assert abs((x == count).mean() - chance) < 5 * np.sqrt(chance / 40_000)


def test_shapes_of_distributions() -> None:
    assert random.gamma([3], [1.0, 2.0], [[1.0], [4.0]]).shape.as_list() == [3, 2, 2]
    assert random.poisson([2, 3], [1.0, 9.0]).shape.as_list() == [2, 3, 2]
    assert random.poisson(constant([2]), 4.0, int32).dtype is int32
    sure = random.stateless_binomial([5], [1, 2], 10.0, [0.0, 1.0, 0.0, 1.0, 1.0])
    assert sure.numpy().tolist() == [0, 10, 0, 10, 10]
    with pytest.raises(ValueError, match="positive alpha"):
        random.gamma([1], -1.0)
    with pytest.raises(ValueError, match="mean of at least 0"):
        random.poisson([1], -1.0)
    with pytest.raises(ValueError, match=r"parameters of gamma, \[2\], do not extend to the shape \[3\]"):
        random.stateless_gamma([3], [1, 2], [1.0, 2.0])


# Salmon and others' Random123 comes with these: counter, key, block.
KNOWN_THREEFRY = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("counter", "key", "block"), KNOWN_THREEFRY)
def test_threefry_known_answers(counter: Any, key: Any, block: Any) -> None:
    found = threefry2x32(key, np.array([counter, counter], np.uint32))
    assert found.tolist() == [list(block)] * 2


def test_threefry_bits_follow_each_other() -> None:
    key = tuple(threefry2x32((7, 0), np.array([[42, 0]], np.uint32))[0].tolist())
    blocks = threefry2x32(key, np.array([[i, 0] for i in range(5)], np.uint32))
    expected = [int(low) + (int(high) << 32) for low, high in blocks]
    bits = Threefry(7, 42)
    assert [*bits.random_raw(2).tolist(), *bits.random_raw(3).tolist()] == expected
    full = random.stateless_uniform([5], (7, 42), None, None, autoconv.uint64, alg="threefry")
    assert full.numpy().tolist() == expected


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
def test_threefry_in_every_way_of_running(monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
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
