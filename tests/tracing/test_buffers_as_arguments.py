"""Buffers that can change (memoryviews, bytearrays, `array.array`): each call gives what is in them then."""

import array

import numpy as np
import pytest

import autoconv as ac

MADE = {
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


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
@pytest.mark.parametrize("function", [reads, writes, finds])
def test_what_a_buffer_holds_now(function, made):
    compiled, ours, theirs = ac.compile(function), made(), made()
    for k in (2, 1, 98, 3):
        ours[1] = theirs[1] = k
        assert compiled(ours, k) == function(theirs, k) and bytes(ours) == bytes(theirs)
        assert compiled(made(), k) == function(made(), k)
    assert "internal error" not in compiled.explain()


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_buffers_from_outside_and_in_containers(made):
    held = made()
    closed = ac.compile(lambda k: held[0] + k)
    listed = ac.compile(lambda xs, k: xs[0][0] + k)
    for k in (1, 5, 9):
        held[0] = k
        assert closed(k) == 2 * k and listed([held], k) == 2 * k and listed([held, (held,)], k=k) == 2 * k
