"""Loops and products that are split over threads: the same bits whatever the number of threads, also after a fork."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm.target.machine import this_machine

pytestmark = [
    pytest.mark.optimised,
    pytest.mark.skipif(not this_machine().has_pool, reason="the pool is written for POSIX threads"),
]

PROGRAM = """
import hashlib
import numpy as np
import autoconv

random = np.random.default_rng(1)
x = autoconv.constant(random.standard_normal((700, 900), np.float32))
y = autoconv.constant(random.standard_normal((900, 500), np.float32))


@autoconv.function
def everything(x, y):
    return (
        autoconv.tanh(x) * 2.0, autoconv.reduce_sum(x), autoconv.reduce_mean(autoconv.exp(x)), autoconv.reduce_max(x),
        autoconv.reduce_sum(x * x, axis=0), autoconv.reduce_sum(x * x, axis=1), autoconv.nn.softmax(x),
        autoconv.pad(x, [[1, 2], [3, 4]]), autoconv.transpose(x) + 1.0, x @ y,
        autoconv.reduce_all(x < 100.0), autoconv.reduce_any(x > 100.0),
        autoconv.reduce_sum(autoconv.cast(x > 0.0, autoconv.int32)),
    )


PRODUCTS = {9}
digest = hashlib.sha256()
for i, result in enumerate(everything(x, y)):
    if i not in PRODUCTS:
        digest.update(result.numpy().tobytes())
print(digest.hexdigest())
"""


def _run(forker, program, folder, count):
    """Run the program, from a file in the folder, with that many threads; return what it prints."""
    file = folder / "program.py"
    file.write_text(program)
    environment = {**os.environ, "AUTOCONV_NUM_THREADS": str(count)}
    completed = forker.run([file], env=environment)
    assert not completed.returncode, completed.stderr
    return completed.stdout.strip()


def test_the_number_of_threads_changes_no_bit(forker, tmp_path):
    assert len({_run(forker, PROGRAM, tmp_path, count) for count in (1, 2, 5)}) == 1


def test_split_loops_are_numpys():
    x = np.random.default_rng(2).standard_normal((700, 900))

    @autoconv.function
    def loops(x):
        return (
            autoconv.sqrt(autoconv.abs(x)), autoconv.reduce_sum(x, axis=0), autoconv.reduce_sum(x, axis=1),
            autoconv.reduce_max(x), autoconv.reduce_min(x, axis=0), autoconv.reduce_prod(1.0 + x * 1e-6),
            autoconv.reduce_sum(autoconv.transpose(x)[5:] * 2.0), autoconv.pad(x, [[3, 0], [0, 3]]),
        )  # fmt: skip

    expected = (
        np.sqrt(np.abs(x)), x.sum(0), x.sum(1), x.max(), x.min(0), np.prod(1 + x * 1e-6),
        (x.T[5:] * 2).sum(), np.pad(x, [[3, 0], [0, 3]]),
    )  # fmt: skip
    for found, right in zip(loops(autoconv.constant(x)), expected, strict=True):
        np.testing.assert_allclose(found.numpy(), right, rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("sizes", [(512, 64, 300), (70, 300, 513), (257, 259, 263)])
def test_split_products_are_numpys(sizes, transpose_a, transpose_b):
    m, k, n = sizes
    random = np.random.default_rng(3)
    x = random.standard_normal((k, m) if transpose_a else (m, k))
    y = random.standard_normal((n, k) if transpose_b else (k, n))
    product = autoconv.function(lambda x, y: autoconv.matmul(x, y, transpose_a=transpose_a, transpose_b=transpose_b))
    found = product(autoconv.constant(x), autoconv.constant(y)).numpy()
    np.testing.assert_allclose(found, (x.T if transpose_a else x) @ (y.T if transpose_b else y), rtol=1e-10, atol=1e-10)


def test_special_arguments_in_one_part_of_a_split_loop():
    x = np.full(300_000, 0.5)
    x[[10, 299_999]] = 1e300  # beyond the range of the polynomial
    found = autoconv.function(autoconv.sin)(autoconv.constant(x)).numpy()
    np.testing.assert_allclose(found, np.sin(x), rtol=1e-15)


def test_products_restore_the_number_of_numpys_threads():
    from autoconv.backends.llvm.target import abi

    if "blas_get_threads" not in abi.symbols():
        pytest.skip("NumPy has another BLAS")
    import ctypes

    count = ctypes.CFUNCTYPE(ctypes.c_int)(abi.symbols()["blas_get_threads"])
    before = count()
    x = autoconv.ones((300, 300))
    autoconv.function(lambda x: x @ x)(x)
    assert count() == before


def test_threads_of_the_program_share_the_pool():
    x = autoconv.constant(np.linspace(0.0, 1.0, 400_000))
    wave = autoconv.function(lambda x: autoconv.reduce_sum(autoconv.sin(x) * autoconv.cos(x)))
    right = wave(x).numpy()
    found = []
    users = [threading.Thread(target=lambda: found.extend(wave(x).numpy() for _ in range(50))) for _ in range(4)]
    for user in users:
        user.start()
    for user in users:
        user.join(60)
    assert found == [right] * 200


FORK = """
import os
import numpy as np
import autoconv

x = autoconv.constant(np.linspace(0.0, 1.0, 400_000))
wave = autoconv.function(lambda x: autoconv.reduce_sum(autoconv.sin(x) * autoconv.cos(x)))
before = wave(x).numpy()
child = os.fork()
if child == 0:
    os._exit(0 if all(wave(x).numpy() == before for _ in range(50)) else 1)
assert all(wave(x).numpy() == before for _ in range(50))
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_starts_threads_of_its_own(forker, tmp_path):
    assert _run(forker, FORK, tmp_path, 3) == "0"


def test_an_invalid_number_of_threads_is_named():
    program = "import autoconv.config"
    environment = {**os.environ, "AUTOCONV_NUM_THREADS": "many"}
    command = [sys.executable, "-c", program]
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "AUTOCONV_NUM_THREADS: 'many' is no number of threads" in completed.stderr
