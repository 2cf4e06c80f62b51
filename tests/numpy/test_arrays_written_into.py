"""Results that NumPy's functions and methods write into an array, which is given by its position or as `out`."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import autoconv

X = np.array([[3.0, 1.0, 2.5], [4.0, 1.5, 9.0]])
SQUARE, ROW, FLAGS = np.zeros((2, 2)), np.zeros(3), np.zeros(3, bool)

CALLS = {
    "around": (lambda x, out: np.around(x, 1, out), X * 0), "clip": (lambda x, out: np.clip(x, 1, 2, out), X * 0),
    "sum": (lambda x, out: np.sum(x, 0, None, out), ROW), "add": (lambda x, out: np.add(x, x, out), X),
    "prod": (lambda x, out: np.prod(x, 0, None, out, False), ROW),
    "cumsum": (lambda x, out: np.cumsum(x, 1, None, out), X * 0),
    "mean": (lambda x, out: np.mean(x, 0, None, out), ROW),
    "max": (lambda x, out: np.max(x, 0, out), ROW), "argmax": (lambda x, out: np.argmax(x, 0, out), np.zeros(3, int)),
    "any": (lambda x, out: np.any(x, 0, out), FLAGS), "std": (lambda x, out: np.std(x, 0, None, out, 1), ROW),
    "median": (lambda x, out: np.median(x, 0, out), ROW), "ptp": (lambda x, out: np.ptp(x, 0, out), ROW),
    "quantile": (lambda x, out: np.quantile(x, 0.5, 0, out), ROW), "dot": (lambda x, out: np.dot(x, x.T, out), SQUARE),
    "percentile": (lambda x, out: np.percentile(x, 30, 0, out=out), ROW),
    "outer": (lambda x, out: np.outer(x[0, :2], x[1, :2], out), SQUARE),
    "take": (lambda x, out: np.take(x, [0, 2], 1, out), SQUARE),
    "choose": (lambda x, out: np.choose([0, 1, 0], x, out), ROW),
    "compress": (lambda x, out: np.compress([True, False, True], x, 1, out), SQUARE),
    "reduce": (lambda x, out: np.add.reduce(x, 0, None, out), ROW),
    "accumulate": (lambda x, out: np.multiply.accumulate(x, 0, None, out), X * 0),
    "stack": (lambda x, out: np.stack([x[0], x[1]], 1, out), np.zeros((3, 2))),
    "concatenate": (lambda x, out: np.concatenate([x, x], 0, out), np.zeros((4, 3))),
    "x.sum": (lambda x, out: x.sum(0, None, out), ROW), "x.max": (lambda x, out: x.max(0, out), ROW),
    "x.round": (lambda x, out: x.round(1, out), X * 0), "x.clip": (lambda x, out: x.clip(1, 2, out), X * 0),
    "x.cumsum": (lambda x, out: x.cumsum(0, out=out), X * 0), "x.dot": (lambda x, out: x.dot(x.T, out), SQUARE),
    "x.take": (lambda x, out: x.take([0, 2], 1, out), SQUARE), "x.all": (lambda x, out: x.all(0, out=out), FLAGS),
    "x.mean": (lambda x, out: x.mean(0, None, out), ROW), "x.conjugate": (lambda x, out: x.conjugate(out), X * 0),
}  # fmt: skip
OBJECTS = {"compress"}  # by names of calls: sizes that depend on values, whose array stays an object


@pytest.mark.parametrize("name", CALLS)
def test_the_array_has_the_result_and_is_returned(name):
    function, array = CALLS[name]

    def program(x, out):
        result = function(x, out)
        return result, result is out

    compiled = autoconv.compile(program)
    for factor in (1.0, 2.0, 3.0):
        expected, found = array.copy(), array.copy()
        result, is_out = compiled(X * factor, found)
        program(X * factor, expected)
        assert is_out and result is found
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert "plain Python" not in compiled.explain() or name in OBJECTS, compiled.explain()


@pytest.mark.parametrize("call", [
    lambda x, out: np.sum(x, 0, None, out), lambda x, out: x.all(0, out), lambda x, out: np.quantile(x, 0.5, 0, out),
    lambda x, out: np.cumsum(x, 0, None, out, 5), lambda x, out: x.sum(0, float, out, axis=1),
])  # fmt: skip
def test_wrong_arrays_and_arguments_raise_numpys_errors(call):
    for out in (np.zeros(4), np.zeros(3, np.float32), np.zeros(3, int)):
        outcomes = []
        for function in (call, autoconv.compile(call)):
            array = copy.copy(out)
            try:
                outcomes.append((function(X, array).tolist(), array.tolist()))
            except (TypeError, ValueError) as error:
                outcomes.append((type(error), array.tolist()))
        assert outcomes[0] == outcomes[1]
