"""Every function of the table against NumPy: results, dtypes, shapes, errors, for all dtypes and several shapes."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import autoconv as ac
from tests.module_loading import load_module

calls = load_module(Path(__file__).with_name("calls.py"), "calls")

DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
SHAPES = [(), (3,), (2, 3), (0,), (1, 3), (3, 1), (2, 0), (2, 3, 2)]


def elements(dtype):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return st.booleans()
    if kind in "iu":
        return st.integers(0 if kind == "u" else -9, 9)
    numbers = st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.5, 2.0, 3.25, -7.0, float("nan"), float("inf"), float("-inf")])
    return (
        numbers
        if kind == "f"
        else st.builds(complex, st.sampled_from([0.5, 1.0, -2.0]), st.sampled_from([0.25, 0.0, -1.0]))
    )


def array(shapes=SHAPES, dtypes=DTYPES):
    return st.tuples(st.sampled_from(dtypes), st.sampled_from(shapes)).flatmap(
        lambda drawn: arrays.arrays(drawn[0], drawn[1], elements=elements(drawn[0]))
    )


def outcome(function, values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*values), None
        except Exception as error:
            return None, error


def assert_same(found, expected, where, half=False):
    if isinstance(expected, (tuple, list)) and not isinstance(expected, np.ndarray):
        assert len(found) == len(expected), where
        for actual, desired in zip(found, expected, strict=True):
            assert_same(actual, desired, where, half)
        return
    if isinstance(expected, (bool, int, np.dtype)):
        assert found == expected, where
        return
    actual, desired = np.asarray(found), np.asarray(expected)
    assert actual.dtype == desired.dtype, (where, actual.dtype, desired.dtype)
    assert actual.shape == desired.shape, (where, actual.shape, desired.shape)
    if desired.dtype.kind not in "fc":
        np.testing.assert_array_equal(actual, desired, err_msg=str(where))
        return
    eps = float(np.finfo(np.float16 if half else desired.dtype).eps)
    finite = np.abs(desired[np.isfinite(desired)]).astype(float)
    scale = finite.max() if finite.size else 1.0
    np.testing.assert_allclose(actual, desired, rtol=64 * eps, atol=64 * eps * max(scale, 1e-30), err_msg=str(where))


# NumPy's transforms of arrays without elements are uninitialised.
NOT_INITIALISED = {"irfft", "hfft"}


def check(function, values, name):
    """Compare with NumPy: the same result, or an error of the same class or of a common subclass."""
    expected, expected_error = outcome(function, values)
    found, error = outcome(function, [ac.constant(v) for v in values])
    if name in NOT_INITIALISED and 0 in values[0].shape:
        return
    case = name, [(v.dtype, v.shape, v.tolist()) for v in values]
    if expected_error is not None:
        assert error is not None, (case, expected_error, found)
        kinds = (type(expected_error), *type(expected_error).__mro__[1:-3])
        assert isinstance(error, (*kinds, ValueError, TypeError, IndexError)), (case, repr(expected_error), repr(error))
        return
    if error is not None:
        raise AssertionError((case, repr(error))) from error
    assert_same(found, expected, case, half=any(v.dtype == np.float16 for v in values))


def samples(dtypes=DTYPES, shapes=SHAPES, seed=0):
    """An array of each dtype and shape, with zeros, nans and infinities in it."""
    random = np.random.default_rng(seed)
    for dtype in dtypes:
        for shape in shapes:
            kind = np.dtype(dtype).kind
            special = [0.0, 1.0, -1.5, 2.0, 3.25, -7.0] + ([np.nan, np.inf, -np.inf] if kind == "f" else [])
            values = random.choice(special, shape) if kind != "c" else random.choice([0.5, 1 - 2j, -2 + 0.25j], shape)
            yield np.asarray(np.abs(values) if kind == "u" else values).astype(dtype)


@pytest.mark.parametrize("name", calls.OF_ARRAYS)
def test_functions_of_an_array(name):
    for x in samples():
        check(calls.OF_ARRAYS[name], [x], name)


PAIRS = [
    ("float64", "float32"), ("float32", "float32"), ("int64", "float32"), ("int8", "uint8"), ("int64", "uint64"),
    ("bool", "bool"), ("bool", "int8"), ("int32", "int32"), ("uint8", "float16"), ("complex64", "float64"),
    ("complex128", "complex128"), ("int64", "int64"), ("uint64", "uint64"), ("float16", "float16"),
    ("float64", "int32"),
]  # fmt: skip
TWO_SHAPES = [((), ()), ((3,), ()), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0,), (1,)), ((2,), (3,)), ((2, 3), (2, 3))]


@pytest.mark.parametrize("name", calls.OF_TWO)
def test_functions_of_two_arrays(name):
    for pair in PAIRS:
        for shapes in TWO_SHAPES:
            x, y = (next(samples([d], [s], seed)) for seed, (d, s) in enumerate(zip(pair, shapes, strict=True)))
            check(calls.OF_TWO[name], [x, y], name)


@pytest.mark.parametrize("name", calls.OF_MATRICES)
def test_functions_of_matrices(name):
    for shape in ((2, 3), (3, 3), (4, 3)):
        for pair in PAIRS:
            m, v = (next(samples([d], [s], seed)) for seed, (d, s) in enumerate(zip(pair, (shape, (3,)), strict=True)))
            check(calls.OF_MATRICES[name], [np.nan_to_num(x, posinf=1, neginf=2) for x in (m, v)], name)


@pytest.mark.parametrize("name", calls.OF_SQUARES)
def test_functions_of_square_matrices(name):
    for dtype in ("float32", "float64", "complex64", "complex128", "int64"):
        rows = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], dtype)
        for matrix in (rows, np.stack([rows, rows + 2 * np.eye(3, dtype=dtype)])):
            check(calls.OF_SQUARES[name], [matrix], name)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
@given(st.sampled_from(sorted(calls.OF_ARRAYS)), array())
def test_functions_of_drawn_arrays(name, x):
    check(calls.OF_ARRAYS[name], [x], name)


def groups(size=8):
    for table, values in (
        (calls.OF_ARRAYS, [np.array([[0.5, -1.25, 2.0], [3.5, 0.75, -0.25]])]),
        (calls.OF_ARRAYS, [np.array([4, 2, 7], np.int32)]),
        (calls.OF_TWO, [np.float32([[0.5, 1.25, 2.0], [3.5, 0.75, 0.25]]), np.float32([1.0, 2.0, 3.0])]),
        (calls.OF_TWO, [np.array([3, 1, 2]), np.array([1, 3, 4], np.int8)]),
        (calls.OF_MATRICES, [np.array([[0.5, -1.25, 2.0], [3.5, 0.75, -0.25]]), np.array([1.0, 2.0, 4.0])]),
        (calls.OF_SQUARES, [np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])]),
        (calls.OF_NOTHING, []),
    ):  # fmt: skip
        names = [name for name in table if outcome(table[name], values)[1] is None]
        for start in range(0, len(names), size):
            yield pytest.param(
                [table[name] for name in names[start : start + size]],
                values,
                id="-".join(names[start : start + size])[:40],
            )


@pytest.mark.parametrize(("group", "values"), list(groups()))
def test_traced(group, values):
    """Trace several functions as one graph: results are the same, and no call runs plain."""

    first, second, third, fourth, fifth, sixth, seventh, eighth = [*group, *[lambda *arguments: 0] * (8 - len(group))]

    @ac.compile
    def compiled(*arguments):
        def copies():  # what is returned is no view of an argument, nor of what another one looks at
            return [np.copy(item) for item in arguments]

        first_results = first(*copies()), second(*copies()), third(*copies()), fourth(*copies())
        return first_results, (fifth(*copies()), sixth(*copies()), seventh(*copies()), eighth(*copies()))

    first_half, second_half = compiled(*values)
    assert "plain Python" not in compiled.explain(), compiled.explain()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for first_results, call in zip((*first_half, *second_half), group, strict=False):
            assert_same(first_results, call(*values), compiled.explain())
