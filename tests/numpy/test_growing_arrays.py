"""Arrays that are larger than memory although their operands fit: errors of NumPy under `compile`, used or not."""

import linecache

import numpy as np
import pytest

import autoconv as ac

GROWING = (
    "np.outer(x, x)", "np.kron(x, x)", "np.subtract.outer(x, x)", "x[:, None] < x", "np.tensordot(x, x, 0)",
    "x[:, None] @ x[None]", "np.meshgrid(x, x)[1]", "np.broadcast_to(x, (x.size, x.size)).copy()",
    "np.tile(x, x.size)", "np.repeat(x, x.size)", "np.zeros((x.size, x.size))", "np.full((x.size, x.size), 2.5)",
    "np.arange(x.size * x.size)", "np.linspace(0, 1, x.size * x.size)", "np.eye(x.size)", "np.tri(x.size)",
    "np.vander(x)", "np.pad(x, x.size * x.size)", "np.indices((x.size, x.size))", "np.diag(x)",
)  # fmt: skip
USES = (
    "    {}\n    return x.sum()\n",
    "    return ({}).shape[0] + x[0]\n",
    "    if n > 1:\n        {}\n    return x.sum()\n",
    "    try:\n        {}\n    except MemoryError:\n        return -1.0\n    return x.sum()\n",
    "    x[0] += n\n    {}\n    return x.sum()\n",
)  # fmt: skip
SIZES = (3, 4, 5, 2**21, 6)


def build_function(text, name):
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except (MemoryError, ValueError, ZeroDivisionError, IndexError) as error:
        return type(error)


@pytest.mark.parametrize("use", range(len(USES)))
def test_products_of_sizes(use):
    wrong = []
    for expression in GROWING[use % 2 :: 2]:
        function = build_function(f"def f(x, n):\n{USES[use].format(expression)}", f"<growing {use} {expression}>")
        compiled = ac.compile(function)
        for size in SIZES:
            expected, found = (outcome(item, np.ones(size), 7) for item in (function, compiled))
            if found != expected:
                wrong.append((expression, size, found, expected))
                break
    assert not wrong


def test_arrays_that_fit_stay_compiled():
    def distances(x, y):
        return ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)

    compiled = ac.compile(distances)
    for n in (3, 4, 5, 6, 40, 7):
        x, y = np.arange(n * 2.0).reshape(n, 2), np.arange(n * 4.0).reshape(-1, 2)
        np.testing.assert_allclose(compiled(x, y), distances(x, y))
    assert "plain" not in compiled.explain() and compiled.experimental_get_tracing_count() <= 4


COUNTS = ("len(np.nonzero(x > 1)[0])", "np.where(x)[0].size", "len(np.argwhere(x))", "len(np.unique(x > 1))")


@pytest.mark.parametrize("expression", COUNTS)
def test_counts_of_selected_elements_stay_compiled(expression):
    """Nothing reads the positions, which are at most as many as the elements."""
    function = build_function(f"def f(x):\n    return {expression} / 2\n", f"<count {expression}>")
    compiled = ac.compile(function)
    for n in (3, 3, 4, 5, 6, 0):
        x = np.arange(n) % 3
        assert compiled(x) == function(x)
    assert "plain" not in compiled.explain()


UNUSED = (
    "np.zeros(n)", "np.zeros((n, n))", "np.full((2, n), 1.5)", "np.arange(n)", "np.arange(0, 10, n)",
    "np.arange(0.0, n, 0.25)", "np.repeat(x, n)", "np.broadcast_to(x, (n, 3))", "np.tile(x, n)", "np.eye(n)",
    "np.linspace(0, 1, n)", "x.reshape(n, 3)", "np.eye(n, 3)", "np.zeros_like(x, shape=(n,))", "np.fft.fftfreq(n)",
)  # fmt: skip


@pytest.mark.parametrize("expression", UNUSED)
def test_in_branches_and_loops(expression):
    """Nodes that may only raise stay in a branch or loop without results."""
    branch = build_function(
        f"def f(x, n):\n    n = n + 0\n    if n != 1000:\n        {expression}\n    return x.sum()\n",
        f"<branch {expression}>",
    )
    loop = build_function(
        f"def f(x, n):\n    for _ in range(n % 3):\n        {expression}\n    return x.sum()\n", f"<loop {expression}>"
    )
    x = np.arange(3.0)
    for function in (branch, loop):
        compiled = ac.compile(function)
        for n in (1, 2, 2**62, -1, 0, 2**60, -2, 4):
            expected = outcome(function, x, n)
            assert outcome(compiled, x, n) == expected, n


def test_no_error_in_branches_that_do_not_run():
    def f(x, n):
        total = x.sum()
        for _ in range(int(n < 0)):
            np.zeros(x.size)
        if n > 0:
            total += np.ones(n).sum()
        return total

    compiled = ac.compile(f)
    for n in (3, 0, -4, -2**60, 5):
        if n < 0:
            assert compiled(np.ones(3), n) == f(np.ones(3), n) == 3
        else:
            assert compiled(np.ones(3), n) == f(np.ones(3), n)


VALUES = ("np.ones(1)", "np.ones((1, 1))", "[1.0]", "(1.0,)", "np.ones(2)", "2.5", "x.argsort()")


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("index", ["()", "..."])
def test_assignment_to_an_array_without_dimensions(index, value):
    function = build_function(f"def f(x):\n    x[{index}] = {value}\n    return x\n", f"<element {index} {value}>")
    compiled = ac.compile(function)
    for _ in range(2):
        expected, found = (_text(item, np.array(7.0)) for item in (function, compiled))
        assert found == expected


def _text(function, x):
    try:
        return repr(function(x))
    except Exception as error:
        return type(error), str(error)


def test_rotations_of_few_dimensions():
    for axes in ((0, 1), (1, 0), (0, 0), (0, -1), (0, 5), (0,)):
        function = build_function(f"def f(x):\n    return np.rot90(x, 1, {axes})\n", f"<rotation {axes}>")
        compiled = ac.compile(function)
        for x in (np.arange(3.0), np.arange(6.0).reshape(2, 3), np.ones((2, 2, 2))):
            assert _text(compiled, x) == _text(function, x)
