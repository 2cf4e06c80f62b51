"""Tries in C libraries: handlers catch errors of their classes; other errors are codes of the library."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv

from .calling import Caller, LibraryError

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


class ProgramError(ValueError):
    pass


def quotients(n: int, by: int) -> int:
    total = 0
    for i in range(n):
        try:
            try:
                total += 100 // (i - by)
                if total > 90:
                    raise ProgramError("large")
            except ZeroDivisionError:
                total += 5
                raise KeyError("again")  # noqa: B904
            finally:
                total += 1
        except (ValueError, KeyError):
            total = total % 7
    return total


def uncaught(n: int, by: int) -> int:
    try:
        return n // by
    except IndexError:
        return -1


def too_large(n: int, by: int) -> int:
    try:
        return n * by
    except Exception:
        return -1


def of_maths(x: float, n: int) -> float:
    import math

    try:
        y = math.sqrt(x) + math.exp(x)
    except ValueError:
        y = -1.0
    except OverflowError:
        y = -2.0
    try:
        return y + (1 << n)
    except ValueError:
        return y


def short(values: np.ndarray) -> int:
    total = 0
    try:
        total = int(values[3])
        values[-2] = 5.0
    except IndexError:
        total = -1
    return total


def of_array(values: np.ndarray) -> float:
    total = 0.0
    try:
        total += values[5]
        if total > 5:
            raise IndexError
    except IndexError:
        total = total * 2
    return total


def int_or_float(n: int, x: float) -> float:
    total: float = 0
    try:
        total = total + x
        total = total + 7 // (n - 3)
        total = n
        total = total + 7 // (n - 4)
    except ZeroDivisionError:
        total = total * 2
    return total * 1.0


def with_another_default(n: int, x: float) -> float:
    """In the body `total` is a float before any operation that may raise."""
    total: float = 0
    for i in range(n):
        try:
            total = total + i * x
            total = total + 10 // (i - 3)
        except ZeroDivisionError:
            total = total * 2
    return total * 1.0


def element_or_sum(values: np.ndarray, position: int) -> float:
    try:
        return values[position] * 2.0
    except IndexError:
        return values.sum()


def filled(n: int) -> float:
    try:
        return float(np.zeros(n).sum() + n)
    except ValueError:
        return -1.0


def reshaped(x: np.ndarray, n: int) -> float:
    try:
        return float(x.reshape(n, 2)[0, 1])
    except ValueError:
        return -1.0


def counted(n: int, step: int) -> float:
    try:
        return float(np.arange(0, n, step).sum())
    except ZeroDivisionError:
        return -1.0


def added(n: int, m: int) -> float:
    try:
        return float((np.ones(n) + np.arange(m)).sum())
    except ValueError:
        return -1.0


def largest(n: int) -> float:
    try:
        return float(np.max(np.ones(n)))
    except ValueError:
        return -1.0


def in_pairs(x: np.ndarray) -> float:
    try:
        return float(x.reshape(-2, 2)[:, 0].sum())
    except ValueError:
        return -1.0


def repeated(x: np.ndarray, counts: np.ndarray) -> float:
    try:
        return float((np.arange(counts.sum()) * np.repeat(x, counts)).sum())
    except ValueError:
        return -1.0


ERRORS_OF_SIZES = [
    (in_pairs, "float64[n]", [(np.arange(6.0),), (np.arange(7.0),)]),
    (repeated, "float64[n] int64[n]", [(np.arange(3.0), np.array([2, 0, 3])), (np.arange(2.0), np.array([2, -1]))]),
    (filled, "int64[]", [(3,), (0,), (-1,)]),
    (reshaped, "float64[6] int64[]", [(np.arange(6.0), 3), (np.arange(6.0), 4), (np.arange(6.0), -1)]),
    (counted, "int64[] int64[]", [(7, 2), (7, 0), (7, -1)]),
    (added, "int64[] int64[]", [(3, 3), (1, 3), (2, 3), (-1, 3)]),
    (largest, "int64[]", [(3,), (0,), (-1,)]),
]


def build(function: Any, specs: str, folder: Path) -> Caller:
    return Caller(autoconv.clibrary.build(function, specs, to=folder / function.__name__, contract="compile"))


def test_handlers_of_handlers(tmp_path: Path) -> None:
    call = build(quotients, "int64[] int64[]", tmp_path)
    for arguments in ((0, 0), (3, 1), (5, 9), (40, 7), (60, 59)):
        assert call(*arguments)["value"] == quotients(*arguments)


def test_errors_without_a_handler_have_their_line(tmp_path: Path) -> None:
    call = build(uncaught, "int64[] int64[]", tmp_path)
    assert call(7, 2)["value"] == 3
    line = uncaught.__code__.co_firstlineno + 2
    with pytest.raises(LibraryError, match=rf"test_tries\.py:{line}: ZeroDivisionError: division by zero"):
        call(7, 0)
    assert call(7, 2)["value"] == 3


def test_numbers_beyond_64_bits_are_no_errors_of_the_program(tmp_path: Path) -> None:
    call = build(too_large, "int64[] int64[]", tmp_path)
    assert call(2**31, 2**31)["value"] == 2**62
    with pytest.raises(LibraryError, match="exceeds 64 bits"):
        call(2**32, 2**32)


def test_an_op_that_fails_for_several_reasons(tmp_path: Path) -> None:
    call = build(of_maths, "float64[] int64[]", tmp_path)
    for arguments in ((4.0, 1), (-1.0, 1), (1000.0, 2), (4.0, -1)):
        assert call(*arguments)["value"] == of_maths(*arguments)


@pytest.mark.parametrize("size", range(7))
def test_constant_positions_in_arrays_of_any_size(size: int, tmp_path: Path) -> None:
    call = build(short, "float64[n]", tmp_path)
    c_array, python_array = np.arange(float(size)), np.arange(float(size))
    assert call(c_array)["value"] == short(python_array)
    np.testing.assert_array_equal(c_array, python_array)


def test_handlers_read_numbers_of_several_kinds(tmp_path: Path) -> None:
    call = build(of_array, "float64[n]", tmp_path)
    for size in (0, 1, 5, 6, 9):
        assert call(np.arange(float(size)))["value"] == of_array(np.arange(float(size)))
    for function in (int_or_float, with_another_default):
        call = build(function, "int64[] float64[]", tmp_path)
        for n in range(7):
            assert call(n, 0.5)["value"] == function(n, 0.5)


def test_arrays_of_any_size_in_bodies_and_handlers(tmp_path: Path) -> None:
    call = build(element_or_sum, "float64[n] int64[]", tmp_path)
    for position in (0, 3, 4, 9):
        assert call(np.arange(4.0), position)["value"] == element_or_sum(np.arange(4.0), position)


@pytest.mark.parametrize(("function", "specs", "calls"), ERRORS_OF_SIZES)
def test_sizes_that_do_not_fit(function: Any, specs: str, calls: Any, tmp_path: Path) -> None:
    call = build(function, specs, tmp_path)
    for arguments in calls:
        assert call(*arguments)["value"] == function(*arguments)


def test_sizes_without_a_handler_have_their_line(tmp_path: Path) -> None:
    call = build(lambda n: np.zeros(n), "int64[]", tmp_path)
    with pytest.raises(LibraryError, match=r"test_tries\.py:\d+: ValueError: negative dimensions are not allowed"):
        call(-1)
