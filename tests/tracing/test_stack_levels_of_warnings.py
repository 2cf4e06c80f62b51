"""`stacklevel` of warnings counts the program's frames alone, however a call runs."""

import sys
import time
import warnings

import pytest

import autoconv
from autoconv.config import SETTINGS


def renamed(x):
    warnings.warn("renamed is old", DeprecationWarning, stacklevel=2)
    return x + 1


def renamed_with_the_clock(x):
    time.perf_counter()  # no graph has it
    return renamed(x)


def through_another(x):
    warnings.warn("through_another", FutureWarning, stacklevel=3)
    return renamed(x)


def in_a_loop(x):
    time.perf_counter()
    for _ in range(3):
        warnings.warn("in_a_loop", UserWarning, 2)
        warnings.warn("its own", UserWarning, stacklevel=1)
    for _ in range(3):
        renamed(x)


class Meter:
    def __init__(self, scale):
        warnings.warn("Meter", UserWarning, 2)
        self.scale = scale

    def read(self, x):
        warnings.warn("read", UserWarning, 2)
        return self.scale * x


class CompiledMeter(Meter):
    __init__ = autoconv.compile(Meter.__init__)
    read = autoconv.compile(Meter.read)


def places(calls):
    """Return the text, file and line of each warning of the calls."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        calls()
    return [(str(w.message), w.filename, w.lineno) for w in caught]


@pytest.mark.parametrize("program", [renamed, renamed_with_the_clock, through_another, in_a_loop])
def test_of_functions(program):
    def call(function):
        for i in range(12):
            function(i)
            function(float(i))

    compiled = autoconv.compile(program)
    assert places(lambda: call(compiled)) == places(lambda: call(program))


def test_of_calls_that_wait_for_a_trace(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")
    test_of_functions(in_a_loop)
    test_of_functions(through_another)


def test_of_methods():
    def call(cls):
        for i in range(12):
            meter = cls(i)
            meter.read(i)
            cls.read(meter, 2.5)

    assert places(lambda: call(CompiledMeter)) == places(lambda: call(Meter))


def test_filters_by_module_apply():
    compiled = autoconv.compile(renamed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", module=__name__)
        for i in range(4):
            compiled(i)
    assert len(caught) == 4 and sys.modules[__name__].__file__ == caught[-1].filename
