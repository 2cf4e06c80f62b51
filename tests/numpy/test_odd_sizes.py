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
    namespace = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    compiled = ac.compile(namespace["f"])
    for x in (np.array([True, True]), np.array([1.0, 2.0]), np.array([1, 2])):
        for _ in range(2):
            assert outcome(compiled, x, 1) == outcome(namespace["f"], x, 1)


ARGUMENTS = (
    "np.eye(k)", "np.eye(3, k)", "np.identity(k)", "np.resize(x, k)", "np.indices((k, 2))", "np.fft.fft(x, k)",
    "np.fft.irfft(x, k)", "np.fft.fftfreq(k)", "np.pad(x, k)", "np.repeat(x, k)", "np.trace(np.ones((2, 2)), k)",
    "np.vander(x, k)", "np.logspace(0, 1, k)", "np.arange(k, 5)", "np.arange(0, 5, k)", "np.arange(k)",
)  # fmt: skip
VALUES = (
    "2", "-1", "2.5", "2**62", "-2**63", "True", "np.True_", "np.int8(2)", "np.float64(2)", "None", "1j",
    "float('nan')", "float('inf')",
)  # fmt: skip


@pytest.mark.parametrize("call", ARGUMENTS)
def test_arguments_that_are_no_sizes(call):
    """Each value is a literal in one program, and an argument in another."""
    for value in VALUES:
        for expression in (call.replace("k", value), call):
            text, name = f"def f(x, k):\n    return {expression}\n", f"<no size {expression} {value}>"
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)
            namespace = {"np": np}
            exec(compile(text, name, "exec"), namespace)
            x, k = np.array([1.0, 2.0, 3.0]), eval(value)
            assert outcome(ac.compile(namespace["f"]), x, k) == outcome(namespace["f"], x, k), (expression, value)


def unused_array(n):
    np.empty(n)
    return n + 1


def unused_full(n):
    np.full((2, n), 1.5)
    return n + 1


def unused_range(n):
    np.arange(n) * 2.0
    return n + 1


def unused_repeat(n):
    np.repeat(np.ones(2), n)
    return n + 1


def unused_linspace(n):
    np.linspace(0, 1, n)
    return n + 1


def unused_diagonal(n):
    np.eye(n, 3)
    return n + 1


def unused_frequencies(n):
    np.fft.fftfreq(n)
    return n + 1


@pytest.mark.parametrize(
    "function",
    [
        unused_frequencies,
        unused_array,
        unused_full,
        unused_range,
        unused_repeat,
        unused_linspace,
        unused_diagonal,
    ],
)
def test_unused_arrays_of_impossible_sizes(function):
    """An unused array raises where its size, known only at run time, is negative or larger than memory."""
    compiled = ac.compile(function)
    for n in (3, 4, 5, -1, 0, 2**60, 2**62, 2**42, 6):
        expected = _error_or_result(function, n)
        assert _error_or_result(compiled, n) == expected


def _error_or_result(function, n):
    try:
        return function(n)
    except (ValueError, MemoryError, ZeroDivisionError) as error:
        return type(error)


def transformed(x):
    return np.fft.fft(x)


def unused_transform(x):
    np.fft.fftn(x[None])
    return x.size


def unused_real_transform(x):
    np.fft.rfft(x)
    return x.size


def unused_inverse_transform(x):
    np.fft.irfft(x)
    return x.size


def inverse(x):
    return np.fft.irfft(x)


def chosen(x):
    return np.where(x > 2, x, np.ones(3))


def chosen_by_scalar(x):
    return np.std(np.where(x[:4] > 0, x, 1.0))


@pytest.mark.parametrize(
    "function",
    [transformed, unused_transform, unused_real_transform, unused_inverse_transform, inverse, chosen, chosen_by_scalar],
)
def test_sizes_that_a_function_refuses(function):
    """The class and the text are NumPy's, also where nothing uses the result."""
    compiled = ac.compile(function)
    for n in (3, 4, 5, 1, 0, 2, 6):
        expected, found = _text_or_shape(function, n), _text_or_shape(compiled, n)
        assert found == expected


def _text_or_shape(function, n):
    try:
        return np.shape(function(np.ones(n)))
    except Exception as error:
        return type(error), str(error)
