"""The table of Python's operators, against Python, the ops, NumPy and the C API."""

import ctypes
import opcode
import operator

import numpy as np
import pytest

from autoconv.graph.python_operators import BINARY, COMPARISONS, MIRRORED, OPERATORS, UNARY, Operator
from autoconv.ops import OPS

X, Y = np.array([6, 5]), np.array([3, 2])


def ids(one: Operator) -> str:
    return one.name


@pytest.mark.parametrize("one", [*BINARY, *COMPARISONS], ids=ids)
def test_operators_of_two(one: Operator) -> None:
    a, b = (np.eye(2), np.full((2, 2), 3.0)) if one.name == "matmul" else (X, Y)
    expected = one.function(a, b)
    assert np.array_equal(eval(f"a {one.symbol} b"), expected)
    assert np.array_equal(getattr(np, one.ufunc)(a, b), expected)
    assert np.array_equal(getattr(a, one.method)(b), expected)
    assert np.array_equal(getattr(b, one.reflected)(a), expected)
    typed = OPS[one.typed].kernel(a, b)
    assert np.array_equal(typed[0] if isinstance(typed, tuple) else typed, expected)
    if one.number is not None:
        assert np.asarray(OPS[one.number].kernel(np.array(6), np.array(3))).item() == one.function(6, 3)


@pytest.mark.parametrize("one", UNARY, ids=ids)
def test_operators_of_one(one: Operator) -> None:
    expected = one.function(X)
    assert np.array_equal(getattr(np, one.ufunc)(X), expected)
    assert np.array_equal(getattr(X, one.method)(), expected)
    assert np.array_equal(OPS[one.typed].kernel(X), expected)
    assert one.number is not None
    assert np.asarray(OPS[one.number].kernel(np.array(6))).item() == one.function(6)


@pytest.mark.parametrize("one", BINARY, ids=ids)
def test_augmented_assignments(one: Operator) -> None:
    x = np.eye(2) if one.name == "matmul" else X.astype(float if one.name == "truediv" else int)
    y = np.full((2, 2), 3.0) if one.name == "matmul" else Y
    expected = one.function(x, y)
    assert one.in_place_function is getattr(operator, one.in_place)
    assert np.array_equal(one.in_place_function(x.copy(), y), expected)


def test_c_api():
    for item in (*BINARY, *UNARY):
        assert hasattr(ctypes.pythonapi, f"PyNumber_{item.c_api}")
    for item in BINARY:
        assert hasattr(ctypes.pythonapi, f"PyNumber_InPlace{item.c_api}")
    numbers = {"LT": "<", "LE": "<=", "EQ": "==", "NE": "!=", "GT": ">", "GE": ">="}
    assert [item.symbol for item in COMPARISONS] == [numbers[item.c_api] for item in COMPARISONS]
    assert {item.symbol for item in COMPARISONS} <= set(opcode.cmp_op)


def test_the_table_is_complete():
    named = [item.name for item in OPERATORS]
    assert len(set(named)) == len(named)
    numbers = {name for name in vars(int) if name.startswith("__r") and f"__{name[3:]}" in vars(int)}
    assert {item.reflected for item in BINARY} == (numbers | {"__rmatmul__"}) - {"__rdivmod__"}
    assert all(MIRRORED[MIRRORED[name]] == name for name in MIRRORED)
