"""Under `compile`, sizes, elements and operands that NumPy converts, refuses, or warns of."""

import warnings

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")


def outcome(function, *arguments):
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        try:
            found = function(*arguments)
            result = type(found).__name__, getattr(found, "dtype", None), repr(found)
        except Exception as error:
            result = type(error).__name__, None, str(error)
    return result, repr(arguments), [(w.category, str(w.message)) for w in messages]


def check(text, *arguments):
    namespace = {"np": np}
    exec(f"def program(x, y):\n    {text}\n    return x\n", namespace)
    plain = namespace["program"]
    compiled = autoconv.compile(plain)
    for _ in range(2):
        expected = outcome(plain, *map(np.copy, arguments))
        assert outcome(compiled, *map(np.copy, arguments)) == expected


SIZES = [np.array(True), np.array([True]), np.array(2.0), np.array([2.0]), np.array(2), np.array([1, 2]), np.array(1j)]


@pytest.mark.parametrize("size", SIZES, ids=repr)
@pytest.mark.parametrize(
    "text",
    [
        "x = np.ones(y.max())", "x = np.zeros((2, y.min()))", "x = np.full(y, 1.0)", "x = np.ones(y.max() > 0)",
        "x[...] = 1; x = np.zeros(y)", "x = np.zeros(float(y.real.max()))", "x = np.empty_like(x, shape=y.max()).shape",
    ],
)  # fmt: skip
@pytest.mark.search
def test_sizes_are_ints(text, size):
    check(text, np.ones(2), size)


@pytest.mark.parametrize("text", ["x = np.ones(True)", "x = np.zeros((2, True))", "x //= np.ones(True)"])
def test_pythons_bools_are_no_sizes(text):
    check(text, np.ones(2, int), np.ones(2))


REAL = [np.array([1.0, -2, 3]), np.array([1, -2, 3]), np.array([True, False, True])]
COMPLEX = np.array([1 + 2j, 3 - 1j, 0.5])


@pytest.mark.parametrize("real", REAL, ids=["float", "int", "bool"])
@pytest.mark.parametrize(
    "text",
    [
        "x[0] = y[0]", "x[1:] = y[1:]", "x[x > 0] = y[x > 0]", "x[[0, 1]] = y[:2]", "x[:] = x / 1j", "x.fill(y[0])",
        "np.copyto(x, y, casting='unsafe')", "np.put(x, [0], y[0])", "np.putmask(x, x > 0, y)", "x = float(y[0])",
        "np.place(x, x > 0, y)", "x = int(y[0])", "x = np.float64(y[0])", "x = y.astype(float)",
        "x = np.array([y[0], 1], dtype=float)", "x = np.full(3, y[0], dtype=float)",
    ],
)  # fmt: skip
@pytest.mark.search
def test_complex_numbers_become_real_ones_with_a_warning(text, real):
    check(text, real, COMPLEX)


@pytest.mark.parametrize(
    "into", [np.ones(3, int), np.ones(3, np.float32), np.ones(3, bool)], ids=["int", "float", "bool"]
)
@pytest.mark.parametrize("new", [np.arange(3), np.arange(3.0), np.arange(3) > 1], ids=["int", "float", "bool"])
@pytest.mark.parametrize("text", ["np.putmask(x, [True, False, True], y)", "np.place(x, x > 0, y[:1])"])
def test_arrays_are_cast_safely_by_masks(text, into, new):
    check(text, into, new)


@pytest.mark.parametrize(
    "into", [np.ones((2, 2), bool), np.ones((2, 2), np.uint8), np.ones((2, 2))], ids=["bool", "uint8", "float"]
)
@pytest.mark.parametrize("text", ["x[0, 0] = ()", "x[0, 0] = [1, 2]", "x[1, 1] = [0]", "x[0, 0] = np.shape(x.nbytes)"])
def test_lists_are_assigned_to_elements(text, into):
    check(text, into, np.ones(1))


@pytest.mark.parametrize(
    "text",
    [
        "x = x < np.result_type(x, y)", "x = abs(np.outer(1, x) < np.result_type(x, y))",
        "x[0] = 1; x = x + np.result_type(y)",
        "x *= np.result_type(x, y) @ np.roll(2, 1)", "x[0] = 1; x %= y.dtype",
    ],
)  # fmt: skip
def test_dtypes_as_numbers_are_refused(text):
    check(text, np.ones(3), np.ones(3, int))


def test_in_place_operators_cast_computed_operands_as_numpy_does():
    check("x %= y ^ (y > 0)", np.ones(1, np.uint8), np.array([1, 2], ">i8")[:1])
    check("x *= y", np.ones(2), np.ones(2, ">f8"))


def test_one_of_several_arrays_is_changed_in_place():
    check(
        "v = x\n    if y[0] > 1: v = np.bincount([1])\n    v //= v\n    return v", np.array([2.0, 3]), np.array([1.0])
    )
    check("v = x\n    if y[0] > 1: v = np.arange(3)\n    v += 1\n    return v", np.array([2.0, 3]), np.array([2.0]))


@pytest.mark.parametrize(
    "text",
    ["x = x // y", "x = x % y", "x = np.floor_divide(x, y) + 3", "x = x ** 2", "x = x ** 3", "x = x ** int(y[0] + 1)"],
)
def test_quotients_of_bools_are_those_of_numpy(text):
    check(text, np.array([True, False]), np.array([True, True]))


def test_bool_tensors_have_no_quotients():
    x, y = autoconv.constant([True, False]), autoconv.constant([True, True])
    for divide in (lambda a, b: a // b, lambda a, b: a % b):
        for run in (divide, autoconv.function(divide)):
            with pytest.raises(TypeError, match="does not take bool tensors"):
                run(x, y)


@pytest.mark.parametrize(
    "text",
    [
        "x = np.take_along_axis(x, [0], 0)", "x = np.take_along_axis([1, 2], y, 0)", "x = np.poly(x[:0])",
        "x = np.poly(x)", "x = np.full(2, x[0], order='K')", "x[0] = 1; x = np.zeros(2, order='A')",
        "x = np.eye(2, order='K')", "x = np.sort(x, kind='quicksort', stable=True)",
        "x[0] = 1; x = np.full(2, x[0], order='K')",
        "x = np.nanpercentile(x.sum(), 50, keepdims=True)", "x = np.median(y[0, ...], keepdims=True)",
        "x = np.quantile(x[0, ...], 0.5, keepdims=True)", "x = np.nanmedian(x[0, ...], keepdims=True)",
    ],
)  # fmt: skip
def test_results_of_odd_arguments_are_of_numpys_class(text):
    check(text, np.array([1.0, 2]), np.array([1, 0]))
