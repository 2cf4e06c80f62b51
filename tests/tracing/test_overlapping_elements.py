"""Arrays whose elements overlap in memory are never copied: a copy may be larger than memory."""

import numpy as np
import pytest

import autoconv

HUGE = np.broadcast_to(1.5, (1 << 40,))
HELD = [HUGE]
WINDOWS = np.lib.stride_tricks.sliding_window_view(np.arange(200_000.0), 100_000)


def item(x):
    return x[3]


def loop(x):
    total = 0.0
    for i in range(3):
        total += x[i]
    return total


def part(x):
    return x[:4] + 1


def length(x):
    return len(x)


@pytest.mark.parametrize("function", [item, loop, part, length])
@pytest.mark.parametrize("array", [HUGE, HUGE[::-1], HUGE[::3], HUGE.reshape(1 << 20, 1 << 20), WINDOWS])
def test_an_argument(function, array):
    compiled = autoconv.compile(function)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(array), function(array))
    assert "elements overlap" in compiled.explain()


def global_name(y):
    return HUGE[3] + y


def item_of_a_list(y):
    return HELD[0][3] + y


def through_a_default(y, x=HUGE):
    return x[2] + y


@pytest.mark.parametrize("function", [global_name, item_of_a_list, through_a_default])
def test_an_array_outside(function):
    compiled = autoconv.compile(function)
    for y in (1.0, 2.0, 3.0):
        assert compiled(y) == function(y)


def test_small_arrays_are_arrays_of_the_graph():
    compiled = autoconv.compile(part)
    small = np.broadcast_to(np.float32(2), (5, 7))
    for _ in range(3):
        np.testing.assert_array_equal(compiled(small), part(small))
    assert "plain" not in compiled.explain()


def in_place(x):
    x[3:1:-1] += -1
    x *= 2
    return x


@pytest.mark.parametrize("strides", [(0,), (4,), (-8,), (16,)])
def test_elements_that_share_memory_are_written_as_numpy_writes_them(strides):
    def array():
        return np.lib.stride_tricks.as_strided(np.arange(40.0)[8:], (4,), strides)

    compiled = autoconv.compile(in_place)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(array()), in_place(array()))


def test_rows_that_overlap():
    def array():
        return np.lib.stride_tricks.as_strided(np.arange(40.0), (3, 4), (16, 8))

    def changed(x):
        x += 1
        x[1] = x[0] * 2
        return x

    compiled = autoconv.compile(changed)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(array()), changed(array()))
