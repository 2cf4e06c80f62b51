"""Random numbers: seeds, streams, generators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autoconv.api import random
from autoconv.graph.dtypes import float64, int32, int64, uint8
from autoconv.runtime.convert import constant


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
