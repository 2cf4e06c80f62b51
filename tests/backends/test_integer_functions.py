"""Divisors, roots and reductions of segments as C libraries and ONNX models, compared with Python and NumPy."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv
from tests.clibrary.calling import Caller, LibraryError

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
LOWEST, HIGHEST = -(2**63), 2**63 - 1
INTEGERS = (0, 1, -1, 6, -4, 20, 21, 2**40 * 9, 3037000499**2, 3037000499**2 - 1, HIGHEST, LOWEST)


def built(function: Callable[..., Any], specs: str, folder: Path) -> list[Callable[..., Any]]:
    """Return the function as a C library and as an ONNX model."""
    pytest.importorskip("onnxruntime")
    library = Caller(autoconv.clibrary.build(function, specs, to=folder / "library", contract="compile"))
    model = autoconv.onnx.load(autoconv.onnx.export(function, specs, contract="compile"))
    return [lambda *arguments: next(iter(library(*arguments).values())), model]


@pytest.mark.parametrize("name", ["gcd", "lcm", "isqrt", "factorial"])
def test_functions_of_math(name: str, tmp_path: Path) -> None:
    """Errors, and results of more than 64 bits, are errors of the library and of the model."""
    function, count = getattr(math, name), 2 if name in ("gcd", "lcm") else 1
    call = (lambda x, y: function(x, y)) if count == 2 else (lambda x: function(x))
    for run in built(call, "int64[] " * count, tmp_path):
        for x in INTEGERS:
            for y in INTEGERS if count == 2 else (0,):
                arguments = (x, y)[:count]
                is_small = name != "factorial" or x < 22
                expected = function(*arguments) if is_small and (x >= 0 or count == 2) else None
                if expected is not None and expected <= HIGHEST:
                    assert int(run(*map(np.int64, arguments))) == expected, arguments
                else:
                    with pytest.raises((LibraryError, autoconv.errors.InvalidArgumentError)):
                        run(*map(np.int64, arguments))


def test_factorials_of_handlers(tmp_path: Path) -> None:
    """A handler catches the error of a negative number, but not that of a result of more than 64 bits."""

    def guarded(x: int) -> int:
        try:
            return math.factorial(x)
        except ValueError:
            return -1

    for run in built(guarded, "int64[]", tmp_path):
        assert [int(run(np.int64(x))) for x in (5, -3)] == [120, -1]
        with pytest.raises((LibraryError, autoconv.errors.InvalidArgumentError)):
            run(np.int64(21))


@pytest.mark.parametrize("dtype", ["int8", "uint64", "int64"])
def test_divisors_of_arrays(dtype: str, tmp_path: Path) -> None:
    limits = np.iinfo(dtype)
    x, y = np.random.default_rng(3).integers(limits.min, limits.max, (2, 60), dtype, endpoint=True)
    x[:4], y[:4] = (0, 0, limits.min, limits.max), (0, 5, limits.min, 12)

    def divisors(x: Any, y: Any) -> Any:
        return np.stack([np.gcd(x, y), np.lcm(x, y)])

    for run in (*built(divisors, f"{dtype}[n] {dtype}[n]", tmp_path), autoconv.compile(divisors)):
        np.testing.assert_array_equal(run(x, y), divisors(x, y))


@pytest.mark.parametrize(("name", "dtype", "axis"), [("add", "int32", 1), ("maximum", "bool", 0), ("minimum", "f8", 2)])
def test_reductions_of_segments(name: str, dtype: str, axis: int, tmp_path: Path) -> None:
    ufunc = getattr(np, name)

    def reduced(x: Any, places: Any) -> Any:
        return ufunc.reduceat(x, places, axis=axis)

    x = (np.random.default_rng(4).normal(size=(4, 5, 6)) * 3).astype(dtype)
    spec = f"{x.dtype.name}[a,b,c] int64[k]"
    for run in (*built(reduced, spec, tmp_path), autoconv.compile(reduced)):
        for places in ([0, 2, 3], [3, 1, 1, 0], []):
            positions = np.array(places, np.int64)
            found = run(x, positions)
            np.testing.assert_array_equal(found, reduced(x, positions))
            assert np.asarray(found).dtype == reduced(x, positions).dtype
        with pytest.raises((LibraryError, autoconv.errors.InvalidArgumentError, IndexError)):
            run(x, np.array([0, 6]))


@pytest.mark.parametrize("dtype", ["bool", "int16", "int64", "uint64", "float32"])
def test_reductions_of_no_elements_in_onnx(dtype: str) -> None:
    pytest.importorskip("onnxruntime")
    names = ("any", "all") if dtype == "bool" else ("max", "min", "sum", "prod")
    functions = [getattr(autoconv, f"reduce_{name}") for name in names]

    def reduced(x: Any) -> Any:
        return [function(x) for function in functions] + [function(x, axis=1) for function in functions]

    model = autoconv.onnx.load(autoconv.onnx.export(reduced, f"{dtype}[n,m]"))
    for shape in ((0, 3), (3, 0), (2, 2)):
        x = np.ones(shape, dtype)
        for found, expected in zip(model(x), reduced(x), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_segment_sums_of_no_rows_in_onnx() -> None:
    pytest.importorskip("onnxruntime")

    def sums(x: Any, segments: Any) -> Any:
        return autoconv.math.segment_sum(x, segments)

    model = autoconv.onnx.load(autoconv.onnx.export(sums, "float32[n,2] int32[n]"))
    assert model(np.zeros((0, 2), np.float32), np.zeros(0, np.int32)).shape == (0, 2)
    assert model(np.ones((3, 2), np.float32), np.array([0, 0, 2], np.int32)).tolist() == [[2, 2], [0, 0], [1, 1]]
