"""Graphs that call themselves: walked, copied, verified, printed and parsed, optimised, run."""

import pytest

from autoconv.backends import BACKENDS
from autoconv.graph.effects import Effects
from autoconv.graph.graph import clone, has_recursion, is_recursive
from autoconv.graph.scanner import GraphSyntaxError
from autoconv.graph.text import to_text
from autoconv.graph.text_parser import from_text
from autoconv.graph.verify import VerificationError, verify
from autoconv.ops import OPS
from autoconv.optimise import OPTIMISATIONS, optimise

FACTORIAL = """\
graph main(%n: weak int64[]) {
  %call = call(%n, name='factorial', recursive=True): weak int64[] {
    graph factorial(%n: weak int64[]) {
      %two = constant(value=array(int64[], 2), weak=True): weak int64[]
      %less = python_less(%n, %two): weak bool[]
      %cond = cond(%less, %n): weak int64[] {
        graph base(%n: weak int64[]) {
          %one = constant(value=array(int64[], 1), weak=True): weak int64[]
          return %one
        }
        graph step(%n: weak int64[]) {
          %one = constant(value=array(int64[], 1), weak=True): weak int64[]
          %before = python_subtract(%n, %one): weak int64[]
          %unused = python_add(%n, %one): weak int64[]
          %call = call(%before, name='factorial', recursive=True): weak int64[] {
            again factorial
          }
          %product = python_multiply(%n, %call): weak int64[]
          return %product
        }
      }
      return %cond
    }
  }
  return %call
}
"""

# Two functions that call each other; the second prints.
EVEN = """\
graph main(%n: weak int64[]) {
  %call = call(%n, name='even', recursive=True): weak bool[] {
    graph even(%n: weak int64[]) {
      %zero = constant(value=array(int64[], 0), weak=True): weak int64[]
      %end = python_equal(%n, %zero): weak bool[]
      %cond = cond(%end, %n): weak bool[] {
        graph yes(%n: weak int64[]) {
          %true = constant(value=array(bool[], True), weak=True): weak bool[]
          return %true
        }
        graph ask(%n: weak int64[]) {
          %one = constant(value=array(int64[], 1), weak=True): weak int64[]
          %before = python_subtract(%n, %one): weak int64[]
          %call = call(%before, name='odd', recursive=True): weak bool[] {
            graph odd(%n: weak int64[]) {
              %python_print = python_print(%n, template=('odd ', 0, '\\n')): ()
              %zero = constant(value=array(int64[], 0), weak=True): weak int64[]
              %end = python_equal(%n, %zero): weak bool[]
              %cond = cond(%end, %n): weak bool[] {
                graph no(%n: weak int64[]) {
                  %false = constant(value=array(bool[], False), weak=True): weak bool[]
                  return %false
                }
                graph ask(%n: weak int64[]) {
                  %one = constant(value=array(int64[], 1), weak=True): weak int64[]
                  %before = python_subtract(%n, %one): weak int64[]
                  %call = call(%before, name='even', recursive=True): weak bool[] {
                    again even
                  }
                  return %call
                }
              }
              return %cond
            }
          }
          return %call
        }
      }
      return %cond
    }
  }
  return %call
}
"""


@pytest.fixture(params=[FACTORIAL, EVEN], ids=["factorial", "even"])
def text(request):
    return request.param


def test_text_round_trips(text):
    graph = from_text(text, OPS)
    verify(graph)
    assert to_text(graph) == text


def test_a_recursive_call_refers_to_the_enclosing_graph():
    graph = from_text(FACTORIAL, OPS)
    outer = graph.nodes[0]
    calls = [node for node in graph.walk() if is_recursive(node)]
    assert len(calls) == 2
    assert calls[1].regions[0] is outer.regions[0]


def test_effects_are_the_least_fixed_point():
    graph = from_text(FACTORIAL, OPS)
    assert graph.effects == Effects.RAISE
    graph = from_text(EVEN, OPS)
    assert {node.effects for node in graph.walk() if node.regions} == {Effects.RAISE | Effects.OUTPUT}


def test_copies_call_themselves(text):
    graph = from_text(text, OPS)
    copies = [clone(graph, lambda *_: None)]
    copies += [row.transform(graph, contract) for row in OPTIMISATIONS for contract in ("function", "compile")]
    before = set(graph.walk())
    for copy in copies:
        verify(copy)
        assert has_recursion(copy)
        assert copy is graph or before.isdisjoint(copy.walk())


def test_unused_nodes_of_a_recursive_function_are_removed():
    graph = optimise(from_text(FACTORIAL, OPS))
    assert "unused" not in to_text(graph)
    verify(graph)


@pytest.mark.parametrize("backend", BACKENDS)
def test_runs(backend, capsys):
    factorial = BACKENDS[backend].compile(from_text(FACTORIAL, OPS))
    assert [int(factorial([n])[0]) for n in (0, 1, 5)] == [1, 1, 120]
    even = BACKENDS[backend].compile(from_text(EVEN, OPS))
    assert [bool(even([n])[0]) for n in (0, 2, 3)] == [True, True, False]
    assert capsys.readouterr().out == "odd 1\nodd 2\nodd 0\n"


def test_graph_def_has_each_function_once():
    names = [function.signature.name for function in from_text(EVEN, OPS).as_graph_def().library.function]
    assert names.count("even") == names.count("odd") == 1


def test_faults_inside_are_found():
    graph = from_text(FACTORIAL.replace("return %product", "return %product, %n"), OPS)
    with pytest.raises(VerificationError):
        verify(graph)
    with pytest.raises(GraphSyntaxError, match="there is no graph 'other' around or before this"):
        from_text(FACTORIAL.replace("again factorial", "again other"), OPS)
