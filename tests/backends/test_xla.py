"""The backend `xla` against the native one: results, written arguments and variables, errors, what runs natively."""

import gc
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import autoconv
from autoconv import code_cache

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
        given = np.arange(10.0)
        expected = np.zeros(n)
        for i in range(n):
            expected[i % 3] += given[i] * 2
        assert f(given, n).tolist() == expected.tolist()
        assert given[0] == 7
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
        for one, other in zip(found, expected, strict=True):
            assert type(one) is type(other) and one.tolist() == other.tolist()
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

    whole, plain = np.arange(6.0), np.arange(6.0)
    f(whole[:-1], whole[1:])
    for _ in range(3):
        plain[1:] += plain[:-1]
    assert whole.tolist() == plain.tolist()


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
        mine, its = [(np.arange(4.0), np.arange(4.0) + 1.5) for _ in range(2)]
        found, expected = f(*mine, k), plain(*its, k)
        ours, theirs = (
            [*(result if isinstance(result, tuple) else (result,)), *given]
            for result, given in ((found, mine), (expected, its))
        )
        assert [x.tolist() for x in ours] == [x.tolist() for x in theirs]
        assert [np.shares_memory(x, y) for x in ours for y in ours] == [
            np.shares_memory(x, y) for x in theirs for y in theirs
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
        mine, its = [(np.arange(4.0), np.arange(4.0) + 2.0) for _ in range(2)]
        try:
            expected = plain(*its, k)
        except (ValueError, IndexError) as error:
            with pytest.raises(type(error)):
                f(*mine, k)
        else:
            found = f(*mine, k)
            np.testing.assert_allclose(found[0], expected[0])
            np.testing.assert_allclose(found[1], expected[1])
        np.testing.assert_allclose(mine, its)
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


def test_elements_that_are_read_are_those_before_the_write():
    @autoconv.compile
    def f(a, b, x):
        b.T[:] += np.maximum(b[::-1, :], a[1:2, 4:5]) - (x - x[::-1])
        b[:, 1:4] = -(x[3:6] + b[0, ::2])

    a, b, x = np.random.default_rng(0).integers(-3, 5, (6, 18)).astype(float).reshape(3, 6, 6)
    x = x[0].copy()
    expected = b.copy()
    expected.T[:] += np.maximum(expected[::-1, :], a[1:2, 4:5]) - (x - x[::-1])
    expected[:, 1:4] = -(x[3:6] + expected[0, ::2])
    given = b.copy()
    f(a.copy(), given, x)
    assert given.tolist() == expected.tolist()


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
    for one, other in zip(f(x), expected, strict=True):
        assert one.numpy().tolist() == other.tolist()
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


# ---- the exchange of arrays


def plain(x, y):
    return x * 2.0 + y


LAYOUTS = {
    "contiguous": lambda x: x.copy(),
    "in steps": lambda x: np.repeat(x, 2, axis=0)[::2],
    "transposed": lambda x: x.T.copy().T,
    "backwards": lambda x: x[::-1].copy()[::-1],
    "read-only": lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
    "aligned": lambda x: aligned(x),
    "not aligned": lambda x: aligned(x, 8),
}


def aligned(x, offset=0):
    raw = np.empty(x.nbytes + 128, np.uint8)
    start = -raw.ctypes.data % 64 + offset
    found = raw[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    found[...] = x
    return found


@pytest.mark.parametrize("shape", [(3, 4), (300, 40)], ids=["small", "large"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_arguments(layout, shape):
    f = autoconv.compile(plain)
    x, y = np.random.default_rng(0).random((2, *shape))
    for _ in range(3):
        given = LAYOUTS[layout](x)
        expected = plain(given, y)
        for _ in range(2):
            np.testing.assert_allclose(f(given, y), expected, rtol=1e-15)
        x = x + 1.0


@pytest.mark.parametrize("count", [3, 30_000])
def test_results_are_arrays_of_the_program(count):
    @autoconv.compile
    def f(x):
        return x + x, np.full(count, 3.0), np.full(count, 3.0)

    x = aligned(np.arange(float(count)))
    first = f(x)
    for one in first:
        one[...] = 7.0
    second = f(x)
    assert second[0].tolist() == (2 * np.arange(float(count))).tolist()
    assert (second[1] == 3.0).all() and (second[2] == 3.0).all()
    assert all((one == 7.0).all() for one in first)
    assert not any(np.shares_memory(a, b) for a in first for b in (*second, x))


def test_results_outlive_the_function():
    f = autoconv.compile(plain)
    x = np.arange(50_000.0)
    found = f(x, x)
    del f
    gc.collect()
    assert (found == 3 * np.arange(50_000.0)).all()


def test_what_an_argument_becomes_later_changes_no_result():
    f = autoconv.compile(plain)
    x = aligned(np.ones(50_000))
    found = f(x, x)
    x[...] = 9.0
    assert (found == 3.0).all()
    assert (f(x, x) == 27.0).all()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "complex64", "float64"])
def test_dtypes(dtype):
    @autoconv.compile
    def f(x):
        return x[::-1], x[0]

    x = np.arange(5).astype(dtype)
    found, first = f(x)
    assert found.dtype == x.dtype and found.tolist() == x[::-1].tolist()
    assert type(first) is type(x[0])


def test_bfloat16_and_no_elements():
    pytest.importorskip("ml_dtypes")
    f = autoconv.function(lambda x: x + x)
    x = autoconv.cast(autoconv.constant([1.0, 2.5]), autoconv.bfloat16)
    assert autoconv.cast(f(x), autoconv.float32).numpy().tolist() == [2.0, 5.0]
    assert f(autoconv.zeros([0, 3])).shape == (0, 3)


def test_kinds_of_results_and_arguments_that_no_longer_fit():
    scale = 2

    @autoconv.compile
    def f(n, x, name):
        return {"n": n * scale, "x": x.sum() * n, name: (x, n > 1)[1]}

    x = np.arange(3.0)
    for n in (1, 2, 3):
        found = f(n, x, "a")
        assert found == {"n": n * scale, "x": 3.0 * n, "a": n > 1}
        assert [type(value) for value in found.values()] == [int, np.float64, bool]
    assert f(1.5, x, "a")["n"] == 3.0 and type(f(1, x, "b")["b"]) is bool
    assert f(2, x.astype(np.float32), "a")["x"].dtype == np.float32
    assert f(2**70, x, "a")["n"] == 2**71
    scale = 10
    assert f(2, x, "a")["n"] == 20
    with pytest.raises(TypeError):
        f(2, x)


def test_executables_are_kept_on_disk(monkeypatch):
    kept = code_cache.XLA
    kept.clear()
    assert autoconv.compile(plain)(np.ones(7), np.ones(7)).tolist() == [3.0] * 7
    (entry,) = kept.entries()
    assert entry[0].parent.stat().st_mode & 0o077 == 0
    made = []
    monkeypatch.setattr(kept, "store", lambda *given: made.append(given))
    assert autoconv.compile(plain)(np.ones(7), np.full(7, 2.0)).tolist() == [4.0] * 7
    assert not made
    entry[0].write_bytes(entry[0].read_bytes()[:-9])
    assert autoconv.compile(plain)(np.ones(7), np.full(7, 2.0)).tolist() == [4.0] * 7
    assert len(made) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forked_processes_run_natively():
    f = autoconv.compile(plain)
    x = np.arange(3.0)
    expected = f(x, x).tolist()
    child = os.fork()
    if child == 0:
        same = f(x, x).tolist() == expected and autoconv.compile(plain)(x[:2], x[:2]).tolist() == expected[:2]
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_threads():
    f = autoconv.compile(plain)
    x = np.arange(100.0)
    f(x, x)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: f(x + i, x), range(200)))
    for i, one in enumerate(found):
        np.testing.assert_array_equal(one, plain(x + i, x))


ACCELERATED = """
import numpy as np
import autoconv as ac
from jaxlib import xla_client
from autoconv.backends.xla import accelerator, client

of_host = xla_client.make_cpu_client(asynchronous=False, num_devices=2)  # processors in the place of accelerators
client.devices = lambda kind: [(of_host, device) for device in of_host.devices()] if kind == "GPU" else ()
client._has_entry_points = lambda: True
print([device.name for device in ac.config.list_physical_devices("GPU")])
print([device.name for device in ac.config.list_logical_devices()], ac.config.list_physical_devices("TPU"))
ac.config.set_soft_device_placement(False)

@ac.function
def f(x):
    while ac.reduce_sum(x) < 100.0:
        x = x * 2.0
    return x

with ac.device("GPU:1"):
    x = ac.constant([1.0, 2.0]) + 1.0
    y = f(x)
    print(y.device[-5:], type(y.remote).__name__, y.remote.buffer.devices() == {of_host.devices()[1]}, y.numpy())
    try:
        ac.linalg.cholesky(ac.constant([[-1.0]])).numpy()
    except Exception as error:
        print(type(error).__name__)
with ac.device("GPU:0"):
    print((f(y) + 1.0).device[-5:], ac.strings.upper(ac.constant("a")).numpy())

@ac.function
def several(x):
    with ac.device("GPU:0"):
        a = ac.sin(x)
    with ac.device("GPU:1"):
        b = ac.cos(x)
    return a * a + b * b

print(several(ac.constant([1.0, 2.0])).numpy().round(3), several(y).numpy().round(3))
try:
    with ac.device("GPU:2"):
        ac.constant(1.0) + 1.0
except Exception as error:
    print(type(error).__name__)
g = ac.compile(lambda x: x * 2.0, backend="xla")
print(g(np.arange(3.0)), type(g(np.arange(3.0))).__name__)
"""


def test_accelerators(forker, tmp_path):
    pytest.importorskip("jax")
    path = tmp_path / "program.py"
    path.write_text(ACCELERATED)
    done = forker.run([path], timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "['/physical_device:GPU:0', '/physical_device:GPU:1']",
        "['/device:CPU:0', '/device:GPU:0', '/device:GPU:1'] []",
        "GPU:1 DeviceArray True [64. 96.]",
        "InvalidArgumentError",
        "GPU:0 b'A'",
        "[1. 1.] [1. 1.]",
        "InvalidArgumentError",
        "[0. 2. 4.] ndarray",
    ]
