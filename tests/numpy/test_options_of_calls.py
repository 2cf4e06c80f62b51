"""Options of NumPy's functions that are arguments of the compiled function: numbers that decide what is computed."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv
from tests.numpy.agreement import outcome

X = np.array([0.5, 2.0, np.nan, 1.0, 4.0, 3.5])


@pytest.mark.parametrize(("program", "options"), [
    (lambda x, option: np.digitize(x, np.arange(4.0), option), (True, False, 1)),
    (lambda x, option: np.allclose(x, x, equal_nan=option), (False, True)),
    (lambda x, option: np.isclose(x, x[::-1], 1e-3, 1e-3, option), (False, True)),
    (lambda x, option: np.cov(x[3:], x[:3][::-1] * 2 - 1, bias=option), (True, False)),
    (lambda x, option: np.vander(x[:2], 3, option), (True, False)),
    (lambda x, option: np.angle(1j * x, option), (True, False)),
    (lambda x, option: np.nan_to_num(x, option), (True,)),
    (lambda x, option: np.isin(x, np.array([2.0, 4.0]), invert=option), (True, False)),
    (lambda x, option: np.split(x, option), (2, 3)),
    (lambda x, option: np.array_split(x, option), (4, 1)),
    (lambda x, option: np.split(x, [1, option]), (3, 5)),
    (lambda x, option: np.vsplit(x.reshape(6, 1), option), (2, 3)),
    (lambda x, option: np.delete(x, [option, 2]), (0, 5)),
    (lambda x, option: np.std(x[3:], ddof=option), (0, 2)),
])  # fmt: skip
def test_numbers_that_are_options_become_constants(program, options):
    compiled = autoconv.compile(program)
    for option in (*options, *options):
        assert repr(outcome(compiled, [X, option])) == repr(outcome(program, [X, option]))
    assert "plain Python" not in compiled.explain() and "objects" not in compiled.explain()


def test_a_bool_that_the_call_computes_needs_plain_python():
    program = lambda x: np.digitize(x, np.arange(4.0), x[0] > 1)
    compiled = autoconv.compile(program)
    for x in (X, X[::-1]):
        assert compiled(x).tolist() == program(x).tolist()
    assert "Python needs a bool while tracing" in compiled.explain()
