"""Large arrays of native code: kept memory is used again, belongs to one array at a time, and is bounded."""

from __future__ import annotations

import ctypes
import gc
import itertools
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm.runtime import array_pool

if int(np.__version__.split(".")[0]) > 1:
    from numpy._core.multiarray import get_handler_name
else:
    from numpy.core.multiarray import get_handler_name

ROOT = Path(__file__).parents[2]


@autoconv.function
def increment_tensor(x):
    return x + 1.0


@autoconv.compile
def increment_array(x):
    return x + 1.0


def make_array(count: int) -> np.ndarray:
    return increment_array(np.zeros(count, np.float32))


def test_large_arrays_use_the_pool_and_small_ones_do_not() -> None:
    large, small = make_array(array_pool.MIN_POOLED_BYTES), make_array(16)
    assert get_handler_name(large) == "autoconv"
    assert get_handler_name(small) == get_handler_name(np.empty(3)) == get_handler_name()
    assert large.ctypes.data % 64 == 0 and large.flags.owndata and large.flags.writeable and large.base is None


def test_memory_is_reused_only_when_it_is_free() -> None:
    size = 50_003  # of no other test, which may have left blocks
    x = autoconv.zeros(size)
    increment_tensor(x)
    seen = set()
    for _ in range(50):
        result = increment_tensor(x).numpy()
        seen.add(result.ctypes.data)
        np.testing.assert_array_equal(result, np.ones(size))
        del result
    assert len(seen) <= 10  # blocks of the same class of sizes may be left from other tests
    results = [increment_tensor(autoconv.fill([size], float(i))).numpy() for i in range(40)]
    assert not any(np.shares_memory(a, b) for a, b in itertools.pairwise(results))
    assert len({a.ctypes.data for a in results}) == 40
    for i, array in enumerate(results):
        np.testing.assert_array_equal(array, np.full(size, i + 1.0, np.float32))


def test_arrays_can_be_resized_copied_and_pickled() -> None:
    array = make_array(30_000)
    copied = pickle.loads(pickle.dumps(array))
    np.testing.assert_array_equal(copied, array)
    array.resize(60_000, refcheck=False)
    np.testing.assert_array_equal(array, np.r_[np.ones(30_000), np.zeros(30_000)])
    array.resize(10, refcheck=False)
    np.testing.assert_array_equal(array, np.ones(10))


class HeapUse(ctypes.Structure):
    """The struct mallinfo2 of the C library."""

    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = tuple((name, ctypes.c_size_t) for name in names.split())


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="the C library does not count")
def test_kept_memory_is_bounded() -> None:
    measure = ctypes.CDLL(None).mallinfo2
    measure.restype = HeapUse

    def allocated() -> int:
        use = measure()
        return int(use.uordblks + use.hblkhd)

    make_array(4_000_000)
    gc.collect()
    before = allocated()
    arrays = [make_array(4_000_000) for _ in range(15)]  # 240 MB, of which up to 64 were kept before
    assert allocated() - before > 160e6
    del arrays
    assert allocated() - before < 80e6  # 64 MB of ours


def test_threads() -> None:
    failed: list[int] = []

    def work(number: int) -> None:
        x = autoconv.fill([40_000], float(number))
        for _ in range(100):
            if not (increment_tensor(x).numpy() == number + 1).all():
                failed.append(number)

    increment_tensor(autoconv.zeros(40_000))
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_arrays_outlive_the_function_and_the_interpreters_end(forker: Any, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import atexit, gc, sys\n"
        "import autoconv\n"
        "def build():\n"
        "    @autoconv.function\n"
        "    def f(x):\n"
        "        return x * 2.0, x + 1.0\n"
        "    return [a.numpy() for a in f(autoconv.ones(100_000))]\n"
        "kept = build()\n"
        "gc.collect()\n"
        "sys.kept_to_the_end = [kept, build()]\n"
        "atexit.register(lambda: print(kept[0].sum()))\n"
        "kept[1] = None\n"
        "import builtins\n"
        "builtins.last = build()\n"
    )
    completed = forker.run([program], cwd=ROOT)
    assert (completed.returncode, completed.stdout.strip()) == (0, "200000.0"), completed.stderr
