"""Complex arrays whose sizes the graph computes run in native loops, as NumPy computes them."""

import numpy as np
import pytest

import autoconv


def triangles(b, out):
    for i in range(3, len(b)):
        out[i] = (b[:i] * b[i - 1]).sum() + b[i // 2 : i].mean() + np.abs(b[:i]).max()


def products(b, out):
    for i in range(3, len(b)):
        out[i] = b[:i] @ b[:i].conj() + np.exp(-b[i - 3 : i]).sum()


def neighbours(b, out):
    for i in range(3, len(b)):
        out[i - 3 : i] += b[i - 3 : i] * 2j - b[i - 2 : i + 1][:3]
        out[0] += (b[:i] > 1).sum() + (b[:i] == b[0]).sum() + len(b[:i][b[:i].real > 0])


def numbers(size, dtype):
    draw = np.random.default_rng(size)
    return (draw.normal(size=size) + 1j * draw.normal(size=size)).astype(dtype)


@pytest.mark.parametrize("function", [triangles, products, neighbours])
@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_slices_in_loops(function, dtype):
    compiled = autoconv.compile(function)
    for size in (9, 40, 3):
        found, expected = np.zeros(size, dtype), np.zeros(size, dtype)
        compiled(numbers(size, dtype), found)
        function(numbers(size, dtype)[:], expected)
        np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype == "complex128" else 1e-4)
    assert "kernels" not in compiled.explain()


def test_slices_as_results():
    def parts(b, k):
        w = b[:k]
        return w * w.conj(), np.cumsum(w), w.real + w.imag, b[k:] / 2, np.concatenate([b[k:], w]), b[b.real > 0] + 1

    compiled = autoconv.compile(parts)
    b = numbers(12, "complex128")
    for k in (4, 0, 12, 20, -3):
        for compiled_output, plain_output in zip(compiled(b, k), parts(b, k), strict=True):
            assert compiled_output.dtype == plain_output.dtype and compiled_output.shape == plain_output.shape
            np.testing.assert_allclose(compiled_output, plain_output, rtol=1e-14)
    with pytest.raises(ValueError, match="broadcast"):
        autoconv.compile(lambda b, k: b[:k] + b[k:])(b, 5)


@pytest.mark.parametrize("function", [
    lambda w: w**3, lambda w: w**-2, lambda w: w**0.5, lambda w: w**w, lambda w: 2**w, lambda w: w ** np.arange(len(w)),
    np.tan, np.sinh, np.arctan, np.arccosh, np.log1p, np.expm1, np.sign, lambda w: np.logical_xor(w, w[::-1]),
    lambda w: w.copy(),
])  # fmt: skip
def test_functions_of_slices(function):
    def of_slice(b, k):
        return function(b[:k])

    compiled = autoconv.compile(of_slice)
    b = numbers(12, "complex128")
    for k in (5, 12, 0, 1):
        found, expected = compiled(b, k), function(b[:k])
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-11)
    assert "kernels" not in compiled.explain()
