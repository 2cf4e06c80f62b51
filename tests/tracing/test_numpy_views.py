"""Under `compile`, views of NumPy are returned as views, and methods that change arrays do so as in NumPy."""

import numpy as np
import pytest

import autoconv


def diagonal(a):
    return np.diagonal(a)


def lower_diagonal(a):
    return np.diagonal(a, -1), a.diagonal(2).sum()


def broadcast(a):
    return np.broadcast_to(a[0], (2, 3))


def number(a):
    return np.array(5.0) + a[0, 0]


def resized(a):
    x = a[0].copy()
    x.resize(5)
    return x


def put(a):
    np.put(a, [0, 2], [-1.0, -2.0])
    return a


def partitioned(a):
    x = a[0].copy()
    x.partition(1)
    return x[1]


def of_kinds(a):
    return np.argsort(a[1], kind="mergesort"), np.sort(a[0], kind="heapsort")


def of_no_kind(a):
    return np.argsort(a[0], kind="nonsense")


def describe(value, a):
    if isinstance(value, tuple):
        return [describe(part, a) for part in value]
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist(), value.flags.writeable, np.shares_memory(value, a)
    return type(value), value


@pytest.mark.parametrize(
    "function",
    [diagonal, lower_diagonal, broadcast, number, resized, put, partitioned, of_kinds, of_no_kind],
)
def test_results_are_those_of_numpy(function):
    def outcome(called):
        a = np.array([[2.0, 1.0, 0.0], [5.0, 4.0, 3.0], [8.0, 7.0, 6.0]])
        try:
            return describe(called(a), a), a.tolist()
        except Exception as error:
            return type(error), str(error), a.tolist()

    compiled = autoconv.compile(function)
    expected = outcome(function)
    assert outcome(compiled) == expected
    assert outcome(compiled) == expected


def test_arrays_that_may_not_be_written():
    def write(a):
        a[0] = 1.0
        return a

    compiled = autoconv.compile(write)
    for writable in (True, False, True):
        a = np.zeros(3)
        a.setflags(write=writable)
        if writable:
            assert compiled(a) is a
            assert a.tolist() == [1.0, 0.0, 0.0]
            continue
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            compiled(a)


@pytest.mark.parametrize("offset", range(-4, 5))
@pytest.mark.parametrize("shape", [(3, 4), (4, 2), (1, 3), (2, 0), (2, 3, 4)])
def test_diagonals(shape, offset):
    x = np.arange(float(np.prod(shape))).reshape(shape)
    found = np.diagonal(autoconv.constant(x), offset)
    np.testing.assert_array_equal(found, np.diagonal(x, offset))
    assert found.shape == np.diagonal(x, offset).shape


def transposed(x):
    v = x * 2.0
    return v, v.T


def last_row(x):
    v = x + 1.0
    return {"all": v, "last": v[-1], "flat": v.reshape(-1)}


def rows(x):
    v = np.exp(x)
    return v[0], v[1]


def one_of_two(x):
    v = np.cumsum(x, axis=0)
    y = v
    if v.sum() > 0:
        y = v[::-1]
    return v, y


def of_decomposition(x):
    u, s, vt = np.linalg.svd(x)
    return u, s, vt, vt.T


def changed_decomposition(x):
    _, _, vt = np.linalg.svd(x)
    vt[0, 0] = 7.0
    return vt, vt[0]


@pytest.mark.parametrize("function", [transposed, last_row, rows, one_of_two, of_decomposition, changed_decomposition])
def test_results_that_are_views_of_each_other(function):
    x = np.arange(9.0).reshape(3, 3) + 1
    compiled = autoconv.compile(function)
    for _ in range(2):
        found, expected = ([*r.values()] if type(r) is dict else r for r in (compiled(x), function(x)))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.abs(a), np.abs(b), rtol=1e-13)  # signs of singular vectors are free
        pairs = [(i, j) for i in range(len(found)) for j in range(i)]
        shared = [[np.shares_memory(r[i], r[j]) for i, j in pairs] for r in (found, expected)]
        assert shared[0] == shared[1]
    assert "plain Python" not in compiled.explain()


# Each result is written to and compared with the array: the write shows in the array where the result is a view.
SHARING = {
    "squeeze": lambda a: a.squeeze(),
    "np.squeeze": lambda a: np.squeeze(a),
    "squeeze of a new axis": lambda a: np.squeeze(a[None]),
    "atleast_1d": lambda a: np.atleast_1d(a),
    "atleast_2d": lambda a: np.atleast_2d(a),
    "einsum, moved axis": lambda a: np.einsum("i...->...i", a),
    "einsum, as it is": lambda a: np.einsum("...->...", a),
    "einsum, a diagonal": lambda a: np.einsum("ii->i", a.reshape(2, 2)),
    "einsum, a sum": lambda a: np.einsum("ij->i", a.reshape(2, 2)),
    "diff of no order": lambda a: np.diff(a, 0),
    "diff": lambda a: np.diff(a, n=1),
    "meshgrid": lambda a: np.meshgrid(a.reshape(-1), a.reshape(-1))[1],
    "meshgrid of views": lambda a: np.meshgrid(a.reshape(-1), a.reshape(-1), copy=False)[1],
    "ix_": lambda a: np.ix_(a.reshape(-1), a.reshape(-1))[1],
    "matrix_power 1": lambda a: np.linalg.matrix_power(a.reshape(2, 2), 1),
    "matrix_power 2": lambda a: np.linalg.matrix_power(a.reshape(2, 2), 2),
    "mT": lambda a: a.reshape(2, 2).mT,
    "frombuffer": lambda a: np.frombuffer(a),
}


@pytest.mark.parametrize("take", SHARING.values(), ids=SHARING)
def test_writes_to_a_result_show_in_the_array_where_it_is_a_view(take):
    def written(a):
        found = take(a)
        is_the_array = found is a
        found[...] = 9
        return found, is_the_array

    compiled = autoconv.compile(written)
    for array in (np.array([1.0, 2.0, 3.0, 4.0]), np.array([[1.0, 2.0], [3.0, 4.0]])):
        plain_array, compiled_array = array.copy(), array.copy()
        expected, is_the_array = written(plain_array)
        found, is_the_array_compiled = compiled(compiled_array)
        assert is_the_array_compiled is is_the_array
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(compiled_array, plain_array)
        assert np.shares_memory(found, compiled_array) == np.shares_memory(expected, plain_array)


def test_choose_takes_integers_only():
    compiled = autoconv.compile(lambda a, b: a.choose([b, -b]))
    assert compiled(np.array([0, 1]), np.ones(2)).tolist() == [1, -1]
    with pytest.raises(TypeError, match="Cannot cast array data"):
        compiled(np.array([0.0, 1.0]), np.ones(2))


EINSUMS_AND_IX = {
    "ij->ji": lambda a: np.einsum("ij->ji", a),
    "ii->i": lambda a: np.einsum("ii->i", a),
    "implicit": lambda a: np.einsum("ba", a),
    "an option": lambda a: np.einsum("ij->ji", a, optimize=True),
    "a sum": lambda a: np.einsum("ij->i", a),
    "ix_ of floats": lambda a: np.ix_(a[0], a[1])[1],
}


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize("take", EINSUMS_AND_IX.values(), ids=EINSUMS_AND_IX)
def test_einsum_of_one_array_is_a_view_whatever_the_size(take, is_written):
    def function(a):
        view = take(a)
        if is_written:
            view[:1] = 9
        return view

    compiled = autoconv.compile(function)
    for size in (2, 3, 4, 5, 2):
        plain_array, compiled_array = (np.arange(float(size**2)).reshape(size, size) for _ in range(2))
        expected, found = function(plain_array), compiled(compiled_array)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(compiled_array, plain_array)
        assert np.shares_memory(found, compiled_array) == np.shares_memory(expected, plain_array)
