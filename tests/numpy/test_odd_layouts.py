"""Arrays of unusual layout: byte order, read-only memory, bools of other bytes, steps near the ends of 64 bits."""

import pickle

import numpy as np
import pytest

import autoconv as ac
from tests.numpy.agreement import check_agreement


def odd_bools():
    return np.array([2, 1, 0, 4, 255], np.uint8).view(bool)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.imag, lambda x: np.imag(x + 1), lambda x: np.imag(x + 1)[1:],
        lambda x: np.broadcast_to(x + 1, (2, 3, 3)),
        lambda x: np.diagonal(x * 2), lambda x: (x * 2).diagonal()[::2], lambda x: np.diag(x + 1), lambda x: (x + 1).T,
        lambda x: np.diag(x + 1) * 2, lambda x: [np.imag(x), x + 1], lambda x: np.linalg.diagonal(x + 1),
    ],
)  # fmt: skip
def test_read_only_results(f):
    check_agreement(f, lambda: np.arange(9.0).reshape(3, 3))


def test_writes_to_read_only_arrays():
    def f(x):
        y = x.imag
        y[0] = 1
        return y

    check_agreement(f, lambda: np.arange(3.0))


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
        check_agreement(f, lambda: np.arange(5), step, 2)


@pytest.mark.parametrize("step", STEPS)
def test_written_steps_near_the_ends_of_64_bits(step):
    namespace = {}
    exec(f"def f(x, k):\n    x[k::{step}] = 9\n    return x[::{step}], x[k:{step}:{step}], x.sum()", namespace)
    compiled = ac.compile(namespace["f"])
    for size in (5, 6, 7, 8):
        x, y = np.arange(size), np.arange(size)
        for actual, expected in zip(compiled(x, 2), namespace["f"](y, 2), strict=True):
            np.testing.assert_array_equal(actual, expected)
        np.testing.assert_array_equal(x, y)


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
    check_agreement(f, odd_bools)


def test_odd_bools_in_memory():
    def f(b, x):
        count = 0
        for i in range(len(b)):
            if b[i]:
                count += 1
                x[i] = count
        b[0] = not b[0]
        return count, b & True, x[b]

    check_agreement(f, odd_bools, lambda: np.zeros(5, int))


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
    slowly = type(f)._call_by_trace
    monkeypatch.setattr(type(f), "_call_by_trace", lambda *args: asked.append(args) or slowly(*args))
    for actual, expected in zip(f(away, here), f(here, away), strict=True):
        np.testing.assert_array_equal(actual, expected)
    assert g(away[0].copy()) == here[0, 1] and not asked
    np.testing.assert_array_equal(f(here.astype(here.dtype.newbyteorder()), away)[0], here + here)


@pytest.mark.parametrize(
    "f", [
        lambda x: np.sort(x), lambda x: x + 1, lambda x: x[::2], lambda x: np.zeros_like(x), lambda x: np.nan_to_num(x),
        lambda x: x.copy(), lambda x: np.zeros_like(x, shape=(2, 2)), lambda x: x.reshape(2, 2), lambda x: x.sum(),
    ],
)  # fmt: skip
def test_swapped_byte_order(f):
    check_agreement(f, lambda: np.array([1.0, 2.0, 0.5, 3.0], ">f8"))


def test_views_of_each_argument():
    def f(x, y):
        return np.atleast_3d(2.5, x), np.atleast_1d(x, y), np.atleast_2d(y)

    def g(x, y):
        first, second = np.atleast_2d(x, y)
        second[0, 0] = 9
        return first, y

    for function in (f, g):
        check_agreement(function, lambda: np.ones((2, 3)), lambda: np.arange(3.0))
    x = np.ones((2, 3))
    assert np.shares_memory(ac.compile(f)(x, x)[0][1], x)
    assert np.shares_memory(ac.compile(lambda z: np.real_if_close(z))(x), x)


@pytest.mark.parametrize("create", [np.empty_like, np.zeros_like, np.ones_like, lambda x: np.full_like(x, 2.5)])
def test_arrays_made_like_columns_first_lie_by_columns(create):
    def program(x):
        like = create(x)
        like[0] = x[1] * 2
        like[1:] = 7.0
        return like, create(x, dtype=np.int8) if create is np.zeros_like else None

    compiled = ac.compile(program)
    for x in (np.arange(6.0).reshape(3, 2), np.asfortranarray(np.arange(6.0).reshape(3, 2)), np.arange(6.0)):
        for ours, theirs in zip(compiled(x), program(x), strict=True):
            assert np.array_equal(ours, theirs)
            assert ours is None or (ours.strides, ours.dtype) == (theirs.strides, theirs.dtype)
    assert "plain Python" not in compiled.explain()


def test_copies_of_new_arrays_in_other_shapes_have_those_shapes():
    def program(x):
        doubled = (x * 2).reshape(2, -1).copy()
        first, second = np.meshgrid(x[:1], x[:1] + 1, indexing="ij")
        return doubled, (x + 1).reshape(-1, 1).astype(float), first, second

    for n in (4, 6, 2):
        check_agreement(program, lambda n=n: np.arange(float(n)))
