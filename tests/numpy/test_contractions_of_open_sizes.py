"""Sums of products along axes whose sizes are known only at run time: plain NumPy's results and errors."""

import linecache

import numpy as np
import pytest

import autoconv as ac

EXPRESSIONS = (
    "np.tensordot(x[1:1 + k], w, axes=([0, 1], [0, 1]))", "np.tensordot(x[:k], w[:k], axes=([0, 1], [0, 1]))",
    "np.tensordot(w[:k], x.T, axes=([1], [0]))", "np.tensordot(x[:k], x[:k], axes=0)",
    "np.tensordot(x[:k, 0], w[:k], axes=1)", "np.tensordot(x[:k] > 0, w[:k] > 0.5, axes=([0, 1], [0, 1]))",
    "np.tensordot(x[:k].astype(int), w[:k].astype(np.int32), axes=([0, 1], [0, 1]))",
    "np.tensordot(x[:k], w[:k + 1], axes=([0, 1], [0, 1]))", "np.tensordot(x[x[:, 0] > 0], x[x[:, 0] > 0], ([0], [0]))",
    "np.tensordot(x[:k] * 1j, w[:k], axes=([0, 1], [0, 1]))", "np.dot(x[:k], w[:k])", "x[:k].dot(w)",
    "np.dot(x[:k].T, w.transpose(1, 0, 2)[:, :k])", "np.dot(x[:k].T, w.transpose(1, 0, 2)[:, :k + 1])",
    "np.inner(x[:k], w[:k].T)", "np.inner(x[:k, 0], x[1:k + 1, 1])", "np.inner(x[:k, 0], x[1:k + 2, 1])",
    "np.inner(x[:k].T, x[1:k + 1].T)", "np.outer(x[:k], x[1:k + 2, 0])", "np.kron(x[:k], w[0, :, :k])",
    "np.vecdot(x[:k].T, x[1:k + 1].T)", "np.vecdot(x[:k].T, x[1:k + 2].T)", "np.cross(x[:k], x[1:k + 1])",
    "np.einsum('ij,ijk->k', x[:k], w[:k])", "np.einsum('ij,kj->ik', x[:k], x[1:k + 2])",
    "np.einsum('ij,ij->i', x[:k], x[1:k + 1])", "np.einsum('i,i', x[:k, 0], x[1:k + 1, 1])",
    "np.einsum('i,j->ji', x[:k, 0], x[1:k + 1, 1])", "np.einsum('ij->j', x[:k])",
    "np.einsum('ij,jk,kl->il', x[:k].T, x[:k], x[:k].T)", "np.einsum('bij,bjk->bik', w[:k], w[:k].transpose(0, 2, 1))",
    "np.einsum('ij,k->j', x[:k], x[:k, 0])", "np.einsum('i,i->i', x[:k, 0], x[1:2, 1])",
    "np.einsum('i,i->i', x[1:2, 1], x[:k, 0])", "np.einsum('i,i->', x[:k, 0], x[1:k + 2, 1])",
    "np.einsum('ij,jk,k->', x[:k].T, x[:k], x[0])", "np.einsum('i,ij,j->', x[:k, 0], x[:k], x[0])",
    "np.einsum('ij,ij->ij', x[:k].astype(np.float32), x[:k])",
)  # fmt: skip
COUNTS = (3, 3, 4, 5, 1, 0, 2, 7, 3)


def outcome(function, *arguments):
    try:
        result = function(*arguments)
    except ValueError as error:
        return type(error), str(error)
    assert isinstance(result, (np.ndarray, np.generic))
    return result


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_numpy(expression):
    text, name = f"def f(x, w, k):\n    return {expression}\n", f"<open sizes {expression}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    plain, compiled = namespace["f"], ac.compile(namespace["f"])
    draws = np.random.default_rng(1)
    x, w = draws.standard_normal((20, 3)), 3 * draws.random((5, 3, 4))
    for count in COUNTS:
        expected, found = outcome(plain, x, w, count), outcome(compiled, x, w, count)
        assert type(found) is type(expected), count
        if isinstance(expected, tuple):
            assert found == expected
        else:
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12, strict=True)


def convolve(x, weights, biases):
    width = weights.shape[0]
    out = np.zeros((len(x) - width + 1, weights.shape[2]))
    for i in range(len(out)):
        out[i] = np.tensordot(x[i : i + width], weights, axes=([0, 1], [0, 1])) + biases
    return np.maximum(out, 0)


def weighted_rows(x, weights):
    total = 0.0
    for i in range(1, len(x)):
        total += np.einsum("ij,jk,ik->", x[:i], weights[0], x[-i:] @ weights[1])
        total += np.inner(x[:i, 0], x[-i:, 1])
    return total


def test_loops_over_windows_are_graphs_without_kernels():
    draws = np.random.default_rng(2)
    x, weights, biases = draws.standard_normal((30, 3)), draws.standard_normal((5, 3, 4)), draws.random(4)
    for function, arguments in ((convolve, (x, weights, biases)), (weighted_rows, (x, weights))):
        compiled = ac.compile(function)
        for _ in range(2):
            np.testing.assert_allclose(compiled(*arguments), function(*arguments))
        description = compiled.explain()
        assert "1 trace" in description, description
        assert "kernels" not in description
        assert "plain Python:" not in description
