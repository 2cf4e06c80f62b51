"""Sizes that are no ints, and methods that NumPy's scalars lack: the errors of NumPy under `compile`."""

import linecache

import numpy as np
import pytest

import autoconv as ac

EXPRESSIONS = (
    "np.ones(x.min())", "np.ones((2, x.min()))", "np.zeros(x[0])", "np.ones((x.mean(),))", "np.full(x.max(), 2)",
    "np.ones(k > 1)", "np.ones((2, k > 0))", "np.arange(6.0).reshape(x.min(), 6)", "x[0].dot(x)", "x.dot(x)",
    "hasattr(x[0], 'dot')", "x[0].partition(1)",
)  # fmt: skip


def outcome(function, *arguments):
    try:
        return repr(function(*arguments))
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_numpy(expression):
    text, name = f"def f(x, k):\n    return {expression}\n", f"<odd size {expression}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np}
    exec(compile(text, name, "exec"), space)
    compiled = ac.compile(space["f"])
    for x in (np.array([True, True]), np.array([1.0, 2.0]), np.array([1, 2])):
        for _ in range(2):
            assert outcome(compiled, x, 1) == outcome(space["f"], x, 1)
