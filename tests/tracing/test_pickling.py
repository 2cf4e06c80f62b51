"""Functions are pickled for worker processes, by reference or by source."""

import concurrent.futures
import copy
import multiprocessing
import pickle
import subprocess
import sys

import pytest

import autoconv
from autoconv.errors import AutoconvError

OFFSET = 10


@autoconv.function
def by_reference(x):
    return x + OFFSET


def plain(x):
    if x > 0:
        return x * 2
    return -x


renamed = autoconv.compile(plain)


def pickle_and_load(function):
    return pickle.loads(pickle.dumps(function))


def test_by_reference():
    assert pickle_and_load(by_reference) is by_reference
    assert copy.deepcopy(by_reference) is by_reference


def test_another_name_of_a_plain_function():
    loaded = pickle_and_load(renamed)
    assert loaded is not renamed
    assert loaded.python_function is plain
    assert [loaded(3), loaded(-3)] == [6, 3]
    assert loaded.contract == "compile"


def test_lambdas_and_inner_functions_by_source():
    scale, variable = autoconv.constant([1.0, 2.0]), autoconv.Variable(3.0)

    def helper(x):
        return x + variable

    @autoconv.function
    def inner(x, times=2):
        if autoconv.reduce_sum(x) > 0:
            return helper(x * scale) * times
        return x

    first, second = autoconv.function(lambda x: x + OFFSET), autoconv.function(lambda x: x - OFFSET)
    x = autoconv.constant([1.0, 1.0])
    inner(x)
    variable.assign(4.0)
    loaded = pickle_and_load(inner)
    assert loaded(x).numpy().tolist() == inner(x).numpy().tolist() == [10.0, 12.0]
    variable.assign(100.0)
    assert loaded(x).numpy().tolist() == [10.0, 12.0]  # a variable is pickled by its value
    assert pickle_and_load(first)(autoconv.constant(1)).numpy() == 11
    assert pickle_and_load(second)(autoconv.constant(1)).numpy() == -9


def test_a_function_that_calls_itself():
    @autoconv.function
    def factorial(n):
        return 1 if n <= 1 else n * factorial(n - 1)

    assert pickle_and_load(factorial)(5).numpy() == 120


def test_options_are_pickled():
    f = autoconv.function(lambda x: x * 2, input_signature=[autoconv.TensorSpec([None], autoconv.float32)])
    loaded = pickle_and_load(f)
    assert loaded([1, 2, 3]).numpy().tolist() == [2.0, 4.0, 6.0]
    assert loaded.get_concrete_function().structured_input_signature == (
        f.get_concrete_function().structured_input_signature
    )


class Scaler:
    def __init__(self, n):
        self.n = n

    @autoconv.function
    def scaled(self, x):
        return x * self.n


def test_methods_are_pickled_with_their_instance():
    scaler = Scaler(3)
    assert scaler.scaled(autoconv.constant(2)).numpy() == 6
    loaded = pickle_and_load(scaler.scaled)
    assert loaded(autoconv.constant(2)).numpy() == 6
    assert pickle_and_load(scaler).scaled(autoconv.constant(4)).numpy() == 12
    assert copy.deepcopy(scaler).n == 3


def test_traces_are_not_pickled():
    concrete = by_reference.get_concrete_function(autoconv.constant(1))
    with pytest.raises(AutoconvError, match="cannot be pickled"):
        pickle.dumps(concrete)


def test_the_error_without_source():
    namespace = {}
    exec("def f(x):\n    return x", namespace)
    with pytest.raises(AutoconvError, match="its source cannot be found"):
        pickle.dumps(autoconv.function(namespace["f"]))


PROGRAM = """
import multiprocessing, sys, autoconv

LIMIT = 5

@autoconv.function
def named(x):
    while autoconv.reduce_sum(x) < LIMIT:
        x = x * 2
    return x

def run(pair):
    function, number = pair
    return function(autoconv.constant(number)).numpy().item()

if __name__ == "__main__":
    unnamed = autoconv.function(lambda x: named(x) + LIMIT)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(run, [(named, 1), (named, 3), (unnamed, 1)]))
"""


def test_worker_processes(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    completed = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120, check=False)
    assert completed.stderr == ""
    assert completed.stdout == "[8, 6, 13]\n"


def call(function, number):
    return function(number)


def test_a_pool_of_forked_workers():
    context = multiprocessing.get_context("fork")
    offset = 4
    f = autoconv.compile(lambda x: plain(x) + offset)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        assert list(pool.map(call, [f, f], [3, -3])) == [10, 7]


SCRIPT = """
import pickle, threading, autoconv
import numpy as np

TABLE, LOCK = {"factor": [1.0, 2.0]}, threading.Lock()

def halved(x):
    return helper(x) / 2

def helper(x):
    return x * TABLE["factor"][1]

@autoconv.compile
def smoothed(x):
    out = x.copy()
    for i in range(1, len(out) - 1):
        out[i] = halved(x[i - 1] + x[i + 1])
    return out

@autoconv.compile
def descend(n):
    return n if n <= 0 else descend(n - 3)

@autoconv.function
def locked(x):
    with LOCK:
        return x

def closure(factor):
    return autoconv.compile(lambda x: np.sum(x * factor))

if __name__ == "__main__":
    data = pickle.dumps([smoothed, descend, locked, closure(3.0)])
    assert pickle.loads(data)[:3] == [smoothed, descend, locked]
    with open("functions", "wb") as file:
        file.write(data)
"""
OTHER = """
import pickle, numpy as np
smoothed, descend, locked, closure = pickle.load(open("functions", "rb"))
print(smoothed(np.array([1.0, 5.0, 3.0])), descend(10), closure(np.arange(3.0)))
print(["1 trace" in f.explain() for f in (smoothed, closure)])
try:
    locked(1.0)
except NameError as error:
    print(error)
"""


def test_functions_of_the_main_script_in_a_process_with_another_one(tmp_path, forker):
    (tmp_path / "script.py").write_text(SCRIPT)
    forker.run(["script.py"], cwd=tmp_path, check=True)
    completed = subprocess.run([sys.executable, "-c", OTHER], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert completed.stdout.splitlines() == [
        "[1. 4. 3.] -2 9.0", "[True, True]", "name 'LOCK' is not defined",
    ], completed.stderr  # fmt: skip
