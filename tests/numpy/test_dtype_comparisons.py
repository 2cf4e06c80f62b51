"""NumPy's dtypes compared with values of every kind: NumPy converts the other operand to a dtype."""

import linecache

import numpy as np
import pytest

import autoconv as ac

OPERANDS = ("x", "x + 1", "x[0]", "x.sum()", "k", "k + 1", "y", "y.dtype", "d.pop()")


def _build_function(text):
    name = f"<{text}>"
    source = f"def program(x, y, k, d):\n    x[0] = k\n    return {text}\n"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"np": np}
    exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


def _outcome(function):
    try:
        return repr(function(np.ones(3), np.float64(2), 1, [1]))
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("operator", ("==", "<="))
@pytest.mark.parametrize("operand", OPERANDS)
def test_as_in_numpy(operator, operand):
    for text in (f"x.dtype {operator} {operand}", f"{operand} {operator} x.dtype"):
        program = _build_function(text)
        compiled = ac.compile(program)
        expected = _outcome(program)
        assert [_outcome(compiled) for _ in range(2)] == [expected] * 2, text
