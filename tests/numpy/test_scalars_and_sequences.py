"""Operators between NumPy's scalars of a call and sequences or None: repetition, comparison, NumPy's errors."""

import linecache
import warnings

import numpy as np
import pytest

import autoconv as ac

SCALARS = ("y.mean()", "y[0]", "np.int64(k)", "(y[0] > 0)", "y.astype(int).sum()", "np.float32(k)")
OTHERS = ("x", "[1, 2]", "(1.5, 2)", "[y[0], 2.0]", "[]", "None", "range(3)", "'ab'")


@pytest.mark.parametrize("operator", ["*", "+", "<", ">=", "=="])
def test_operators(operator):
    wrong = []
    for scalar in SCALARS:
        for operand in OTHERS:
            for first, second in ((scalar, operand), (operand, scalar)):
                expression = f"{first} {operator} {second}"
                text, name = f"def f(x, y, k):\n    return {expression}\n", f"<scalar {expression}>"
                linecache.cache[name] = (len(text), None, text.splitlines(True), name)
                namespace = {"np": np}
                exec(compile(text, name, "exec"), namespace)
                expected, found = (outcome(item) for item in (namespace["f"], ac.compile(namespace["f"])))
                if found != expected:
                    wrong.append((expression, expected, found))
    assert not wrong


def outcome(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = function([1, 2.5, 3], np.array([2.0, 3.0, 4.0]), 2)
        except Exception as error:
            return type(error), str(error)
        return type(found), repr(found)


CLIPPED = ("np.clip(1, 0, x)", "np.clip(k, x, 9)", "np.clip(2.5, x, None)", "np.clip(k, 0, 3)")


@pytest.mark.parametrize("expression", CLIPPED)
def test_clip_of_a_number(expression):
    """NumPy converts the number to an array, which takes part in promotion as an array."""
    text, name = f"def f(x, k):\n    return {expression}\n", f"<clip {expression}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    for dtype in (np.uint64, np.int8, np.float32, np.float64):
        x, compiled = np.array([1, 2, 3], dtype), ac.compile(namespace["f"])
        for k in (2, 2, 4):
            expected, found = namespace["f"](x, k), compiled(x, k)
            assert (type(found), found.dtype) == (type(expected), expected.dtype)
            np.testing.assert_array_equal(found, expected)


def halved(z):
    part = z.imag
    part /= 2
    return z, part


def divided(z):
    part = z.real
    part /= z
    return part


@pytest.mark.parametrize("function", [halved, divided])
def test_parts_of_an_array_without_dimensions(function):
    """Parts of arrays without dimensions are views, not scalars."""
    compiled = ac.compile(function)
    for _ in range(2):
        found, expected = (text(item, np.array(3 + 1j)) for item in (compiled, function))
        assert found == expected


def text(function, z):
    try:
        return repr(function(z)), repr(z)
    except TypeError as error:
        return str(error), repr(z)
