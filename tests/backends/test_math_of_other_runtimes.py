"""Functions of the module math by StableHLO, ONNX and as C libraries, against Python."""

import math
from pathlib import Path

import numpy as np
import pytest

import autoconv
from autoconv.backends.stablehlo import to_stablehlo
from autoconv.tracing.api.exported_calls import replace_numpy_calls
from tests.backends import portable_samples
from tests.clibrary.calling import Caller

pytest.importorskip("jaxlib")
pytest.importorskip("onnxruntime")


def of_floats(a, b, out):
    for i in range(len(a)):
        try:
            out[i, 0] = math.gamma(a[i])
        except ValueError:
            out[i, 0] = -1.5
        except OverflowError:
            out[i, 0] = -2.5
        try:
            out[i, 1] = math.lgamma(a[i])
        except ValueError:
            out[i, 1] = -1.5
        try:
            out[i, 2] = math.remainder(a[i], b[i])
        except ValueError:
            out[i, 2] = -1.5
        out[i, 3] = math.hypot(a[i], b[i])
        out[i, 4] = math.hypot(a[i], b[i], 2.0)
        out[i, 5] = math.isclose(a[i], b[i]) + math.exp2(math.copysign(0.3, b[i]))
    return out


def of_integers(a, b, out):
    for i in range(len(a)):
        n, k = int(a[i]), int(b[i])
        try:
            out[i, 0] = math.comb(n, k)
        except ValueError:
            out[i, 0] = -1
        try:
            out[i, 1] = math.perm(n, k) if k < 12 else math.perm(k % 20)
        except ValueError:
            out[i, 1] = -2
        out[i, 2] = math.gcd(n, k, 12)
    return out


def of_parts(a, b, out):
    for i in range(len(a)):
        x, y = float(a[i]), float(b[i])
        out[i, 0], exponent = math.frexp(x)
        out[i, 1] = exponent
        out[i, 2], out[i, 3] = math.modf(x)
        out[i, 4], out[i, 5] = math.nextafter(x, y), math.ulp(x)
        try:
            out[i, 6] = math.ldexp(x, int(b[i]))
        except OverflowError:
            out[i, 6] = -0.25
        out[i, 7] = math.prod([x, 0.5, 2]) + math.prod((x,), start=y) + sum([x, y]) + max((x, y)) - min([x, y])
        out[i, 8] = math.dist((x, 1.0), (y, 0.0))
    return out


def by_xla(function, arrays, folder):
    concrete = autoconv.compile(function).get_concrete_function(*arrays)
    graph, values = portable_samples.graph_and_arrays(concrete, arrays)
    module = to_stablehlo(replace_numpy_calls(graph))
    results, word = portable_samples.run_module(module, values)
    assert not word
    return results[0]


def by_onnx_runtime(function, arrays, folder):
    specs = [autoconv.TensorSpec(x.shape, x.dtype) for x in arrays]
    result = autoconv.onnx.load(autoconv.onnx.export(function, *specs, contract="compile"))(*arrays)
    return result[0] if isinstance(result, (list, tuple)) else result


def by_c_library(function, arrays, folder):
    specs = " ".join(f"{x.dtype}[{','.join(map(str, x.shape))}]" for x in arrays)
    library = autoconv.clibrary.build(function, specs, to=folder / function.__name__, contract="compile")
    Caller(library)(*arrays)
    return arrays[-1]  # the function writes it


def natively(function, arrays, folder):
    return autoconv.compile(function)(*arrays)


WAYS = [by_xla, by_onnx_runtime, by_c_library]


@pytest.mark.parametrize("run", WAYS, ids=lambda f: f.__name__)
def test_functions_of_floats(run, tmp_path: Path):
    rng = np.random.default_rng(3)
    edges = [0.0, -0.0, 170.6, 171.7, -170.3, -180.5, 1e-5, -1e-5, 1e300, math.inf, -math.inf, math.nan, -1e17]
    a = np.concatenate([rng.uniform(-30, 30, 40), rng.uniform(100, 171, 10), np.arange(-5.0, 25.0), edges])
    a = np.concatenate([a, a[::-1]])
    b = np.concatenate([rng.permutation(a[: len(a) // 2]), a[len(a) // 2 :] * (1 + 1e-10)])
    expected = of_floats(a, b, np.zeros((len(a), 6)))
    found = run(of_floats, [a.copy(), b.copy(), np.zeros((len(a), 6))], tmp_path)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(found[:, 2], expected[:, 2])
    whole = np.isin(a, np.arange(1.0, 19.0))
    np.testing.assert_array_equal(found[whole, 0], expected[whole, 0])


@pytest.mark.parametrize("run", WAYS, ids=lambda f: f.__name__)
def test_functions_of_integers(run, tmp_path: Path):
    pairs = [(n, k) for n in (-1, 0, 1, 5, 20, 37, 62, 66) for k in (-1, 0, 1, 2, 5, 11, 33, 66, 67)]
    pairs += [(2**62, 1), (2**62, 0), (3 * 10**9, 2), (3 * 10**9, 3 * 10**9 - 2)]
    a, b = np.array([(n, k) for n, k in pairs if n < 60 or not 5 <= k < 12]).T.copy()
    expected = of_integers(a, b, np.zeros((len(a), 3), np.int64))
    found = run(of_integers, [a.copy(), b.copy(), np.zeros((len(a), 3), np.int64)], tmp_path)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("run", [*WAYS, natively], ids=lambda f: f.__name__)
def test_parts_of_floats(run, tmp_path: Path):
    a = np.array([0.0, -0.0, 1.0, -1.0, 0.75, 2.0**53, -3.7, 1e300, math.inf, -math.inf, -1.7976931348623157e308, 2.5])
    b = np.array([5.0, 3.0, -1020.0, 1023.0, 1024.0, -60.0, -1000.0, 2000.0, 7.0, -7.0, -2.0, 2200.0])
    if run not in (by_xla, by_onnx_runtime):  # these may take subnormal numbers for 0
        a = np.concatenate([a, [5e-324, 1e-310, -2.5e-308, 1.2345e-300, 1.0]])
        b = np.concatenate([b, [60.0, -3.0, 2100.0, -40.0, -1074.0]])
    subnormals = abs(a) < 1e-300 if run in (by_xla, by_onnx_runtime) else np.zeros(len(a), bool)
    expected = of_parts(a, b, np.zeros((len(a), 9)))
    found = run(of_parts, [a.copy(), b.copy(), np.zeros((len(a), 9))], tmp_path)
    np.testing.assert_array_equal(found[~subnormals, :8], expected[~subnormals, :8])
    np.testing.assert_allclose(found[:, 8], expected[:, 8], rtol=1e-15)
    if run is not by_onnx_runtime:  # its choices lose the sign of zeros
        np.testing.assert_array_equal(np.signbit(found[:, 2]), np.signbit(expected[:, 2]))
