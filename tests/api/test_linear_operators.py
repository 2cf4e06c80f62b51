"""Linear operators; NumPy has the results of their dense matrices."""

import numpy as np
import pytest

import autoconv as ac

L = ac.linalg
RNG = np.random.default_rng(0)
A, D = RNG.normal(size=(3, 3)) + 3 * np.eye(3), np.array([2.0, -1.0, 3.0])
S = A @ A.T
B = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3)
C = A + 1j * RNG.normal(size=(3, 3))
U, V = A[:, :2], A[:, 1:]
ROTATED = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def full_matrix(x, **hints):
    return L.LinearOperatorFullMatrix(ac.constant(x), **hints)


OPERATORS = {
    "full": (lambda: full_matrix(A), A),
    "positive": (lambda: full_matrix(S, is_self_adjoint=True, is_positive_definite=True), S),
    "batch": (lambda: full_matrix(B), B),
    "complex": (lambda: full_matrix(C), C),
    "triangular": (lambda: L.LinearOperatorLowerTriangular(ac.constant(B)), np.tril(B)),
    "diagonal": (lambda: L.LinearOperatorDiag(ac.constant(D)), np.diag(D)),
    "identity": (lambda: L.LinearOperatorIdentity(3, dtype=ac.float64), np.eye(3)),
    "scaled": (lambda: L.LinearOperatorScaledIdentity(3, ac.constant(D[:2])), D[:2, None, None] * np.eye(3)),
    "product": (lambda: full_matrix(B) @ L.LinearOperatorDiag(ac.constant(D)), B @ np.diag(D)),
    "adjoint": (lambda: full_matrix(C).adjoint(), C.conj().T),
    "inverse": (lambda: full_matrix(A).inverse(), np.linalg.inv(A)),
    "kronecker": (lambda: L.LinearOperatorKronecker([full_matrix(A), L.LinearOperatorDiag(ac.constant(D[:2]))]),
                  np.kron(A, np.diag(D[:2]))),
    "three_factors": (lambda: L.LinearOperatorKronecker([full_matrix(U[:2]), full_matrix(A), full_matrix(V[:2])]),
                      np.kron(np.kron(U[:2], A), V[:2])),
    "blocks": (lambda: L.LinearOperatorBlockDiag([full_matrix(U[:2]), L.LinearOperatorDiag(ac.constant(D))]),
               np.block([[U[:2], np.zeros((2, 3))], [np.zeros((3, 2)), np.diag(D)]])),
    "update": (lambda: L.LinearOperatorLowRankUpdate(full_matrix(A), *map(ac.constant, (U, D[:2], V))),
               A + U @ np.diag(D[:2]) @ V.T),
    "reflection": (lambda: L.LinearOperatorHouseholder(ac.constant(D)), np.eye(3) - 2 * np.outer(D, D) / (D @ D)),
    "permutation": (lambda: L.LinearOperatorPermutation([2, 0, 1], ac.float64), ROTATED),
    "toeplitz": (lambda: L.LinearOperatorToeplitz(ac.constant([2.0, 5, 6]), ac.constant([2.0, 3, 4])),
                 np.array([[2.0, 3, 4], [5, 2, 3], [6, 5, 2]])),
    "circulant": (lambda: L.LinearOperatorCirculant(ac.constant([6.0, 4, 4]), ac.float32),
                  np.array([[14.0, 2, 2], [2, 14, 2], [2, 2, 14]]) / 3),
    "three_diagonals": (lambda: L.LinearOperatorTridiag(ac.constant([[1.0, 2, 0], [4, 5, 6], [0, 7, 8]])),
                        np.array([[4.0, 1, 0], [7, 5, 2], [0, 8, 6]])),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_against_dense_matrices(name):
    make, dense = OPERATORS[name]
    operator = make()
    close = lambda found, expected: np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    x = RNG.normal(size=(dense.shape[-1], 2)).astype(operator.dtype.numpy)
    adjoint = dense.conj().swapaxes(-1, -2)
    assert operator.shape == dense.shape and operator.shape_tensor().numpy().tolist() == list(dense.shape)
    close(operator.to_dense(), dense)
    close(operator.matmul(x), dense @ x)
    close(operator.matmul(x, adjoint=True), adjoint @ x)
    close(operator.matvec(x[:, 0]), dense @ x[:, 0])
    close(operator.solve(x), np.linalg.inv(dense) @ x)
    close(operator.solve(x, adjoint=True), np.linalg.inv(adjoint) @ x)
    close(operator.inverse().matmul(x), np.linalg.inv(dense) @ x)
    close(operator.H.matmul(x), adjoint @ x)
    close(operator.determinant(), np.linalg.det(dense))
    close(operator.log_abs_determinant(), np.log(np.abs(np.linalg.det(dense))))
    close(operator.diag_part(), np.diagonal(dense, axis1=-2, axis2=-1))
    close(operator.trace(), np.trace(dense, axis1=-2, axis2=-1))
    close(operator.add_to_tensor(np.ones_like(dense)), dense + 1)


def test_in_a_function_with_a_gradient():
    matrix = ac.Variable(A)

    @ac.function
    def f(x):
        with ac.GradientTape() as tape:
            operator = L.LinearOperatorFullMatrix(matrix)
            total = ac.reduce_sum(operator.solve(x)) + operator.log_abs_determinant()
        return tape.gradient(total, matrix)

    inverse = np.linalg.inv(A)
    expected = inverse.T - inverse.T @ np.ones((3, 2)) @ (inverse @ np.ones((3, 2))).T
    np.testing.assert_allclose(f(np.ones((3, 2))), expected, rtol=1e-6)


def test_contradictory_hints():
    wide = full_matrix(A[:2])
    with pytest.raises(NotImplementedError, match="expected to not be square"):
        wide.solve(A)
    with pytest.raises(ValueError, match="non square matrix"):
        wide.inverse()
    with pytest.raises(ValueError, match="Not a positive definite"):
        full_matrix(A).cholesky()
    with pytest.raises(ValueError, match="incompatible"):
        wide @ wide
    with pytest.raises(NotImplementedError, match="expected to be singular"):
        L.LinearOperatorZeros(2).solve([[1.0], [2.0]])


def test_factors_and_values_of_positive_operators():
    operator = full_matrix(S, is_self_adjoint=True, is_positive_definite=True)
    np.testing.assert_allclose(operator.cholesky().to_dense(), np.linalg.cholesky(S), rtol=1e-6)
    np.testing.assert_allclose(operator.eigvals(), np.linalg.eigvalsh(S), rtol=1e-6)
    np.testing.assert_allclose(operator.cond(), np.linalg.cond(S), rtol=1e-6)
    operator.assert_positive_definite()
    operator.assert_self_adjoint()
    operator.assert_non_singular()
    assert [variable.shape for variable in L.LinearOperatorDiag(ac.Variable(D)).variables] == [(3,)]


def test_conjugate_gradients():
    """After each number of iterations the solution is NumPy's, also in a graph and with a preconditioner."""
    rng = np.random.default_rng(0)
    matrices = rng.normal(size=(2, 5, 5))
    matrices = matrices @ matrices.transpose(0, 2, 1) + 5 * np.eye(5)
    targets = rng.normal(size=(2, 5))
    expected = np.linalg.solve(matrices, targets[..., None])[..., 0]

    def operator(values):
        return ac.linalg.LinearOperatorFullMatrix(values, is_self_adjoint=True, is_positive_definite=True)

    def solve(b, **options):
        return ac.linalg.experimental.conjugate_gradient(operator(matrices), b, **options)

    inverse = operator(np.linalg.inv(matrices + np.eye(5)))
    for options, turns in (({}, 5), ({"preconditioner": inverse}, 4), ({"x": ac.constant(expected)}, 0)):
        for run in (solve, ac.function(solve)):
            state = run(ac.constant(targets), **options)
            assert int(state.i) == turns
            np.testing.assert_allclose(state.x, expected, rtol=1e-5, atol=1e-8)
    assert int(solve(targets, max_iter=2).i) == 2
    with pytest.raises(ValueError, match="self-adjoint, positive definite"):
        ac.linalg.experimental.conjugate_gradient(ac.linalg.LinearOperatorFullMatrix(matrices), targets)
