"""Native code for whole graphs: control flow, arrays that are changed in place, references, errors."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.backends import interpreter, llvm
from autoconv.errors import IndexOutOfRangeError
from autoconv.graph.text_parser import from_text
from autoconv.ops import OPS


def run_both(text: str, *arguments: Any) -> list[Any]:
    """Run the graph natively and by the interpreter, compare results, and check that no argument changes."""
    graph = from_text(text, OPS)
    before = [np.array(a) for a in arguments]
    expected = interpreter.compile_graph(graph)([np.array(a) for a in arguments])
    run = llvm.compile_graph(graph)
    assert isinstance(run, llvm.NativeGraph)
    for _ in range(3):
        found = run([np.asarray(a) for a in arguments])
        for actual_part, expected_part in zip(found, expected, strict=True):
            np.testing.assert_allclose(actual_part, expected_part, rtol=1e-12)
            assert np.asarray(actual_part).dtype == np.asarray(expected_part).dtype
    for actual_part, expected_part in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(actual_part, expected_part)
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
      %left = get_item(%a, %before, spec=(At('input'),)): float64[]
      %here = get_item(%a, %i, spec=(At('input'),)): float64[]
      %sum = add(%left, %here): float64[]
      %b = set_item(%a, %sum, %i, spec=(At('input'),)): float64[8]
      %next = add(%i, %one): int64[]
      return %next, %b
    }
  }
  return %while:1, %x
}
"""


def test_an_array_is_changed_in_place_and_the_argument_is_not() -> None:
    x = np.arange(8.0)
    sums, unchanged = run_both(PREFIX_SUMS, x)
    np.testing.assert_array_equal(sums, np.cumsum(x))
    np.testing.assert_array_equal(unchanged, x)


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
      %c = set_item(%b, %ten, spec=(At(0),)): float64[3]
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
    found = run_both(SWAPS, x, y, np.asarray(count))
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
def test_an_arm_may_return_its_operand(choice: bool) -> None:
    run_both(CHOICE, np.asarray(choice), np.linspace(0, 1, 4))


def test_reference_counts_are_unchanged() -> None:
    """Reference counts are the same after many calls, also after errors."""
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
      %item = get_item(%y, %i, spec=(At('input'),)): float64[]
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
            interpreter.compile_graph(graph)([x, np.asarray(i)])
        assert str(caught.value) == str(expected.value)


def test_slices_of_arrays_that_a_loop_computes() -> None:
    run_both(
        """
        graph stencil(%x: float64[6,5]) {
          %y = multiply(%x, %x): float64[6,5]
          %up = get_item(%y, spec=(Slice(None, -2, None), Slice(1, -1, None))): float64[4,3]
          %down = get_item(%y, spec=(Slice(2, None, None), Slice(1, -1, None))): float64[4,3]
          %sum = add(%up, %down): float64[4,3]
          %z = set_item(%y, %sum, spec=(Slice(1, -1, None), Slice(1, -1, None))): float64[6,5]
          %t = transpose(%z, perm=None): float64[5,6]
          %rows = reduce_sum(%t, axis=(0,), keepdims=False): float64[6]
          %columns = reduce_max(%t, axis=(1,), keepdims=True): float64[5,1]
          %scaled = divide(%t, %columns): float64[5,6]
          return %rows, %scaled, %y
        }
        """,
        np.random.default_rng(0).normal(size=(6, 5)),
    )


def kernels(function, *arguments):
    return function.get_concrete_function(*arguments).executable.run.kernels


def test_the_stack_of_a_loop_for_its_gradient_is_native() -> None:
    @ac.function
    def forward(h, w):
        for _ in ac.range(40):  # more than the capacity of a new stack
            if ac.reduce_sum(h) > 0.0:
                h = ac.tanh(h @ w)
            else:
                h = ac.sin(h) + 0.1
        return h

    @ac.function
    def backward(h, w):
        with ac.GradientTape() as tape:
            tape.watch([h, w])
            total = ac.reduce_sum(forward(h, w))
        return tape.gradient(total, [h, w])

    random = np.random.default_rng(1)
    h, w = ac.constant(random.normal(size=(3, 4))), ac.constant(random.normal(size=(4, 4)) * 0.7)
    of_h, of_w = backward(h, w)
    assert kernels(backward, h, w) == []

    def total(h, w):
        return float(ac.reduce_sum(forward(ac.constant(h), ac.constant(w))))

    step = 1e-6
    for argument, found, position in ((h, of_h, (1, 2)), (w, of_w, (0, 3)), (w, of_w, (2, 2))):
        up, down = argument.numpy().copy(), argument.numpy().copy()
        up[position] += step
        down[position] -= step
        pair = [(x, w.numpy()) if argument is h else (h.numpy(), x) for x in (up, down)]
        slope = (total(*pair[0]) - total(*pair[1])) / (2 * step)
        np.testing.assert_allclose(found.numpy()[position], slope, rtol=1e-5, atol=1e-8)


def test_nested_loops_share_a_stack() -> None:
    @ac.function
    def f(x):
        for i in ac.range(3):
            for _ in ac.range(i + 2):
                x = ac.sin(x) * 1.5
        return x

    @ac.function
    def slope(x):
        with ac.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    x = ac.constant(0.4, ac.float64)
    expected = (float(f(x + 1e-6)) - float(f(x - 1e-6))) / 2e-6
    np.testing.assert_allclose(float(slope(x)), expected, rtol=1e-5)


def test_a_list_that_is_used_twice_is_no_stack() -> None:
    found = run_both(
        """
        graph twice(%x: float64[]) {
          %empty = list_empty(dtype=float64, shape=(), weak=False): list<float64[]>
          %one = list_push(%empty, %x): list<float64[]>
          %y = add(%x, %x): float64[]
          %two = list_push(%one, %y): list<float64[]>
          %z = multiply(%y, %y): float64[]
          %other = list_push(%one, %z): list<float64[]>
          %pop = list_pop(%two): list<float64[]>, float64[]
          %pop_1 = list_pop(%other): list<float64[]>, float64[]
          return %pop:1, %pop_1:1
        }
        """,
        np.array(3.0),
    )
    assert [float(v) for v in found] == [6.0, 36.0]


def test_an_empty_stack_raises_what_the_kernel_raises() -> None:
    text = """
    graph pop(%x: float64[]) {
      %empty = list_empty(dtype=float64, shape=(), weak=False): list<float64[]>
      %pop = list_pop(%empty): list<float64[]>, float64[]
      %y = add(%pop:1, %x): float64[]
      return %y
    }
    """
    with pytest.raises(IndexOutOfRangeError, match="empty list"):
        llvm.compile_graph(from_text(text, OPS))([np.array(1.0)])


@pytest.mark.parametrize("kind", ["numbers", "arrays"])
def test_a_loop_without_end_can_be_interrupted(kind: str, tmp_path: Path) -> None:
    program = tmp_path / "endless.py"
    program.write_text(f"""
import signal, threading
import autoconv as ac

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may have it ignored

@ac.function
def f(x):
    while ac.reduce_sum(x) >= 0.0:
        x = x * 1.0 + 0.0
    return x

x = ac.constant(1.0) if "{kind}" == "numbers" else ac.ones([1000, 100])
f.get_concrete_function(x)
threading.Timer(0.1, lambda: print("another thread", flush=True)).start()
try:
    print("begins", flush=True)
    f(x)
except KeyboardInterrupt:
    print("interrupted", flush=True)
""")
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        assert process.stdout.readline() == "another thread\n"
        process.send_signal(signal.SIGINT)
        before = time.perf_counter()
        assert process.stdout.readline() == "interrupted\n"
        assert time.perf_counter() - before < 2.0  # 0.1 on a machine with nothing else to do


def test_a_batch_times_one_matrix() -> None:
    @ac.function
    def f(x, w):
        return x @ w, ac.matmul(x, w, transpose_b=False)

    random = np.random.default_rng(3)
    x, w = random.normal(size=(2, 3, 4, 5)), random.normal(size=(5, 6))
    for found in f(ac.constant(x), ac.constant(w)):
        np.testing.assert_allclose(found.numpy(), x @ w, rtol=1e-12)
    assert kernels(f, ac.constant(x), ac.constant(w)) == []


def test_conditions_of_unknown_shape() -> None:
    @ac.function(input_signature=[ac.TensorSpec(None, ac.float32)])
    def f(x):
        if x > 0.0:
            x = x * 2.0
        while x < 10.0:
            x = x + 3.0
        return x

    assert [float(f(ac.constant(v))) for v in (1.0, -1.0, 20.0)] == [11.0, 11.0, 40.0]
