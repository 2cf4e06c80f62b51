"""The backend `xla` against the native one: loops, branches, written arguments and variables, errors."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import autoconv

pytest.importorskip("jaxlib")


@pytest.fixture(autouse=True)
def by_xla(monkeypatch):
    monkeypatch.setattr(autoconv.config.SETTINGS, "backend", "xla")
    monkeypatch.setattr(autoconv.config.SETTINGS, "tiers", "native")


def test_loops_and_branches_on_tensors():
    @autoconv.function
    def f(x, n):
        i = 0
        while i < n:
            x = x * 2.0 if autoconv.reduce_sum(x) < 10.0 else x - 1.0
            i += 1
        return x

    x = autoconv.constant([1.0, 2.0])
    assert f(x, autoconv.constant(3)).numpy().tolist() == [3.0, 7.0]
    assert "compiled by XLA" in f.explain()


def test_arrays_are_written_in_place():
    @autoconv.compile
    def f(x, n):
        y = np.zeros(n)
        for i in range(n):
            y[i % 3] += x[i] * 2
        x[0] = 7
        return y

    x = np.arange(10.0)
    for n in (4, 6):
        argument = np.arange(10.0)
        expected = np.zeros(n)
        for i in range(n):
            expected[i % 3] += argument[i] * 2
        assert f(argument, n).tolist() == expected.tolist()
        assert argument[0] == 7
    assert "compiled by XLA" in f.explain()
    with pytest.raises(IndexError, match="index 10 is out of bounds"):
        f(x, 20)


def test_variables_change():
    total = autoconv.Variable([1.0, 2.0])

    @autoconv.function
    def f(x):
        total.assign_add(x)
        return total.read_value() * 2.0

    assert f(autoconv.constant([0.5, 0.5])).numpy().tolist() == [3.0, 5.0]
    assert total.numpy().tolist() == [1.5, 2.5]


def test_the_identity_of_results_is_kept():
    @autoconv.compile
    def f(x):
        x += 1
        return x, x[1:]

    x = np.arange(4.0)
    for _ in range(2):
        same, part = f(x)
        assert same is x
        assert np.shares_memory(part, x)
    assert "compiled by XLA" in f.explain()


def test_results_that_are_parts_of_arrays():
    def plain(x, k):
        x += 1.0
        z = np.zeros((3, 4))
        z[0] = k
        w = x * 2.0
        return x[1:], x[k : k + 2], z, z.T, z[k], w[k:], x.sum()

    f = autoconv.compile(plain)
    for k in (1, 2, 0, -1):
        x, y = np.arange(6.0), np.arange(6.0)
        found, expected = f(x, k), plain(y, k)
        for actual_part, expected_part in zip(found, expected, strict=True):
            assert type(actual_part) is type(expected_part) and actual_part.tolist() == expected_part.tolist()
        assert [np.shares_memory(a, b) for a in (*found[:-1], x) for b in found[:-1]] == [
            np.shares_memory(a, b) for a in (*expected[:-1], y) for b in expected[:-1]
        ]
    assert "compiled by XLA" in f.explain()


def test_arguments_that_overlap_run_natively():
    @autoconv.compile
    def f(a, b):
        for _ in range(3):
            b += a
        return

    base, plain = np.arange(6.0), np.arange(6.0)
    f(base[:-1], base[1:])
    for _ in range(3):
        plain[1:] += plain[:-1]
    assert base.tolist() == plain.tolist()


def test_an_array_that_a_branch_chooses_is_an_argument():
    @autoconv.compile
    def f(a, b):
        if a[0] < b[0]:
            a, b = b, a
        return a

    x, y = np.zeros(2), np.ones(2)
    assert f(x, y) is y
    assert f(y, x) is y


def test_an_array_that_a_loop_exchanges_is_an_argument():
    @autoconv.compile
    def f(a, b, n):
        for _ in range(n):
            a[0] += b[1]
            a, b = b, a
        return a

    x, y = np.ones(2), np.full(2, 5.0)
    for n in (0, 1, 2, 3):
        assert f(x, y, n) is (x, y)[n % 2]


def chosen_by_a_branch(a, b, k):
    if k > 1:
        a, b = b, a
        if k > 2:
            a, b = b, a
        b[1:3] = a[:2] * 2
    else:
        a = np.zeros(4)
    a[0] += 1
    b[0] += 2
    a.T[1:] -= 1
    a[a > 1] = b[1]
    return a, b


def chosen_parts(a, b, k):
    c = a[1:3] if k > 1 else b[:2]
    c[0] = 7
    a[1:3][c > 3] = c[1]
    return c


def exchanged_and_not_written_in_the_loop(a, b, k):
    if k > 0:
        for _ in range(k % 3):
            a, b = b, a
            if k > 2:
                a, b = b, a
        for _ in range(k % 2):
            a, b = b, a
    a[1:] -= 2
    b[0] = a[1]
    return a


def chosen_by_a_loop(a, b, k):
    for i in range(3):
        b[i] += 1
        if a[i] < k:
            a, b = b, a
            a[0] = i
    a[1] = 7
    b[2] += a[1]
    return a


def exchanged_by_loops(a, b, k):
    for _ in range(k):
        a, b = b, a
        for j in range(2):
            if b[j] > a[j]:
                a, b = b, a
            a[j] *= 2
    a[1] = 7
    c, d = a[1:], b[1:]
    for i in range(k):
        if i == 1:
            c, d = d, c
        c[i % 3] += 2
    d[0] -= 1
    return c


CHOICES = [
    chosen_by_a_branch, exchanged_and_not_written_in_the_loop, chosen_parts, chosen_by_a_loop, exchanged_by_loops,
]  # fmt: skip


@pytest.mark.parametrize("plain", CHOICES, ids=lambda f: f.__name__)
def test_arrays_that_are_chosen_are_written(plain):
    f = autoconv.compile(plain)
    for k in (3, 2, 1, 0):
        compiled_arguments, plain_arguments = [(np.arange(4.0), np.arange(4.0) + 1.5) for _ in range(2)]
        found, expected = f(*compiled_arguments, k), plain(*plain_arguments, k)
        compiled_arrays, plain_arrays = (
            [*(result if isinstance(result, tuple) else (result,)), *arguments]
            for result, arguments in ((found, compiled_arguments), (expected, plain_arguments))
        )
        assert [x.tolist() for x in compiled_arrays] == [x.tolist() for x in plain_arrays]
        assert [np.shares_memory(x, y) for x in compiled_arrays for y in compiled_arrays] == [
            np.shares_memory(x, y) for x in plain_arrays for y in plain_arrays
        ]
    assert "compiled by XLA" in f.explain()


def slices_that_begin_in_a_loop(a, b, k):
    total = 0.0
    for i in range(k):
        a[i:] = b[: len(a) - i] * 2 + a[i:]
        b[i:-1] -= a[1 + i :]
        total += (a[i:] * b[: len(b) - i]).sum() + a[: i + 1].max() - b[i:].min()
        a[i : i + 2] = 5
        b[i : i + 2] += np.array([1.0, 2.0])
    return total, len(a[k:])


def rows_of_open_size(a, b, k):
    m = np.outer(a, b)
    for i in range(k):
        for j in range(i + 1, 4):
            m[j, i:] -= m[j, i] / (m[i, i] + 1) * m[i, i:]
            m[i:, j] += a[i:]
        m[i:] *= b
    return m


def chosen_and_sliced(a, b, k):
    for i in range(k):
        if a[i] < b[i]:
            a, b = b, a
        a[i:] -= b[i:]
        b[:i] = a[i]
    return a


def sizes_that_may_differ(a, b, k):
    a[k:] = b[k + 1 :]
    return a


SLICES = [slices_that_begin_in_a_loop, rows_of_open_size, chosen_and_sliced, sizes_that_may_differ]


@pytest.mark.parametrize("plain", SLICES, ids=lambda f: f.__name__)
def test_slices_whose_bounds_are_values(plain):
    f = autoconv.compile(plain)
    for k in (3, 2, 1, 0, -1, 4):
        compiled_arguments, plain_arguments = [(np.arange(4.0), np.arange(4.0) + 2.0) for _ in range(2)]
        try:
            expected = plain(*plain_arguments, k)
        except (ValueError, IndexError) as error:
            with pytest.raises(type(error)):
                f(*compiled_arguments, k)
        else:
            found = f(*compiled_arguments, k)
            np.testing.assert_allclose(found[0], expected[0])
            np.testing.assert_allclose(found[1], expected[1])
        np.testing.assert_allclose(compiled_arguments, plain_arguments)
    assert "compiled by XLA" in f.explain()


def test_a_branch_gives_an_array_as_it_leaves_it():
    @autoconv.compile
    def f(a, b, x):
        if a[0] < b[0]:
            a, b = b, a
        else:
            for i in range(3):
                b[i] -= x[i]
        x[0] = b[0] * 2
        return

    for first in (0.0, 9.0):
        a, b, x = np.full(3, first), np.ones(3), np.full(3, 5.0)
        f(a, b, x)
        assert x[0] == (0.0 if first < 1 else -8.0)


def test_elements_are_read_before_the_write():
    @autoconv.compile
    def f(a, b, x):
        b.T[:] += np.maximum(b[::-1, :], a[1:2, 4:5]) - (x - x[::-1])
        b[:, 1:4] = -(x[3:6] + b[0, ::2])

    a, b, x = np.random.default_rng(0).integers(-3, 5, (6, 18)).astype(float).reshape(3, 6, 6)
    x = x[0].copy()
    expected = b.copy()
    expected.T[:] += np.maximum(expected[::-1, :], a[1:2, 4:5]) - (x - x[::-1])
    expected[:, 1:4] = -(x[3:6] + expected[0, ::2])
    argument = b.copy()
    f(a.copy(), argument, x)
    assert argument.tolist() == expected.tolist()


@pytest.mark.parametrize("count", [5, 50_000])
def test_donated_arrays_keep_their_contents_where_the_call_fails(count):
    @autoconv.compile
    def f(x, y, k):
        x += 1.0
        y[k] = x[1] + y[0]

    x, y = np.arange(float(count)), np.zeros(count)
    f(x, y, 3)
    f(x, y, 2)
    assert x.tolist() == (np.arange(float(count)) + 2.0).tolist()
    assert y[:5].tolist() == [0.0, 0.0, 3.0, 2.0, 0.0]
    with pytest.raises(IndexError):
        f(x, y, count)
    assert x[0] == 3.0 and y[:5].tolist() == [0.0, 0.0, 3.0, 2.0, 0.0]
    f(x[::-1], x[::-1][1:-1], 0)
    assert x[0] == 4.0
    assert "compiled by XLA" in f.explain()


def test_threads_write_their_own_arrays():
    @autoconv.compile
    def f(x, y):
        x += y

    def run(i):
        x = np.full(20_000, float(i))
        for _ in range(20):
            f(x, np.ones(20_000))
        return (x == i + 20.0).all()

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(20)))


@pytest.mark.parametrize("count", [1, 2, 8, 9, 16, 33, 100])
def test_scans(count):
    @autoconv.function
    def f(x):
        product, before = autoconv.math.cumprod(x, axis=1), autoconv.cumsum(x, axis=1, exclusive=True)
        return autoconv.cumsum(x, axis=0), product, before, autoconv.cumsum(x, axis=1, exclusive=True, reverse=True)

    x = np.random.default_rng(0).integers(-2, 3, (count, count))
    sums = np.cumsum(x, 1)
    expected = np.cumsum(x, 0), np.cumprod(x, 1), sums - x, sums[:, -1:] - sums
    for actual_part, expected_part in zip(f(x), expected, strict=True):
        assert actual_part.numpy().tolist() == expected_part.tolist()
    assert "compiled by XLA" in f.explain()


def test_text_runs_natively():
    @autoconv.function
    def f(x):
        return autoconv.strings.upper(x)

    assert f(autoconv.constant("abc")).numpy() == b"ABC"
    assert "not by XLA" in f.explain()


def test_several_shapes():
    @autoconv.function(input_signature=[autoconv.TensorSpec([None], autoconv.float32)])
    def f(x):
        return autoconv.cumsum(x) / autoconv.cast(autoconv.size(x), autoconv.float32)

    for size in (1, 3, 5):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_allclose(f(x).numpy(), np.cumsum(x) / size, rtol=1e-6)
