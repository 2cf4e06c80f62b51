"""Loops that go over memory from its end: LLVM's vectorizer, left to itself, ends the process over some of them."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm.ir.hidden_trip_counts import with_hidden_counts


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


LOOP = """define void @f(ptr %s, ptr %d) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %n, %body ]
  %c = icmp slt i64 %i, 31
  br i1 %c, label %body, label %done
body:
  %m = mul nsw i64 %i, -8
  %p = getelementptr i8, ptr %s, i64 %m
  %x = load double, ptr %p
  %q = getelementptr inbounds double, ptr %d, i64 %i
  store double %x, ptr %q
  %n = add nsw i64 %i, 1
  br label %loop
done:
  ret void
}"""


def test_counts_of_such_loops_are_read():
    told = with_hidden_counts(LOOP)
    assert "icmp slt i64 %i, %count31" in told
    assert "%count31 = add nuw nsw i64 %zero, 31" in told
    forwards = LOOP.replace("-8", "8")
    assert with_hidden_counts(forwards) == forwards
