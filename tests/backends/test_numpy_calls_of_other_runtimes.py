"""Functions for which native code calls NumPy, by XLA, ONNX Runtime and C libraries, beside NumPy's."""

import numpy as np
import pytest

import autoconv
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.types import TensorType
from tests.backends.portable_samples import close_sizes, run_stablehlo
from tests.clibrary.calling import Caller

X = np.array([0.5, 8.0, -1000.0, 0.3, 0.0, -2.0, np.inf, np.nan])
Y = np.array([2.0, -3.0, 0.7, 1e-3, 1.0, 1.5, 2.0, 3.0])
POSITIVE = np.array([1.0, 8.0, 1000.0, 1024.0, 0.125, 3.7, 1e-5, 7.0])
INTEGERS = np.array([7, -7, 7, -7, 0, -(2**63), 5]), np.array([3, 3, -3, -3, 5, 7, 2])
SIGNED = np.random.default_rng(1).integers(-100, 100, (5, 3))
BYTES = np.array([0, 1, 200, 127, 255], np.uint8)
CASES = {
    "log2": (lambda x: np.log2(x), POSITIVE),
    "log2 of integers": (lambda x: np.log2(x), np.array([1, 8, 1024, 7], np.int32)),
    "log10": (lambda x: np.log10(x), POSITIVE),
    "logaddexp2": (lambda x, y: np.logaddexp2(x, y), X[:6], Y[:6]),
    "fmod": (lambda x, y: np.fmod(x, y), X, Y),
    "fmod of integers": (lambda x, y: np.fmod(x, y), *INTEGERS),
    "fmod of a number": (lambda x: np.fmod(x, -3), INTEGERS[0]),
    "fmod of bytes": (lambda x, y: np.fmod(x, y), BYTES, np.array([1, 2, 7, 8, 3], np.uint8)),
    "modf": (lambda x: np.modf(x), X),
    "bitwise_count": (lambda x: np.bitwise_count(x), INTEGERS[0]),
    "bitwise_count of bytes": (lambda x: np.bitwise_count(x), BYTES),
    "bitwise_count of signed bytes": (lambda x: np.bitwise_count(x), np.array([0, 1, -5, 127, -128], np.int8)),
    "ldexp": (lambda x, y: np.ldexp(x, y), np.array([1.0, -3.0, 1e300, 1e-300]), np.array([3, -4, 20, 1990])),
    "i0": (lambda x: np.i0(x), POSITIVE[4:]),
    "bitwise_xor.reduce": (lambda x: np.bitwise_xor.reduce(x), SIGNED),
    "bitwise_xor.reduce of bytes": (lambda x: np.bitwise_xor.reduce(x), BYTES),
    "bitwise_or.reduce": (lambda x: np.bitwise_or.reduce(x, axis=1), SIGNED),
    "bitwise_and.reduce": (lambda x: np.bitwise_and.reduce(x, axis=-1), SIGNED),
    "bitwise_xor.accumulate": (lambda x: np.bitwise_xor.accumulate(x), SIGNED),
    "bitwise_xor.accumulate of bytes": (lambda x: np.bitwise_xor.accumulate(x), BYTES),
    "bitwise_or.accumulate": (lambda x: np.bitwise_or.accumulate(x, axis=1), SIGNED),
    "bitwise_and.accumulate": (lambda x: np.bitwise_and.accumulate(x, axis=-1), SIGNED),
    "logical_xor.reduce": (lambda x: np.logical_xor.reduce(x), SIGNED > 0),
    "partition": (lambda x: np.partition(x, 2, axis=0)[2], SIGNED),
    "argpartition": (lambda x: x[np.argpartition(x, 3)[3]], POSITIVE),
    "argsort": (lambda x: np.argsort(x), np.array([3.0, 1.0, 2.0])),
    "constants": (lambda x: np.logspace(0.0, 1.0, 4) * x[0], X),
}


def by_xla(function, spec, arrays, expected):
    pytest.importorskip("jaxlib")
    module = autoconv.stablehlo.export(function, spec, contract="compile")
    types = [TensorType(as_dtype(x.dtype), x.shape) for x in expected]
    results, word = run_stablehlo(close_sizes(module.text, arrays), arrays, types)
    assert not word
    return results


def by_onnx(function, spec, arrays, expected):
    pytest.importorskip("onnxruntime")
    return autoconv.onnx.load(autoconv.onnx.export(function, spec, contract="compile"))(*arrays)


def by_library(function, spec, arrays, expected, folder):
    return list(Caller(autoconv.clibrary.build(function, spec, to=folder / "f", contract="compile"))(*arrays).values())


@pytest.mark.parametrize("runtime", ["xla", "onnx", "library"])
@pytest.mark.parametrize("name", CASES)
def test_function(name, runtime, tmp_path):
    function, *arrays = CASES[name]
    with np.errstate(all="ignore"):
        expected = function(*arrays)
    expected = list(expected) if isinstance(expected, tuple) else [np.asarray(expected)]
    spec = " ".join(f"{x.dtype}[{','.join('nm'[: x.ndim])}]" for x in arrays)
    if runtime == "library":
        found = by_library(function, spec, arrays, expected, tmp_path)
    else:
        found = (by_xla if runtime == "xla" else by_onnx)(function, spec, arrays, expected)
    for actual, wanted in zip(found if isinstance(found, (list, tuple)) else [found], expected, strict=True):
        assert runtime == "library" or np.asarray(actual).dtype == wanted.dtype  # a number of C has no dtype
        np.testing.assert_allclose(actual, wanted, rtol=4e-15, atol=1e-307)
