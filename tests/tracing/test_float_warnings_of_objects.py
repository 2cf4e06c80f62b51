"""Operators on NumPy's scalars among objects of the graph keep the errors of what was computed before."""

import random
import warnings

import numpy as np
import pytest

import autoconv

RANDOM = random.Random(1)


def chosen_and_multiplied(x):
    y = np.log(x[0])
    return [y, 1.0][int(x[1]) > 5] * 2


def gathered_and_multiplied(x):
    out = []
    for v in np.log(x):
        out.append(v if v > 0 else 1.0)
    return [-v * 2 for v in out]


def drawn(x):
    v = 0.5 + np.log(x[0])
    if x[1] > 0:
        v = v * 0.5 + RANDOM.choice([0.5, v])
    return 1.0 / v


def compared(x):
    y = np.log(x[0])
    values = [y, 1.0] if x[1] > 0 else ["a", y]
    return values[0] == 3.0, 2.0 in values, max([y, 1.0][int(x[1]) > 5], 0.0)


@pytest.mark.parametrize("program", [chosen_and_multiplied, gathered_and_multiplied, drawn, compared])
def test_warnings_are_those_of_plain_python(program):
    compiled = autoconv.compile(program)
    for start in (-0.5, -0.5, 0.5, -0.5, -1.5):
        outcomes = []
        for function in (program, compiled):
            RANDOM.seed(3)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = repr(function(np.linspace(start, 2, 4)))
            outcomes.append((result, [(str(w.message), w.lineno) for w in caught]))
        assert outcomes[0] == outcomes[1]
    assert "plain Python" not in compiled.explain(), compiled.explain()
