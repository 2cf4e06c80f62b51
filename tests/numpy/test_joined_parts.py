"""Subscripts of `np.r_` and `np.c_` with arrays and numbers of the graph: NumPy's values, dtypes, shapes and errors."""

import numpy as np
import pytest

import autoconv as ac


def written_between(x, y, k):
    x[0] = 5
    z = np.r_[x, y]
    z[1] = k
    x[2] = 9
    return z, x


JOINED = {
    "numbers around": lambda x, y, k: np.r_[0.0, x, 1.0],
    "differences": lambda x, y, k: np.r_[0, x[1:] - x[:-1]],
    "columns": lambda x, y, k: np.c_[np.ones(len(x)), x, x**2] @ np.ones(3),
    "number of the call": lambda x, y, k: np.r_[1:5, x, k],
    "range of the call": lambda x, y, k: np.r_[0 : k + 2 : 2, x] + 1,
    "only a range": lambda x, y, k: np.r_[0 : k + 1],
    "range of columns": lambda x, y, k: np.c_[0 : len(x), x],
    "narrow floats": lambda x, y, k: np.r_[x.astype(np.float32), 1, 2.5],
    "narrow ints": lambda x, y, k: np.r_[x.astype(np.int32), k, True],
    "complex": lambda x, y, k: np.r_[x * 1j, y],
    "bools": lambda x, y, k: np.r_[x > 0, y > 0],
    "matrices": lambda x, y, k: (np.r_[np.outer(x, x), np.outer(y, y)], np.c_[np.outer(x, x), y]),
    "steps": lambda x, y, k: np.r_[0:1:5j, x],
    "scalars": lambda x, y, k: np.r_[x.sum(), y.max(), 3],
    "one vector": lambda x, y, k: (np.c_[x], np.r_[x]),
    "written": written_between,
}
LEFT_TO_NUMPY = {
    "directives": lambda x, y, k: np.r_["0,2", x, y],
    "dimensions that differ": lambda x, y, k: np.r_[np.outer(x, x), y],
}


def outcome(function, n):
    x, y = np.arange(n) * 1.5 - 2, np.arange(n) * 0.25
    try:
        return repr(function(x, y, n % 3 + 1)), repr(x)
    except ValueError as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", {**JOINED, **LEFT_TO_NUMPY})
def test_results_and_errors(name):
    function = {**JOINED, **LEFT_TO_NUMPY}[name]
    compiled = ac.compile(function)
    for n in (3, 4, 5, 6, 3, 9):
        assert outcome(compiled, n) == outcome(function, n)
    if name in JOINED:
        explanation = compiled.explain()
        assert not any(word in explanation for word in ("plain", "kernels", "object<"))
        assert compiled.experimental_get_tracing_count() == 3
