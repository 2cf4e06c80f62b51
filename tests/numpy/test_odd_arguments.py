"""Arguments that NumPy treats specially, under `compile` against plain NumPy."""

import math
import operator
import pickle

import numpy as np
import pytest

import autoconv as ac
from tests.numpy.agreement import check_agreement, outcome


def columns():
    return np.asfortranarray(np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("number", [1 + 2j, 3 + 0j, 1.5, 3, True, np.complex64(1 + 2j), np.float64(1.5)])
@pytest.mark.parametrize("function", [np.real, np.imag, np.isreal, np.iscomplex], ids=lambda f: f.__name__)
def test_parts_of_numbers(function, number):
    def f(x):
        return function(x), function(x + x)

    check_agreement(f, number)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_ravel_in_an_order(order):
    def f(x):
        return np.ravel(x + 1, order), np.ravel(x, order), (x + 1).flatten(order), (x * 2).ravel(order)

    check_agreement(f, columns)
    check_agreement(f, lambda: np.arange(6.0).reshape(2, 3))
    check_agreement(f, lambda: np.arange(6.0))


@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_reshape_in_an_order(order):
    def f(x):
        turned = np.reshape(x + 1, (3, 2), order=order), np.reshape(x, (3, 2), order=order)
        return *turned, (x * 2).reshape(6, order=order)

    check_agreement(f, columns)


def test_arrays_in_fortran_order():
    def f(x):
        return np.copy(x, "F"), np.array(x, order="F"), np.zeros((2, 3), order="F"), np.asfortranarray(x), x.copy("F")

    found = ac.compile(f)(np.arange(6.0).reshape(2, 3))
    assert [part.strides for part in found] == [(8, 16)] * 5


def test_places_in_triangles():
    check_agreement(lambda n, k, m: np.triu_indices(n, k, m), 4, 1, 5)
    check_agreement(lambda x: (np.tril_indices_from(x), np.triu_indices_from(x, k=1)), lambda: np.ones((3, 4)))


@pytest.mark.parametrize("offset", [1.5, -0.5, True, np.float64(1.0)])
def test_triangles_at_offsets_that_are_not_integers(offset):
    def f(x, k):
        return np.triu(x, k), np.tril(x, k), np.tri(3, 4, k)

    check_agreement(f, lambda: np.arange(12.0).reshape(3, 4), offset)


def test_shapes_that_are_broadcast():
    def f(x, n):
        shape = np.broadcast_shapes(x.shape, (2, 1, 1), n)
        return np.zeros(shape) + x, shape

    check_agreement(f, lambda: np.ones((3, 1)), 4)
    check_agreement(lambda n, k, m: np.tril_indices(n, k, m), 4, -1, 5)


def test_bounds_of_ranges():
    def f(a, b, c):
        return np.arange(a, b, c)

    def ints(a, b, c):
        return np.arange(a, b, c, dtype=int)

    def singles(a, b, c):
        return np.arange(np.float32(a), np.float32(b), np.float32(c)), np.arange(a, b, c, dtype=np.float32)

    bounds = [(0.0, 5.0, 0.5), (-2.5, 0.3, 0.1), (0.5, 20.0, 1.7), (4.0, -3.0, -1.5), (0, 9, 2.5), (1.0, 1.0, 0.3)]
    refused = [(0.0, math.inf, 1.0), (0.0, -math.inf, 1.0), (math.nan, 5.0, 1.0), (0.0, 1e19, 1.0), (0.0, 5e18, 1.0)]
    for function in (f, ints, singles):
        compiled = ac.compile(function)
        for arguments in (*bounds, *refused):
            assert outcome(compiled, arguments) == outcome(function, arguments), arguments


@pytest.mark.parametrize("name", ["bartlett", "hanning", "blackman", "hamming"])
@pytest.mark.parametrize("size", [2.5, 5, 0, 1, -1, 1.0, 4.0])
def test_windows(name, size):
    window = getattr(np, name)

    def f(m):
        return window(m)

    check_agreement(f, size)


def test_kaisers_window():
    check_agreement(lambda m, beta: np.kaiser(m, beta), 5, 14)
    check_agreement(lambda m, beta: np.kaiser(m, beta), 3.0, 14.5)


@pytest.mark.parametrize(
    "values",
    [[0.0, np.inf, 2.0], [np.inf, np.inf, 2.0], [-np.inf, 1.0, np.inf], [np.nan, 1.0, 2.0], [1.0, np.nan, np.nan]],
)
def test_interpolation_between_values_that_are_not_finite(values):
    def f(x, xp, fp):
        return np.interp(x, xp, fp)

    x = np.array([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, np.nan, np.inf, -np.inf])
    compiled = ac.compile(f)
    arguments = x, np.array([0.0, 1.0, 2.0]), np.array(values)
    np.testing.assert_array_equal(compiled(*arguments), f(*arguments))
    assert "plain Python" not in compiled.explain()


def test_weights_whose_sum_is_zero():
    def f(x, w):
        return np.average(x, weights=w)

    compiled = check_agreement(f, lambda: np.array([1.0, 2.0]), lambda: np.array([1.0, -1.0]))
    assert compiled(np.array([1.0, 2.0]), np.array([1.0, 3.0])) == 1.75
    assert "plain Python" not in compiled.explain()


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float32", "float64", "bool"])
@pytest.mark.parametrize("size", [7, 40, 1000])
def test_equal_elements_are_in_numpys_order(dtype, size):
    def f(x):
        return np.argsort(x), x.argsort(), (x + x).argsort(kind="stable")

    check_agreement(f, lambda: np.random.RandomState(0).randint(0, 4, size).astype(dtype))


def test_identity_of_numbers():
    x, y = float("1.5"), float("1.5")

    def f(a, b):
        c = a
        return a is b, a is not b, a is c, operator.is_(a, b), operator.is_not(a, b), operator.is_(a, c)

    for pair in ((x, x), (x, y), (10**6, 10**6 + 1), (1, 1.0), (True, 1), (x, None)):
        assert ac.compile(f)(*pair) == f(*pair)
    million = 10**6
    assert ac.compile(f)(million, million) == f(million, million)


def test_operators_as_functions():
    def f(a, b):
        pair = [a, b]
        return (
            operator.eq((a, 1), (b, 1)), operator.lt([a], [b]), operator.contains(pair, 2), operator.not_(a),
            operator.truth(b), operator.ne(pair, [a, b]), operator.ge(a, b),
            list(map(operator.is_, pair, [None, None])),
        )  # fmt: skip

    check_agreement(f, 1, 2)
    check_agreement(f, 0.0, -1)


@pytest.mark.parametrize(
    "number", [np.int32(3), np.float64(3.0), 3, 3.0, True, np.float32(3.0), np.bool_(True)], ids=repr
)
@pytest.mark.parametrize("name", ["ldexp", "gcd", "sqrt", "comb", "factorial", "isqrt", "pow", "hypot", "lcm", "perm"])
def test_kinds_of_numbers_that_math_takes(name, number):
    function = getattr(math, name)
    if name in ("ldexp", "gcd", "comb", "pow", "hypot", "lcm"):
        first = 2.5 if name in ("ldexp", "pow", "hypot") else 6
        check_agreement(lambda a, b: function(a, b), first, number)
    else:
        check_agreement(lambda a: function(a), number)


def test_arrays_larger_than_memory():
    def f(x):
        np.empty(2**60 - 1)
        return x

    def g(x):
        y = x + 1
        y[0] = 2
        np.zeros((2**40, 2**20), np.int8)
        return y

    for function, argument in ((f, 1), (g, np.ones(3))):
        with pytest.raises(MemoryError):
            ac.compile(function)(argument)


def test_closeness_of_ints():
    def f(a, b):
        return np.isclose(a, b), np.isclose(a, 100001), np.isclose(a, b, atol=1)

    for a, b in (
        (np.array([100000, 2]), np.array([100001, 2])), (np.array([-128, 127], np.int8), np.array([127, 127], np.int8)),
        (np.array([2**31 - 1], np.int32), -(2**31)), (100000, 100001), (np.array([2**62, 5]), np.array([2**62 + 1, 5])),
        (np.array([1, 0], np.uint8), True),
    ):  # fmt: skip
        check_agreement(f, a, b)


def test_dtypes_compare_with_anything():
    for dtype in (ac.float32, ac.int8, ac.string):
        for operand in (",", "f4,", "nonsense", 7, 1.5, None, [], {}, object(), (1, 2), ..., np.zeros(2)):
            assert (dtype == operand) is False
            assert (dtype != operand) is True
    with pytest.raises(TypeError):
        ac.as_dtype(",")
    check_agreement(lambda x, n: (x.dtype == n, x.dtype != n, n == x.dtype), lambda: np.arange(3.0), 7)
    assert ac.float32 == pickle.loads(pickle.dumps(np.dtype("f4")))


def _assigned(x, value):
    x[::-1] = value
    return x


def _with_diagonal(x, values):
    matrix = np.ones((3, 4)) * x[0]
    np.fill_diagonal(matrix, values)
    return matrix


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
    lambda x: _assigned(x[:, None], x[:, None].take([0])),
    lambda x: np.zeros(3, x), lambda x: np.full_like(x, 1, dtype=x), lambda x: np.zeros_like(x, "q").dtype.num,
    lambda x: _with_diagonal(x, x[:2]), lambda x: _with_diagonal(x, x), lambda x: _with_diagonal(x, []),
    lambda x: _with_diagonal(x, [[1], [2]]), lambda x: _with_diagonal(x, x.max()), lambda x: _with_diagonal(x, 2),
    lambda x: x[:0].take([0]), lambda x: x[:0].take([]), lambda x: np.take(x[None, :0], [1], axis=1, mode="clip"),
]  # fmt: skip


@pytest.mark.parametrize("f", ERRORS)
def test_errors_and_classes_of_functions(f):
    check_agreement(f, lambda: np.array([3.0, 1.0, 3.0, 2.0]))


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dtype", [bool, int, np.uint8, np.float16, np.float64, np.complex64])
def test_spread_in_another_dtype(name, dtype):
    function = getattr(np, name)

    def f(x):
        return function(x, dtype=dtype), function(x, axis=0, dtype=dtype)

    check_agreement(f, lambda: np.array([[1.5, 2.0], [7.0, 2.0]]))


def test_sums_of_bools():
    def f(x):
        return np.cumsum(x, dtype=bool), np.cumprod(x, dtype=bool)

    check_agreement(f, lambda: np.array([1.5, 2.0, 0.0, 7.0]))


@pytest.mark.parametrize("bound", ["nan", "posinf", "neginf"])
def test_nan_to_num_by_an_array(bound):
    def f(x, y):
        return np.nan_to_num(np.array([np.inf, -np.inf, np.nan]) * x, **{bound: y})

    for y in (np.array([7.0, 8.0, 9.0]), np.array(7.0), np.ones((2, 3)), [1.0, 2.0, 3.0]):
        check_agreement(f, 1.5, y)


def test_result_type_of_a_list():
    def f(x):
        return np.result_type([], np.float32)

    def g(x):
        return np.result_type(x, [])

    def h(x):
        return np.result_type([x], np.float32)

    for function in (f, g, h):
        check_agreement(function, 1.5)


def test_lists_with_more_dimensions_than_their_target():
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
        check_agreement(function, lambda: np.zeros((1, 3)), 1.5)


@pytest.mark.parametrize("positions", [1.5, True, None, "1", "a", [True, False, True], np.array([0, 2]), [[0, 1]], 2])
def test_positions_that_put_converts_to_integers(positions):
    def f(x):
        np.put(x, positions, 7.0)
        return x

    compiled = ac.compile(f)
    for _ in range(3):
        outcomes = []
        for called in (compiled, f):
            x = np.arange(3.0)
            try:
                outcomes.append((called(x).tolist(), x.tolist()))
            except Exception as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("axes", [(0, 0), (-1, 1), (0, 1, 0), (1, 0), (0,), ()], ids=str)
@pytest.mark.parametrize("name", ["rfft2", "rfftn", "irfft2", "irfftn", "fft2", "ifftn"])
def test_transforms_over_an_axis_twice_or_over_none(name, axes):
    transform = getattr(np.fft, name)

    def f(x):
        return transform(x, axes=axes), transform(x * 2, s=(-1,) * len(axes), axes=axes)

    compiled = ac.compile(f)
    for shift in (0.0, 1.0):
        x = np.arange(20.0).reshape(4, 5) + shift
        try:
            expected = f(x)
        except Exception as error:
            with pytest.raises(type(error)):
                compiled(x)
            continue
        for actual_transform, expected_transform in zip(compiled(x), expected, strict=True):
            assert actual_transform.dtype == expected_transform.dtype
            assert actual_transform.shape == expected_transform.shape
            np.testing.assert_allclose(actual_transform, expected_transform, atol=1e-12)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=str)
def test_transposed_matrices_of_arrays_without_dimensions_and_vectors(shape):
    check_agreement(lambda x: x.mT, lambda: np.ones(shape))
    check_agreement(lambda x: x[...].mT, lambda: np.ones(shape))
    check_agreement(lambda x: x[...].dot(2.0), lambda: np.ones(shape))


@pytest.mark.parametrize("parameter", ["prepend", "append"])
def test_differences_of_an_array_and_none(parameter):
    compiled = ac.compile(lambda x: np.diff(x, **{parameter: None}))
    for _ in range(2):
        with pytest.raises(TypeError, match="unsupported operand"):
            compiled(np.arange(3.0))


@pytest.mark.parametrize("shape", [(3,), (0,), (0, 2)], ids=str)
@pytest.mark.parametrize("f", [
    lambda x: np.sum(x, initial=None), lambda x: np.prod(x, initial=None), lambda x: np.add.reduce(x, initial=None),
    lambda x: np.max(x, initial=None), lambda x: x.sum(initial=None), lambda x: x.max(initial=None),
], ids=["sum", "prod", "reduce", "max", "sum method", "max method"])  # fmt: skip
def test_reductions_without_an_initial_value(f, shape):
    try:
        expected = f(np.ones(shape))
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error).split(" operation ")[0]):
            ac.compile(f)(np.ones(shape))
    else:
        np.testing.assert_array_equal(ac.compile(f)(np.ones(shape)), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint8, np.int64, np.uint64])
def test_remainders_distances_and_bits(dtype):
    limits = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    numbers = np.array([0, 1, 2, 3, 5, 7, 100, limits.max], dtype)
    if np.dtype(dtype).kind != "u":
        numbers = np.concatenate([numbers, -numbers, np.array([limits.min], dtype)])
    if np.dtype(dtype).kind == "f":
        numbers = np.concatenate([numbers, np.array([np.inf, -np.inf, np.nan, 2.5, limits.smallest_subnormal], dtype)])
    function = np.spacing if np.dtype(dtype).kind == "f" else np.bitwise_count
    with np.errstate(all="ignore"):
        for call in (lambda x: np.fmod(x, x[:, None]), lambda x: function(x)):
            compiled = ac.compile(call)
            np.testing.assert_array_equal(compiled(numbers), call(numbers), strict=True)
            assert "by kernels" not in compiled.explain()
