"""Under `compile`: Python ints beside elements of narrow integer dtypes, compared, assigned, chosen, filled with."""

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS
from tests.tracing.plain_comparison import check_against_plain

BYTES = np.array([0, 3, 255], np.uint8)
SIGNED = np.array([-128, 3, 127], np.int8)
WORDS = np.array([0, 7, 2**32 - 1], np.uint32)
LONGS = np.array([0, 3, 2**64 - 1], np.uint64)
ARRAYS = (BYTES, SIGNED, WORDS, LONGS, np.array([0, 7, 2**62]))
NUMBERS = (256, -1, 3, 0, 255, -129, 127, 128, 2**40, 2**32 - 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64)


@pytest.fixture(params=["llvm", "reference"], autouse=True)
def backend(request, monkeypatch):
    monkeypatch.setattr(SETTINGS, "backend", request.param)


def compared(a, k):
    return a > k, a >= k, a < k, a <= k, a == k, a != k, k > a, k >= a, k < a, k <= a, k == a, k != a


def by_functions(a, k):
    return np.greater(a, k), np.less_equal(k, a), np.equal(a, k), (a != k).sum(), (a == k).any(), k in a


def by_elements(a, k):
    n = 0
    for v in a:
        if v >= k:
            n += 1
        if v != k:
            n += 10
    for i in range(len(a)):
        if k < a[i]:
            n += 100
    return n


def with_literals(a, k):
    return a > 300, a == -1, a < 300, a <= 70000, a >= -500, a != 256, k


def counted(a, k):
    out = np.zeros(5, np.int64)
    for i in range(5):
        out[i] = (a == i + 253).sum() + k
    return out


def masked(a, k):
    a[a > k] = 1
    return a


def into(a, k):
    out = np.zeros(a.shape, bool)
    np.less.outer(a, k)
    return np.greater(a, k, out=out)


@pytest.mark.parametrize(
    "function", [compared, by_functions, by_elements, with_literals, masked, into], ids=lambda f: f.__name__
)
@pytest.mark.search
def test_comparisons_are_exact(function):
    check_against_plain(function, *[(a, k) for a in ARRAYS for k in NUMBERS])


def test_comparisons_with_counters():
    check_against_plain(counted, *[(a, 1) for a in ARRAYS])


def test_comparisons_stay_in_one_graph():
    compiled = check_against_plain(compared, *[(BYTES, k) for k in (300, -1, 3)])
    assert compiled.experimental_get_tracing_count() == 1
    assert "plain" not in str(compiled.explain())


def chosen(a, k):
    return np.where(a > 1, a, k), np.where(a > 1, k, a), np.select([a > 1], [a], k), np.where(a > 2, a, 300)


def clipped(a, k):
    return np.clip(a, 0, k), a.clip(0, k), np.clip(a, None, k), np.clip(a[1], -500, k), np.clip(a, -500, 300)


def clipped_from_below(a, k):
    return np.clip(a, k, 100), a.clip(k, 100)


@pytest.mark.parametrize("function", [chosen, clipped, clipped_from_below], ids=lambda f: f.__name__)
def test_choices_and_bounds(function):
    check_against_plain(function, *[(a, k) for a in ARRAYS for k in (300, 3, 0, -1, 2**63 - 1, 2**63)])


def assigned(a, k):
    a[1:] = [1, k]
    return a


def assigned_floats(a, k):
    a[1:] = [float(k), -1.5]
    return a


def assigned_where(a, k):
    a[[0, 1]] = [k, k]
    return a


def assigned_literals(a, k):
    a[:] = [1, 300, k]
    return a


def array_of_dtype(a, k):
    return np.array([k, 1], dtype=np.int8), np.full(2, k, np.uint8)


def made_in_memory(a, k):
    a[0] = 3
    return np.array([k, a[0]], dtype=np.int8), np.asarray([[k, 1.5]], np.uint16)


def filled_in_memory(a, k):
    a[0] = 3
    return np.full(3, k, np.uint8), np.full(2, k * 1.5, dtype=np.int64)


def filled_beyond_the_dtype(a, k):
    a[0] = 3
    return np.full(3, 300, np.uint8), k


def put(a, k):
    np.put(a, [0, 1], [k, 1])
    return a


def copied(a, k):
    np.copyto(a, k)
    return a


def added_at(a, k):
    np.add.at(a, [0, 1], k)
    return a


@pytest.mark.parametrize(
    "function",
    [
        assigned, assigned_floats, assigned_where, assigned_literals, array_of_dtype, made_in_memory, filled_in_memory,
        filled_beyond_the_dtype, put, copied, added_at,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
@pytest.mark.search
def test_ints_that_do_not_fit_raise(function):
    check_against_plain(function, *[(a, k) for a in (BYTES, SIGNED, np.arange(3)) for k in (300, 3, -1, 2**63 - 1)])


def caught(a, i, k):
    n = 0
    try:
        n = a[i]
        n = n + 5
        a[0] = k
        n = n + 100
        a[i] = k
    except (OverflowError, IndexError):
        return n
    return n


def caught_sum(a, i, k):
    try:
        return a + k, i
    except OverflowError as error:
        return str(error)


def caught_list(a, i, k):
    done = "nothing"
    try:
        done = "begun"
        a[1:] = [1, k]
        done = "assigned"
        a += k
        done = np.uint8(k)
        done = np.array([i, k], dtype=np.int8)
    except OverflowError as error:
        return str(error), done, a
    return done, a


@pytest.mark.parametrize("function", [caught, caught_sum, caught_list], ids=lambda f: f.__name__)
def test_handlers_see_what_was_before_the_overflow(function):
    with np.errstate(all="ignore"):
        check_against_plain(function, *[(np.zeros(3, np.uint8), i, k) for i in (1, 7) for k in (300, 3, -1, 200)])


def as_array(n):
    return np.array([n, 1]), np.array([n]), np.asarray(n), np.full(2, n)


def as_scalar(n):
    return np.uint64(n), np.float64(n)


def narrow(n):
    return np.int64(n)


def unsigned(n):
    return np.array([n, 2], dtype=np.uint64)


@pytest.mark.parametrize("function", [as_array, as_scalar, narrow, unsigned], ids=lambda f: f.__name__)
def test_ints_beyond_a_graph(function):
    check_against_plain(function, *[(n,) for n in (3, 2**63, 2**64 - 1, 2**64, -(2**63) - 1)])


def beside_array(a, n):
    a[1:] = [n, n]
    a += n
    return a


def test_ints_beyond_a_graph_beside_arrays():
    numbers = (3, 2**63, 2**64 - 1, 2**64, -(2**63) - 1)
    check_against_plain(beside_array, *[(a, n) for a in (np.arange(3.0), np.arange(3), LONGS) for n in numbers])


def test_overflow_after_a_print():
    @autoconv.compile
    def f(n):
        print("once")
        return np.array([n, 1])

    f(3)
    assert f(2**63).dtype == np.float64
