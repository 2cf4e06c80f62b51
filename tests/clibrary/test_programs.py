"""The programs of fixtures/numpy as C libraries."""

from __future__ import annotations

import itertools
import math
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv
from tests.module_loading import load_module

from .calling import Caller, LibraryError

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "numpy"


@pytest.mark.parametrize("name", ["bubble_sort", "crc32", "edit_distance", "life_by_rolling", "merge_sort", "sieve"])
def test_agrees_with_numpy(name: str, tmp_path: Path) -> None:
    module = load_module(FOLDER / f"{name}.py", name)
    c_arguments, numpy_arguments = module.make(0), module.make(0)
    specs = [x if isinstance(x, np.ndarray) else autoconv.TensorSpec([], np.asarray(x).dtype) for x in module.make(0)]
    library = autoconv.clibrary.build(module.program, *specs, to=tmp_path / name, contract="compile")
    actual, expected = Caller(library)(*c_arguments), module.program(*numpy_arguments)
    for actual_array, expected_array in zip(leaves(actual), leaves(expected), strict=True):
        np.testing.assert_allclose(actual_array, expected_array, rtol=1e-12)
    for actual_array, expected_array in zip(c_arguments, numpy_arguments, strict=True):
        np.testing.assert_array_equal(actual_array, expected_array)


def test_reductions_of_arrays_without_dimensions(tmp_path: Path) -> None:
    """As in NumPy, the sum of -0.0 is 0.0."""
    functions = (np.sum, np.prod, np.mean, np.max, np.min, np.any, np.all, np.var, np.std, np.argmax, np.argmin)

    def reduced(x: Any) -> Any:
        return [function(x) for function in functions]

    call = Caller(autoconv.clibrary.build(reduced, "float64[]", to=tmp_path / "reduced", contract="compile"))
    for x in (-0.0, 2.5, -math.inf, math.nan):
        with np.errstate(invalid="ignore"):
            expected = [repr(float(number)) for number in reduced(np.array(x))]
        assert [repr(float(number)) for number in leaves(call(x))] == expected


def test_a_number_that_some_paths_have_from_an_array(tmp_path: Path) -> None:
    def worst(x: Any, least: float) -> Any:
        place, found = (-1, 0), 0.0
        for i in range(len(x)):
            if x[i] > least and x[i] > found:
                place, found = (i, x[i]), x[i]
        return place, found

    specs = "float64[n] float64[]"
    found = Caller(autoconv.clibrary.build(worst, specs, to=tmp_path / "worst", contract="compile"))
    model = autoconv.onnx.load(autoconv.onnx.export(worst, specs, contract="compile"))
    for x in ([1.0, 5.0, 2.0], [-1.0, -2.0, -3.0, -4.0]):
        array = np.array(x)
        expected = [float(item) for item in leaves(worst(array, 0.0))]
        assert [float(item) for item in leaves(found(array, 0.0))] == expected
        assert [float(item) for item in model(array, np.float64(0.0))] == expected


def test_an_array_that_some_paths_lack(tmp_path: Path) -> None:
    def chosen(x: Any, least: float) -> Any:
        i = 0
        while i < 3:
            if x[i] > least:
                found = x * 2.0
                break
            i += 1
        return found if i < 3 else -x

    call = Caller(autoconv.clibrary.build(chosen, "float64[3] float64[]", to=tmp_path / "chosen", contract="compile"))
    compiled, x = autoconv.compile(chosen), np.array([1.0, 5.0, 2.0])
    for least in (0.0, 3.0, 9.0):
        expected = chosen(x, least)
        np.testing.assert_array_equal(leaves(call(x, least))[0], expected)
        np.testing.assert_array_equal(compiled(x, least), expected)


OPERANDS = (math.inf, -math.inf, math.nan, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.0, 1000.0, 1e300)
UNARY_FUNCTIONS = [
    "sqrt", "exp", "expm1", "exp2", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "cbrt", "fabs", "floor", "ceil", "trunc",
    "degrees", "radians", "isnan", "isinf", "isfinite", "gamma", "lgamma",
]  # fmt: skip
BINARY_FUNCTIONS = ["pow", "atan2", "fmod", "copysign", "log", "remainder", "hypot"]
INEXACT_FUNCTIONS = ("gamma", "lgamma", "hypot")  # Python has code of its own for these


@pytest.fixture(scope="module")
def functions_of_math(tmp_path_factory: pytest.TempPathFactory) -> Caller:
    """Build a library whose first argument selects a function of math."""
    calls = [f"math.{name}(x)" for name in UNARY_FUNCTIONS]
    calls += [f"math.{name}(x, y)" for name in BINARY_FUNCTIONS] + ["x**y"]
    branches = [f"    if which == {i}:\n        return float({call})\n" for i, call in enumerate(calls)]
    path = tmp_path_factory.mktemp("math") / "functions.py"
    path.write_text("import math\n\n\ndef chosen(which, x, y):\n" + "".join(branches) + "    return x\n")
    module = load_module(path, "functions")
    types = "int64[] float64[] float64[]"
    return Caller(autoconv.clibrary.build(module.chosen, types, to=path.with_suffix(""), contract="compile"))


@pytest.mark.parametrize("name", [*UNARY_FUNCTIONS, *BINARY_FUNCTIONS, "**"])
def test_math_of_any_operands(functions_of_math: Caller, name: str) -> None:
    """Results for infinities and nan are Python's; Python's errors are codes with their messages."""
    which = [*UNARY_FUNCTIONS, *BINARY_FUNCTIONS, "**"].index(name)
    is_unary = which < len(UNARY_FUNCTIONS)
    for x, y in itertools.product(OPERANDS, (1.0,) if is_unary else OPERANDS):
        try:
            expected = x**y if name == "**" else float(getattr(math, name)(*((x,) if is_unary else (x, y))))
        except (ValueError, ArithmeticError) as error:
            with pytest.raises(LibraryError, match=f"{type(error).__name__}: {re.escape(str(error))}"):
                functions_of_math(which, x, y)
            continue
        if isinstance(expected, complex) or (name in ("floor", "ceil", "trunc") and abs(x) > 2.0**63):
            with pytest.raises(LibraryError, match="64 bits"):
                functions_of_math(which, x, y)
            continue
        found = functions_of_math(which, x, y)["value"]
        if name in INEXACT_FUNCTIONS and math.isclose(found, expected, rel_tol=2e-15):
            continue
        assert repr(found) == repr(expected), (x, y)


def test_sizes_and_values_that_graphs_depend_on_are_refused(tmp_path: Path) -> None:
    def flat(x: Any) -> Any:
        return x.ravel()

    def shifted(n: int) -> Any:
        return np.eye(4, k=n).sum()

    with pytest.raises(autoconv.errors.UnsupportedError, match=r"flat has a graph .* sizes n, m; .* 'ravel' of"):
        autoconv.clibrary.build(flat, "float64[n,m]", to=tmp_path / "flat", contract="compile")
    with pytest.raises(autoconv.errors.UnsupportedError, match=r"shifted has a graph .* each value of argument 1"):
        autoconv.stablehlo.export(shifted, "int64[]", contract="compile")


def test_functions_that_call_themselves(tmp_path: Path) -> None:
    def ackermann(m: int, n: int) -> int:
        if m == 0:
            return n + 1
        return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))

    def depth(n: int) -> int:
        return 0 if n == 0 else 1 + depth(n - 1)

    nested = Caller(autoconv.clibrary.build(ackermann, "int64[] int64[]", to=tmp_path / "a", contract="compile"))
    assert nested(2, 3) == {"value": ackermann(2, 3)}
    deep = Caller(autoconv.clibrary.build(depth, "int64[]", to=tmp_path / "d", contract="compile"))
    assert deep(500) == {"value": 500}
    for _ in range(2):
        with pytest.raises(LibraryError, match="RecursionError: the calls need more than 256 KiB of stack"):
            deep(10**6)
    with ThreadPoolExecutor(4) as pool:
        assert [item["value"] for item in pool.map(deep, range(200))] == list(range(200))


def test_variables_are_arguments(tmp_path: Path) -> None:
    w = autoconv.Variable([1.0, 2.0], name="w")
    count = autoconv.Variable(0, name="count")
    scale = autoconv.Variable(0.5)

    @autoconv.function
    def train(x: Any, y: Any) -> Any:
        for _ in autoconv.range(3):
            with autoconv.GradientTape() as tape:
                loss = autoconv.reduce_mean((autoconv.reduce_sum(x * w, axis=1) - y) ** 2)
            w.assign_sub(scale * tape.gradient(loss, w))
            count.assign_add(1)
        if loss < 0.5:
            count.assign(-1)
        return loss

    library = autoconv.clibrary.build(train, "float32[n,2] float32[n]", to=tmp_path / "train")
    text = library.header.read_text()
    assert "static const float train_w_start[2] = {1.0, 2.0};" in text and "train_count_start[1] = {0};" in text
    run, weights, steps = Caller(library), w.numpy(), np.array(0, np.int32)
    x = np.random.default_rng(0).random((5, 2), np.float32)
    y = x @ np.array([3, -1], np.float32)
    for _ in range(4):
        parameters = {"*w": weights, "*count": steps}
        found = run(x, y, *(parameters[name] for _, name in run.parameters[2:]))["value"]
        np.testing.assert_allclose(found, train(x, y).numpy(), rtol=1e-5)
        np.testing.assert_allclose(weights, w.numpy(), rtol=1e-5)
        assert steps == count.numpy()


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = tuple(value.values())
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (tuple, list)) else [value]


def test_a_process_that_loads_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import numpy as np\n\n\ndef f(x):\n    return np.zeros(3) + np.sqrt(x)\n")
    text = "import autoconv, program; autoconv.clibrary.build(program.f, 'float64[3]', to='f', contract='compile')"
    subprocess.run([sys.executable, "-c", text], cwd=tmp_path, check=True)
    assert (tmp_path / "f.o").exists()


def ranks(x):
    order = np.argsort(x)
    places = np.empty(len(x), np.int64)
    places[order] = np.arange(len(x))
    return places


def test_orders_of_elements(tmp_path: Path) -> None:
    call = Caller(autoconv.clibrary.build(ranks, "float64[40]", to=tmp_path / "ranks", contract="compile"))
    x = np.random.default_rng(0).permutation(np.arange(40.0))
    np.testing.assert_array_equal(call(x)["value"], ranks(x))
