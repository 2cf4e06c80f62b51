"""NumPy's generators from outside of a compiled function: arguments, outer names, attributes, and the global one.

Numbers, states afterwards and errors are those of plain Python.
"""

import random
import re
import warnings

import numpy as np
import pytest

import autoconv as ac

DISTRIBUTIONS = {
    np.random.default_rng: (
        "random()", "integers(3, 17)", "integers(7)", "standard_normal()", "normal(1, 2.5)", "normal(scale=0.5)",
        "uniform(-1, 3)", "uniform()", "exponential(2.0)", "standard_exponential()", "poisson(4.5)", "gamma(2.5, 1.5)",
        "standard_gamma(0.7)", "beta(0.5, 2)", "chisquare(3)", "standard_t(4)", "f(2, 5)", "wald(1, 2)",
        "laplace(0, 1)", "logistic()", "gumbel()", "rayleigh(2)", "standard_cauchy()",
    ),
    np.random.RandomState: (
        "rand()", "randn()", "random_sample()", "random()", "standard_normal()", "normal(1, 2.5)", "uniform(-1, 3)",
        "randint(3, 17)", "randint(5)", "laplace()", "logistic()", "gumbel(1, 2)", "exponential(2.0)", "poisson(3)",
    ),
}  # fmt: skip


def numbers_of(draw):
    """Return the text of a function that draws numbers in a loop and an array, by the call `draw` of a method."""
    method, _, arguments = draw.rstrip(")").partition("(")
    sizes = "2, 3" if method in ("rand", "randn") else ", ".join([*filter(None, [arguments]), "size=(2, 3)"])
    return (
        "def numbers(generator, n):\n    total = 0.0\n    for _ in range(n):\n"
        f"        total = total * 0.5 + generator.{draw}\n"
        f"    return total, generator.{draw}, generator.{method}({sizes})\n"
    )


@pytest.mark.parametrize("make", DISTRIBUTIONS, ids=lambda make: make.__name__)
def test_numbers_of_distributions(make, tmp_path, monkeypatch):
    draws = DISTRIBUTIONS[make]
    functions = "\n".join(numbers_of(draw).replace("numbers", f"numbers_{i}") for i, draw in enumerate(draws))
    (tmp_path / f"draws_of_{make.__name__}.py").write_text(functions)
    monkeypatch.syspath_prepend(tmp_path)
    module = __import__(f"draws_of_{make.__name__}")
    for i, draw in enumerate(draws):
        plain = getattr(module, f"numbers_{i}")
        compiled = ac.compile(plain)
        for seed in (1, 2):
            found, expected = make(seed), make(seed)
            assert_same(compiled(found, 70), plain(expected, 70), draw)
            assert found.random() == expected.random(), draw
        assert "plain Python" not in compiled.explain(), compiled.explain()


def assert_same(found, expected, about=""):
    assert list(map(type, found)) == list(map(type, expected)), about
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=about)


OUTER = np.random.default_rng(5)


def walk_by_an_outer_name(n):
    place = 0.0
    for _ in range(n):
        place += OUTER.normal()
    return place, OUTER.integers(10)


class Walker:
    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)
        self.place = 0.0

    def walk(self, n):
        for _ in range(n):
            self.place += self.generator.normal(0, 0.1)
        return self.place


def test_a_generator_of_an_outer_name():
    compiled = ac.compile(walk_by_an_outer_name)
    for n in (3, 5, 80):
        before = OUTER.bit_generator.state
        expected = walk_by_an_outer_name(n), OUTER.random()
        OUTER.bit_generator.state = before
        assert (compiled(n), OUTER.random()) == expected
    assert "plain Python" not in compiled.explain(), compiled.explain()


def test_a_generator_of_an_attribute_that_is_replaced():
    compiled, plain, found = ac.compile(Walker.walk), Walker(1), Walker(1)
    for i in range(5):
        assert compiled(found, 5 + i) == plain.walk(5 + i) and found.place == plain.place
        if i == 2:
            found.generator, plain.generator = np.random.default_rng(9), np.random.default_rng(9)


def draw_from_the_global_generator(n):
    np.random.seed(n)
    inside = 0
    for _ in range(100 * n):
        x, y = np.random.rand(), np.random.rand()
        if x * x + y * y < 1:
            inside += 1
    cells = np.random.randint(0, 10, size=5)
    np.random.shuffle(cells)
    return 4 * inside / n, cells, np.random.choice([1, 2, 3]), np.random.permutation(4), np.random.normal(size=(2, 2))


def test_the_global_generator():
    compiled = ac.compile(draw_from_the_global_generator)
    for n in (1, 2, 3):
        expected = *draw_from_the_global_generator(n), np.random.rand()
        assert_same((*compiled(n), np.random.rand()), expected)
    assert "plain Python" not in compiled.explain(), compiled.explain()


def shuffle_rows(generator, n):
    rows = np.arange(2 * n).reshape(n, 2)
    generator.shuffle(rows)
    order = np.arange(n)
    generator.shuffle(order)
    return rows, order


@pytest.mark.parametrize("make", DISTRIBUTIONS, ids=lambda make: make.__name__)
def test_shuffled_arrays(make):
    compiled = ac.compile(shuffle_rows)
    for n in (4, 7, 1):
        assert_same(compiled(make(n), n), shuffle_rows(make(n), n))


def overflow(generator, n):
    product, total = 1, 0.0
    for _ in range(n):
        total += generator.random()
        product *= 3
    return product, total


def overflow_by_the_global_generator(x, n):
    product = 1
    for _ in range(n):
        product *= 3
    return np.random.rand() + np.log(x[0]), product


def test_calls_that_run_again_draw_the_same_numbers():
    compiled = ac.compile(overflow)
    for n in (5, 60, 6):
        found, expected = np.random.default_rng(n), np.random.default_rng(n)
        assert compiled(found, n) == overflow(expected, n)
        assert found.bit_generator.state == expected.bit_generator.state
    compiled = ac.compile(overflow_by_the_global_generator)
    for n, x in ((5, 2.0), (60, 2.0), (5, -1.0), (7, -1.0)):
        outcomes = []
        for function in (overflow_by_the_global_generator, compiled):
            np.random.seed(n)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                numbers = function(np.array([x]), n)
            outcomes.append((repr(numbers), np.random.rand(), [str(warning.message) for warning in caught]))
        assert outcomes[0] == outcomes[1]


def draw_then_fail(generator, x, i, scale):
    number = generator.normal(0, scale)
    x[i] = number
    return number + generator.random()


def test_errors_leave_the_state_that_plain_python_leaves():
    compiled = ac.compile(draw_then_fail)
    for i, scale in ((1, 1.0), (7, 1.0), (0, -1.0), (2, float("nan")), (0, 2.0)):
        outcomes = []
        for function in (draw_then_fail, compiled):
            generator, x = np.random.default_rng(3), np.zeros(3)
            try:
                outcome = repr(function(generator, x, i, scale))
            except (IndexError, ValueError) as error:
                outcome = repr(error)
            outcomes.append((outcome, str(x), generator.bit_generator.state))
        assert outcomes[0] == outcomes[1]


def test_identity_classes_and_other_attributes_of_generators():
    def compare(first, second):
        is_generator = isinstance(first, np.random.Generator)
        return first.random() + 2 * second.random(), first is second, is_generator, type(first)

    compiled = ac.compile(compare)
    for seeds in ((1, 2), (1, None)):
        pairs = []
        for _ in range(2):
            first = np.random.default_rng(seeds[0])
            pairs.append((first, first if seeds[1] is None else np.random.default_rng(seeds[1])))
        assert compiled(*pairs[0]) == compare(*pairs[1])

    def read_state(generator):
        generator.random()
        return generator.bit_generator.state["state"]["state"], str(generator).partition(" ")[0]

    assert ac.compile(read_state)(np.random.default_rng(1)) == read_state(np.random.default_rng(1))


def test_other_generators_in_place_of_a_seed():
    def draw(make, seed):
        return make(seed).random()

    for make in (np.random.default_rng, np.random.RandomState):
        for kind in (np.random.default_rng, np.random.RandomState, random.Random):
            outcomes = []
            for function in (draw, ac.compile(draw)):
                try:
                    outcomes.append(function(make, kind(3)))
                except (TypeError, ValueError) as error:
                    outcomes.append((type(error), re.sub("0x[0-9a-f]+", "", str(error))))  # without the address
            assert outcomes[0] == outcomes[1]


def test_a_generator_in_place_of_a_seed():
    def draw(seed):
        generator = np.random.default_rng(seed)
        return generator.random()

    compiled = ac.compile(draw)
    for seed in (1, 2, 3):
        assert compiled(np.random.default_rng(seed)) == draw(np.random.default_rng(seed)) == compiled(seed)
