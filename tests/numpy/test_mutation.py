"""NumPy's functions that change their first argument, `out=` and `where=`: results and arguments are NumPy's."""

import numpy as np
import pytest

import autoconv as ac
from tests.numpy.agreement import check_agreement


def check(function, *arguments):
    compiled = ac.compile(function)
    for _ in range(2):
        compiled_arguments, plain_arguments = (
            [np.array(x) if isinstance(x, np.ndarray) else x for x in arguments] for _ in range(2)
        )
        found, expected = compiled(*compiled_arguments), function(*plain_arguments)
        pairs = zip((*found, *compiled_arguments), (*expected, *plain_arguments), strict=True)
        for actual_part, expected_part in pairs:
            np.testing.assert_array_equal(actual_part, expected_part)
            assert np.asarray(actual_part).dtype == np.asarray(expected_part).dtype
    report = compiled.explain()
    assert "plain Python" not in report and "as Python objects" not in report, report


X = np.array([0.5, -1.25, 2.0, 3.5])


def test_at():
    def f(x, places, n):
        np.add.at(x, places, 1.5)
        np.subtract.at(x, [0, 0], x[1])
        np.multiply.at(x, slice(1, 3), 2)
        np.negative.at(x, 3)
        counts = np.zeros(n, dtype=np.int64)
        np.add.at(counts, places, 1)
        return counts, x.sum()

    check(f, X, np.array([1, 1, 3]), 4)


def test_a_refused_method_of_a_ufunc_is_named_as_it_is_written():
    @ac.compile
    def count(places):
        counts = np.zeros(3, dtype=int)
        np.add.at(counts, places, 1)
        return counts

    with pytest.raises(IndexError, match="integer"):
        count(np.array([0.0, 1.0]))
    assert "numpy.add.at is given" in count.explain()


def test_errors_of_at_are_caught():
    def f(x, place):
        copy = x * 1
        try:
            np.add.at(copy, [place], 1)
            np.add.at(x, [place], 1)
        except IndexError:
            return (np.array(-1),)
        return (np.array(2),)

    for place in (1, 4, -5):
        check(f, X, place)


def test_extremes_at():
    def f(x, places, values):
        highest = np.full(len(x), -np.inf)
        np.maximum.at(highest, places, values)
        np.minimum.at(x, places, values)
        np.maximum.at(x, places[:2], 0.25)
        return highest, x * 2

    def of_ints(x, places, values):
        np.minimum.at(x, places, values)
        return (x,)

    places, values = np.array([1, -1, 1, 3, -3]), np.array([0.25, 9.0, -2.0, 4.5, 0.0])
    check(f, X, places, values)
    check(of_ints, np.array([3, 1, 2], np.uint8), np.array([0, 0, -1]), np.array([5, 2, 1], np.uint8))
    compiled = ac.compile(f)
    for wrong in (np.array([0, 4]), np.array([-5, 1])):
        with pytest.raises(IndexError, match="is out of bounds for axis 0 with size 4"):
            compiled(X.copy(), wrong, values[:2])
    with np.errstate(invalid="ignore"):
        found, expected = (call(X.copy(), places, values * np.nan) for call in (compiled, f))
    np.testing.assert_equal(found, expected)


def test_copies():
    def f(x, y):
        z = np.empty_like(x)
        np.copyto(z, y)
        np.copyto(x, 7.0, where=x > 1)
        np.putmask(z, z > 2, x)
        np.place(z, z < 0, 9.0)
        return z, x + 0

    check(f, X, X[::-1].copy())


def test_places():
    def f(x, m):
        np.put(x, [0, 2], [5.0, 6.0])
        np.fill_diagonal(m, 1.0)
        np.put_along_axis(m, np.argmax(m, axis=1)[:, None], -1.0, axis=1)
        return x.sum(), m.sum()

    check(f, X, np.arange(9.0).reshape(3, 3))


def test_out_and_where():
    def f(x, y):
        z = np.ones(4)
        np.multiply(x, y, out=z)
        np.sqrt(x, out=z, where=x > 0)
        np.add(x, 1, out=x)
        total = np.zeros(())
        np.sum(z, out=total)
        return z, total + 0

    check(f, X, X + 1)


def test_lossy_casts_are_refused_as_by_numpy():
    def f(n):
        x = np.zeros(n, dtype=np.int64)
        np.add(x, 0.5, out=x)
        return x

    with pytest.raises(TypeError, match="Cannot cast ufunc"):
        f(2)
    with pytest.raises(TypeError, match="Cannot cast ufunc"):
        ac.compile(f)(2)


def test_tensors_are_not_changed():
    x = ac.constant([1.0, 2.0])
    for change in (lambda: np.add.at(x, 0, 1.0), lambda: np.add(x, 1.0, out=x), lambda: np.copyto(x, 0.0)):
        with pytest.raises((TypeError, ValueError)):
            change()
    assert x.numpy().tolist() == [1.0, 2.0]


def test_assigned_numbers_are_constants_of_the_graph():
    def marked(x):
        for i in range(len(x)):
            x[i] = -1 if x[i] > 2 else 7
            if i > 3:
                x[i] = 2.5
        x[1:3] = 4
        return x

    for dtype in (np.int64, np.int16, np.float32):
        x = np.arange(9).astype(dtype)
        compiled = ac.compile(marked)
        np.testing.assert_equal(compiled(x.copy()), marked(x.copy()))
        assert len(compiled.get_concrete_function(x.copy()).optimised.parameters) == 1


def test_nan_to_num_of_the_argument_itself():
    def f(x, n, z):
        first = np.nan_to_num(x[1:], copy=False, nan=7.0)
        cleaned = x * 2
        np.nan_to_num(cleaned, False, 0.5, posinf=1e3)
        return first, cleaned, np.nan_to_num(z, copy=False), np.array([np.nan_to_num(n, copy=False) is n])

    x = np.array([np.nan, np.nan, np.inf, -0.0])
    check(f, x, np.array([1, 2]), x[::-1] + 1j * x)
    check(lambda x: [np.nan_to_num(x, copy=False)], x)
    check(lambda x: [np.nan_to_num(x, True, 3.0)], x)


def test_nan_to_num_of_eager_tensors_makes_arrays_and_leaves_the_tensor():
    tensor = ac.constant([1.0, np.nan])
    assert repr(np.nan_to_num(tensor)) == "array([1., 0.], dtype=float32)"
    with pytest.raises(ValueError, match="read-only"):
        np.nan_to_num(tensor, copy=False)
    np.testing.assert_array_equal(tensor.numpy(), [1.0, np.nan])


@pytest.mark.parametrize("shape", [(3,), (3, 3)], ids=str)
def test_products_written_into_an_array_are_scalars_where_it_has_no_dimensions(shape):
    check_agreement(lambda x, y, out: (np.dot(x, y, out=out), out),
                    lambda: np.ones(shape), lambda: np.arange(3.0), lambda: np.zeros(shape[1:]))


def test_products_of_matrices_take_no_mask():
    check_agreement(lambda x, mask: np.matmul(x, x, where=mask), lambda: np.eye(2), lambda: np.ones((2, 2), bool))
