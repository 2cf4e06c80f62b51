"""Prints to replaced streams: flushes, errors of the stream, and no stream at all."""

import sys

import pytest

import autoconv


class Recorded:
    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        self.text += "<flush>"


class Full(Recorded):
    def write(self, text):
        raise OSError("disk full")


def flushes(x, n):
    for i in range(n):
        x = x * 2
        print(i, x, flush=True)
    print([x], flush=True)
    return x


def catches(x, n):
    for i in range(n):
        x = x * 2
        try:
            print(i, x)
        except OSError as error:
            return str(error)
    return x


@pytest.mark.parametrize("make_stream", [Recorded, Full, lambda: None])
@pytest.mark.parametrize("program", [flushes, catches])
def test_streams_see_what_plain_python_does(program, make_stream, monkeypatch):
    def outcome(function, *arguments):
        stream = make_stream()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            try:
                result = function(*arguments)
            except OSError as error:
                result = repr(error)
        return result, getattr(stream, "text", None)

    compiled = autoconv.compile(program)
    for arguments in ((1, 2), (2.5, 3), (3, 1), (4, 0)):
        assert outcome(compiled, *arguments) == outcome(program, *arguments)
    assert compiled.experimental_get_tracing_count(), compiled.explain()
