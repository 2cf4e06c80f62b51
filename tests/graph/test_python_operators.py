"""The table of Python's operators, against Python, the ops, NumPy and the C API."""

import ctypes
import opcode
import operator

import numpy as np
import pytest

from autoconv.graph.python_operators import BINARY, COMPARISONS, MIRRORED_BY_COMPARISON, OPERATORS, UNARY, Operator
from autoconv.ops import OPS

X, Y = np.array([6, 5]), np.array([3, 2])


def name_of(operator_: Operator) -> str:
    return operator_.name


@pytest.mark.parametrize("record", [*BINARY, *COMPARISONS], ids=name_of)
def test_operators_of_two(record: Operator) -> None:
    a, b = (np.eye(2), np.full((2, 2), 3.0)) if record.name == "matmul" else (X, Y)
    expected = record.function(a, b)
    assert np.array_equal(eval(f"a {record.symbol} b"), expected)
    assert np.array_equal(getattr(np, record.ufunc)(a, b), expected)
    assert np.array_equal(getattr(a, record.method)(b), expected)
    assert np.array_equal(getattr(b, record.reflected)(a), expected)
    typed = OPS[record.tensor_op].kernel(a, b)
    assert np.array_equal(typed[0] if isinstance(typed, tuple) else typed, expected)
    if record.number_op is not None:
        assert np.asarray(OPS[record.number_op].kernel(np.array(6), np.array(3))).item() == record.function(6, 3)


@pytest.mark.parametrize("record", UNARY, ids=name_of)
def test_operators_of_one(record: Operator) -> None:
    expected = record.function(X)
    assert np.array_equal(getattr(np, record.ufunc)(X), expected)
    assert np.array_equal(getattr(X, record.method)(), expected)
    assert np.array_equal(OPS[record.tensor_op].kernel(X), expected)
    assert record.number_op is not None
    assert np.asarray(OPS[record.number_op].kernel(np.array(6))).item() == record.function(6)


@pytest.mark.parametrize("record", BINARY, ids=name_of)
def test_augmented_assignments(record: Operator) -> None:
    x = np.eye(2) if record.name == "matmul" else X.astype(float if record.name == "truediv" else int)
    y = np.full((2, 2), 3.0) if record.name == "matmul" else Y
    expected = record.function(x, y)
    assert record.in_place_function is getattr(operator, record.in_place)
    assert np.array_equal(record.in_place_function(x.copy(), y), expected)


def test_c_api():
    for item in (*BINARY, *UNARY):
        assert hasattr(ctypes.pythonapi, f"PyNumber_{item.c_api}")
    for item in BINARY:
        assert hasattr(ctypes.pythonapi, f"PyNumber_InPlace{item.c_api}")
    symbol_by_name = {"LT": "<", "LE": "<=", "EQ": "==", "NE": "!=", "GT": ">", "GE": ">="}
    assert [item.symbol for item in COMPARISONS] == [symbol_by_name[item.c_api] for item in COMPARISONS]
    assert {item.symbol for item in COMPARISONS} <= set(opcode.cmp_op)


def test_the_table_is_complete():
    names = [item.name for item in OPERATORS]
    assert len(set(names)) == len(names)
    reflected_methods = {name for name in vars(int) if name.startswith("__r") and f"__{name[3:]}" in vars(int)}
    assert {item.reflected for item in BINARY} == (reflected_methods | {"__rmatmul__"}) - {"__rdivmod__"}
    assert all(MIRRORED_BY_COMPARISON[MIRRORED_BY_COMPARISON[name]] == name for name in MIRRORED_BY_COMPARISON)
