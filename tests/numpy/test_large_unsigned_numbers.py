"""Numbers of uint64 beyond int64, as ints, indices, bounds of ranges and slices, and arguments of math functions."""

import linecache
import math
import warnings

import numpy as np
import pytest

import autoconv as ac

EXPRESSIONS = (
    "int(x[i])", "round(x[i])", "sum([int(y) for y in x])", "math.isqrt(x[i])", "math.gcd(x[i], 6)",
    "x[x[i]]", "x[x[i]:]", "x[:x[i]]", "x.reshape(1, -1)[0, x[i]]", "[5, 6, 7][x[i]]", "items[x[i]]", "items[x[i]:]",
    "[0] * (x[i] % 2**63)", "[k for k in range(x[i] - 3, x[i])]", "len(range(0, x[i], 2**61))", "x[i] in range(5)",
)  # fmt: skip
STATEMENTS = ("x[x[i]] = 7", "grown = [1, 2, 3]; grown[x[i]] = 5; items += grown", "for y in x: x[y] = 3")


@pytest.mark.parametrize("body", [*(f"return {text}" for text in EXPRESSIONS), *STATEMENTS])
def test_results_and_errors(body):
    text, name = f"def f(x, i, items):\n    {body}\n    return x, items\n", f"<large unsigned {body}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"math": math}
    exec(compile(text, name, "exec"), namespace)
    compiled = ac.compile(namespace["f"])
    for large in (2, 2**63 - 1, 2**63, 2**64 - 1):
        for i in (1, 0):
            expected, found = (outcome(f, large, i) for f in (namespace["f"], compiled))
            assert found == expected


def outcome(f, large, i):
    """Return the result, or the error, and what became of the arguments."""
    x, items = np.array([large, 0, 1], np.uint64), [4, 5, 6]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = repr(f(x, i, items))
        except Exception as error:
            result = type(error), str(error)
    return result, x.tolist(), items
