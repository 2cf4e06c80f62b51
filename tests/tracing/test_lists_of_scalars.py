"""Lists that gather NumPy's scalars become typed lists: results, their classes and warnings are plain Python's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autoconv


def moving_average(x, n):
    k = 2 / (n + 1)
    out = [x[0]]
    for v in x[1:]:
        out.append(v * k + out[-1] * (1 - k))
    return np.array(out)


def arithmetic(x, n):
    out = [x[0]]
    for i in range(1, len(x)):
        previous = out[-1]
        value = abs(-previous) + n * previous - previous / 3 + previous // n + previous % 2.5 + previous**2 + x[i]
        value += previous
        if previous < value:
            value *= 0.25
        elif previous != n:
            value -= 1
        out.append(value)
    return out, float(out[-1]) + 1, out[0]


def recurrence(x, n):
    rows = [x[1]]
    while len(rows) < 4 * n:
        rows.append((rows[-1] * x[0] + n) / x[2])
    return rows[-1], len(rows), rows


def mixed_dtypes(x, n):
    out = [x[0]]
    for v in x:
        out.append(out[-1] * np.float64(0.5) + n)
        out.append(v)
    return out


def mixed_classes(x, n):
    out = [x[0]]
    for v in x:
        out.append(float(out[-1]) * 0.5 + n)
        if out[-1] < v or not out[-1] > n:
            out[-1] += v
    return out


def _described(function, *arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments)
    parts = [*result] if isinstance(result, tuple) else [result]
    values = [v for part in parts for v in (part if isinstance(part, list) else [part])]
    return [(type(v), repr(v)) for v in values], [(w.category, str(w.message)) for w in caught]


@pytest.mark.parametrize("dtype", (np.float64, np.float32))
@pytest.mark.parametrize("program", (moving_average, arithmetic, recurrence, mixed_dtypes, mixed_classes))
def test_results_are_those_of_plain_python(program, dtype):
    compiled = autoconv.compile(program)
    for x in (np.linspace(0.5, 9.0, 40), np.array([1.0, np.nan, -np.inf, 1e30]), np.array([2.0, -0.0, 0.0, 3.0])):
        for n in (3, 7):
            assert _described(compiled, x.astype(dtype), n) == _described(program, x.astype(dtype), n)
    assert compiled.experimental_get_tracing_count() > 0


@pytest.mark.parametrize("program", (moving_average, arithmetic, recurrence))
def test_the_lists_are_typed(program):
    compiled = autoconv.compile(program)
    compiled(np.linspace(0.5, 9.0, 40), 3)
    operations = {node.op.name for node in compiled.concrete_functions[0].optimised.walk()}
    assert "typed_list_append" in operations
    assert "object_apply" not in operations
