"""New arrays lie in memory as NumPy's do, which their views by `ravel` and `reshape` show."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv

OPERANDS = ("m.T", "q.transpose(2, 0, 1)", "m[::-1].T", "m.T[:, ::2]", "q.T[0]", "m.T[:, :1]")
RESULTS = (
    "a * 2", "-a", "abs(a)", "a + a", "a + b", "a > 1", "a ** 2", "a + a[:1]", "a + 1j", "np.conj(a)",
    "np.maximum(a, 1)", "a.astype(np.float32)", "a.astype(int, 'C')", "a.copy()", "a.copy('K')", "a.round()",
    "a.round(1)", "a.clip(0, 3)", "a.cumsum(0)", "np.square(a)", "np.where(a > 1, a, b)", "np.sort(a, axis=0)",
    "np.cumsum(a, axis=-1)", "np.nan_to_num(a)", "np.round(a)", "np.round(a, 1)", "np.clip(a, 0, 2)",
    "np.roll(a, 1, axis=0)", "np.roll(a, 1)", "np.i0(a)", "np.diff(a, axis=0)", "np.gradient(a)[0]", "np.unwrap(a)",
    "np.partition(a, 1, axis=0)", "np.array(a)", "np.array(a, order='C')", "np.copy(a)", "np.ascontiguousarray(a)",
    "np.concatenate([a, a])", "np.stack([a, b], -1)", "np.concatenate([a, b, a], 1)", "np.vstack([a, a])",
    "np.hstack([a, a])", "np.dstack([a, a])", "np.block([[a, a]])", "np.append(a, a, axis=0)", "np.append(a, a)",
    "np.pad(a, 1)", "np.delete(a, 0, axis=0)", "np.triu(a)", "np.zeros_like(a)", "np.full_like(a, 2)",
    "np.divmod(a, 2)[1]", "np.take(a, [0, 1], axis=0)", "np.tile(a, 2)", "a[[0, 1]]", "a[..., [0, 1]]",
    "a[:, [0, 0]]", "q[:, [0, 1]]", "q[0, :, [0, 1]]", "q[:, m[:4, 0] > 1]", "m[:, [0, 1]]", "a @ a.swapaxes(-1, -2)",
    "a.take([0], axis=0)", "np.fft.fft(a, axis=0)",
)  # fmt: skip


def arguments():
    return np.arange(24.0).reshape(6, 4) / 3, np.arange(60.0).reshape(3, 4, 5) / 3, np.ones(3)


@pytest.mark.search("operand")
@pytest.mark.parametrize("operand", OPERANDS)
@pytest.mark.parametrize("result", RESULTS)
def test_order_of_a_result(operand, result):
    source = f"def f(m, q, x):\n    x[0] = 1\n    a = {operand}\n    b = np.ones(a.shape)\n    new = {result}\n"
    names = {"np": np}
    exec(source + "    flat = new.ravel()\n    flat[...] = 7\n    return new, new.strides", names)
    try:
        expected, expected_strides = names["f"](*arguments())
    except (ValueError, IndexError):
        pytest.skip("NumPy refuses the operand")
    found, strides = autoconv.compile(names["f"])(*arguments())
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    sizes = expected.shape
    assert [stride for stride, size in zip(strides, sizes, strict=True) if size > 1] == [
        stride for stride, size in zip(expected_strides, sizes, strict=True) if size > 1
    ]


def test_views_of_a_result_in_another_order_are_copies():
    @autoconv.compile
    def f(m):
        doubled = m.T * 2
        flat = doubled.ravel()
        flat[0] = 9
        return doubled

    assert f(np.arange(6.0).reshape(2, 3)).tolist() == [[0, 6], [2, 8], [4, 10]]
    assert "plain Python" not in f.explain()


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_order_depends_on_the_path(count):
    def f(m, n):
        doubled = m * 2
        for _ in range(n):
            doubled = doubled.T * 2
        flat = doubled.ravel()
        flat[0] = 9
        return doubled

    m = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(autoconv.compile(f)(m.copy(), count), f(m.copy(), count))
