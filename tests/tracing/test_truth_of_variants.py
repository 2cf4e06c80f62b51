"""Truth of a variant of None and objects with `__bool__` or `__len__`, as in Python."""

import numpy as np
import pytest

import autoconv as ac


class Node:
    truth_tests = 0

    def __init__(self, value, following=None):
        self.value, self.following = value, following


class Sized(Node):
    def __len__(self):
        return self.value


class Truthful(Node):
    def __bool__(self):
        return self.value > 1

    __len__ = None


class Counting(Node):
    def __bool__(self):
        self.truth_tests += 1
        return self.value > 1


def chosen(k, kind):
    node = kind(k)
    x = node if k > 2 else None
    total = 0
    while x:
        total += x.value
        x = None if total > 5 else x
    y = node if k > 1 else None
    found = [bool(y), not y, 1 if y else 2, y is None]
    if y and total > 2:
        found.append(3)
    elif not y or y.value > 1:
        found.append(4)
    return total, found, node.truth_tests


def counts_down(k, kind):
    x = kind(k)
    while x:
        x.value -= 1
    return x.value, x.truth_tests


def asserts(k, kind):
    x = kind(k) if k > 2 else None
    try:
        assert x, "nothing"
    except AssertionError as error:
        return "nothing" in str(error)
    return x.value


def several(k, kind):
    x = kind(k) if k > 3 else kind(0) if k > 2 else "" if k > 1 else None
    return 1 if x else 2


def any_of(k, kind):
    x = kind(k) if k > 2 else None
    return any([x, k > 7]), all([x, k < 7])


def walks(root, k):
    while root:
        if root.value == k:
            return True
        root = root.following
    return False


def outcome(function, arguments):
    try:
        return repr(function(*arguments))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", [Sized, Truthful, Counting])
@pytest.mark.parametrize("function", [chosen, counts_down, asserts, several, any_of])
def test_new_objects(function, kind):
    compiled = ac.compile(function)
    for k in (1, 2, 3, 4, 9):
        assert outcome(compiled, (k, kind)) == outcome(function, (k, kind))
    assert "internal error" not in compiled.explain()


def test_a_negative_length_of_one_arm():
    compiled = ac.compile(several)
    for k in (1, 4, -3):
        assert outcome(compiled, (k, Sized)) == outcome(several, (k, Sized))

    def negative(k, kind):
        x = kind(-k) if k > 2 else None
        return 1 if x else 2

    compiled = ac.compile(negative)
    for k in (1, 4):
        assert outcome(compiled, (k, Sized)) == outcome(negative, (k, Sized))


@pytest.mark.parametrize("kind", [Sized, Truthful, Counting])
def test_a_chain_from_outside(kind):
    chain = kind(5, kind(3, kind(2, None)))
    compiled = ac.compile(walks)
    for k in (5, 2, 4, 3):
        assert compiled(chain, k) == walks(chain, k)


def test_arrays_of_other_dimensions():
    """The other path does not read the memory of an array that exists on one path only."""

    def grows(x, y):
        for _ in range(3):
            if x[0] > 1:
                x = y
                x += 1
        return x

    compiled = ac.compile(grows)
    for first, rows in ((-2, [[0]]), (3, [[0]]), (3, [[2]]), (3, [[2, 3]])):
        pairs = [(np.array([first, 3]), np.array(rows)) for _ in range(2)]
        assert outcome(compiled, pairs[0]) == outcome(grows, pairs[1])
        np.testing.assert_array_equal(pairs[0][1], pairs[1][1])


@pytest.mark.parametrize("name", ["dtype", "shape", "ndim"])
def test_numbers_of_python_have_no_attributes_of_arrays(name):
    def read(x, k):
        value = x if k > 1 else k
        return value.dtype if name == "dtype" else value.shape if name == "shape" else value.ndim

    compiled = ac.compile(read)
    for k in (2, 0, 2.5, -1.5):
        assert outcome(compiled, (np.ones(2), k)) == outcome(read, (np.ones(2), k))


@pytest.mark.parametrize(
    "function",
    [
        lambda z, k: abs(z if k > 1 else k), lambda z, k: z[np.float32(2) if k > 1 else k],
        lambda z, k: z & (2.5 if k > 1 else k), lambda z, k: (z if k > 1 else None) + 1,
    ],
)  # fmt: skip
def test_dtypes_that_an_op_refuses(function):
    compiled = ac.compile(function)
    for k in (2, 0, 2):
        assert outcome(compiled, (np.array([True, False]), k)) == outcome(function, (np.array([True, False]), k))
