"""NumPy's seeded generators in graphs: NumPy's own numbers, on every call."""

import linecache

import numpy as np
import pytest

import autoconv as ac


def check(function, *calls, traces=1):
    compiled = ac.compile(function)
    for arguments in calls:
        for found, expected in zip(compiled(*arguments), function(*arguments), strict=True):
            assert type(found) is type(expected)
            np.testing.assert_array_equal(found, expected)
            assert np.asarray(found).dtype == np.asarray(expected).dtype
    assert "plain Python" not in compiled.explain(), compiled.explain()
    assert compiled.experimental_get_tracing_count() == traces, compiled.explain()


def test_draws_of_all_kinds():
    def f(seed):
        rng = np.random.default_rng(seed)
        numbers = rng.random(), rng.normal(), rng.integers(10), rng.uniform(1, 2), rng.exponential()
        arrays = rng.random(3), rng.normal(size=(2, 2)), rng.integers(0, 9, size=4), rng.random(2, dtype=np.float32)
        return *numbers, *arrays, rng.permutation(5), rng.choice([3, 1, 2], size=2), rng.poisson(2.0, 3), rng.gamma(2.0)

    check(f, (1,), (2,), (2,))


def test_bounds_beside_constants_and_probabilities():
    def f(x, p):
        rng = np.random.default_rng(4)
        return rng.uniform(1.0, x), rng.uniform(-x, -2.5), rng.choice(3, p=p), rng.binomial(5, p)

    check(f, (np.array([3.0, 4.0]), np.array([0.25, 0.25, 0.5])))


def test_draws_in_loops_and_branches():
    def f(seed, steps):
        rng = np.random.default_rng(seed)
        place, accepted = 0.0, 0
        for _ in range(steps):
            proposal = place + rng.normal()
            if rng.random() < np.exp(-(proposal**2 - place**2) / 2):
                place = float(proposal)
                accepted += 1
        return place, accepted

    check(f, (0, 30), (1, 10), (5, 0))


def test_computed_sizes_and_parameters():
    def f(x, seed, count):
        rng = np.random.default_rng(seed)
        return rng.normal(x, 0.5), rng.normal(size=count), rng.permutation(x), rng.uniform(0, x.sum(), size=(count, 2))

    check(f, (np.arange(3.0), 7, 2), (np.ones(3), 8, 4))


SIZED_DRAWS = (
    "rng.normal(size=n)", "rng.standard_normal((n, 3))", "rng.random((2, n))", "rng.integers(0, 9, size=n)",
    "rng.uniform(1, 2, (n, n))", "rng.exponential(2.0, n)", "rng.poisson(3.0, size=(n,))",
    "rng.gamma(2.0, 1.5, [n, 2])", "np.random.RandomState(n).normal(size=(n, 2))",
    "np.random.RandomState(5).rand(n, 2)", "np.random.RandomState(5).randn(n)",
    "np.random.RandomState(5).randint(3, 8, n)",
)  # fmt: skip


@pytest.mark.parametrize("draw", SIZED_DRAWS)
def test_one_trace_draws_arrays_of_any_size(draw):
    namespace = {"np": np}
    text = f"def f(n):\n    rng = np.random.default_rng(7)\n    x = {draw}\n    return x, x.sum() + rng.random()\n"
    linecache.cache[f"<{draw}>"] = (len(text), None, text.splitlines(True), f"<{draw}>")
    exec(compile(text, f"<{draw}>", "exec"), namespace)
    function = namespace["f"]
    compiled = ac.compile(function)
    for n in (3, 1, 0, 40, 7):
        (found, total), (expected, expected_total) = compiled(n), function(n)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype and total == pytest.approx(expected_total)
    with pytest.raises(ValueError):
        compiled(-1)
    explanation = compiled.explain()
    assert compiled.experimental_get_tracing_count() == 1 and "generator_draw" not in explanation


def test_sizes_that_loops_compute():
    def f(seed, count):
        rng, total = np.random.default_rng(seed), 0.0
        for i in range(count):
            total += rng.random(i + 1)[i]
        return total, count

    check(f, (1, 3), (1, 5))


def test_a_generator_without_a_seed_runs_plain():
    @ac.compile
    def f(n):
        return np.random.default_rng().random(n)

    assert f(2).shape == (2,) and not np.array_equal(f(2), f(2))
    assert "numpy.random.default_rng" in f.explain()


def test_missing_methods_of_generators():
    @ac.compile
    def f(seed):
        return np.random.default_rng(seed).nothing

    with pytest.raises(AttributeError, match="nothing"):
        f(1)


def test_choice_by_computed_probabilities():
    def chain(transitions, n, state, seed):
        rng = np.random.default_rng(seed)
        path = [state]
        for _ in range(n):
            state = rng.choice(len(transitions), p=transitions[state])
            path.append(state)
        return path, rng.multinomial(9, transitions[0]).tolist()

    transitions = np.array([[0.5, 0.5], [0.3, 0.7]])
    compiled = ac.compile(chain)
    for arguments in ((20, 0, 1), (20, 1, 2), (0, 1, 3)):
        assert compiled(transitions, *arguments) == chain(transitions, *arguments)
    for run in (chain, compiled):
        with pytest.raises(ValueError, match="do not sum to 1"):
            run(transitions * 2, 3, 0, 1)


def test_a_refused_argument_of_a_draw_is_reported_with_the_method():
    @ac.compile
    def drawn(seed, items):
        return np.random.default_rng(seed).choice(items)

    items = list(range(40))
    assert drawn(3, items) == np.random.default_rng(3).choice(items)
    assert "'choice' of a random generator is not supported in a graph here: it is given" in drawn.explain()
