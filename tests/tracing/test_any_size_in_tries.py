"""Functions without a native form of their own, in tries whose arrays come in many sizes: NumPy's results."""

import linecache

import numpy as np
import pytest

import autoconv as ac

EXPRESSIONS = (
    "np.clip(x, 0, 1)", "np.clip(x, y, 3)", "x.clip(k, 3)", "np.round(x, 1)", "np.conj(x)", "np.real(x)", "np.imag(x)",
    "np.angle(x)", "np.nextafter(x, y)", "np.logaddexp(x, y)", "np.clip(x, 0, 1) + np.clip(y, 0, 2)", "np.sort(x)",
    "np.cumsum(x)", "np.minimum(x, y)",
)  # fmt: skip
BODIES = {
    "a value": "    try:\n        z = {}\n        w = 5 // k\n    except ZeroDivisionError:\n        z = x\n"
    "    return z",
    "in place": "    try:\n        x[:] = {}\n        w = 5 // k\n    except ZeroDivisionError:\n        x[0] = 1\n"
    "    return x.sum()",
}


def build_function(source):
    name = f"<any size {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names = {"np": np}
    exec(compile(source, name, "exec"), names)
    return names["f"]


def outcome(function, size, k):
    """Return the result and the argument as text, a float to 12 digits: the order of a sum depends on the processor."""
    x, y = np.linspace(0, 2.25, size), np.ones(size)
    try:
        result = function(x, y, k)
        return repr(np.round(result, 12) if isinstance(result, np.float64) else result), repr(x)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.search
def test_many_sizes(body, expression):
    function = build_function("def f(x, y, k):\n" + BODIES[body].format(expression))
    compiled = ac.compile(function)
    for size, k in ((3, 1), (4, 0), (5, 3), (6, 0), (7, 2)):
        assert outcome(compiled, size, k) == outcome(function, size, k)
    assert "internal error" not in compiled.explain()
