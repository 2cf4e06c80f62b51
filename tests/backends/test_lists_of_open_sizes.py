"""Lists of arrays of open sizes as StableHLO modules, ONNX models and C libraries, compared with NumPy."""

import numpy as np
import pytest

import autoconv
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.types import TensorType
from tests.backends.portable_samples import assert_close, close_sizes, run_stablehlo
from tests.clibrary.calling import Caller

pytest.importorskip("jaxlib")
pytest.importorskip("onnxruntime")


def running_sums(x):
    sums, total = autoconv.TensorArray(autoconv.float64, size=4), autoconv.zeros_like(x)
    for i in autoconv.range(4):
        total += x * autoconv.cast(i, autoconv.float64)
        sums = sums.write(i, total)
    return sums.stack()


def doubled_rows(x):
    rows = autoconv.TensorArray(autoconv.float64, size=autoconv.shape(x)[0])
    for i in autoconv.range(autoconv.shape(x)[0]):
        rows = rows.write(i, 2.0 * x[i])
    return rows.stack()


def every_other_row(x):
    parts = autoconv.TensorArray(autoconv.float64, size=2)
    for i in autoconv.range(2):
        parts = parts.write(i, 2.0 * x[::2])
    return parts.stack()


def rows_of_an_array(x):
    rows, total = autoconv.TensorArray(autoconv.float64, size=3).unstack(autoconv.stack([x, 2.0 * x, x * x])), x
    for i in autoconv.range(3):
        total = total * 0.5 + rows.read(2 - i)
    return total


def appended(x):
    rows = []
    for i in autoconv.range(4):
        rows.append(x * autoconv.cast(i, autoconv.float64))
    return autoconv.stack(rows)


def rows_by_iteration(x):
    rows = []
    for row in x:
        rows.append(2.0 * row)
    return autoconv.stack(rows)


def gradient_of_a_loop(x):
    """Return the gradient of the sum of x to the power of four."""
    with autoconv.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in autoconv.range(3):
            y = y * x
        total = autoconv.reduce_sum(y)
    return tape.gradient(total, x)


# Each with NumPy's results. C libraries have no lists that grow.
FIXED = {
    "running sums": (running_sums, lambda x: np.cumsum(np.arange(4.0))[:, None, None] * x),
    "doubled rows": (doubled_rows, lambda x: 2.0 * x),
    "every other row": (every_other_row, lambda x: 2.0 * np.stack([x[::2], x[::2]])),
    "rows of an array": (rows_of_an_array, lambda x: ((x * 0.5 + x * x) * 0.5 + 2.0 * x) * 0.5 + x),
}
CASES = {
    **FIXED,
    "appended": (appended, lambda x: np.arange(4.0)[:, None, None] * x),
    "rows by iteration": (rows_by_iteration, lambda x: 2.0 * x),
    "gradient of a loop": (gradient_of_a_loop, lambda x: 4.0 * x**3),
}
SHAPES = (1, 3), (3, 2), (6, 5)


@pytest.mark.parametrize("name", CASES)
def test_portable_formats(name):
    function, plain = CASES[name]
    run = autoconv.onnx.load(autoconv.onnx.export(function, "float64[n,m]"))
    module = autoconv.stablehlo.export(function, "float64[n,m]")
    for shape in SHAPES:
        x = np.random.default_rng(0).uniform(0.2, 0.9, shape)
        expected = plain(x)
        assert_close(np.asarray(run(x)), expected)
        types = [TensorType(as_dtype(expected.dtype), expected.shape)]
        (found,), word = run_stablehlo(close_sizes(module.text, [x]), [x], types)
        assert word == 0, module.places[word - 1]
        assert_close(found, expected)


@pytest.mark.parametrize("name", FIXED)
def test_c_library(name, tmp_path):
    function, plain = FIXED[name]
    caller = Caller(autoconv.clibrary.build(function, "float64[n,m]", to=tmp_path / "f", name="f"))
    for shape in SHAPES:
        x = np.random.default_rng(0).uniform(0.2, 0.9, shape)
        assert_close(caller(x)["value"], plain(x))
