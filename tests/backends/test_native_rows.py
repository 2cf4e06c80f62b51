"""Loops that run row by row: results of NumPy and of the reference backend, for all dependences between rows."""

import numpy as np
import pytest

import autoconv
from autoconv.backends import interpreter
from autoconv.backends.llvm.describe import describe
from autoconv.backends.llvm.legalize.decompose import expand
from autoconv.backends.llvm.schedule.pipeline import schedule

SHAPES = [(7, 5), (3, 1), (1, 6), (40, 300), (2, 3, 4), (300, 1100)]


def softmax(x):
    return autoconv.nn.softmax(x)


def log_softmax(x):
    return autoconv.nn.log_softmax(x)


def normalised(x):
    mean = autoconv.reduce_mean(x, axis=-1, keepdims=True)
    spread = autoconv.reduce_mean((x - mean) ** 2, axis=-1, keepdims=True)
    return (x - mean) * autoconv.math.rsqrt(spread + 1e-5), mean, spread


def returned_sums(x):
    total = autoconv.reduce_sum(autoconv.exp(x), axis=-1)
    share = autoconv.exp(x) / total[..., None]
    return share, total, autoconv.reduce_max(share * x, axis=-1), autoconv.sqrt(total)


def rows_of_others(x):
    """Each row is divided by the sum of another row, so the loop cannot run row by row."""
    total = autoconv.reduce_sum(x * x, axis=-1, keepdims=True)
    return x / autoconv.reverse(total, [0]), autoconv.cumsum(total, axis=0) * x


def both_ways(x):
    over_rows = autoconv.reduce_sum(x, axis=-1, keepdims=True)
    over_columns = autoconv.reduce_sum(x, axis=0, keepdims=True)
    return x - over_rows, x - over_columns, x - over_rows - over_columns


def in_between(x):
    """The second phase needs the results of all rows of the first."""
    total = autoconv.reduce_sum(x, axis=-1, keepdims=True)
    whole = autoconv.reduce_max(total)
    return (x - total) / (1.0 + whole * whole)


def twice(x):
    return autoconv.nn.softmax(autoconv.nn.softmax(x) * 3.0 + 1.0) * autoconv.reduce_mean(x, axis=-1, keepdims=True)


def a_loop_before_those_it_reads(x):
    """The last loop begins, in program order, before the loop whose sums it reads."""
    largest = autoconv.reduce_max(x, axis=-1, keepdims=True)
    chosen = autoconv.where(x > 0.5, autoconv.zeros_like(x), x * 2.0)
    where = autoconv.cast(x == largest, x.dtype)
    return chosen + where * (3.0 / autoconv.reduce_sum(where, axis=-1, keepdims=True))


def bool_sums(x):
    some = autoconv.reduce_any(x > 1.0, axis=-1, keepdims=True)
    return autoconv.where(some, x, -x), autoconv.reduce_prod(autoconv.where(some, x, 1.0), axis=-1)


FUNCTIONS = [
    softmax, log_softmax, normalised, returned_sums, rows_of_others, both_ways, in_between, twice, bool_sums,
    a_loop_before_those_it_reads,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.search
def test_results_are_those_of_the_reference(function, dtype):
    for shape in SHAPES:
        x = np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)
        concrete = autoconv.function(function).get_concrete_function(autoconv.constant(x))
        found = concrete(autoconv.constant(x))
        found = found if isinstance(found, tuple) else (found,)
        right = interpreter.compile_graph(concrete.optimised)([x])
        tolerance = 2e-5 if dtype is np.float32 else 1e-12
        for actual, expected in zip(found, right, strict=True):
            # The vector width decides the order of sums, and so the rounding of differences.
            rounding = 16 * np.finfo(dtype).eps * np.abs(expected).max(initial=0)
            np.testing.assert_allclose(actual.numpy(), expected, rtol=tolerance, atol=max(tolerance, rounding))


def plan_of(function, *shapes):
    arguments = [autoconv.TensorSpec(shape) for shape in shapes]
    return schedule(expand(autoconv.function(function).get_concrete_function(*arguments).optimised))


@pytest.mark.parametrize(("function", "loops"), [(softmax, 1), (log_softmax, 1), (normalised, 1), (in_between, 3)])
def test_loop_counts(function, loops):
    assert sum(item.shape is not None for item in plan_of(function, (256, 1000)).items) == loops


def test_attention_and_its_gradient():
    def attention(q, k, v):
        return autoconv.reduce_sum(autoconv.nn.softmax(q @ autoconv.transpose(k) * 0.125) @ v)

    random = np.random.default_rng(3)
    q, k, v = (random.standard_normal((33, 8)) for _ in range(3))

    def plain(q, k, v):
        scores = np.exp(q @ k.T * 0.125)
        return float((scores / scores.sum(1, keepdims=True) @ v).sum())

    found = autoconv.grad(attention, argnums=(0, 1, 2))(*map(autoconv.constant, (q, k, v)))
    for position, gradient in enumerate(found):
        step = np.zeros_like(q)
        step[4, 5] = 1e-6
        moved = [[a + sign * step * (i == position) for i, a in enumerate((q, k, v))] for sign in (1, -1)]
        slope = (plain(*moved[0]) - plain(*moved[1])) / 2e-6
        assert gradient.numpy()[4, 5] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_long_rows_are_not_stored():
    lines = describe(autoconv.function(softmax).get_concrete_function(autoconv.TensorSpec((4, 100_000))).optimised)
    assert lines[-1].startswith("4 loops")  # one is of the rows' inverse sums


def test_special_values():
    x = np.array([[np.inf, 1.0], [np.nan, 2.0], [-np.inf, -np.inf], [0.0, -0.0]])
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max(1, keepdims=True))
        np.testing.assert_array_equal(autoconv.function(softmax)(autoconv.constant(x)), e / e.sum(1, keepdims=True))
