"""Descending loops over memory, on some of which LLVM's vectorizer ends its process."""

from __future__ import annotations

import re

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import times
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.signature import Signature


def copied(a):
    a[0] = 1
    return a[::-1].copy()


def changed(a):
    a[:] = a[::-1] * 2
    return a


def by_position(a):
    found = np.zeros(len(a))
    for i in range(len(a)):
        found[i] = a[len(a) - 1 - i]
    return found


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
@pytest.mark.parametrize("function", [copied, changed, by_position])
def test_from_the_end(function, dtype):
    for size in (20, 23, 28, 31, 88, 95):
        compiled = autoconv.compile(function)
        np.testing.assert_array_equal(compiled(np.arange(size).astype(dtype)), function(np.arange(size).astype(dtype)))


def counted(step):
    """Return the lines of a function with a loop over 31 elements, `step` bytes apart."""
    module = ModuleText()
    module.has_loops = True
    out = FunctionText(module, Signature("void", ("ptr noalias %s", "ptr noalias %d")))
    with out.loop("0", "31") as i:
        source = out.new(f"getelementptr i8, ptr %s, i64 {times(out, i, step)}")
        value = out.new(f"load double, ptr {source}")
        out.line(f"store double {value}, ptr {out.new(f'getelementptr inbounds double, ptr %d, i64 {i}')}")
    out.line("ret void")
    out.finish("loop")
    return "\n".join(module.texts())


def test_counts_of_such_loops_are_read():
    result = counted(-8)
    assert re.search(r"icmp slt i64 %\w+, %count31\n", result)
    assert "%count31 = add nuw nsw i64 %zero, 31" in result
    assert "count31" not in counted(8)
