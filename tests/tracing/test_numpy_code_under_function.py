"""Errors of NumPy code under `function` name `@autoconv.compile` as the remedy; other errors do not."""

import traceback

import numpy as np
import pytest

import autoconv

X = np.array([1, 2, 3])


class Box:
    def __init__(self, value):
        self.value = value


def shown(error):
    return "".join(traceback.format_exception_only(error))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x.sum(),
        lambda x: x.tolist(),
        lambda x: x.sort(),
        lambda x: x * 1.5,
        lambda x: x @ x,
        lambda x: 1 if x[0] else 0,
        lambda x: x[0] and x[1],
        lambda x: {x[0]: 1},
        lambda x: np.asarray(x),
        lambda x: np.array([x[0], 1]),
        lambda x: np.linalg.eig(np.outer(x, x)),
        lambda x: np.vectorize(abs)(x),
        lambda x: bin(x[0]),
        lambda x: "abc"[x[0]],
        lambda x: "%d" % x[0],  # noqa: UP031
        lambda x: Box(x),
        lambda x: x[0] if x[0] > 0 else 1.5,
    ],
)
def test_the_error_names_compile(program):
    with pytest.raises(Exception) as caught:
        autoconv.function(program)(X)
    assert "@autoconv.compile runs code written for NumPy and Python as it is" in shown(caught.value)
    autoconv.compile(program)(X)


def own_error(x):
    raise ValueError(f"not {len(x)}")


@pytest.mark.parametrize("program", [own_error, lambda x: x[5], lambda x: [][0]])
def test_other_errors_do_not(program):
    with pytest.raises(Exception) as caught:
        autoconv.function(program)(X)
    assert "compile" not in shown(caught.value)


def test_tensors_get_no_note():
    with pytest.raises(TypeError) as caught:
        autoconv.function(lambda x: x * 1.5)(autoconv.constant([1, 2, 3]))
    assert "compile" not in shown(caught.value)
