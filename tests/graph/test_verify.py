"""The verifier accepts valid graphs, and names the fault of invalid ones."""

from __future__ import annotations

from pathlib import Path
from random import Random
from runpy import run_path

import numpy as np
import pytest

from autoconv.graph.dtypes import float32, float64, int32
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Value
from autoconv.graph.text_parser import from_text
from autoconv.graph.types import TensorType
from autoconv.graph.verify import VerificationError, verify
from autoconv.ops import OPS

random_graph = run_path(str(Path(__file__).with_name("random_graphs.py")))["random_graph"]

LOOP = """
graph f(%n: weak int64[], %x: float32[]) {
  %while = while(%n, %x, state=1): weak int64[] {
    graph test(%n: weak int64[], %x: float32[]) {
      %zero = constant(value=array(int64[], 0), weak=True): weak int64[]
      %more = python_greater(%n, %zero): weak bool[]
      return %more
    }
    graph body(%n: weak int64[], %x: float32[]) {
      %one = constant(value=array(int64[], 1), weak=True): weak int64[]
      %less = python_subtract(%n, %one): weak int64[]
      return %less
    }
  }
  return %while
}
"""
COND = """
graph f(%p: bool[], %x: float32[2], %y: float32[3]) {
  %cond = cond(%p, %x, %y): float32[?] {
    graph yes(%x: float32[2], %y: float32[3]) {
      return %x
    }
    graph no(%x: float32[2], %y: float32[3]) {
      return %y
    }
  }
  return %cond
}
"""
CALL = """
graph f(%x: float32[2]) {
  %call = call(%x, %x): float32[2] {
    graph inner(%a: float32[?], %b: float32[?]) {
      %add = add(%a, %b): float32[?]
      return %add
    }
  }
  return %call
}
"""


def line() -> Graph:
    graph = Graph("f")
    x = graph.add_parameter(TensorType(float32, (2,)), "x")
    node = graph.add(OPS["add"], [x, x])
    graph.outputs = list(graph.add(OPS["sin"], node.results).results)
    return graph


def check_refused(graph: Graph, message: str) -> None:
    with pytest.raises(VerificationError, match=message):
        verify(graph)


@pytest.mark.parametrize("text", [LOOP, COND, CALL])
def test_right_graphs_pass(text: str) -> None:
    verify(from_text(text, OPS))


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs_pass(seed: int) -> None:
    verify(random_graph(Random(seed))[0])


def test_the_error_is_an_assertion_error() -> None:
    assert issubclass(VerificationError, AssertionError)


def test_use_before_definition() -> None:
    graph = line()
    graph.nodes.reverse()
    check_refused(graph, r"f: node %sin \(sin\): input 0 is %add, which is not made before it")


def test_output_that_nothing_makes() -> None:
    graph = line()
    graph.truncate(1)
    check_refused(graph, "f: output 0 is %sin, which is not made before it")


def test_value_of_another_graph() -> None:
    graph, other = line(), line()
    graph.outputs = other.outputs
    check_refused(graph, "output 0 is %sin, which belongs to the graph 'f'")


def test_region_that_reads_around_itself() -> None:
    graph = from_text(COND, OPS)
    graph.nodes[0].regions[0].outputs = [graph.parameters[1]]
    check_refused(graph, r"f / %cond\[0\] yes: output 0 is %x, which belongs to the graph 'f'; .* through captures")


def test_parameter_of_another_graph() -> None:
    graph = line()
    graph.parameters.append(Value(Graph("g"), TensorType(int32), "y"))
    check_refused(graph, r"parameter 1 \(%y\) belongs to the graph 'g'")


def test_names_are_unique() -> None:
    graph = line()
    graph.nodes[1].name = "add"
    check_refused(graph, r"node %add \(sin\) has a name that another")


def test_result_of_another_node() -> None:
    graph = line()
    graph.nodes[1].results[0].index = 1
    check_refused(graph, "result 0 is recorded as result 1 of %sin")


def test_result_type_against_the_rule() -> None:
    graph = line()
    graph.nodes[0].results[0].type = TensorType(float32, (3,))
    check_refused(graph, r"declared to give \(float32\[3\]\), but by its rule \(float32\[2\]\)")
    graph.nodes[0].results[0].type = TensorType(float64, (2,))
    check_refused(graph, r"declared to give \(float64\[2\]\)")


def test_wider_and_narrower_results_are_fine() -> None:
    graph = line()
    graph.nodes[0].results[0].type = TensorType(float32, None)
    verify(graph)
    graph.parameters[0].type = TensorType(float32, (None,))
    graph.nodes[0].results[0].type = TensorType(float32, (2,))
    verify(graph)


def test_number_of_results() -> None:
    graph = line()
    graph.nodes[1].results = ()
    graph.outputs = []
    check_refused(graph, r"declared to give \(\), but by its rule \(float32\[2\]\)")


def test_inputs_that_the_rule_refuses() -> None:
    graph = line()
    graph.add_parameter(TensorType(int32, (2,)), "y")
    graph.nodes[0].inputs = tuple(graph.parameters)
    check_refused(graph, r"its rule refuses \(float32\[2\], int32\[2\]\): .*does not match")


def test_effects() -> None:
    graph = line()
    graph.nodes[0].effects = Effects.RAISE
    check_refused(graph, "its effects are raise, computed are pure")


def test_effects_of_regions_count() -> None:
    graph = from_text(LOOP, OPS)
    assert graph.nodes[0].effects == Effects.RAISE
    graph.nodes[0].effects = Effects.PURE
    check_refused(graph, "its effects are pure, computed are raise")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("no(%x: float32[2], %y: float32[3])", "no(%y: float32[3])", "1 parameter for 2 captures"),
        ("yes(%x: float32[2]", "yes(%x: float32[4]", r"float32\[4\] as parameter 0, .*\[2\] as capture"),
        ("return %y", "return %y, %y", "2 outputs for 1 result"),
        ("%p: bool[]", "%p: bool[2]", r"cond takes a bool or integer scalar, found bool\[2\]"),
        ("float32[?] {", "float32[4] {", r"float32\[2\] as output 0, its node has float32\[4\] as result"),
    ],
)
def test_cond(old: str, new: str, message: str) -> None:
    check_refused(from_text(COND.replace(old, new), OPS), message)


def test_bool_cond_has_two_arms() -> None:
    graph = from_text(COND, OPS)
    graph.nodes[0].regions = graph.nodes[0].regions[:1]
    check_refused(graph, "has 1 arms for a bool")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("state=1", "state=3", "the attribute state is 3 for 2 inputs"),
        ("state=1", "state=True", "the attribute state is True"),
        ("test(%n: weak int64[], %x: float32[])", "test(%n: weak int64[])", "1 parameter for 2 inputs"),
        ("return %more", "return %n", r"the test gives weak int64\[\]"),
        ("return %more", "return", "the test has 0 outputs"),
        ("return %less", "return %less, %x", "2 outputs for 1 value of state"),
        ("return %less", "return %x", r"float32\[\] after it"),
    ],
)
def test_while(old: str, new: str, message: str) -> None:
    check_refused(from_text(LOOP.replace(old, new), OPS), message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("call(%x, %x)", "call(%x)", "2 parameters for 1 argument"),
        ("return %add", "return", "0 outputs for 1 result"),
        ("): float32[2] {", "): int32[2] {", r"float32\[\?\] as output 0, its node has int32\[2\]"),
    ],
)
def test_call(old: str, new: str, message: str) -> None:
    check_refused(from_text(CALL.replace(old, new), OPS), message)


def test_constants_in_graphs_are_checked() -> None:
    graph = Graph("f")
    node = graph.add(OPS["constant"], (), {"value": np.zeros(3, np.float32)})
    node.attributes["value"] = np.zeros(4, np.float32)
    check_refused(graph, r"declared to give \(float32\[3\]\), but by its rule \(float32\[4\]\)")
