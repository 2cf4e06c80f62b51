"""One native code for arguments of any size: results against NumPy, and how often something was compiled."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv
from tests.tracing.open_shapes import LENGTHS, assert_close, assert_compiled_once, by_shape, random_floats, spec


def test_elementwise_broadcasts_casts_and_reductions():
    @autoconv.function(input_signature=[spec(None, 3), spec(3)])
    def f(x, w):
        y = autoconv.tanh(x * w) + 1.0
        return y, autoconv.reduce_sum(y), autoconv.reduce_max(y, axis=0), autoconv.reduce_mean(y, axis=1), (
            autoconv.cast(y > 1.0, autoconv.int32)
        )

    w = random_floats(3, seed=1)
    for n in LENGTHS:
        x = random_floats(n, 3, seed=n)
        y = np.tanh(x * w) + np.float32(1)
        found = f(autoconv.constant(x), autoconv.constant(w))
        for left, right in zip(found, (y, y.sum(), y.max(0), y.mean(1), (y > 1).astype(np.int32)), strict=True):
            assert_close(left, right)
    assert_compiled_once(f)


def test_softmax_and_layer_norm_of_two_open_dimensions():
    @autoconv.function(input_signature=[spec(None, None)])
    def f(x):
        mean = autoconv.reduce_mean(x, axis=-1, keepdims=True)
        variance = autoconv.reduce_mean(autoconv.square(x - mean), axis=-1, keepdims=True)
        return autoconv.nn.softmax(x), (x - mean) / autoconv.sqrt(variance + 1e-5), autoconv.nn.log_softmax(x)

    for n in LENGTHS:
        for m in (2, n, 40):
            x = random_floats(n, m, seed=n)
            powers = np.exp(x - x.max(1, keepdims=True))
            softmax, norm, logs = f(autoconv.constant(x))
            assert_close(softmax, powers / powers.sum(1, keepdims=True))
            centred = x - x.mean(1, keepdims=True)
            assert_close(norm, centred / np.sqrt(x.var(1, keepdims=True) + np.float32(1e-5)), 1e-3)
            assert_close(logs, np.log(powers / powers.sum(1, keepdims=True)), 1e-3)
    # One more compilation for square matrices, where a symbol stands for both dimensions.
    assert by_shape(f).compilations <= 2


def test_slices_joins_pads_and_numbers_computed_from_shapes():
    @autoconv.function(input_signature=[spec(None, None)])
    def f(x):
        n = autoconv.shape(x)[0]
        return (
            x[1:] - x[:-1], x[::2], x[-3:, 1], x[::-1], autoconv.concat([x, x[:2]], 0), autoconv.transpose(x),
            autoconv.pad(x, [[1, 2], [0, 1]]), autoconv.reshape(x, [-1]), autoconv.reshape(x, [n * 2, -1]),
            autoconv.zeros([n, 2]) + x[:, :1], autoconv.reduce_sum(x) / autoconv.cast(n, autoconv.float32), n,
        )  # fmt: skip

    for n in LENGTHS[:10]:
        n, m = max(n, 5), 2 * n + 4
        x = random_floats(n, m, seed=n)
        expected = (
            x[1:] - x[:-1], x[::2], x[-3:, 1], x[::-1], np.concatenate([x, x[:2]]), x.T,
            np.pad(x, [[1, 2], [0, 1]]), x.reshape(-1), x.reshape(n * 2, -1), np.zeros((n, 2), np.float32) + x[:, :1],
            x.sum() / np.float32(n), np.int32(n),
        )  # fmt: skip
        for actual_part, expected_part in zip(f(autoconv.constant(x)), expected, strict=True):
            assert_close(actual_part, expected_part, 1e-4)


def test_products_and_their_gradients():
    @autoconv.function(input_signature=[spec(None, 20), spec(20, 30), spec(30), spec(30, 3)])
    def f(x, w, b, v):
        with autoconv.GradientTape() as tape:
            tape.watch([w, b, v])
            loss = autoconv.reduce_mean(autoconv.square(autoconv.nn.relu(x @ w + b) @ v))
        return loss, *tape.gradient(loss, [w, b, v])

    w, b, v = random_floats(20, 30, seed=1), random_floats(30, seed=2), random_floats(30, 3, seed=3)
    for n in (*LENGTHS, 600):
        x = random_floats(n, 20, seed=n)
        loss, of_w, of_b, of_v = f(*map(autoconv.constant, (x, w, b, v)))
        hidden = np.maximum(x @ w + b, 0)
        out = hidden @ v
        back = 2 * out / out.size
        inner = (back @ v.T) * (hidden > 0)
        assert_close(loss, np.square(out).mean(dtype=np.float32), 1e-4)
        for left, right in zip((of_w, of_b, of_v), (x.T @ inner, inner.sum(0), hidden.T @ back), strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-3, atol=1e-4)
    assert_compiled_once(f)


@pytest.mark.parametrize("flips", [(False, False), (True, False), (False, True), (True, True)])
def test_products_of_matrices_that_are_open_on_all_sides(flips):
    @autoconv.function(input_signature=[spec(None, None), spec(None, None)])
    def f(x, y):
        return autoconv.matmul(x, y, transpose_a=flips[0], transpose_b=flips[1])

    for n, k, m in ((2, 3, 4), (40, 7, 9), (5, 300, 6), (130, 70, 90)):
        x, y = random_floats(n, k, seed=n), random_floats(k, m, seed=m)
        arguments = [np.ascontiguousarray(a.T) if flip else a for a, flip in zip((x, y), flips, strict=True)]
        np.testing.assert_allclose(f(*map(autoconv.constant, arguments)), x @ y, rtol=1e-4, atol=1e-4)
    assert by_shape(f).compilations == 1


def test_loops_and_conditions_over_arrays_of_any_size():
    @autoconv.function(input_signature=[spec(None), spec(dtype=autoconv.int32)])
    def f(x, turns):
        total = autoconv.reduce_sum(x)
        while turns > 0:
            turns = turns - 1
            if total > 0.0:
                x = x * 0.5 + autoconv.reduce_max(x)
            else:
                x = x - 1.0
            total = total - 3.0
        return x, total

    for n in LENGTHS:
        x = random_floats(n, seed=n)
        found = f(autoconv.constant(x), autoconv.constant(4))
        total = x.sum()
        for _ in range(4):
            x = x * np.float32(0.5) + x.max() if total > 0 else x - np.float32(1)
            total = total - np.float32(3)
        assert_close(found[0], x)
        assert_close(found[1], total, 1e-4)
    assert_compiled_once(f)


def test_stencils_in_a_loop():
    @autoconv.function(input_signature=[spec(None, None)])
    def f(x):
        for _ in autoconv.range(5):
            inner = x[1:-1, 1:-1] + 0.1 * (x[2:, 1:-1] + x[:-2, 1:-1] - 2.0 * x[1:-1, 1:-1])
            x = autoconv.pad(inner, [[1, 1], [1, 1]])
        return x

    for n, m in ((4, 5), (20, 9), (33, 64), (5, 4)):
        x = random_floats(n, m, seed=n)
        found = f(autoconv.constant(x))
        for _ in range(5):
            x = np.pad(x[1:-1, 1:-1] + np.float32(0.1) * (x[2:, 1:-1] + x[:-2, 1:-1] - 2 * x[1:-1, 1:-1]), 1)
        assert_close(found, x)
    assert_compiled_once(f)
    assert f(autoconv.constant(random_floats(3, 7))).shape == (3, 7)  # the inner part has one row


def test_indices_that_are_out_of_range_for_some_sizes():
    @autoconv.function(input_signature=[spec(None), spec(dtype=autoconv.int32)])
    def f(x, i):
        return x[i] + x[3], x[-4]

    for n in (9, 6, 4):
        x = random_floats(n)
        for i in (0, 2, -1, n - 1):
            found = f(autoconv.constant(x), autoconv.constant(i))
            assert_close(found[0], x[i] + x[3])
            assert_close(found[1], x[-4])
    with pytest.raises(IndexError):
        f(autoconv.constant(random_floats(6)), autoconv.constant(6))
    with pytest.raises(IndexError):
        f(autoconv.constant(random_floats(3)), autoconv.constant(0))


def test_large_arrays_are_shared_by_threads():
    @autoconv.function(input_signature=[spec(None), spec(None, 8)])
    def f(x, y):
        return autoconv.reduce_sum(autoconv.sin(x)), autoconv.exp(x) * 2.0, autoconv.reduce_max(y, axis=1)

    for n in (300_001, 500_000):
        x, y = random_floats(n, seed=n), random_floats(n // 2, 8)
        total, doubled, largest = f(autoconv.constant(x), autoconv.constant(y))
        np.testing.assert_allclose(total, np.sin(x, dtype=np.float64).sum(), rtol=1e-4, atol=0.05)
        assert_close(doubled, np.exp(x) * 2)
        assert_close(largest, y.max(1))
        assert f(autoconv.constant(x), autoconv.constant(y))[0].numpy() == total.numpy()
    assert_compiled_once(f)


def test_gradients_through_loops_whose_length_depends_on_values():
    @autoconv.function(input_signature=[spec(None), spec()])
    def f(x, limit):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            h = x
            while autoconv.reduce_sum(h) < limit:
                h = autoconv.sin(h) * 1.5 + autoconv.reduce_mean(h) + 0.1
            y = autoconv.reduce_sum(h * h)
        return y, tape.gradient(y, x)

    def forward(x, limit):
        h, slope = x, np.eye(len(x))
        while h.sum() < limit:
            slope = np.cos(h)[:, None] * 1.5 * slope + slope.mean(0)
            h = np.sin(h) * 1.5 + h.mean() + 0.1
        return (h * h).sum(), 2 * h @ slope

    for n in (*LENGTHS[:8], 200):
        x = np.abs(random_floats(n, seed=n)) * np.float32(0.1)
        found = f(autoconv.constant(x), autoconv.constant(np.float32(3 * n)))
        for left, right in zip(found, forward(x.astype(np.float64), 3 * n), strict=True):
            np.testing.assert_allclose(left, right, rtol=2e-3, atol=1e-4)
    assert_compiled_once(f)


def test_lists_of_loops_are_native_for_known_shapes_too():
    @autoconv.function(input_signature=[autoconv.TensorSpec([None, 1], autoconv.float32)])
    def f(x):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            h = x
            for _ in autoconv.range(3):
                h = autoconv.sin(h)
        return tape.gradient(h, x)

    x = np.array([[0.5]], np.float32)  # a size of 1 has code of its own
    expected = np.cos(x) * np.cos(np.sin(x)) * np.cos(np.sin(np.sin(x)))
    assert_close(f(autoconv.constant(x)), expected)
    assert not f.get_concrete_function().kernels


def test_rows_that_are_looked_up_and_searched():
    @autoconv.function(input_signature=[spec(None, dtype=autoconv.int32), spec(9, 4)])
    def f(positions, table):
        with autoconv.GradientTape() as tape:
            tape.watch(table)
            rows = autoconv.gather(table, positions)
            total = autoconv.reduce_sum(rows * rows)
        slope = autoconv.convert_to_tensor(tape.gradient(total, table))
        return rows, slope, autoconv.argmax(rows, axis=1), autoconv.stack([rows, rows], axis=1)

    table = random_floats(9, 4)
    for n in LENGTHS:
        positions = np.random.default_rng(n).integers(0, 9, n).astype(np.int32)
        rows, slope, best, twice = f(autoconv.constant(positions), autoconv.constant(table))
        expected = np.zeros_like(table)
        np.add.at(expected, positions, 2 * table[positions])
        assert_close(rows, table[positions])
        assert_close(slope, expected, 1e-4)
        np.testing.assert_array_equal(best, table[positions].argmax(1))
        assert_close(twice, np.stack([table[positions]] * 2, 1))
    assert_compiled_once(f)
    with pytest.raises(autoconv.errors.InvalidArgumentError):
        f(autoconv.constant(np.array([1, 9, 2], np.int32)), autoconv.constant(table))


def test_indices_into_open_dimensions_and_static_products_beside_them():
    @autoconv.function(input_signature=[spec(None), spec(64, 64)])
    def f(x, w):
        h = autoconv.tanh(w @ w + 1.0)
        return x[:5] * autoconv.reduce_sum(h, axis=1)[0], autoconv.concat([x, h[0]], 0), x[1:][2]

    w = random_floats(64, 64)
    h = np.tanh(w @ w + np.float32(1))
    for n in (7, 100, 5):
        x = random_floats(n, seed=n)
        for left, right in zip(
            f(autoconv.constant(x), autoconv.constant(w)), (x[:5] * h.sum(1)[0], np.concatenate([x, h[0]]), x[3]),
            strict=True,
        ):  # fmt: skip
            np.testing.assert_allclose(left, right, rtol=1e-3, atol=1e-3)
    assert_compiled_once(f)


def test_unstack_refuses_another_number_of_rows() -> None:
    spec = autoconv.TensorSpec([None], autoconv.float32)
    f = autoconv.function(lambda x: autoconv.unstack(x, num=3), input_signature=[spec])
    assert [float(part) for part in f(autoconv.constant([1.0, 2.0, 3.0]))] == [1.0, 2.0, 3.0]
    for count in (2, 4, 1):
        with pytest.raises(autoconv.errors.InvalidArgumentError, match=f"unstack: dimension 0 is {count}, not 3"):
            f(autoconv.constant(np.ones(count, np.float32)))
