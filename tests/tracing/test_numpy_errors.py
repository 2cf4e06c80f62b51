"""Under `compile`, errors in graphs have NumPy's class and message."""

import numpy as np
import pytest

import autoconv


def one_element(x, y, k):
    return x[k]


def several(x, y, k):
    return x[np.arange(2) + k]


def element(x, y, k):
    return np.take(x, k)


def last_axis(x, y, k):
    return y[1] + y[0, k - 14]


def indices_of_two_kinds(x, y, k):
    return y[np.arange(k), np.arange(3)]


def masked(x, y, k):
    return x[np.arange(k) > 1]


def masked_behind(x, y, k):
    return y[0, np.arange(k) > 1]


def added(x, y, k):
    return np.arange(k) + x


def caught(x, y, k):
    try:
        return x[k]
    except IndexError as error:
        return str(error), type(error).__name__


@pytest.mark.parametrize(
    "function", [one_element, several, element, last_axis, indices_of_two_kinds, masked, masked_behind, added, caught]
)
def test_errors_of_a_graph_are_those_of_numpy(function):
    def outcome(called):
        try:
            return "gave", called(np.arange(3.0), np.arange(6.0).reshape(2, 3), 7)
        except Exception as error:
            return type(error), str(error)

    compiled = autoconv.compile(function)
    compiled_outcome = outcome(compiled)
    assert compiled_outcome == outcome(function)
    assert "plain Python" not in compiled.explain()


def test_under_function_errors_keep_the_message_of_the_op():
    with pytest.raises(autoconv.errors.InvalidArgumentError, match="slice index 7 of dimension 0 out of bounds"):
        autoconv.function(one_element)(autoconv.constant([1.0, 2.0]), 0, autoconv.constant(7))


def test_the_first_index_out_of_range_is_named_by_its_number():
    """The number of an index of the run is known at run time only, in arrays without elements as well."""

    def corner(a, k):
        if len(a) > 2:
            k = k + 0
        return a[k, 0]

    compiled = autoconv.compile(corner)
    for shape in ((0, 0), (4, 0), (0, 3), (4, 3)):
        for k in (3, 1, 0, 9, 9):
            errors = []
            for function in (compiled, corner):
                try:
                    function(np.ones(shape), k)
                except IndexError as error:
                    errors.append(str(error))
            assert len(set(errors)) == (0 if 0 not in shape and k < 4 else 1), errors
            assert len(errors) in (0, 2)


def test_updates_by_sequences_of_other_lengths():
    """The dtypes are checked before the shapes, and the message has the shape of the output."""

    def add(v, k):
        v[:k] += [1.5] * 4

    compiled = autoconv.compile(add)
    for size, k, dtype in ((3, -1, "f8"), (3, 2, "u1"), (4, -1, "f8"), (6, 4, "f8"), (6, 4, "u1")):
        errors, values = [], []
        for function in (compiled, add):
            values.append(np.ones(size, dtype))
            try:
                function(values[-1], k)
            except (TypeError, ValueError) as error:
                errors.append((type(error).__name__, str(error)))
        np.testing.assert_array_equal(values[0], values[1])
        assert len(errors) in (0, 2) and len(set(errors)) < 2, errors


def test_lists_of_arrays_without_elements_keep_their_dimensions():
    def differ(x, i):
        rows = list(x)
        return (rows - x.real).shape, (rows * x).shape, x[:i] + rows[:i]

    compiled = autoconv.compile(differ)
    for shape in ((2, 0, 3), (2, 3), (3, 0), (2, 3, 0)):
        for found, expected in zip(compiled(np.ones(shape), 1), differ(np.ones(shape), 1), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_arrays_filled_with_sequences_of_one_element():
    def fill(x):
        x[0] = True
        return np.full_like(x.min(), (5,)), np.full((), [1]), np.full(2, [[3.5]]), np.full_like(x, [1, 0, 1])

    for found, expected in zip(autoconv.compile(fill)(np.ones(3, bool)), fill(np.ones(3, bool)), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
