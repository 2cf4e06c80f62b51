"""Under `compile`: a Python complex number that is to become a real element raises Python's own TypeError."""

import numpy as np
import pytest

from autoconv.config import SETTINGS
from tests.tracing.plain_comparison import check_against_plain


@pytest.fixture(params=["llvm", "reference"], autouse=True)
def backend(request, monkeypatch):
    monkeypatch.setattr(SETTINGS, "backend", request.param)


def element(a, z):
    a[0] = z
    return a


def slice_of_array(a, z):
    a[1:] = z
    return a


def list_of_numbers(a, z):
    a[1:] = [1, z, 2]
    return a


def masked(a, z):
    a[a > 0] = z
    return a


def at_positions(a, z):
    a[[0, 1]] = z
    return a


def filled(a, z):
    a.fill(z)
    return a


def array_of_dtype(a, z):
    return np.array([z], dtype=a.dtype)


def made_in_memory(a, z):
    a[0] = 1
    return np.array([1, z], dtype=a.dtype)


def scalar(a, z):
    return np.float64(z) + a[0]


def in_place(a, z):
    a += z
    return a


def put(a, z):
    np.put(a, 0, z)
    return a


def caught(a, z):
    n = 0
    try:
        n = 1
        a[0] = z.real
        a[1] = z
        n = 2
    except TypeError as error:
        return str(error), n, a
    return n, a


ALL = (
    element, slice_of_array, list_of_numbers, masked, at_positions, filled, array_of_dtype, made_in_memory, scalar,
    in_place, put, caught,
)  # fmt: skip


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
@pytest.mark.search
def test_as_python(function):
    dtypes = (np.float64, np.float32, np.int64, np.uint8, bool, complex)
    check_against_plain(function, *[(np.ones(4, dtype), z) for dtype in dtypes for z in (1 + 2j, 3j)])


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_full_discards_the_other_part():
    def full(a, z):
        a[0] = 1
        return np.full(2, z, dtype=a.dtype), np.full_like(a, z)

    check_against_plain(full, *[(np.ones(3, dtype), 1 + 2j) for dtype in (np.float64, np.int8, bool, complex)])


def test_the_shape_of_a_mask_is_checked_first():
    def full(y, mask):
        y[mask] = 1j
        return y

    shapes = [(3,), (2, 2), (4,)]
    calls = [(np.zeros(4, dtype), np.ones(shape, bool)) for dtype in (float, complex) for shape in shapes]
    check_against_plain(full, *calls)
