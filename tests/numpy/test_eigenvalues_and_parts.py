"""Functions whose results depend on values or bits: eigenvalues, parts of floats, results in given arrays."""

import numpy as np
import pytest

import autoconv
from tests.tracing.plain_comparison import check_against_plain

SYMMETRIC = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])
ROTATION = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.5], [0.1, 0.0, 1.0]])
FLOATS = np.array(
    [0.0, -0.0, 1.5, -2.75, np.inf, -np.inf, np.nan, 5e-324, 2.2e-308, -1e-310, 1e308, 0.1, 8.0, 0.5, -3.0]
)


def ordered(matrix):
    values, vectors = np.linalg.eig(matrix)
    order = np.argsort(-abs(values))
    return values[order], vectors[:, order]


def radius(matrix):
    return np.abs(np.linalg.eigvals(matrix)).max() < 3.5, np.linalg.eig(matrix).eigenvalues.sum()


def shifted_in_place(matrix):
    matrix[0, 0] += 1
    return np.sort(np.linalg.eigvals(matrix)), matrix


def along_a_path(a, b, n):
    growth = np.zeros(n)
    for i in range(n):
        growth[i] = np.linalg.eigvals(a + i * b).real.max()
    return growth


def of_bad_matrices(matrix):
    try:
        return np.linalg.eig(matrix)[0]
    except np.linalg.LinAlgError as error:
        return str(error)


@pytest.mark.parametrize("function", [ordered, radius, shifted_in_place])
def test_real_and_complex_eigenvalues(function):
    matrices = SYMMETRIC, ROTATION, SYMMETRIC, SYMMETRIC + 1j * ROTATION, ROTATION.astype(np.float32)
    compiled = check_against_plain(function, *((matrix,) for matrix in matrices))
    assert "plain Python:" not in compiled.explain(), compiled.explain()


def test_eigenvalues_in_loops_and_of_matrices_that_numpy_refuses():
    compiled = check_against_plain(along_a_path, (SYMMETRIC, ROTATION, 5), (ROTATION, SYMMETRIC, 3))
    assert "plain Python:" not in compiled.explain(), compiled.explain()
    check_against_plain(of_bad_matrices, (SYMMETRIC,), (SYMMETRIC * np.nan,), (SYMMETRIC[:2],))


@pytest.mark.parametrize("order", [2, -2, "nuc"])
@pytest.mark.parametrize("axes", [(0, 1), (2, 0), (-1, -2)])
def test_norms_by_singular_values(order, axes):
    stack = np.arange(24.0).reshape(2, 3, 4) ** 2
    program = lambda x: (np.linalg.norm(x, order, axes), np.linalg.norm(x * 1j, order, axes, True))
    compiled = check_against_plain(program, (stack,), (stack.astype(np.float32),))
    assert "kernels" not in compiled.explain() and "plain Python" not in compiled.explain(), compiled.explain()
    shift = 1e-6 * np.ones_like(stack)
    slopes = autoconv.grad(lambda x: np.linalg.norm(x, order, axes).sum())(stack)
    expected = (program(stack + shift)[0] - program(stack - shift)[0]).sum() / 2e-6
    assert abs(slopes.sum() - expected) < 1e-5 * abs(slopes).sum()


def parts(x):
    return (*np.modf(x), *np.frexp(x))


def scaled(x, n):
    return np.ldexp(x, n)


def test_parts_of_floats():
    with np.errstate(all="ignore"):
        compiled = check_against_plain(parts, (FLOATS,), (FLOATS.astype(np.float32),))
        assert "kernels" not in compiled.explain(), compiled.explain()
        exponents = [3, -1074, -1100, -1023, 1024, 2000, -2100, -60]
        check_against_plain(scaled, *((FLOATS, n) for n in exponents), *((FLOATS.astype("f4"), n) for n in exponents))
        draw = np.random.default_rng(0)
        numbers, powers = draw.normal(size=500), draw.integers(-1080, -1000, 500)
        check_against_plain(scaled, (numbers, powers), (numbers.astype(np.float32), powers + 900))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gradient_of_mantissas(dtype):
    """The mantissa is the number times a power of two."""
    numbers = FLOATS[np.isfinite(FLOATS) & (abs(FLOATS) > 1e-3) & (abs(FLOATS) < 1e3)].astype(dtype)
    slopes = autoconv.compile(autoconv.grad(lambda x: np.frexp(x)[0].sum()))(numbers)
    np.testing.assert_array_equal(slopes, 2.0 ** -np.frexp(numbers)[1])


def scans(x):
    return np.logical_or.accumulate(x > 1), np.logical_and.accumulate(x), np.logical_and.accumulate(x > 0, axis=-1)


def written_by_position(x, out, rest):
    np.sin(x, out)
    whole, part = out.sum(), np.divmod(x, 0.75, out, rest)
    return whole, part[0] is out, out, rest


def later_call(x):
    total = x.sum
    x[0] = 5.0
    return total()


def test_scans_outputs_and_methods():
    x = np.arange(6.0)
    for function, arguments in ((scans, (x,)), (written_by_position, (x, x * 0, x * 0)), (later_call, (x,))):
        compiled = check_against_plain(function, arguments, arguments)
        assert "plain Python:" not in compiled.explain() and "kernels" not in compiled.explain(), compiled.explain()
