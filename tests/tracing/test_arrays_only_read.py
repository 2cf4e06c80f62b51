"""Arguments that are only read, beside others that are written: read in place, never part of a result."""

import tracemalloc

import numpy as np
import pytest

import autoconv


def product_into(out, a, x):
    out += a @ x


def returned(out, a):
    out[0] = 1.0
    return a.copy(), a[1:] + 0.0


def turned(out, a, turns):
    b = a.copy()
    for _ in range(turns):
        b = b @ a
        out += b
    return b


def replaced(out, a, turns):
    b = a.copy()
    for i in range(turns):
        b[i] = -1.0
    out[:] = b
    return b


def chosen(out, a, b, flag):
    out += 1.0
    c = a if flag > 0 else b
    return c @ out


def carried(out, a, turns):
    total = a
    for _ in range(turns):
        total = total + out
    out *= 2.0
    return total


def differences(out, a):
    d = a[1:] - a[:-1]
    out[0, 0] = d.sum()
    out[0, 1] = np.abs(d).max()
    return d


def sums_by_axis(out, a, x):
    out[0] = (a * x).sum(axis=1)


def raising(out, a, position):
    out[0, 0] = 7.0
    return a[position] * 2.0


CASES = [
    (product_into, lambda s: (s(), s(), s())), (returned, lambda s: (s(), s())), (turned, lambda s: (s(), s(), 3)),
    (turned, lambda s: (s(), s(), 0)), (replaced, lambda s: (s(), s(), 2)), (chosen, lambda s: (s(), s(), s(), 1)),
    (chosen, lambda s: (s(), s(), s(), -1)), (carried, lambda s: (s(), s(), 2)), (carried, lambda s: (s(), s(), 0)),
    (differences, lambda s: (s(), s())), (sums_by_axis, lambda s: (s(), s(), s())), (raising, lambda s: (s(), s(), 9)),
]  # fmt: skip
LAYOUTS = {
    "rows": lambda a: a,
    "columns": np.asfortranarray,
    "every second": lambda a: np.repeat(np.repeat(a, 2, 0), 2, 1)[::2, ::2],
    "complex": lambda a: a + 1j * a[::-1],
    "integers": lambda a: (a * 100).astype(np.int64),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize(
    ("function", "make_arguments"), CASES, ids=[f"{case[0].__name__}-{i}" for i, case in enumerate(CASES)]
)
@pytest.mark.search
def test_as_numpy(function, make_arguments, layout):
    compiled = autoconv.compile(function)
    for call in range(3):
        compiled_arguments, plain_arguments = (make_arguments(_array_maker(layout, call)) for _ in range(2))
        found, expected = _outcome(compiled, compiled_arguments), _outcome(function, plain_arguments)
        _compare(found, expected)
        _compare(compiled_arguments, plain_arguments)
        assert _sharing_pairs(found, compiled_arguments) == _sharing_pairs(expected, plain_arguments)


@pytest.mark.parametrize("function", [product_into, sums_by_axis, differences])
def test_overlapping_arguments(function):
    compiled = autoconv.compile(function)
    for offset in (0, 3, 40):
        plain_buffer, compiled_buffer = (np.random.default_rng(1).random(200) for _ in range(2))
        outs = [_squares(buffer, offset, function.__code__.co_argcount) for buffer in (plain_buffer, compiled_buffer)]
        function(*outs[0])
        compiled(*outs[1])
        np.testing.assert_allclose(compiled_buffer, plain_buffer)


def test_memory_is_read_where_it_lies():
    """A large matrix is not copied: what a call allocates does not grow with it."""
    @autoconv.compile
    def add_product(out, a, x):
        out += a @ x

    size = 1000
    out, a, x = np.zeros(size), np.ones((size, size)), np.ones(size)
    for _ in range(40):
        add_product(out, a, x)
    tracemalloc.start()
    add_product(out, a, x)
    assert tracemalloc.get_traced_memory()[1] < a.nbytes / 4
    tracemalloc.stop()
    np.testing.assert_allclose(out, 41.0 * size)


def _array_maker(layout, seed):
    random = np.random.default_rng(seed)
    return lambda: layout(random.random((4, 4)))


def _squares(buffer, offset, count):
    return [buffer[i * offset : i * offset + 16].reshape(4, 4) for i in range(count)]


def _sharing_pairs(results, arguments):
    """Return which pairs of a result and an argument share memory."""
    arrays = [x for x in arguments if isinstance(x, np.ndarray)]
    results = results if isinstance(results, tuple) else (results,)
    return [isinstance(item, np.ndarray) and np.shares_memory(item, x) for item in results for x in arrays]


def _outcome(function, arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error)


def _compare(found, expected_value):
    assert type(found) is type(expected_value)
    if isinstance(expected_value, (tuple, list)):
        for actual, expected in zip(found, expected_value, strict=True):
            _compare(actual, expected)
    elif isinstance(expected_value, np.ndarray):
        assert found.dtype == expected_value.dtype
        np.testing.assert_allclose(found, expected_value)
    else:
        assert found == expected_value
