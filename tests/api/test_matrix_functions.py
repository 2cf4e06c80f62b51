"""Functions of matrices, tridiagonal and banded systems, beside the figures that TensorFlow 2.21 prints."""

import numpy as np
import pytest

import autoconv as ac
from tests.api.figures import assert_close, eager_and_staged, gradients

L = ac.linalg
A = np.array([[0.5, -0.5, 2.25], [2.75, 1.5, -1.0], [1.5, 3.25, 1.0]])
S = A @ A.T
DIAGONALS = np.array([[1.0, 2.0, 0.0], [4.0, 1.0, 3.0], [0.0, 0.5, 2.0]])
R = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 1.0]])
FIGURES = {
    "expm": [[12.9969, 9.9036, 8.6646], [9.3762, 6.3815, 5.0695], [19.9644, 15.447, 11.6473]],
    "slope of expm": [[4.9409, 3.4143, 4.3475], [3.2372, 5.6236, 3.7103], [3.8755, 3.3433, 5.858]],
    "sqrtm": [[2.3056, -0.3801, 0.3194], [-0.3801, 3.0181, 1.2487], [0.3194, 1.2487, 3.4859]],
    "logm": [[1.6181, -0.3626, 0.3033], [-0.3626, 2.0067, 0.8397], [0.3033, 0.8397, 2.3209]],
    "solve": [[1.6364, -0.5455], [-5.5455, 4.1818], [3.8636, -2.4545]],
    "slope by diagonals": [[-33.707, -207.5943, 0.0], [7.8978, 315.0774, 124.4279], [0.0, -75.0834, -188.9249]],
    "slope by right sides": [[-3.8347, 2.9752], [37.2231, -25.9835], [-22.2397, 15.686]],
    "product": [[7.0, 7.0], [4.5, 2.0], [7.5, 1.0]],
}  # fmt: skip


def test_exponentials():
    for expm in eager_and_staged(L.expm):
        assert_close(expm(ac.constant(A)), FIGURES["expm"])
        assert_close(expm(ac.constant(np.stack([A, A / 100]))), np.stack([FIGURES["expm"], L.expm(A / 100)]))
        assert_close(expm(ac.constant(np.zeros((2, 2), np.float32))), np.eye(2))
    assert_close(gradients(L.expm, A / 4)[0], FIGURES["slope of expm"])
    rotation = L.expm(np.array([[0.0, -50.0], [50.0, 0.0]]))
    assert_close(rotation, [[np.cos(50), -np.sin(50)], [np.sin(50), np.cos(50)]], 1e-10)


def test_square_roots():
    for sqrtm in eager_and_staged(L.sqrtm):
        assert_close(sqrtm(ac.constant(S)), FIGURES["sqrtm"])
    defective = [[4.0, 1.0], [0.0, 4.0]]  # with one eigenvector
    assert_close(L.sqrtm(defective), [[2.0, 0.25], [0.0, 2.0]])
    assert np.isnan(L.sqrtm([[-4.0, 0.0], [0.0, 4.0]])).any()
    assert_close(gradients(L.sqrtm, S)[0], np.eye(3))


def test_logarithms():
    for logm in eager_and_staged(L.logm):
        assert_close(logm(ac.constant(S, ac.complex128)), FIGURES["logm"])
    assert_close(L.logm(ac.constant([[4.0, 1.0], [0.0, 4.0]], ac.complex128)), [[np.log(4), 0.25], [0.0, np.log(4)]])
    with pytest.raises(TypeError, match="complex"):
        L.logm(S)
    with pytest.raises(ValueError, match="logm: Input must be square"):
        ac.function(L.logm).get_concrete_function(ac.TensorSpec([2, 3], ac.complex128))


def test_tridiagonal_systems():
    upper, main, lower = DIAGONALS
    matrix = np.diag(main) + np.diag(upper[:-1], 1) + np.diag(lower[1:], -1)
    forms = [(DIAGONALS, "compact"), ([upper, main, lower], "sequence"), ([upper[:2], main, lower[1:]], "sequence")]
    for diagonals, form in [*forms, (matrix, "matrix")]:
        assert_close(L.tridiagonal_solve(diagonals, R, form), FIGURES["solve"])
        assert_close(L.tridiagonal_matmul(diagonals, R, form), FIGURES["product"])
    for solve in eager_and_staged(L.tridiagonal_solve):
        assert_close(solve(ac.constant(DIAGONALS), ac.constant(R)), FIGURES["solve"])
        assert_close(solve(ac.constant(DIAGONALS), ac.constant(R[:, 0])), np.array(FIGURES["solve"])[:, 0])
    assert_close(L.tridiagonal_solve(DIAGONALS, R.T, transpose_rhs=True), FIGURES["solve"])
    assert_close(L.tridiagonal_solve(DIAGONALS, R, partial_pivoting=False), FIGURES["solve"])
    swapped = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [0.0, 0.5, 2.0]])  # cannot be solved without pivoting
    assert_close(L.tridiagonal_matmul(swapped, L.tridiagonal_solve(swapped, R)), R)
    by_diagonals, by_right_sides = gradients(L.tridiagonal_solve, DIAGONALS, R)
    assert_close(by_diagonals, FIGURES["slope by diagonals"])
    assert_close(by_right_sides, FIGURES["slope by right sides"])
    with pytest.raises(ac.errors.InvalidArgumentError, match="not invertible"):
        L.tridiagonal_solve(np.zeros((3, 3)), R)


def test_banded_triangular_systems():
    right = np.array([[2.0], [4.0], [6.0]])
    assert_close(L.banded_triangular_solve(np.array([[2.0, 3, 4], [9, 1, 2]]), right), [[1.0], [1.0], [1.0]])
    upper = np.array([[1.0, 2, 9], [2, 3, 4]])
    assert_close(L.banded_triangular_solve(upper, right, lower=False), [[5 / 6], [1 / 3], [1.5]])
    with pytest.raises(ac.errors.InvalidArgumentError, match="number of bands"):
        L.banded_triangular_solve(np.ones((3, 2)), np.ones((2, 1)))


def test_eigenvalues_of_tridiagonal_matrices():
    diagonals = [1.0, 2.0, 3.0], [0.5, 0.25]
    expected = [0.7887, 2.1452, 3.0661]
    assert_close(L.eigh_tridiagonal(*diagonals), expected)
    assert_close(L.eigh_tridiagonal(*diagonals, select="i", select_range=[1, 2]), expected[1:])
    assert_close(L.eigh_tridiagonal(*diagonals, select="v", select_range=[1.0, 2.5]), expected[1:2])
    values, vectors = L.eigh_tridiagonal(*diagonals, eigvals_only=False)
    assert_close(L.tridiagonal_matmul([[0.5, 0.25], diagonals[0], [0.5, 0.25]], vectors, "sequence"), vectors * values)


def test_solutions_from_triangular_factors():
    for many in (A, np.stack([A, S])):
        factors, rows = L.lu(many)
        right = np.broadcast_to(R, (*many.shape[:-1], 2)).copy()
        assert_close(many @ L.lu_solve(factors, rows, right).numpy(), right)
        assert_close(L.lu_matrix_inverse(factors, rows), np.linalg.inv(many))
        assert_close(L.lu_reconstruct(factors, rows), many)


def test_norms_over_lists_of_axes_and_by_singular_values():
    matrix = np.float32([[4, 1], [2, 3]])
    for order in ("fro", 1, 2, np.inf):
        for axes in ([0, 1], (1, 0), [-2, -1]):
            expected = np.linalg.norm(matrix, order, tuple(axes))
            np.testing.assert_allclose(ac.norm(matrix, order, axes), expected, rtol=1e-6)
    stack = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    expected = np.linalg.norm(stack, 2, (0, 2), keepdims=True)
    np.testing.assert_allclose(ac.norm(stack, 2, [0, 2], keepdims=True), expected, rtol=1e-5)
    for order, axes in (("euclidean", [0]), (1, (0, 0)), (3, [0, 1]), ("fro", None), ("fro", 0), (0, 1)):
        with pytest.raises(ValueError, match=r"'axis' must be None|'ord' must be a supported"):
            ac.norm(matrix, order, axes)
    with pytest.raises(ValueError, match="Only one of 'transpose_b' and 'adjoint_b'"):
        ac.matmul(matrix, matrix, transpose_b=True, adjoint_b=True)
