"""Operators of the standard's arrays against NumPy's, for each dtype and with Python numbers, and deviations."""

import operator

import numpy as np
import pytest

import autoconv as ac
from tests.xp.table import ALL, BOOLS, FLOATING, INTEGERS, NUMBERS, REAL_NUMBERS, WHOLE

xp = ac.xp
BINARY = {
    **dict.fromkeys(("add", "sub", "mul", "pow"), NUMBERS), "truediv": FLOATING, "matmul": NUMBERS,
    **dict.fromkeys(("floordiv", "mod"), REAL_NUMBERS), **dict.fromkeys(("and_", "or_", "xor"), WHOLE),
    **dict.fromkeys(("lshift", "rshift"), INTEGERS), **dict.fromkeys(("lt", "le", "gt", "ge"), REAL_NUMBERS),
    **dict.fromkeys(("eq", "ne"), ALL),
}  # fmt: skip
UNARY = {"neg": NUMBERS, "pos": NUMBERS, "abs": NUMBERS, "invert": WHOLE}
# Deviations of operators from the standard, with reasons.
DIFFERENCES = {
    "two dtypes": "tensors of two dtypes do not mix in operators: xp.add and the others promote",
    "a complex number with real elements": "a Python number takes the dtype of the tensor, and does not fit",
    "assignment to items": "tensors cannot be changed",
}


def _assert_same(found, expected):
    found = np.asarray(found)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name):
    run = getattr(operator, name)
    for dtype in BINARY[name]:
        number = {"b": True, "i": 2, "u": 2, "f": 1.5, "c": 2j}[np.dtype(dtype).kind]
        x = np.array([[3, 1, 2]], dtype)
        y = np.array([[1], [2], [3]], dtype) if name == "matmul" else np.array([[1], [2]], dtype)
        operands = [(x, y)] if name == "matmul" else [(x, y), (x, number), (number, x)]
        for pair in operands:
            arguments = [xp.asarray(v) if isinstance(v, np.ndarray) else v for v in pair]
            _assert_same(run(*arguments), run(*pair))


@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name):
    for dtype in UNARY[name]:
        x = np.array([[3, 1, 0]], dtype)
        _assert_same(getattr(operator, name)(xp.asarray(x)), getattr(operator, name)(x))


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "ifloordiv", "imod", "iand", "ior", "ixor", "ilshift"])
def test_in_place_operators_bind_the_name_to_another_array(name):
    x = other = xp.asarray([5, 6, 7])
    found = getattr(operator, name)(x, 2)
    array = np.array([5, 6, 7])
    _assert_same(found, getattr(operator, name)(array, 2))
    _assert_same(other, np.array([5, 6, 7]))


def test_python_numbers():
    x = xp.asarray(3)
    assert (int(x), float(x), complex(x), bool(x), operator.index(x)) == (3, 3.0, 3 + 0j, True, 3)
    assert [1, 2, 3, 4][x] == 4
    with pytest.raises(TypeError):
        operator.index(xp.asarray(3.0))
    with pytest.raises(ValueError):
        bool(xp.asarray([1, 2]))


def test_items():
    array = np.arange(24.0).reshape(2, 3, 4)
    x = xp.asarray(array)
    for index in (0, -1, (0, 1), (..., 2), (slice(None), slice(0, 2), slice(3, None, -2)), None, (0, None, ...), ()):
        _assert_same(x[index], np.asarray(array[index]))
    mask, places = array > 7, np.array([1, 0])
    _assert_same(x[xp.asarray(mask)], array[mask])
    _assert_same(x[xp.asarray(places)], array[places])
    _assert_same(x[xp.asarray(places), xp.asarray([2, 0]), 1], array[places, [2, 0], 1])
    with pytest.raises(IndexError):
        x[2]


def test_differences():
    floats, integers = xp.asarray([1.0, 2.0]), xp.asarray([1, 2])
    with pytest.raises(ac.errors.InvalidArgumentError, match="expected to be a float64"):
        floats + integers
    _assert_same(xp.add(floats, integers), np.array([2.0, 4.0]))
    with pytest.raises(ac.errors.InvalidArgumentError, match="is a complex128 tensor"):
        floats + 1j
    _assert_same(xp.add(floats, 1j), np.array([1 + 1j, 2 + 1j]))
    with pytest.raises(TypeError, match="does not support item assignment"):
        floats[0] = 5.0
    assert len(DIFFERENCES) == 3 and BOOLS == ["?"]
