"""Buffers that can change (memoryviews, bytearrays, `array.array`): each call reads their current contents."""

import array

import numpy as np
import pytest

import autoconv as ac

MAKERS = {
    "a writable memoryview": lambda: memoryview(bytearray(b"abc")),
    "a memoryview of an array": lambda: memoryview(np.arange(3)),
    "a bytearray": lambda: bytearray(b"abc"),
    "an array": lambda: array.array("d", [1.0, 2.0]),
}


def reads(buffer, k):
    return buffer[0] + k if k > 1 else len(buffer) - k


def writes(buffer, k):
    for i in range(len(buffer)):
        buffer[i] = k
    return sum(buffer)


def finds(buffer, k):
    return k in buffer, [x + k for x in buffer], buffer == buffer[:]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("function", [reads, writes, finds])
def test_calls_read_and_write_the_contents_of_a_buffer(function, make):
    compiled, compiled_buffer, plain_buffer = ac.compile(function), make(), make()
    for k in (2, 1, 98, 3):
        compiled_buffer[1] = plain_buffer[1] = k
        assert compiled(compiled_buffer, k) == function(plain_buffer, k)
        assert bytes(compiled_buffer) == bytes(plain_buffer)
        assert compiled(make(), k) == function(make(), k)
    assert "internal error" not in compiled.explain()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_buffers_from_outside_and_in_containers(make):
    buffer = make()
    reads_a_cell = ac.compile(lambda k: buffer[0] + k)
    reads_a_container = ac.compile(lambda xs, k: xs[0][0] + k)
    for k in (1, 5, 9):
        buffer[0] = k
        assert reads_a_cell(k) == 2 * k
        assert reads_a_container([buffer], k) == 2 * k and reads_a_container([buffer, (buffer,)], k=k) == 2 * k
