"""Under `compile`: methods of arrays and of Python's numbers, and functions that stand for statements."""


import numpy as np
import pytest

import autoconv as ac
from tests.tracing.compared_arrays import ARRAYS, check, check_plain_run, check_up_to_rounding, describe

REDUCTIONS = ("sum", "prod", "mean", "min", "max", "any", "all", "std", "var", "argmin", "argmax")


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    def f(x):
        total = getattr(x, name)()
        with_axes = getattr(x, name)(axis=1, keepdims=True)
        return total, getattr(x, name)(0), getattr(x, name)(axis=-1), with_axes, getattr(x.T, name)()

    added_up = name in ("sum", "mean", "std", "var")
    (check_up_to_rounding if added_up else check)(f, *((x,) for x in ARRAYS))


def test_reductions_over_two_axes_and_with_a_dtype():
    def f(x):
        cube = x.reshape(1, x.shape[0], x.shape[1])
        return cube.sum(axis=(0, 2)), cube.max((0, -1)), x.sum(dtype=np.float64), x.mean(dtype="float32"), x.std(ddof=1)

    check_up_to_rounding(f, *((x,) for x in ARRAYS))


def test_scans():
    def f(x):
        return x.cumsum(), x.cumsum(1), x.cumprod(axis=0), x.cumprod(), x.cumsum(axis=0, dtype=np.float64)

    check(f, *((x,) for x in ARRAYS))


def test_round_and_clip():
    def f(x, low):
        return x.round(), x.round(1), x.clip(0, 2), x.clip(min=1), x.clip(max=1.5), x.clip(-300, 300), x.clip(x, 2)

    check(f, *((x, 1) for x in ARRAYS if x.dtype != bool))


def test_clip_by_numbers_that_are_inputs():
    def f(x, low, high):
        return x.clip(low, high), x.clip(low, None)

    check(f, (ARRAYS[0], -1, 1), (ARRAYS[0], 0, 3), traces=1)
    check(f, (ARRAYS[5], 2, 2), (ARRAYS[5], 0, 1), traces=1)
    check(lambda x, high: (x.clip(-5, high), x.clip(0, high)), (ARRAYS[3], 1000), (ARRAYS[3], 3), traces=1)


def test_axes_of_all_forms_that_numpy_takes():
    check_plain_run(lambda x: x.transpose(()), ARRAYS[0], reason="perm []")
    check_plain_run(lambda x: x.sum(axis=[0, 1]), ARRAYS[0], reason="'list' object cannot be interpreted as an integer")
    check_plain_run(lambda x: x.sum(axis=(0, -2)), ARRAYS[0], reason="name a dimension twice")
    check(lambda x: x.transpose(None) + x.transpose([1, 0]) + x.transpose((-1, 0)), (ARRAYS[0],))


def test_shapes():
    def f(x):
        y = x + 1
        lines = y.ravel().copy(), y.reshape(-1) * 1, y.reshape((1, -1)) + 0, y.T + 0, y.flatten()
        return *lines, y.transpose() * 2, y.transpose(1, 0).copy(), y.reshape(1, -1, 1).squeeze() + y.size, y.size

    check(f, *((x,) for x in ARRAYS if x.dtype not in (np.uint8, bool)))


def test_copies_are_values_of_their_own():
    def f(x):
        return x.copy(), x.copy(), x.flatten(), x.flatten(), x.astype(x.dtype), x.astype(np.float32), x.astype("f4")

    compiled = ac.compile(f)
    for x in ARRAYS:
        found = compiled(x)
        assert describe(found) == describe(f(x))
        for i, value in enumerate(found):
            assert not any(np.shares_memory(value, array) for array in (x, *found[:i]))
    assert "plain Python" not in compiled.explain()


@pytest.mark.parametrize("dtype", [np.float64, "int8", float, int, bool, np.dtype("uint16"), np.complex128])
def test_astype(dtype):
    check(lambda x: x.astype(dtype), *((x,) for x in ARRAYS if not np.isnan(x).any() and x.size < 10))


def test_python_values():
    def f(x, i):
        maximum = x.max()
        parts = x.tolist()
        return maximum.item(), parts, len(parts), parts[0][1] + 1, x.item(0), x.item((0, 1)), x[0].max().item() * 2

    check(f, *((x, 1) for x in ARRAYS if x.size < 10))
    check_plain_run(lambda x: x.sum().item(), ARRAYS[3], reason="'item' of an array is called on uint64 elements")


def test_long_lists():
    def f(x):
        items = x.tolist()
        return sum(items), items[3], len(items)

    check(f, (np.arange(200),), (np.arange(200) * 2,), traces=1)


def test_scalars():
    def f(x):
        a, b = x.mean(), x[0, 1]
        return a.round(2), b.astype(np.float32), a.clip(0, 1), a.copy(), b.sum(), a.T, b.real, a.item(), b.tolist()

    check(f, (ARRAYS[0],), (ARRAYS[1],), (ARRAYS[4],), traces=3)


def test_arrays_of_unknown_length():
    def f(x):
        chosen = x[x > 0]
        return chosen.sum(), chosen.mean(), chosen.flatten(), chosen.cumsum(), chosen.max()

    first, second, negative = np.array([1.5, -2.0, 3.0]), np.array([-1.5, 2.0, -3.0]), np.zeros(3) - 1
    check(f, (first,), (second,), traces=1)
    check_plain_run(f, negative, reason="the mean of too few elements")  # of which NumPy warns


def test_no_elements_of_unknown_length():
    def f(x):
        chosen = x[x > 0]
        return chosen.sum(), chosen.flatten(), chosen.cumsum(), chosen.max()

    check(f, (np.array([1.5, -2.0, 3.0]),), (np.zeros(3) - 1,), traces=1)


def test_in_loops():
    def f(x, n):
        total = 0.0
        for i in range(n):
            if x.sum() > i:
                total += x.mean()
            x = x.clip(-1, 1).round(1) + i
        return total, x + 0

    check(f, (ARRAYS[0], 0), (ARRAYS[0], 3), (ARRAYS[0], 9), traces=1)


def test_extremes_of_no_elements():
    check(lambda x: x.max(), (np.zeros(0),), (np.zeros((2, 0), np.int32),))
    check(lambda x: x.argmin(axis=1), (np.zeros((2, 0)),), (np.zeros((0, 2)),))


@pytest.mark.parametrize("size", [1, 3, 17, 300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_products(size, dtype):
    random = np.random.default_rng(size)
    left, right = ((random.normal(size=size) * 9).astype(dtype) for _ in range(2))
    matrix = (random.normal(size=(size, 5)) * 9).astype(dtype)

    def f(v, w, m):
        return v @ w, v @ m, m.T @ v, m.T @ m, v.dot(w), v.dot(m), m.T.dot(v), m.T.dot(m), v.dot(w[0])

    def batch(v, b):
        return v @ b, b.transpose(0, 2, 1) @ v

    check_up_to_rounding(f, (left, right, matrix))
    check_up_to_rounding(batch, (left, np.stack([matrix, matrix * 2])))


@pytest.mark.parametrize("name", ["tobytes", "dump", "tofile", "dumps"])
def test_missing_methods(name):
    check_plain_run(lambda x: getattr(x, name), np.ones(3), reason=f"the method '{name}' of an array is not supported")
    check_plain_run(lambda x: hasattr(x, name) and getattr(x, name, None) is None, np.ones(3), reason=f"'{name}'")


def test_missing_attributes():
    check(
        lambda x: (hasattr(x, "numpy"), hasattr(x, "mean"), getattr(x, "set_shape", 3), getattr(x, "nix", None)),
        (ARRAYS[0],),
    )
    check_plain_run(lambda x: x.nix, np.ones(3), reason="AttributeError")


def test_unknown_options():
    check_plain_run(lambda x: x.sum(where=x > 1), ARRAYS[0], reason="is given where")
    check_plain_run(lambda x: x.reshape(-1, order="F"), ARRAYS[0], reason="is given order 'F'")
    check_plain_run(lambda x: x.sum(axis=5), ARRAYS[0], reason="axis 5 is out of range")
    check_plain_run(lambda x: x.item(), ARRAYS[0], reason="'item' of an array is called on 6 elements")
    check(lambda x: x.copy(), (np.array(3.0),), (np.float64(3.0),))
    check(lambda x: x.reshape(1).squeeze(), (np.array([3.0]),))


def test_ints():
    def f(n):
        parts = n.real, n.imag, n.numerator, n.denominator
        return *parts, n.conjugate(), n.bit_length(), n.bit_count(), n.bit_length() + 1

    check(f, (5,), (-17,), (0,), traces=1)
    check(f, (True,), (False,), traces=1)


def test_floats():
    def f(x):
        if x.is_integer():
            x += x.conjugate().real
        return x, x.imag, x.is_integer(), x.hex(), x.as_integer_ratio()

    check(f, (2.5,), (4.0,), (-0.0,), (1e300,), traces=1)
    check_plain_run(lambda x: hasattr(x, "bit_length") or x.bit_length(), 2.5, reason="AttributeError")


def test_next():
    def f(n):
        it = iter([n, 2, 3])
        first = next(it)
        for v in it:
            if v >= n:
                break
        last = next(it, None)
        pairs = iter((n, "b"))
        return first + 1, last, next(pairs), next(pairs), next(pairs, "end"), list(it)

    check(f, (1,), (2,), (3,), (4,), traces=1)


def test_next_in_a_loop():
    def f(n):
        it, total = iter(range(5)), 0
        while n > 0:
            total += next(it)
            n -= 1
        return total, next(it, -1)

    check(f, (0,), (2,), (5,), (6,), traces=1)


def test_next_of_iterators_from_before_the_call():
    shared = iter(range(9))
    compiled = ac.compile(lambda n: next(shared) + n)
    assert [compiled(1), compiled(1), compiled(1)] == [1, 2, 3]


def test_attributes_by_name():
    class Box:
        pass

    holder = Box()
    holder.count = 0
    count = "count"

    def f(n):
        box = Box()
        for name in ("a", "b"):
            setattr(box, name, n)
            if n > 2:
                setattr(box, name, n * 2)
        if n > 2:
            setattr(holder, count, getattr(holder, count) + n)
        delattr(box, name)
        return getattr(box, "a", 0), getattr(box, "b", None), hasattr(box, "b"), holder.count

    compiled = ac.compile(f)
    found = [compiled(n) for n in (1, 5, 3)]
    holder.count = 0
    assert found == [f(n) for n in (1, 5, 3)]
    assert "plain Python" not in compiled.explain(), compiled.explain()


def test_builtins_on_scalars():
    def f(x):
        maximum, first = x.max(), x[0, 0]
        return bool(x.any()), bool(first), round(maximum), round(first, 1), int(maximum), float(first)

    check(f, *((x,) for x in ARRAYS if x.dtype != bool and not np.isnan(x).any()))
    check_plain_run(lambda x: round(x), ARRAYS[0], reason="doesn't define __round__")


def test_fill_takes_no_arrays():
    """An array of one row broadcasts in an assignment; NumPy refuses it in `fill`."""

    def filled(x, y):
        x.ravel().fill(y + x.sum(axis=0))
        return x

    compiled = ac.compile(filled)
    for y in (np.array([[1.0, 2.0]]), np.array([1.0])):
        for function in (filled, compiled):
            with pytest.raises(ValueError, match="setting an array element with a sequence"):
                function(np.array([[0.0, 1.0]]), y[:, :1] if y.ndim == 2 else y[:1])
