"""Random numbers: seeds, streams, generators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv
import autoconv.random as random
from autoconv.graph.dtypes import float64, int32, int64, uint32
from autoconv.ops.random.philox import philox4x32
from autoconv.runtime.tensors.conversion import constant
from tests.api.figures import values


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
    truncated = random.truncated_normal([2000], 10.0, 2.0).numpy()
    assert truncated.min() >= 6 and truncated.max() <= 14


def test_set_seed_starts_all_streams_anew() -> None:
    first, second = [], []
    for drawn in (first, second):
        random.set_seed(5)
        for seed in (None, None, 1, 1):
            drawn.extend(values(random.uniform([2], seed=seed)))
    random.set_seed(6)
    global_values = values(random.uniform([2]))
    assert first == second and len({str(v) for v in (*first, *global_values)}) == 5


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
    numbers = random.stateless_uniform([500], [1, 2], None, None, uint32).numpy()
    assert numbers.min() < 2**26 and numbers.max() > 2**32 - 2**26
    seeds = random.split([1, 2], 3)
    assert seeds.shape.as_list() == [3, 2] and seeds.dtype is int32
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
    assert first.state.numpy()[0] == second.state.numpy()[0] + 3 * 256
    assert first.make_seeds(4).shape.as_list() == [2, 4]
    left, right = first.split(2)
    assert values(left.uniform([2])) != values(right.uniform([2]))
    copied = random.Generator(copy_from=left)
    assert values(copied.truncated_normal([2])) == values(left.truncated_normal([2]))
    assert values(random.Generator.from_non_deterministic_state().uniform([4])) != values(
        random.Generator.from_non_deterministic_state().uniform([4])
    )


def test_global_generator() -> None:
    assert random.get_global_generator() is random.get_global_generator()
    own_generator = random.Generator.from_seed(1)
    random.set_global_generator(own_generator)
    assert random.get_global_generator() is own_generator


# (counter, key, four words): known answers of Philox 4x32 with ten rounds, from the test vectors of Random123
# (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3").
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN_ANSWERS)
def test_philox_known_answers(counter: Any, key: Any, expected: Any) -> None:
    low, high, whole = (a + (b << 32) for a, b in (counter[:2], counter[2:], key))
    assert philox4x32(whole, np.array([low], np.uint64), high).tolist() == [list(expected)]
    generator = random.Generator.from_key_counter(whole, [low, high], "philox")
    assert generator.uniform_full_int([4], autoconv.uint32).numpy().tolist() == list(expected)


def test_counters_carry() -> None:
    last, following = (random.Generator.from_state([*counter, 3], "philox") for counter in ([-1, 6], [0, 7]))
    words = last.uniform_full_int([8], autoconv.uint32).numpy()[4:]
    assert words.tolist() == following.uniform_full_int([4], autoconv.uint32).numpy().tolist()


# Printed by TensorFlow 2.21.
TENSORFLOW = [
    ("stateless_uniform([5], [1, 2])", [0.84406042, 0.19204533, 0.99622321, 0.1603874, 0.27199018]),
    ("stateless_uniform([3], [1, 2], dtype=float64)", [0.7524837538451801, 0.9697857725627486, 0.17592233912897481]),
    ("stateless_uniform([3], [1, 2], dtype=autoconv.float16)", [0.54296875, 0.2353515625, 0.060546875]),
    ("stateless_normal([5], [1, 2])", [0.54411012, 0.20738031, 0.07356432, 0.04643455, -1.3015898]),
    ("stateless_normal([3], [1, 2], dtype=float64)", [-0.1423118100189212, 0.7406072461585091, -1.469047669443883]),
    (
        "stateless_truncated_normal([9], [1, 2])",
        [0.54411012, 0.20738031, 0.07356432, 0.04643455, 0.16820592, -1.6850333, 0.24202858, 1.7034503, 1.1060677],
    ),
    (
        "stateless_truncated_normal([5], [1, 2], dtype=float64)",
        [-0.1423118100189212, 0.7406072461585091, -0.552387756244845, -0.734450092480207, -0.39842023956588357],
    ),
    ("stateless_uniform([5], [1, 2], 0, 10, int32)", [0, 9, 4, 9, 7]),
    ("stateless_uniform([5], [1, 2], 0, 10, int64)", [4, 8, 7, 3, 3]),
    ("stateless_uniform([3], [1, 2], None, None, int32)", [1105988140, 1738052849, -335576002]),
    ("stateless_uniform([2], [1, 2], None, None, int64)", [7464880146280614444, 1591045637757961278]),
    ("stateless_categorical([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]], 5, [1, 2])", [[2, 2, 1, 2, 2], [1, 2, 0, 2, 2]]),
    ("split([1, 2], 2)", [[1105988140, 1738052849], [-335576002, 370444179]]),
    ("fold_in([1, 2], 7)", [1105988140, 7]),
    ("Generator.from_seed(1).state", [1, 0, 0]),
    ("Generator.from_seed(-3).state", [-3, -1, -1]),
    ("Generator.from_seed([1, 2]).state", [0, 1, 2]),
    ("Generator.from_key_counter(7, [8, 9], 'philox').state", [8, 9, 7]),
    ("Generator.from_seed(1).normal([3])", [0.43842274, -0.53439844, -0.07710262]),
    ("Generator.from_seed(1).uniform([3])", [0.78749514, 0.39065111, 0.29263055]),
]  # fmt: skip


@pytest.mark.parametrize(("call", "expected"), TENSORFLOW)
def test_a_seed_gives_tensorflows_numbers(call: str, expected: Any) -> None:
    names = {"int32": int32, "int64": int64, "float64": float64, "autoconv": autoconv}
    drawn = eval(f"random.{call}", {"random": random, **names})
    drawn = drawn.read_value() if isinstance(drawn, autoconv.Variable) else drawn
    np.testing.assert_allclose(drawn, expected, rtol=3e-7)
    staged = autoconv.function(lambda: autoconv.identity(drawn) if "Generator" in call else eval(
        f"random.{call}", {"random": random, **names}
    ))()  # fmt: skip
    np.testing.assert_allclose(staged, expected, rtol=3e-7)


def test_generators_advance_as_tensorflows() -> None:
    generator = random.Generator.from_seed(1)
    generator.normal([3])
    assert generator.state.numpy().tolist() == [769, 0, 0]
    assert values(generator.uniform([3])) == [[0.6941341161727905, 0.7800472974777222, 0.3360424041748047]]
    assert values(generator.uniform([3], 0, 10, int32)) == [[0, 0, 5]]
    assert values(generator.make_seeds(2)) == [[[-2717584139447609716, 5116656632765974957], [0, 0]]]
    generator = random.Generator.from_seed(-3)
    generator.skip(10)
    assert generator.state.numpy().tolist() == [2557, 0, -1]
    generator.normal([2, 3], dtype=float64)
    assert generator.state.numpy().tolist() == [4093, 0, -1]


def test_global_seeds_give_tensorflows_numbers() -> None:
    random.set_seed(1)
    drawn = values(
        random.uniform([3]), random.uniform([3]), random.normal([3]), random.uniform([3], seed=1),
        random.uniform([3], seed=1), random.truncated_normal([5]), random.uniform([3], 0, 10, int32),
    )  # fmt: skip
    expected = [
        [0.1651308536529541, 0.9014812707901001, 0.6309741735458374],
        [0.5101070404052734, 0.44353175163269043, 0.40853309631347656],
        [-0.45701223611831665, -0.40686726570129395, 0.728577733039856],
        [0.055544137954711914, 0.018698453903198242, 0.07080972194671631],
        [0.570215106010437, 0.5032585859298706, 0.3762054443359375],
        [1.694016695022583, 0.11969316750764847, -1.158460021018982, 0.1726040244102478, 1.2539327144622803],
        [4, 4, 9],
    ]
    for found, numbers in zip(drawn, expected, strict=True):
        np.testing.assert_allclose(found, numbers, rtol=3e-7)
    random.set_seed(1)
    assert values(random.uniform([3]), random.uniform([3], seed=1)) == [expected[0], expected[3]]


def test_each_node_of_a_function_has_a_stream_which_set_seed_restarts() -> None:
    """The behaviour of set_seed in TensorFlow's documentation, with its numbers."""

    @autoconv.function
    def unseeded() -> Any:
        return random.uniform([1]), random.uniform([1])

    @autoconv.function
    def another() -> Any:
        return random.uniform([1]), random.uniform([1])

    @autoconv.function
    def seeded() -> Any:
        return random.uniform([1], seed=1), random.uniform([1], seed=1)

    @autoconv.function
    def looped() -> Any:
        total = autoconv.TensorArray(autoconv.float32, 3)
        for i in autoconv.range(3):
            total = total.write(i, random.uniform([], seed=1))
        return total.stack()

    random.set_seed(1234)
    first = [[0.13047122955322266], [0.16898059844970703]]
    assert values(*unseeded()) == first == values(*another())
    assert values(*unseeded()) == [[0.6087815761566162], [0.7539083957672119]]
    assert values(*seeded()) == [[0.16898059844970703]] * 2
    assert values(*seeded()) == [[0.7539083957672119]] * 2
    assert values(looped()) == [[0.16898059844970703, 0.7539083957672119, 0.4243431091308594]]
    random.set_seed(1234)
    assert values(*unseeded()) == first and values(*seeded()) == [[0.16898059844970703]] * 2
    random.set_seed(1234)
    assert values(random.uniform([1], seed=1)) == [[0.16898059844970703]]  # the eager program's first draw
    random.set_seed(None)


def test_compiled_programs_draw_the_numbers_of_plain_python() -> None:
    def draw() -> Any:
        return (
            random.uniform([3]), random.normal([2, 2], seed=4), random.truncated_normal([3]),
            random.shuffle([1, 2, 3, 4]),
            random.uniform([3], 0, 100, int32), random.categorical([[0.0, 1.0]], 5), random.gamma([3], 2.0),
            random.poisson([3], [1.0, 50.0]), random.stateless_normal([2], [1, 2]),
        )  # fmt: skip

    random.set_seed(9)
    eager = [x.numpy().tolist() for x in draw()]
    traced = autoconv.compile(draw)
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
        expected = eager.normal([2]), eager.binomial([3], 10.0, 0.5), eager.uniform([2], 0, 9, int32)
        assert found == [x.numpy().tolist() for x in expected]


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


# Of TensorFlow 2.21, after random.set_seed(3), with the op seed 7.
TENSORFLOW_DRAWS = [
    (lambda: random.shuffle(autoconv.range(10), seed=7), [6, 2, 7, 0, 8, 5, 9, 3, 1, 4]),
    (lambda: random.shuffle(autoconv.range(9), seed=7), [4, 8, 2, 1, 3, 6, 7, 5, 0]),
    (lambda: random.shuffle(autoconv.reshape(autoconv.range(12), [6, 2]), seed=7), [[6, 7], [4, 5], [0, 1], [10,
     11], [2, 3], [8, 9]]),
    (lambda: random.gamma([4], 2.5, seed=7), [3.13688, 2.94971, 0.4865, 1.74404]),
    (lambda: random.gamma([2, 3], [0.5, 1.0, 3.0], beta=[1.0, 2.0, 0.5], seed=7), [[[0.03116, 0.54445, 3.14041],
     [0.04079, 0.54494, 1.70843], [1.09335, 0.31888, 5.2967]], [[0.26759, 0.30838, 2.81587], [4.45191, 0.00143,
     12.07962], [0.04473, 0.98788, 2.95031]]]),
    (lambda: random.gamma([4], 2.5, seed=7), [1.51924, 1.92853, 1.11768, 0.92633]),
    (lambda: random.poisson([5], 3.0, seed=7), [0.0, 2.0, 1.0, 5.0, 2.0]),
    (lambda: random.poisson([4], [0.5, 20.0, 300.0], seed=7, dtype=float64), [[0.0, 18.0, 263.0], [0.0, 20.0,
     304.0], [0.0, 17.0, 308.0], [0.0, 25.0, 308.0]]),
    (lambda: random.poisson([4], 7.0, dtype=int32, seed=7), [6, 5, 7, 8]),
]  # fmt: skip
TENSORFLOW_STATELESS = [
    (lambda: random.stateless_gamma([3, 2], [1, 2], [0.5, 4.0]), [[0.06695, 4.45934], [0.62824, 4.52027],
     [0.18137, 3.40915]]),
    (lambda: random.stateless_poisson([4], [1, 2], 3.0), [5, 5, 4, 6]),
    (lambda: random.stateless_poisson([2, 2], [1, 2], [3.0, 50.0]), [[5.0, 60.0], [5.0, 58.0]]),
    (lambda: random.stateless_binomial([6], [1, 2], 10.0, 0.3), [5, 5, 5, 4, 4, 3]),
    (lambda: random.stateless_binomial([3, 2], [1, 2], [100.0, 7.0], [0.4, 0.8]), [[46, 5], [43, 4], [47, 5]]),
    (lambda: random.stateless_binomial([4], [5, 6], [50.0, 60.0, 70.0, 1000.0], 0.9), [47.0, 51.0, 68.0, 893.0]),
    (lambda: random.experimental.stateless_shuffle(autoconv.range(8), seed=[1, 2]), [4, 2, 1, 7, 3, 6, 0, 5]),
]  # fmt: skip


def test_a_seed_gives_the_permutations_and_counts_of_tensorflow() -> None:
    random.set_seed(3)
    for draw, expected in TENSORFLOW_DRAWS:
        np.testing.assert_allclose(draw(), expected, rtol=1e-5, atol=1e-5)
    for draw, expected in TENSORFLOW_STATELESS:
        np.testing.assert_allclose(draw(), expected, rtol=1e-5, atol=1e-5)
    shuffled = autoconv.function(lambda: random.shuffle(autoconv.range(6), seed=7))
    random.set_seed(3)
    assert [shuffled().numpy().tolist() for _ in range(2)] == [[4, 2, 3, 1, 0, 5], [5, 0, 1, 4, 2, 3]]
