"""The exchange of arrays with XLA: layouts, dtypes and lifetimes of arguments and results, processes, accelerators."""

import gc
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import autoconv
from autoconv import code_cache
from autoconv.backends.xla import staging

pytest.importorskip("jaxlib")


@pytest.fixture(autouse=True)
def by_xla(monkeypatch):
    monkeypatch.setattr(autoconv.config.SETTINGS, "backend", "xla")
    monkeypatch.setattr(autoconv.config.SETTINGS, "tiers", "native")


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
        argument = LAYOUTS[layout](x)
        expected = plain(argument, y)
        for _ in range(2):
            np.testing.assert_allclose(f(argument, y), expected, rtol=1e-15)
        x = x + 1.0


@pytest.mark.parametrize("count", [3, 30_000])
def test_results_are_arrays_of_the_program(count):
    @autoconv.compile
    def f(x):
        return x + x, np.full(count, 3.0), np.full(count, 3.0)

    x = aligned(np.arange(float(count)))
    first = f(x)
    for item in first:
        item[...] = 7.0
    second = f(x)
    assert second[0].tolist() == (2 * np.arange(float(count))).tolist()
    assert (second[1] == 3.0).all() and (second[2] == 3.0).all()
    assert all((item == 7.0).all() for item in first)
    assert not any(np.shares_memory(a, b) for a in first for b in (*second, x))


def test_results_outlive_the_function():
    f = autoconv.compile(plain)
    x = np.arange(50_000.0)
    found = f(x, x)
    del f
    gc.collect()
    assert (found == 3 * np.arange(50_000.0)).all()


def test_later_changes_of_arguments_do_not_change_results():
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


def test_executables_are_kept_on_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOCONV_CACHE", str(tmp_path))  # other processes of the run store in the common folder
    original = code_cache.XLA
    assert autoconv.compile(plain)(np.ones(7), np.ones(7)).tolist() == [3.0] * 7
    (file,) = original.files()
    path = Path(file.path)
    assert path.parent.stat().st_mode & 0o077 == 0
    stored = []
    monkeypatch.setattr(code_cache.CodeCache, "store", lambda *arguments: stored.append(arguments))
    assert autoconv.compile(plain)(np.ones(7), np.full(7, 2.0)).tolist() == [4.0] * 7
    assert not stored
    path.write_bytes(path.read_bytes()[:-9])
    assert autoconv.compile(plain)(np.ones(7), np.full(7, 2.0)).tolist() == [4.0] * 7
    assert len(stored) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forked_processes_run_natively():
    f = autoconv.compile(plain)
    x = np.arange(3.0)
    expected = f(x, x).tolist()
    child = os.fork()
    if child == 0:
        is_equal = f(x, x).tolist() == expected and autoconv.compile(plain)(x[:2], x[:2]).tolist() == expected[:2]
        os._exit(0 if is_equal else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_threads():
    f = autoconv.compile(plain)
    x = np.arange(100.0)
    f(x, x)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: f(x + i, x), range(200)))
    for i, result in enumerate(found):
        np.testing.assert_array_equal(result, plain(x + i, x))


ACCELERATED = """
import numpy as np
import autoconv as ac
from jaxlib import xla_client
from autoconv.backends.xla import accelerator, client

of_host = xla_client.make_cpu_client(asynchronous=False, num_devices=2)  # processors in the place of accelerators
of_kind = {"GPU": [client.ClientDevice(of_host, device, is_host=False) for device in of_host.devices()]}
client.devices = lambda kind: of_kind.get(kind, ())
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

@ac.function
def inverse_factor(x):
    return ac.linalg.cholesky(x)

@ac.function
def growing(n):
    numbers = ac.TensorArray(ac.float32, size=0, dynamic_size=True)
    for i in ac.range(n):
        numbers = numbers.write(i, 2.0 * ac.cast(i, ac.float32))
    return ac.reduce_sum(numbers.stack())

with ac.device("GPU:0"):
    factor = inverse_factor(ac.constant([[-1.0]]))  # the word of the call is read later, and kept by what follows
    product = factor * 2.0 + 1.0
    for _ in range(2):
        try:
            product.numpy()
        except ac.errors.InvalidArgumentError as error:
            print("late", error.place.text.strip())
    long = growing(ac.constant(100))  # more numbers than the list has room for: the native code has the result
    print((long + 1.0).numpy(), long.numpy(), (long * 2.0).numpy())
    number = ac.constant([4.0])
    for _ in range(100):
        number = inverse_factor(ac.reshape(number, (1, 1)))[0] + 2.0
    print(number.numpy())
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
    completed = forker.run([path], timeout=200)
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.splitlines() == [
        "['/physical_device:GPU:0', '/physical_device:GPU:1']",
        "['/device:CPU:0', '/device:GPU:0', '/device:GPU:1'] []",
        "GPU:1 DeviceArray True [64. 96.]",
        "InvalidArgumentError",
        "GPU:0 b'A'",
        "[1. 1.] [1. 1.]",
        "late return ac.linalg.cholesky(x)",
        "late return ac.linalg.cholesky(x)",
        "9901.0 9900.0 19800.0",
        "[4.]",
        "InvalidArgumentError",
        "[0. 2. 4.] ndarray",
    ]


DTYPES = [np.float32, np.float64, np.int8, np.int64, np.bool_, np.complex128]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
def test_large_arrays_at_any_address(dtype, monkeypatch):
    """Modules that skip the elements between an aligned address and the array are compiled after the first copies."""
    monkeypatch.setattr(staging, "_COPIED_BYTES_PER_SECOND", 0.0)
    monkeypatch.setattr(staging, "_MIN_LEAD_BYTES", 1 << 10)

    @autoconv.compile(backend="xla")
    def f(x, y, z):
        z[1] = x[0, 1]
        return np.where(x == y, x, y[::-1]), x.T, x[1:] == y[:-1], z[:3] + z[1:4]

    memory = np.random.default_rng(0).integers(0, 2, 60_000 * np.dtype(dtype).itemsize, np.uint8)
    numbers = memory.view(dtype)[:50_000] if dtype is np.bool_ else np.arange(50_000).astype(dtype)
    for offset in range(20):
        x = numbers[offset : offset + 40_000].reshape(200, 200)
        y = numbers[:40_000].reshape(200, 200) if offset % 3 else x.copy()
        z = numbers[offset + 1 : offset + 40_001].copy()
        before, results = z.copy(), f(x, y, z)
        assert z[1] == x[0, 1] and np.array_equal(np.delete(z, 1), np.delete(before, 1))
        expected = np.where(x == y, x, y[::-1]), x.T, x[1:] == y[:-1], z[:3] + z[1:4]
        for found, wanted in zip(results, expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
    assert "compiled by XLA" in f.explain()
