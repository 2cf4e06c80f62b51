"""A Python int of the call beside NumPy's integers that cannot represent it, plain Python against `compile`."""

import operator

import numpy as np
import pytest

import autoconv as ac

OUTER = {
    "uint8": np.uint8(250), "int8": np.int8(3), "uint64": np.uint64(7), "array": np.array([250, 3], np.uint8),
    "no dimensions": np.array(3, np.uint8),
}  # fmt: skip
INTS = (1, -2, 300, 2**62)


def _outcome(function, k):
    try:
        found = function(k)
    except Exception as error:
        return type(error), str(error)
    return type(found), getattr(found, "dtype", None), repr(found)


@pytest.mark.parametrize("kind", OUTER)
@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne", "add", "and_"])
def test_operator_with_an_outer_value_is_numpys(kind, name):
    z, act = OUTER[kind], getattr(operator, name)
    forms = {
        "lt": lambda k: k < z, "le": lambda k: k <= z, "gt": lambda k: k > z, "ge": lambda k: k >= z,
        "eq": lambda k: k == z, "ne": lambda k: k != z, "add": lambda k: k + z, "and_": lambda k: k & z,
    }  # fmt: skip
    compiled = ac.compile(forms[name])
    for k in INTS:
        assert _outcome(compiled, k) == _outcome(lambda k: act(k, z), k)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.float32])
@pytest.mark.parametrize("function", [np.dot, np.inner])
def test_products_take_a_number_as_an_array_of_its_own_dtype(function, dtype):
    v = np.array([1, 2], dtype)

    def program(k, v):
        return function(k, v), function(v, k)

    compiled = ac.compile(program)
    for k in (3, -1, 2.5):
        for found, expected in zip(compiled(k, v), program(k, v), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


def test_a_changed_outer_array_without_dimensions_is_read_again():
    z = np.array(3, np.uint8)
    compiled = ac.compile(lambda k: k + z)
    assert compiled(1) == 4
    z[()] = 9
    assert compiled(1) == 10
