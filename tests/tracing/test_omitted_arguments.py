"""Calls that omit arguments with defaults go to native code, too."""

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS

pytestmark = pytest.mark.skipif(SETTINGS.backend != "llvm", reason="only native code is called straight away")


def scaled(x, factor=2.0, power=1, *, label=None):
    return x.sum() * factor**power, label


ONES = np.ones(3)


def shifted(x, factor=2.0, power=1, flag=True, name="sum", other=None, array=ONES):
    return (x * factor**power + array).sum() if flag and name == "sum" and other is None else x[0]


def test_arguments_that_a_call_omits(monkeypatch):
    compiled, x = ac.compile(shifted), np.arange(3.0)
    calls = [(x,), (x, 3.0), (x, 3.0, 2), (x, 2.0, 1, False), (x, 2.0, 1, True, "no"), (x, 2.0, 1, True, "sum", 1)]
    for _ in range(2):
        for call in calls:
            assert compiled(*call) == shifted(*call)
        assert compiled(x, power=2) == shifted(x, power=2) and compiled(x=x) == shifted(x)
        for call in ((), (x, 2.0, 1, True, "sum", None, x, 1)):
            with pytest.raises(TypeError, match="positional argument"):
                compiled(*call)
    compiled = ac.compile(shifted)
    compiled(x)
    assert [entry(x) for entry in compiled.concrete_functions[0].entries] == [shifted(x)]
    assert [entry(x, 2.0, 1) for entry in compiled.concrete_functions[0].entries] == [shifted(x)]
    assert compiled.concrete_functions[0].entries[0]() is NotImplemented
    monkeypatch.setattr(shifted, "__defaults__", (5.0, 2, True, "sum", None, np.ones(3)))
    assert compiled(x) == shifted(x) == 78.0
    with_label = ac.compile(scaled)
    for _ in range(3):
        assert with_label(x) == scaled(x) and with_label(x, label="a") == scaled(x, label="a")
        with pytest.raises(TypeError, match="positional arguments"):
            with_label(x, 2.0, 1, None)


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    @ac.compile
    def method(self, x, power=2):
        return x.sum() * self.factor**power


def test_arguments_that_a_call_of_a_method_omits():
    x = np.arange(3.0)
    for factor in (2.0, 3.0):
        scaled = Scaled(factor)
        for _ in range(4):
            assert (scaled.method(x), scaled.method(x, 1)) == (3.0 * factor**2, 3.0 * factor)
