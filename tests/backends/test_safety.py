"""Safety of native code: nested calls, functions dropped while they run, signals, threads."""

import gc
import os
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import autoconv

pytestmark = pytest.mark.optimised


def test_a_callback_calls_the_function_that_it_is_called_from():
    depths = []

    def call_again(x):
        depths.append(float(x))
        return f(x - 1.0) if x > 0 else x

    @autoconv.function
    def f(x):
        inner_result = autoconv.py_function(call_again, [x], autoconv.float32)
        return inner_result + autoconv.reduce_sum(autoconv.ones([100]) * x)

    assert f(autoconv.constant(3.0)).numpy() == 600.0
    assert depths == [3.0, 2.0, 1.0, 0.0]


def test_a_callback_in_a_loop_sees_the_loops_own_arrays():
    seen = []

    def record_array(x):
        seen.append(x.numpy().copy())
        g(autoconv.ones([200_000]))  # allocates and frees large arrays meanwhile
        return x

    g = autoconv.function(lambda x: autoconv.reduce_sum(autoconv.exp(x) * 2.0))

    @autoconv.function
    def f(x):
        for _ in autoconv.range(3):
            x = autoconv.py_function(record_array, [x * 2.0], autoconv.float32)
            x.set_shape([200_000])
        return x

    found = f(autoconv.ones([200_000])).numpy()
    assert [array[0] for array in seen] == [2.0, 4.0, 8.0]
    assert all((array == array[0]).all() for array in seen) and (found == 8.0).all()


def test_a_function_that_is_dropped_while_it_runs():
    holder = {}

    def drop(x):
        holder.clear()
        gc.collect()
        return x

    def make():
        @autoconv.function
        def f(x):
            y = autoconv.py_function(drop, [x * 2.0], autoconv.float32)
            y.set_shape([1000])
            return autoconv.reduce_sum(autoconv.sqrt(y)) + autoconv.reduce_max(x)

        holder["f"] = f
        return weakref.ref(f)

    ref = make()
    x = autoconv.fill([1000], 2.0)
    assert holder["f"](x).numpy() == 2002.0
    gc.collect()
    assert ref() is None


def test_an_error_in_a_callback_leaves_no_reference_behind():
    def fail(x):
        raise ValueError("not this one")

    @autoconv.function
    def f(x):
        y = x * 2.0
        z = autoconv.py_function(fail, [y], autoconv.float32)
        return y + z

    x = autoconv.constant(np.ones(1000, np.float32))
    array = x.numpy()
    before = sys.getrefcount(array)
    for _ in range(20):
        with pytest.raises(ValueError, match="not this one"):
            f(x)
    gc.collect()
    assert sys.getrefcount(array) <= before + 1


def test_threads_call_one_function_at_once():
    @autoconv.function
    def f(x, n):
        for _ in autoconv.range(n):
            x = autoconv.sin(x) + 1.0
        return autoconv.reduce_sum(x)

    x, n = autoconv.constant(np.linspace(0.0, 1.0, 500)), autoconv.constant(300)
    right, found = f(x, n).numpy(), []
    users = [threading.Thread(target=lambda: found.extend(f(x, n).numpy() for _ in range(40))) for _ in range(8)]
    for user in users:
        user.start()
    for user in users:
        user.join(60)
    assert found == [right] * 320


FORK = """
import os
import autoconv

f = autoconv.function(lambda x: autoconv.reduce_sum(autoconv.exp(x) * 2.0))
x = autoconv.ones([1000])
before = f(x).numpy()
child = os.fork()
again = f(x).numpy() == before and autoconv.function(lambda x: x @ x)(autoconv.ones([2, 2])).numpy()[0, 0] == 2.0
if child == 0:
    os._exit(0 if again else 1)
print(again, os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_parent_and_child_of_a_fork_go_on(forker, tmp_path: Path):
    file = tmp_path / "forks.py"
    file.write_text(FORK)
    completed = forker.run([file], check=True)
    assert completed.stdout == "True 0\n"
