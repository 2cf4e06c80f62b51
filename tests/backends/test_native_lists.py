"""Lists as arguments and results of native code: stacks inside, values for the caller, as by the kernels."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from autoconv.backends import interpreter, llvm
from autoconv.errors import IndexOutOfRangeError
from autoconv.graph.dtypes import float32, float64, int64
from autoconv.graph.text_parser import from_text
from autoconv.ops import OPS
from autoconv.ops.values.list_value import ListValue
from autoconv.ops.values.packed_list import PackedList


def native(text):
    graph = from_text(text, OPS)
    run = llvm.compile_graph(graph)
    assert isinstance(run, llvm.NativeGraph)
    assert run.kernels == []
    return run, interpreter.compile_graph(graph)


def numbers(*items, weak=False):
    dtype = int64 if weak else float64
    return ListValue([np.array(x, dtype.numpy) for x in items], dtype=dtype, shape=(), weak=weak)


PUSHES = """
graph pushes(%list: list<float64[]>, %x: float64[], %n: int64[]) {
  %zero = constant(value=array(int64[], 0)): int64[]
  %while = while(%zero, %list, %x, %n, state=2): int64[], list<float64[]> {
    graph while_cond(%i: int64[], %l: list<float64[]>, %x: float64[], %n: int64[]) {
      %less = less(%i, %n): bool[]
      return %less
    }
    graph while_body(%i: int64[], %l: list<float64[]>, %x: float64[], %n: int64[]) {
      %one = constant(value=array(int64[], 1)): int64[]
      %next = add(%i, %one): int64[]
      %cast = cast(%next, dtype=float64): float64[]
      %product = multiply(%x, %cast): float64[]
      %push = list_push(%l, %product): list<float64[]>
      return %next, %push
    }
  }
  return %while:1
}
"""
REPLACES = """
graph replaces(%list: list<float64[]>, %x: float64[]) {
  %pop = list_pop(%list): list<float64[]>, float64[]
  %sum = add(%pop:1, %x): float64[]
  %push = list_push(%pop:0, %sum): list<float64[]>
  %again = list_push(%push, %x): list<float64[]>
  return %pop:1, %again
}
"""
PERHAPS = """
graph perhaps(%list: list<float64[]>, %c: bool[]) {
  %cond = cond(%c, %list): list<float64[]> {
    graph arm_true(%l: list<float64[]>) {
      return %l
    }
    graph arm_false(%l: list<float64[]>) {
      %pop = list_pop(%l): list<float64[]>, float64[]
      return %pop:0
    }
  }
  return %cond
}
"""


def test_a_list_argument_grows():
    run, kernels = native(PUSHES)
    for start in (numbers(), numbers(5.0, 6.0)):
        for count in (0, 3, 2000):
            arguments = [start, np.array(0.5), np.array(count)]
            (found,), (expected,) = run(arguments), kernels(arguments)
            assert found == expected
            assert found.type == expected.type
            assert [float(x) for x in found][len(start) :] == [0.5 * (i + 1) for i in range(count)]
            (longer,) = run([found, np.array(1.0), np.array(1)])
            assert len(longer) == len(found) + 1
            assert found == expected
    assert start == numbers(5.0, 6.0)


def test_pops_and_pushes_do_not_change_the_callers_list():
    run, kernels = native(REPLACES)
    (first,) = native(PUSHES)[0]([numbers(), np.array(1.0), np.array(3)])
    for argument in (numbers(1.0, 2.0, 3.0), first):
        arguments = [argument, np.array(10.0)]
        for _ in range(2):
            item, found = run(arguments)
            assert float(item) == 3.0
            assert [float(x) for x in found.alias()] == [1.0, 2.0, 13.0, 10.0]
            assert found == kernels(arguments)[1]
    assert [float(x) for x in first] == [1.0, 2.0, 3.0]
    with pytest.raises(IndexOutOfRangeError, match="Trying to pop from an empty list"):
        run([numbers(), np.array(10.0)])


def test_a_returned_list_argument():
    run, kernels = native(PERHAPS)
    for argument in (numbers(1.0, 2.0), PackedList(np.array([1.0, 2.0]))):
        for condition in (np.array(True), np.array(False)):
            assert run([argument, condition]) == kernels([argument, condition])


def test_elements_are_separate_arrays_in_python():
    (found,) = native(PUSHES)[0]([numbers(), np.array(1.0), np.array(3)])
    alias = found.alias()
    element = found.get(1)
    element[...] = 50.0
    assert [float(x) for x in alias] == [1.0, 2.0, 3.0]
    assert [float(x) for x in found] == [1.0, 50.0, 3.0]
    assert found.get(0).flags.owndata
    assert [float(x) for x in alias.append(np.array(4.0))] == [1.0, 2.0, 3.0, 4.0]
    shorter, last = alias.pop()
    assert (len(shorter), float(last), len(alias)) == (2, 3.0, 3)


def test_python_numbers_and_rows():
    text = """
    graph kinds(%weak: list<weak int64[]>, %rows: list<float32[2,3]>, %none: list<float64[0]>) {
      %pop = list_pop(%weak): list<weak int64[]>, weak int64[]
      %double = add(%pop:1, %pop:1): weak int64[]
      %push = list_push(%pop:0, %double): list<weak int64[]>
      %pop_1 = list_pop(%rows): list<float32[2,3]>, float32[2,3]
      %sum = add(%pop_1:1, %pop_1:1): float32[2,3]
      %push_1 = list_push(%pop_1:0, %sum): list<float32[2,3]>
      %pop_2 = list_pop(%none): list<float64[0]>, float64[0]
      %push_2 = list_push(%pop_2:0, %pop_2:1): list<float64[0]>
      return %push, %push_1, %push_2
    }
    """
    run, kernels = native(text)
    row = np.arange(6, dtype=np.float32).reshape(2, 3)
    rows = ListValue([row, None], dtype=float32, shape=(2, 3))  # elements that were never written are zeros
    empty = ListValue([np.zeros(0)] * 2, dtype=float64, shape=(0,))
    arguments = [numbers(3, 4, weak=True), rows, empty]
    found, expected = run(arguments), kernels(arguments)
    assert [(actual.type, [x.tolist() for x in actual]) for actual in found] == [
        (desired.type, [x.tolist() for x in desired]) for desired in expected
    ]
    assert [x.tolist() for x in found[1]] == [row.tolist(), np.zeros((2, 3)).tolist()]


def test_threads_share_a_list():
    run, _ = native(REPLACES)
    (argument,) = native(PUSHES)[0]([numbers(), np.array(1.0), np.array(1000)])
    wrong = []

    def work(number):
        for _ in range(200):
            item, found = run([argument, np.array(float(number))])
            if float(item) != 1000.0 or len(found) != 1001:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
