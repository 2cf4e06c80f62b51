"""Ops that have one native code for arguments of any size, and their gradients: NumPy's results, finite differences."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import autoconv
from tests.tracing.open_shapes import assert_close, assert_compiled_once, by_shape, random_floats, spec

INTS = autoconv.int32


def positions(count, below, seed=0):
    return np.random.default_rng(seed).integers(0, below, count).astype(np.int32)


def np_rows(x, i):
    found = np.zeros((4, x.shape[1]), np.float32)
    np.add.at(found, i % 4, x[i])
    return found


def rows_assigned(x, i):
    found = x.copy()
    found[i] = x[i] * np.float32(2)
    return found


def rows_added(x, i):
    found = x.copy()
    np.add.at(found, i, x[i])
    return found


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


# An op over x of (n, m), the dimensions that are open, and NumPy's function.
OPS_OF_ONE_ARRAY = {
    "sort": (lambda x: autoconv.sort(x, axis=0), lambda x: np.sort(x, axis=0)),
    "sort descending": (lambda x: autoconv.sort(x, direction="DESCENDING"), lambda x: -np.sort(-x)),
    "argsort": (lambda x: autoconv.argsort(x), lambda x: np.argsort(x, kind="stable").astype(np.int32)),
    "top_k": (lambda x: autoconv.nn.top_k(x, 3)[0], lambda x: -np.sort(-x)[:, :3]),
    "cumsum": (lambda x: autoconv.cumsum(x, axis=1), lambda x: np.cumsum(x, axis=1)),
    "cumsum from the end": (
        lambda x: autoconv.cumsum(x, axis=0, reverse=True), lambda x: np.cumsum(x[::-1], axis=0)[::-1]
    ),
    "cumprod": (lambda x: autoconv.math.cumprod(x, axis=1), lambda x: np.cumprod(x, axis=1)),
    "split": (lambda x: autoconv.concat(autoconv.split(x, [2, -1]), 0), lambda x: x),
    "halves": (lambda x: autoconv.split(x, 2, axis=1)[1], lambda x: np.split(x, 2, axis=1)[1]),
    "tile": (lambda x: autoconv.tile(x, [2, 3]), lambda x: np.tile(x, (2, 3))),
    "repeat": (lambda x: autoconv.repeat(x, 2, axis=0), lambda x: np.repeat(x, 2, axis=0)),
    "roll": (lambda x: autoconv.roll(x, [5, -1], axis=[0, 1]), lambda x: np.roll(x, (5, -1), (0, 1))),
    "mirrored": (
        lambda x: autoconv.pad(x, [[1, 2], [2, 0]], mode="REFLECT"), lambda x: np.pad(x, [[1, 2], [2, 0]], "reflect")
    ),
    "einsum": (lambda x: autoconv.einsum("ij,kj->ik", x, x), lambda x: x @ x.T),
    "logsumexp": (lambda x: autoconv.reduce_logsumexp(x, axis=1), lambda x: np.log(np.exp(x).sum(1))),
    "band": (lambda x: autoconv.linalg.band_part(x, 1, 0), lambda x: np.tril(x) - np.tril(x, -2)),
    "diagonal": (lambda x: autoconv.linalg.diag(x[:, 0]), lambda x: np.diag(x[:, 0])),
    "part changed": (
        lambda x: autoconv.concat([x[:1] * 0.0, x[1:]], 0), lambda x: np.concatenate([x[:1] * 0, x[1:]])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPS_OF_ONE_ARRAY)
@pytest.mark.search
def test_of_one_array(name):
    op, expected = OPS_OF_ONE_ARRAY[name]

    @autoconv.function(input_signature=[spec(None, None)])
    def f(x):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            y = op(x)
            loss = autoconv.reduce_sum(autoconv.cast(y, autoconv.float32) * weight(autoconv.shape(y)))
        return y, tape.gradient(loss, x, unconnected_gradients=autoconv.UnconnectedGradients.ZERO)

    def weight(shape):
        count = autoconv.math.reduce_prod(shape)
        return autoconv.reshape(autoconv.cos(autoconv.cast(autoconv.range(count), autoconv.float32)), shape)

    for n, m in ((5, 8), (40, 30), (7, 6)):
        x = random_floats(n, m, seed=n) + np.float32(0.1) * np.arange(n * m, dtype=np.float32).reshape(n, m) / (n * m)
        found, slope = f(autoconv.constant(x))
        assert_close(found, expected(x), 1e-4)
        weights = np.cos(np.arange(found.numpy().size)).reshape(found.shape)
        step = np.zeros_like(x, np.float64)
        step[n // 2, m // 3] = 1e-4
        wide = x.astype(np.float64)
        if name != "argsort":
            change = (weights * (expected(wide + step) - expected(wide - step))).sum() / 2e-4
            np.testing.assert_allclose(slope.numpy()[n // 2, m // 3], change, rtol=1e-2, atol=2e-3)
    assert_compiled_once(f)


OPS_BY_POSITIONS = {
    "gather": (lambda x, i: autoconv.gather(x, i), lambda x, i: x[i]),
    "x[i]": (lambda x, i: x[i], lambda x, i: x[i]),
    "x[i - 2]": (lambda x, i: x[i - 2], lambda x, i: x[i - 2]),
    "columns": (lambda x, i: x[:, i % 3], lambda x, i: x[:, i % 3]),
    "elements": (lambda x, i: x[i, i % 3], lambda x, i: x[i, i % 3]),
    "one behind": (lambda x, i: x[i, 1:], lambda x, i: x[i, 1:]),
    "segments": (
        lambda x, i: autoconv.math.unsorted_segment_sum(autoconv.gather(x, i), i % 4, 4), np_rows
    ),
    "written": (
        lambda x, i: autoconv.tensor_scatter_nd_update(x, i[:, None], autoconv.gather(x, i) * 2.0), rows_assigned
    ),
    "added": (lambda x, i: autoconv.tensor_scatter_nd_add(x, i[:, None], autoconv.gather(x, i)), rows_added),
}  # fmt: skip


@pytest.mark.parametrize("name", OPS_BY_POSITIONS)
def test_by_positions(name):
    op, expected = OPS_BY_POSITIONS[name]

    @autoconv.function(input_signature=[spec(None, 3), spec(None, dtype=INTS)])
    def f(x, i):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            y = op(x, i)
            loss = autoconv.reduce_sum(autoconv.square(y))
        return y, autoconv.convert_to_tensor(tape.gradient(loss, x))

    for n, count in ((5, 4), (40, 100), (4, 9)):
        x, i = random_floats(n, 3, seed=n), positions(count, n, seed=count)
        found, slope = f(autoconv.constant(x), autoconv.constant(i))
        assert_close(found, expected(x, i), 1e-4)
        step, wide = np.zeros_like(x, np.float64), x.astype(np.float64)
        step[i[0], 1] = 1e-5
        change = (np.square(expected(wide + step, i)) - np.square(expected(wide - step, i))).sum() / 2e-5
        np.testing.assert_allclose(slope.numpy()[i[0], 1], change, rtol=1e-2, atol=1e-3)
    assert_compiled_once(f)
    if name != "columns":
        with pytest.raises((IndexError, autoconv.errors.InvalidArgumentError)):
            f(autoconv.constant(random_floats(5, 3)), autoconv.constant(np.array([1, 7], np.int32)))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "int64", "uint64"])
def test_positions_of_every_width_are_checked(kind):
    @autoconv.function(input_signature=[spec(None), spec(None, dtype=getattr(autoconv, kind))])
    def f(x, i):
        return x[i]

    x = random_floats(300)
    assert_close(f(autoconv.constant(x), autoconv.constant(np.array([0, 100, 3], kind))), x[[0, 100, 3]])
    for wrong in ([1, 99], [98, 1, 0]):
        with pytest.raises((IndexError, autoconv.errors.InvalidArgumentError)):
            f(autoconv.constant(random_floats(98)), autoconv.constant(np.array(wrong, kind)))
    if kind[0] == "i":
        assert_close(f(autoconv.constant(x), autoconv.constant(np.array([-1, -100], kind))), x[[-1, -100]])
        with pytest.raises((IndexError, autoconv.errors.InvalidArgumentError)):
            f(autoconv.constant(random_floats(9)), autoconv.constant(np.array([-10, 1], kind)))
    assert_compiled_once(f)


def test_attention_over_batches_of_sequences():
    @autoconv.function(input_signature=[spec(None, 2, None, 4)] * 3)
    def f(q, k, v):
        with autoconv.GradientTape() as tape:
            tape.watch(q)
            y = autoconv.matmul(autoconv.nn.softmax(autoconv.matmul(q, k, transpose_b=True)), v)
            loss = autoconv.reduce_sum(y * y)
        return y, tape.gradient(loss, q)

    def expected(q, k, v):
        return softmax(q @ k.swapaxes(-1, -2)) @ v

    for n, length in ((3, 5), (2, 17), (6, 4)):
        q, k, v = (random_floats(n, 2, length, 4, seed=i) for i in range(3))
        found, slope = f(*map(autoconv.constant, (q, k, v)))
        np.testing.assert_allclose(found, expected(q, k, v), rtol=1e-3, atol=1e-4)
        step = np.zeros(q.shape)
        step[1, 0, 2, 3] = 1e-5
        change = np.square(expected(q + step, k, v)).sum() - np.square(expected(q - step, k, v)).sum()
        np.testing.assert_allclose(slope.numpy()[1, 0, 2, 3], change / 2e-5, rtol=1e-2, atol=1e-2)
    assert_compiled_once(f)


def test_convolution_over_batches_and_its_gradients():
    @autoconv.function(input_signature=[spec(None, 6, 5, 2), spec(3, 3, 2, 4)])
    def f(x, w):
        with autoconv.GradientTape() as tape:
            tape.watch([x, w])
            y = autoconv.nn.conv2d(x, w, 1, "SAME")
            loss = autoconv.reduce_sum(y * y)
        return y, *tape.gradient(loss, [x, w])

    def expected(x, w):
        wide = np.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
        return sum(wide[:, i : i + 6, j : j + 5] @ w[i, j] for i in range(3) for j in range(3))

    w = random_floats(3, 3, 2, 4, seed=9)
    for n in (3, 8, 5):
        x = random_floats(n, 6, 5, 2, seed=n)
        y, of_x, of_w = f(autoconv.constant(x), autoconv.constant(w))
        np.testing.assert_allclose(y, expected(x, w), rtol=1e-3, atol=1e-4)
        for operand, slope in ((0, of_x), (1, of_w)):
            position = (1, 2, 0, 1)
            steps = [np.zeros(x.shape), np.zeros(w.shape)]
            steps[operand][position] = 1e-4
            ends = [np.square(expected(x + sign * steps[0], w + sign * steps[1])).sum() for sign in (1, -1)]
            np.testing.assert_allclose(slope.numpy()[position], (ends[0] - ends[1]) / 2e-4, rtol=1e-2, atol=1e-2)
    assert_compiled_once(f)


@pytest.mark.parametrize("side", ["left", "right"])
def test_searches_in_sorted_rows(side):
    @autoconv.function(input_signature=[spec(None), spec(None), spec(None, None), spec(None, None)])
    def f(row, values, rows, keys):
        found = autoconv.searchsorted(row, values, side=side), autoconv.searchsorted(rows, keys, side=side)
        return *found, autoconv.searchsorted(row, keys, side=side)

    for n, k, count, m in ((5, 3, 2, 4), (2, 9, 3, 20), (100, 200, 7, 8), (33, 64, 31, 7)):
        row, values = np.sort(random_floats(n)).round(1), random_floats(k, seed=1).round(1)
        rows, keys = np.sort(random_floats(count, n, seed=2)).round(1), random_floats(count, m, seed=3).round(1)
        values[0], row[-1] = np.nan, np.nan
        found = f(*map(autoconv.constant, (row, values, rows, keys)))
        np.testing.assert_array_equal(found[0], np.searchsorted(row, values, side))
        expected_rows = [np.searchsorted(*pair, side) for pair in zip(rows, keys, strict=True)]
        np.testing.assert_array_equal(found[1], expected_rows)
        np.testing.assert_array_equal(found[2], np.searchsorted(row, keys, side))
        unsorted = np.random.default_rng(4).permutation(row)
        found = f(*map(autoconv.constant, (unsorted, values, rows, keys)))
        np.testing.assert_array_equal(found[0], np.searchsorted(unsorted, values, side))
    assert_compiled_once(f)


def test_random_numbers_are_those_of_calls_at_once():
    def draws(x):
        shape, n = autoconv.shape(x), autoconv.shape(x)[0]
        random = autoconv.random
        return (
            random.stateless_normal(shape, [1, 2]) * x, random.stateless_uniform([n, 3], [3, 4]),
            random.stateless_truncated_normal(shape, [5, 6]), random.uniform([n], -3, 9, INTS, seed=1),
            random.stateless_uniform(shape, [7, 8], 3, 90, INTS), random.experimental.stateless_shuffle(x, [1, 2]),
            autoconv.nn.dropout(x, 0.4, seed=2), random.normal([n, 2], seed=3),
        )  # fmt: skip

    f = autoconv.function(draws, input_signature=[spec(None, None)])
    for n, m in ((2, 3), (7, 5), (300, 400)):
        x = autoconv.constant(random_floats(n, m))
        results = []
        for function in (draws, f):
            autoconv.random.set_seed(4)
            results.append(function(x))
        for found, expected in zip(*results, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert_compiled_once(f)


def test_a_refused_first_call_has_no_influence_on_later_ones():
    @autoconv.function(input_signature=[spec(None)])
    def f(x):
        return autoconv.reshape(x, [-1, 4]) * 2.0, autoconv.math.lgamma(x)

    for n in (6, 9):
        with pytest.raises(autoconv.errors.InvalidArgumentError, match="requested shape"):
            f(autoconv.constant(random_floats(n)))
    for n in (8, 12, 40):
        assert_close(f(autoconv.constant(random_floats(n)))[0], random_floats(n).reshape(-1, 4) * 2)
    assert "one compilation for all sizes: (n0)" in f.explain()


def test_special_values_are_sorted_as_numpy_does():
    @autoconv.function(input_signature=[spec(None)])
    def f(x):
        return autoconv.sort(x), autoconv.argsort(x)

    for n in (6, 30, 5000):
        x = random_floats(n, seed=n)
        x[::3], x[1], x[4] = 0.0, np.nan, -np.inf
        x[::6] = -0.0
        rising, order = f(autoconv.constant(x))
        np.testing.assert_array_equal(rising, np.sort(x))
        np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))
        np.testing.assert_array_equal(np.signbit(rising), np.signbit(x[np.argsort(x, kind="stable")]))
    assert_compiled_once(f)


def test_positions_of_extremes_along_any_axis():
    @autoconv.function(input_signature=[spec(None, None), spec(None, 3)])
    def f(x, y):
        found = autoconv.argmax(x, axis=1), autoconv.argmin(y, axis=0), autoconv.argmax(y[:, 0])
        return *found, autoconv.argmin(x, axis=0), np.argmax(y), np.argmax(x, axis=0, keepdims=True)

    for n, m in ((5, 7), (4, 9000), (3, 4096), (2, 4097)):
        x, y = random_floats(n, m, seed=m), random_floats(m, 3, seed=n)
        x[1, m - 1], x[0, 1:3] = 9.0, np.nan
        desired = x.argmax(1), y.argmin(0), y[:, 0].argmax(), x.argmin(0), y.argmax(), x.argmax(0, keepdims=True)
        for found, expected in zip(f(*map(autoconv.constant, (x, y))), desired, strict=True):
            np.testing.assert_array_equal(found, expected)
    assert_compiled_once(f)


def test_complex_numbers():
    @autoconv.function(input_signature=[spec(None, None, dtype=autoconv.complex64), spec(None)])
    def f(z, x):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            y = autoconv.abs(autoconv.exp(autoconv.complex(x, x * 0.5)) * autoconv.complex(x, -x))
            loss = autoconv.reduce_sum(y)
        return z * z[:1] + autoconv.reduce_sum(z, axis=0), autoconv.abs(z[1:]), z @ autoconv.transpose(z), (
            tape.gradient(loss, x)
        )

    for n, m in ((4, 5), (30, 3)):
        z, x = (random_floats(n, m) + 1j * random_floats(n, m, seed=2)).astype(np.complex64), random_floats(m, seed=3)
        found = f(autoconv.constant(z), autoconv.constant(x))
        size = np.abs(x) * np.sqrt(2)
        slope = np.exp(x) * (size + np.sign(x) * np.sqrt(2))
        for actual, expected in zip(found, (z * z[:1] + z.sum(0), abs(z[1:]), z @ z.T, slope), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-4)
    assert_compiled_once(f)


@pytest.mark.parametrize("dtype", [autoconv.complex64, autoconv.complex128])
def test_zeros_and_ones_in_the_shape_of_complex_arrays(dtype):
    @autoconv.function(input_signature=[spec(None, dtype=dtype)])
    def f(z):
        return autoconv.reduce_sum(autoconv.math.real(z * 2j)), autoconv.ones_like(z), autoconv.zeros_like(z)

    for n in (3, 8):
        z = autoconv.constant(random_floats(n) + 1j * random_floats(n, seed=2), dtype)
        with autoconv.GradientTape() as tape:
            tape.watch(z)
            y, ones, zeros = f(z)
        np.testing.assert_array_equal(tape.gradient(y, z), [-2j] * n)
        np.testing.assert_array_equal(ones, [1] * n)
        np.testing.assert_array_equal(zeros, [0] * n)


def test_the_gradient_of_rows_without_elements():
    x = autoconv.zeros([3, 0])
    with autoconv.GradientTape() as tape:
        tape.watch(x)
        y = autoconv.gather(x, [1, 0])
    assert autoconv.convert_to_tensor(tape.gradient(y, x)).shape == (3, 0)


def test_elements_where_masks_hold():
    @autoconv.function(input_signature=[spec(None, None, 3), spec(None, None, dtype=autoconv.bool)])
    def f(x, mask):
        return autoconv.boolean_mask(x, mask), autoconv.where(mask), autoconv.boolean_mask(x[:, :, 0], mask)

    for n, m in ((4, 5), (7, 3), (2, 2)):
        x = random_floats(n, m, 3, seed=n)
        mask = x[:, :, 1] > 0
        found = f(autoconv.constant(x), autoconv.constant(mask))
        for actual, expected in zip(found, (x[mask], np.argwhere(mask), x[:, :, 0][mask]), strict=True):
            np.testing.assert_array_equal(actual, expected)
    assert_compiled_once(f)


NARROW = ("float16", "bfloat16") if importlib.util.find_spec("ml_dtypes") else ("float16",)


@pytest.mark.parametrize("dtype", NARROW)
def test_numbers_of_16_bits(dtype):
    """Ops over 16-bit numbers that are no loops run by kernels, within the code for any size."""
    kind = autoconv.as_dtype(dtype)

    @autoconv.function(input_signature=[spec(None, None, dtype=kind), spec(None, dtype=INTS)])
    def f(x, i):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            y = x[1:] * x[:-1] + x[0] - x[-1, 2:3]
            z = autoconv.gather(x, i) * autoconv.reduce_max(x, axis=0)
            loss = autoconv.reduce_sum(y) + autoconv.reduce_sum(z)
        return y, z, autoconv.sort(x, axis=0), autoconv.matmul(x, y, transpose_b=True), tape.gradient(loss, x)

    for n in (4, 9, 6):
        x = autoconv.cast(autoconv.constant(np.random.default_rng(n).integers(-4, 5, (n, 5)) / 4), kind).numpy().copy()
        x[0] = 4  # of all columns
        i = np.array([n - 1, 0, 1], np.int32)
        wide = x.astype(np.float64)
        y, z = wide[1:] * wide[:-1] + wide[0] - wide[-1, 2:3], wide[i] * wide.max(0)
        slope = np.zeros((n, 5))
        slope[1:] += wide[:-1]
        slope[:-1] += wide[1:]
        slope[0] += n - 1
        slope[-1, 2] -= 5 * (n - 1)
        np.add.at(slope, i, wide.max(0))
        slope[0] += wide[i].sum(0)
        desired = (y, z, np.sort(wide, axis=0), wide @ y.T, slope)  # 8 bits hold the products, and most sums
        for found, expected in zip(f(autoconv.constant(x), autoconv.constant(i)), desired, strict=True):
            assert found.dtype is kind
            np.testing.assert_allclose(found.numpy().astype(np.float64), expected, rtol=0.02, atol=0.02)
    assert by_shape(f).compilations == 1
