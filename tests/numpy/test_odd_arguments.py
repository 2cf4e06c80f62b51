"""Arguments that NumPy treats in a way of their own, under `compile` against plain NumPy."""

import math
import operator
import pickle

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS


def outcome(function, arguments):
    try:
        found = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    return shown(found)


def shown(value):
    if isinstance(value, (tuple, list)):
        return type(value), [shown(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist(), value.flags.writeable
    return type(value), repr(value)


def agrees(function, *makers):
    """The same results, types, errors and flags as plain Python's, in several calls, and the arguments left alike."""
    compiled = ac.compile(function)
    for _ in range(3):
        mine, its = ([make() if callable(make) else make for make in makers] for _ in range(2))
        assert outcome(compiled, mine) == outcome(function, its)
        assert shown(mine) == shown(its)
    return compiled


def columns():
    return np.asfortranarray(np.arange(6.0).reshape(2, 3))


def odd_bools():
    return np.array([2, 1, 0, 4, 255], np.uint8).view(bool)


@pytest.mark.parametrize("number", [1 + 2j, 3 + 0j, 1.5, 3, True, np.complex64(1 + 2j), np.float64(1.5)])
@pytest.mark.parametrize("function", [np.real, np.imag, np.isreal, np.iscomplex], ids=lambda f: f.__name__)
def test_parts_of_numbers(function, number):
    def f(x):
        return function(x), function(x + x)

    agrees(f, number)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_ravel_in_an_order(order):
    def f(x):
        return np.ravel(x + 1, order), np.ravel(x, order), (x + 1).flatten(order), (x * 2).ravel(order)

    agrees(f, columns)
    agrees(f, lambda: np.arange(6.0).reshape(2, 3))
    agrees(f, lambda: np.arange(6.0))


@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_reshape_in_an_order(order):
    def f(x):
        turned = np.reshape(x + 1, (3, 2), order=order), np.reshape(x, (3, 2), order=order)
        return *turned, (x * 2).reshape(6, order=order)

    agrees(f, columns)


def test_arrays_that_are_asked_for_in_columns():
    def f(x):
        return np.copy(x, "F"), np.array(x, order="F"), np.zeros((2, 3), order="F"), np.asfortranarray(x), x.copy("F")

    found = ac.compile(f)(np.arange(6.0).reshape(2, 3))
    assert [part.strides for part in found] == [(8, 16)] * 5


def test_places_in_triangles():
    agrees(lambda n, k, m: np.triu_indices(n, k, m), 4, 1, 5)
    agrees(lambda n, k, m: np.tril_indices(n, k, m), 4, -1, 5)


@pytest.mark.parametrize("name", ["bartlett", "hanning", "blackman", "hamming"])
@pytest.mark.parametrize("size", [2.5, 5, 0, 1, -1, 1.0, 4.0])
def test_windows(name, size):
    window = getattr(np, name)

    def f(m):
        return window(m)

    agrees(f, size)


def test_kaisers_window():
    agrees(lambda m, beta: np.kaiser(m, beta), 5, 14)
    agrees(lambda m, beta: np.kaiser(m, beta), 3.0, 14.5)


@pytest.mark.parametrize(
    "values",
    [[0.0, np.inf, 2.0], [np.inf, np.inf, 2.0], [-np.inf, 1.0, np.inf], [np.nan, 1.0, 2.0], [1.0, np.nan, np.nan]],
)
def test_interpolation_between_values_that_are_not_finite(values):
    def f(x, xp, fp):
        return np.interp(x, xp, fp)

    x = np.array([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, np.nan, np.inf, -np.inf])
    compiled = ac.compile(f)
    given = x, np.array([0.0, 1.0, 2.0]), np.array(values)
    np.testing.assert_array_equal(compiled(*given), f(*given))
    assert "plain Python" not in compiled.explain()


def test_weights_whose_sum_is_zero():
    def f(x, w):
        return np.average(x, weights=w)

    compiled = agrees(f, lambda: np.array([1.0, 2.0]), lambda: np.array([1.0, -1.0]))
    assert compiled(np.array([1.0, 2.0]), np.array([1.0, 3.0])) == 1.75
    assert "plain Python" not in compiled.explain()


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float32", "float64", "bool"])
@pytest.mark.parametrize("size", [7, 40, 1000])
def test_ties_come_in_numpys_order(dtype, size):
    def f(x):
        return np.argsort(x), x.argsort(), (x + x).argsort(kind="stable")

    agrees(f, lambda: np.random.RandomState(0).randint(0, 4, size).astype(dtype))


def test_identity_of_numbers():
    x, y = float("1.5"), float("1.5")

    def f(a, b):
        c = a
        return a is b, a is not b, a is c, operator.is_(a, b), operator.is_not(a, b), operator.is_(a, c)

    for pair in ((x, x), (x, y), (10**6, 10**6 + 1), (1, 1.0), (True, 1), (x, None)):
        assert ac.compile(f)(*pair) == f(*pair)
    one = 10**6
    assert ac.compile(f)(one, one) == f(one, one)


def test_operators_as_functions():
    def f(a, b):
        pair = [a, b]
        return (
            operator.eq((a, 1), (b, 1)), operator.lt([a], [b]), operator.contains(pair, 2), operator.not_(a),
            operator.truth(b), operator.ne(pair, [a, b]), operator.ge(a, b),
            list(map(operator.is_, pair, [None, None])),
        )  # fmt: skip

    agrees(f, 1, 2)
    agrees(f, 0.0, -1)


@pytest.mark.parametrize(
    "number", [np.int32(3), np.float64(3.0), 3, 3.0, True, np.float32(3.0), np.bool_(True)], ids=repr
)
@pytest.mark.parametrize("name", ["ldexp", "gcd", "sqrt", "comb", "factorial", "isqrt", "pow", "hypot", "lcm", "perm"])
def test_kinds_of_numbers_that_math_takes(name, number):
    function = getattr(math, name)
    if name in ("ldexp", "gcd", "comb", "pow", "hypot", "lcm"):
        first = 2.5 if name in ("ldexp", "pow", "hypot") else 6
        agrees(lambda a, b: function(a, b), first, number)
    else:
        agrees(lambda a: function(a), number)


def test_arrays_beyond_all_memory():
    def f(x):
        np.empty(2**60 - 1)
        return x

    def g(x):
        y = x + 1
        y[0] = 2
        np.zeros((2**40, 2**20), np.int8)
        return y

    for function, given in ((f, 1), (g, np.ones(3))):
        with pytest.raises(MemoryError):
            ac.compile(function)(given)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.imag, lambda x: np.imag(x + 1), lambda x: np.imag(x + 1)[1:],
        lambda x: np.broadcast_to(x + 1, (2, 3, 3)),
        lambda x: np.diagonal(x * 2), lambda x: (x * 2).diagonal()[::2], lambda x: np.diag(x + 1), lambda x: (x + 1).T,
        lambda x: np.diag(x + 1) * 2, lambda x: [np.imag(x), x + 1], lambda x: np.linalg.diagonal(x + 1),
    ],
)  # fmt: skip
def test_what_is_for_reading_only(f):
    agrees(f, lambda: np.arange(9.0).reshape(3, 3))


def test_writing_to_what_is_for_reading_only():
    def f(x):
        y = x.imag
        y[0] = 1
        return y

    agrees(f, lambda: np.arange(3.0))


STEPS = [2**63 - 1, -(2**63) + 1, -(2**63), 2**62, 3, -2, 2**32, -(2**33)]


@pytest.mark.parametrize("step", [*STEPS, 2**64, -(2**70)])
def test_steps_near_the_ends_of_64_bits(step):
    def reads(x, s, k):
        return x[::s], x[k::s], x[k:4:s], x[3:1:s], x[: s : 2], x[s::], [1, 2, k, 4][::s], "abcde"[::s]

    def writes(x, s, k):
        x[::s] = 7
        x[k::s] += 2
        return x[1:4:s].sum()

    for f in (reads, writes):
        agrees(f, lambda: np.arange(5), step, 2)


@pytest.mark.parametrize("step", STEPS)
def test_written_steps_near_the_ends_of_64_bits(step):
    space = {}
    exec(f"def f(x, k):\n    x[k::{step}] = 9\n    return x[::{step}], x[k:{step}:{step}], x.sum()", space)
    compiled = ac.compile(space["f"])
    for size in (5, 6, 7, 8):
        x, y = np.arange(size), np.arange(size)
        for one, other in zip(compiled(x, 2), space["f"](y, 2), strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(x, y)


def test_closeness_of_ints():
    def f(a, b):
        return np.isclose(a, b), np.isclose(a, 100001), np.isclose(a, b, atol=1)

    for a, b in (
        (np.array([100000, 2]), np.array([100001, 2])), (np.array([-128, 127], np.int8), np.array([127, 127], np.int8)),
        (np.array([2**31 - 1], np.int32), -(2**31)), (100000, 100001), (np.array([2**62, 5]), np.array([2**62 + 1, 5])),
        (np.array([1, 0], np.uint8), True),
    ):  # fmt: skip
        agrees(f, a, b)


ODD = [
    lambda b: b + 0, lambda b: b.sum(), lambda b: np.where(b, 1, 2), lambda b: ~b, lambda b: b.astype(int),
    lambda b: b & True, lambda b: b == (not False), lambda b: b[0], lambda b: np.sort(b), lambda b: np.cumsum(b),
    lambda b: np.count_nonzero(b),
    lambda b: b * 2.5, lambda b: np.arange(5)[b], lambda b: bool(b[0]), lambda b: [1 if q else 0 for q in b],
    lambda b: b.any() and not b.all(), lambda b: np.argmax(b), lambda b: b ^ b[::-1], lambda b: np.logical_not(b),
    lambda b: b.reshape(5, 1) @ b.reshape(1, 5), lambda b: np.packbits(b), lambda b: np.nonzero(b),
    lambda b: b.tolist(),
]  # fmt: skip


@pytest.mark.parametrize("f", ODD)
def test_bools_whose_byte_is_neither_0_nor_1(f):
    agrees(f, odd_bools)


def test_odd_bools_in_memory():
    def f(b, x):
        count = 0
        for i in range(len(b)):
            if b[i]:
                count += 1
                x[i] = count
        b[0] = not b[0]
        return count, b & True, x[b]

    agrees(f, odd_bools, lambda: np.zeros(5, int))


def test_dtypes_compare_with_anything():
    for dtype in (ac.float32, ac.int8, ac.string):
        for other in (",", "f4,", "nonsense", 7, 1.5, None, [], {}, object(), (1, 2), ..., np.zeros(2)):
            assert (dtype == other) is False
            assert (dtype != other) is True
    with pytest.raises(TypeError):
        ac.as_dtype(",")
    agrees(lambda x, n: (x.dtype == n, x.dtype != n, n == x.dtype), lambda: np.arange(3.0), 7)
    assert ac.float32 == pickle.loads(pickle.dumps(np.dtype("f4")))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128", "bool"])
def test_arrays_from_another_process_run_natively(dtype, monkeypatch):
    @ac.compile
    def f(x, y):
        return x + y, (x * y).sum()

    @ac.compile
    def g(x):
        x[0] = x[1]
        return x[0]

    here = np.arange(6).reshape(2, 3).astype(dtype)
    away = pickle.loads(pickle.dumps(here))
    assert away.dtype is not here.dtype
    for _ in range(3):
        f(here, here), g(here[0].copy())
    asked = []
    slowly = type(f)._call
    monkeypatch.setattr(type(f), "_call", lambda *args: asked.append(args) or slowly(*args))
    for one, other in zip(f(away, here), f(here, away), strict=True):
        np.testing.assert_array_equal(one, other)
    assert g(away[0].copy()) == here[0, 1] and not asked
    np.testing.assert_array_equal(f(here.astype(here.dtype.newbyteorder()), away)[0], here + here)


@pytest.mark.parametrize("kind", ["raise", "call"])
def test_what_numpy_is_asked_to_do_about_errors_of_floats(kind):
    told = []

    def f(x):
        with np.errstate(divide=kind, call=lambda *error: told.append(error)):
            return 1 / x

    agrees(f, lambda: np.zeros(2))
    assert len(told) == (6 if kind == "call" else 0)


@pytest.mark.parametrize(
    "f", [
        lambda x: np.sort(x), lambda x: x + 1, lambda x: x[::2], lambda x: np.zeros_like(x), lambda x: np.nan_to_num(x),
        lambda x: x.copy(), lambda x: np.zeros_like(x, shape=(2, 2)), lambda x: x.reshape(2, 2), lambda x: x.sum(),
    ],
)  # fmt: skip
def test_bytes_in_the_other_order(f):
    agrees(f, lambda: np.array([1.0, 2.0, 0.5, 3.0], ">f8"))


def test_views_of_each_argument():
    def f(x, y):
        return np.atleast_3d(2.5, x), np.atleast_1d(x, y), np.atleast_2d(y)

    def g(x, y):
        first, second = np.atleast_2d(x, y)
        second[0, 0] = 9
        return first, y

    for function in (f, g):
        agrees(function, lambda: np.ones((2, 3)), lambda: np.arange(3.0))
    x = np.ones((2, 3))
    assert np.shares_memory(ac.compile(f)(x, x)[0][1], x)
    assert np.shares_memory(ac.compile(lambda z: np.real_if_close(z))(x), x)


ERRORS = [
    lambda x: np.compress([[True]], x), lambda x: np.pad(x[0], 1), lambda x: np.isin(x, [1.0], kind="nonsense"),
    lambda x: np.argsort(x, kind="quicksort", stable=True), lambda x: np.argmax(x, out=np.zeros(3, np.int8)),
    lambda x: np.argmax(x, out=np.zeros(3, int)), lambda x: np.trace(np.ones((2, 2)) * x[0], axis1=None),
    lambda x: np.resize(x, (-1, 3)), lambda x: np.clip(x, a_min=1), lambda x: np.clip(x, 1, 2, min=1),
    lambda x: np.fft.rfft2(np.ones((2, 3)) * x[0], s=(6,)), lambda x: np.sum(x, out=np.zeros(3)),
    lambda x: np.unique_all(x[0]), lambda x: np.cov(x[:2], ddof=3), lambda x: np.result_type(x, 0, np.uint8(1)),
    lambda x: np.take(x, [0], mode="valid"), lambda x: np.nanmedian(x, overwrite_input=True),
    lambda x: np.fft.fftn(x[0]), lambda x: np.fft.irfftn(x.astype("f2")).dtype, lambda x: x[0, ...].imag,
    lambda x: np.median(x, overwrite_input=True), lambda x: np.unique_counts(x), lambda x: np.unique_all(x + 1).counts,
]  # fmt: skip


@pytest.mark.parametrize("f", ERRORS)
def test_errors_and_classes_of_functions(f):
    agrees(f, lambda: np.array([3.0, 1.0, 3.0, 2.0]))


def test_nothing_is_traced_while_numpy_is_asked_to_raise():
    def f(x):
        return 1 / x

    compiled = agrees_under(f, np.zeros(2))
    np.testing.assert_array_equal(compiled(np.full(2, 4.0)), [0.25, 0.25])
    assert "NumPy raise, call" in compiled.explain() and "1 trace" in compiled.explain()


def agrees_under(function, x):
    compiled = ac.compile(function)
    before = np.seterr(all="raise")
    try:
        for _ in range(3):
            assert outcome(compiled, [x]) == outcome(function, [x])
            assert outcome(compiled, [x])[0] is FloatingPointError
    finally:
        np.seterr(**before)
    return compiled


def test_errors_of_floats_are_raised_by_warm_calls_too():
    compiled, x = ac.compile(lambda x: 1.0 / x), np.array([1.0, 0.0])
    with np.errstate(all="ignore"):
        for _ in range(5):
            compiled(x)
    for _ in range(3):
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            compiled(x)
        with np.errstate(divide="ignore"):
            assert compiled(x).tolist() == [1.0, np.inf]
    before = np.seterr(all="raise")
    try:
        with pytest.raises(FloatingPointError):
            compiled(x)
    finally:
        np.seterr(**before)


@pytest.mark.parametrize("calls", range(1, 9))
def test_errors_of_floats_are_raised_however_many_calls_were_before(monkeypatch, calls):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")

    def writes(a, b):
        for i in range(len(a)):
            a[i] = b[i]

    compiled, a, b = ac.compile(writes), np.zeros(3, np.float32), np.array([1.0, 1e300, 2.0])
    with np.errstate(over="ignore"):
        for _ in range(calls):
            compiled(a, b)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        compiled(a, b)


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dtype", [bool, int, np.uint8, np.float16, np.float64, np.complex64])
def test_spread_in_another_dtype(name, dtype):
    function = getattr(np, name)

    def f(x):
        return function(x, dtype=dtype), function(x, axis=0, dtype=dtype)

    agrees(f, lambda: np.array([[1.5, 2.0], [7.0, 2.0]]))


def test_sums_of_bools():
    def f(x):
        return np.cumsum(x, dtype=bool), np.cumprod(x, dtype=bool)

    agrees(f, lambda: np.array([1.5, 2.0, 0.0, 7.0]))


@pytest.mark.parametrize("bound", ["nan", "posinf", "neginf"])
def test_nan_to_num_by_an_array(bound):
    def f(x, y):
        return np.nan_to_num(np.array([np.inf, -np.inf, np.nan]) * x, **{bound: y})

    for y in (np.array([7.0, 8.0, 9.0]), np.array(7.0), np.ones((2, 3)), [1.0, 2.0, 3.0]):
        agrees(f, 1.5, y)


def test_result_type_of_a_list():
    def f(x):
        return np.result_type([], np.float32)

    def g(x):
        return np.result_type(x, [])

    def h(x):
        return np.result_type([x], np.float32)

    for function in (f, g, h):
        agrees(function, 1.5)


def test_lists_deeper_than_their_place():
    def f(x, k):
        x[0] = [[k, 2, 3]]
        return x

    def g(x, k):
        x[...] = [x.tolist()]
        return x

    def h(x, k):
        x[0] = [k, 2.0, 3.0]
        x[:] = [[k, 2, k]]
        return x

    for function in (f, g, h):
        agrees(function, lambda: np.zeros((1, 3)), 1.5)
