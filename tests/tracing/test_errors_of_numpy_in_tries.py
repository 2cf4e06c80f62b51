"""Under `compile`, handlers of the program catch NumPy's own errors, with NumPy's messages."""

import numpy as np
import pytest

from autoconv.config import SETTINGS
from tests.tracing.plain_comparison import check_against_plain


@pytest.fixture(params=["llvm", "reference"], autouse=True)
def backend(request, monkeypatch):
    monkeypatch.setattr(SETTINGS, "backend", request.param)


def power(a, k):
    try:
        return a**k
    except ValueError as error:
        return str(error)


def power_in_place(a, k):
    try:
        a **= k
    except ValueError as error:
        return str(error), a
    return a


def power_by_name(a, k):
    try:
        return np.power(a, -1), k
    except ValueError as error:
        return str(error), a[0] ** 2


@pytest.mark.parametrize("function", [power, power_in_place, power_by_name], ids=lambda f: f.__name__)
def test_negative_powers(function):
    arrays = np.arange(3), np.arange(3, dtype=np.int8), np.arange(3.0) + 1
    check_against_plain(function, *[(a, k) for a in arrays for k in (2, -1)])


def solved(a, b):
    try:
        return np.linalg.solve(a, b).shape
    except ValueError as error:
        return type(error), str(error)


def inverted(a, b):
    try:
        return np.linalg.inv(a).shape, b.shape
    except np.linalg.LinAlgError as error:
        return str(error)


def factored(a, b):
    try:
        return np.linalg.cholesky(a).shape
    except np.linalg.LinAlgError as error:
        return str(error), b.shape


def determined(a, b):
    try:
        return np.linalg.det(a) > 0, b.shape
    except ValueError as error:
        return type(error), str(error)


def decomposed(a, b):
    try:
        return np.linalg.eigh(a).eigenvalues.shape, b.shape
    except ValueError as error:
        return type(error), str(error)


def to_the_third(a, b):
    try:
        return np.linalg.matrix_power(a, 3).shape, b.shape
    except ValueError as error:
        return type(error), str(error)


MATRICES = [(np.eye(n) * n, np.ones(n)) for n in (3, 4, 5, 6)]
WRONG_MATRICES = [
    (np.ones((3, 2)), np.ones(3)), (np.eye(4), np.ones(3)), (np.ones((2, 3)), np.ones(2)), (np.eye(3), np.eye(4)),
]  # fmt: skip


@pytest.mark.parametrize(
    "function", [solved, inverted, factored, determined, decomposed, to_the_third], ids=lambda f: f.__name__
)
@pytest.mark.search
def test_matrices_that_are_not_square(function):
    check_against_plain(function, *MATRICES, *WRONG_MATRICES)


def masked(a, mask):
    n = 0
    try:
        n = 1
        return a[mask], n
    except IndexError as error:
        return str(error), n


def masked_where_it_changes(a, mask):
    n = 0
    try:
        a[0] = 2
        n = a[mask].sum()
        a[mask] = 0
        n = 2
    except IndexError as error:
        return str(error), n, a
    return a, n


@pytest.mark.parametrize("function", [masked, masked_where_it_changes], ids=lambda f: f.__name__)
def test_masks_of_other_shapes(function):
    squares = [(np.ones((n, n)), np.arange(n) > 1) for n in (3, 4, 5)]
    others = [(np.ones((3, 3)), np.ones(shape) > 0) for shape in ((3, 2), (2, 2), (4,), (3, 3))]
    check_against_plain(function, *squares, *others, (np.ones(3), np.ones(2) > 0), (np.ones(3), np.ones((3, 3)) > 0))


def divided(x, y):
    try:
        return divmod(x, y)
    except ZeroDivisionError as error:
        return str(error)


def divided_by_nothing(x, y):
    try:
        return divmod(x, 0.0), y
    except ZeroDivisionError as error:
        return str(error)


@pytest.mark.parametrize("function", [divided, divided_by_nothing], ids=lambda f: f.__name__)
def test_divmod_by_zero(function):
    check_against_plain(function, *[(x, y) for x in (3.5, 3, True) for y in (2.0, 0.0, 2, 0)])


def test_cholesky_reads_the_lower_triangle():
    def both(a):
        return np.round(np.linalg.cholesky(a), 9) + 0.0, np.round(np.linalg.cholesky(a, upper=True), 9) + 0.0

    check_against_plain(both, *[(np.array([[4.0, x], [y, 3.0]]),) for x, y in ((1.0, 0.0), (0.0, 1.0), (1.0, 2.0))])
    check_against_plain(both, *[(np.eye(n) * 4 + np.arange(n * n).reshape(n, n) / 50,) for n in (3, 4, 5, 6)])
