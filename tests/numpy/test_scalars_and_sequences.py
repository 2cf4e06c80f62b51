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
        for other in OTHERS:
            for first, second in ((scalar, other), (other, scalar)):
                expression = f"{first} {operator} {second}"
                text, name = f"def f(x, y, k):\n    return {expression}\n", f"<scalar {expression}>"
                linecache.cache[name] = (len(text), None, text.splitlines(True), name)
                space = {"np": np}
                exec(compile(text, name, "exec"), space)
                expected, found = (outcome(each) for each in (space["f"], ac.compile(space["f"])))
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
