"""Native code for whole graphs: control flow, arrays that are changed in place, references, errors."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from autoconv.backends import llvm, reference
from autoconv.graph.text_parser import from_text
from autoconv.ops import OPS


def both(text: str, *arguments: Any) -> list[Any]:
    """Runs the graph natively and on the reference; both have to agree, and leave the arguments alone."""
    graph = from_text(text, OPS)
    before = [np.array(a) for a in arguments]
    expected = reference.compile_graph(graph)([np.array(a) for a in arguments])
    run = llvm.compile_graph(graph)
    assert isinstance(run, llvm.NativeGraph)
    for _ in range(3):
        found = run([np.asarray(a) for a in arguments])
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
            assert np.asarray(one).dtype == np.asarray(other).dtype
    for one, other in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(one, other)
    return found


PREFIX_SUMS = """
graph prefix(%x: float64[8]) {
  %zero = constant(value=array(int64[], 1)): int64[]
  %while = while(%zero, %x, state=2): int64[], float64[8] {
    graph test(%i: int64[], %a: float64[8]) {
      %n = constant(value=array(int64[], 8)): int64[]
      %less = less(%i, %n): bool[]
      return %less
    }
    graph body(%i: int64[], %a: float64[8]) {
      %one = constant(value=array(int64[], 1)): int64[]
      %before = subtract(%i, %one): int64[]
      %left = get_item(%a, %before, spec=(('int', 'input'),)): float64[]
      %here = get_item(%a, %i, spec=(('int', 'input'),)): float64[]
      %sum = add(%left, %here): float64[]
      %b = set_item(%a, %sum, %i, spec=(('int', 'input'),)): float64[8]
      %next = add(%i, %one): int64[]
      return %next, %b
    }
  }
  return %while:1, %x
}
"""


def test_an_array_is_changed_in_place_and_the_argument_is_not() -> None:
    x = np.arange(8.0)
    sums, same = both(PREFIX_SUMS, x)
    np.testing.assert_array_equal(sums, np.cumsum(x))
    np.testing.assert_array_equal(same, x)


SWAPS = """
graph swaps(%x: float64[3], %y: float64[3], %n: int64[]) {
  %zero = constant(value=array(int64[], 0)): int64[]
  %while = while(%zero, %x, %y, %n, state=3): int64[], float64[3], float64[3] {
    graph test(%i: int64[], %a: float64[3], %b: float64[3], %n: int64[]) {
      %less = less(%i, %n): bool[]
      return %less
    }
    graph body(%i: int64[], %a: float64[3], %b: float64[3], %n: int64[]) {
      %one = constant(value=array(int64[], 1)): int64[]
      %next = add(%i, %one): int64[]
      %ten = constant(value=array(float64[], 10.0)): float64[]
      %c = set_item(%b, %ten, spec=(('int', 0),)): float64[3]
      return %next, %c, %a
    }
  }
  return %while:1, %while:2
}
"""


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_loop_state_may_change_places(count: int) -> None:
    x, y = np.arange(3.0), np.arange(3.0) + 5
    a, b = x.copy(), y.copy()
    for _ in range(count):
        changed = b.copy()
        changed[0] = 10.0
        a, b = changed, a
    found = both(SWAPS, x, y, np.asarray(count))
    np.testing.assert_array_equal(found, [a, b])


CHOICE = """
graph choice(%c: bool[], %x: float64[4]) {
  %cond = cond(%c, %x): float64[4] {
    graph yes(%x: float64[4]) {
      %sin = sin(%x): float64[4]
      return %sin
    }
    graph no(%x: float64[4]) {
      return %x
    }
  }
  %sum = reduce_sum(%cond, axis=None, keepdims=False): float64[]
  return %cond, %sum
}
"""


@pytest.mark.parametrize("choice", [True, False])
def test_an_arm_may_give_back_what_it_got(choice: bool) -> None:
    both(CHOICE, np.asarray(choice), np.linspace(0, 1, 4))


def test_nothing_is_kept() -> None:
    """No reference is left over, nor one too few, after many calls, also after errors."""
    graph = from_text(PREFIX_SUMS, OPS)
    run = llvm.compile_graph(graph)
    x = np.arange(8.0)
    run([x])
    before = sys.getrefcount(x)
    for _ in range(100):
        run([x])
    assert sys.getrefcount(x) == before


def test_an_index_out_of_range_raises_what_the_kernel_raises() -> None:
    text = """
    graph pick(%x: float64[4], %i: int64[]) {
      %y = add(%x, %x): float64[4]
      %item = get_item(%y, %i, spec=(('int', 'input'),)): float64[]
      return %item
    }
    """
    graph = from_text(text, OPS)
    run = llvm.compile_graph(graph)
    x = np.arange(4.0)
    assert [float(run([x, np.asarray(i)])[0]) for i in (0, 3, -1, -4)] == [0.0, 6.0, 6.0, 0.0]
    for i in (4, -5, 2**40):
        with pytest.raises(IndexError) as caught:
            run([x, np.asarray(i)])
        with pytest.raises(IndexError) as expected:
            reference.compile_graph(graph)([x, np.asarray(i)])
        assert str(caught.value) == str(expected.value)


def test_slices_of_what_a_loop_computes() -> None:
    both(
        """
        graph stencil(%x: float64[6,5]) {
          %y = multiply(%x, %x): float64[6,5]
          %up = get_item(%y, spec=(('slice', None, -2, None), ('slice', 1, -1, None))): float64[4,3]
          %down = get_item(%y, spec=(('slice', 2, None, None), ('slice', 1, -1, None))): float64[4,3]
          %sum = add(%up, %down): float64[4,3]
          %z = set_item(%y, %sum, spec=(('slice', 1, -1, None), ('slice', 1, -1, None))): float64[6,5]
          %t = transpose(%z, perm=None): float64[5,6]
          %rows = reduce_sum(%t, axis=(0,), keepdims=False): float64[6]
          %columns = reduce_max(%t, axis=(1,), keepdims=True): float64[5,1]
          %scaled = divide(%t, %columns): float64[5,6]
          return %rows, %scaled, %y
        }
        """,
        np.random.default_rng(0).normal(size=(6, 5)),
    )
