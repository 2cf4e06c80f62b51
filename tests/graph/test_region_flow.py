"""Data flow through regions, on graphs written as text."""

from autoconv.graph.region_flow import flow_edges, parameter_sources, result_sources
from autoconv.graph.text_parser import from_text
from autoconv.ops import OPS

LOOP = """graph f(%x: float64[], %c: float64[]) {
  %while = while(%x, %c, state=1): float64[] {
    graph while_cond(%a: float64[], %b: float64[]) {
      %less = less(%a, %b): bool[]
      return %less
    }
    graph while_body(%a: float64[], %b: float64[]) {
      %mul = multiply(%a, %b): float64[]
      return %mul
    }
  }
  return %while
}
"""
CHOICE = """graph f(%p: bool[], %x: float64[], %y: float64[]) {
  %cond = cond(%p, %x, %y): float64[] {
    graph then(%a: float64[], %b: float64[]) {
      return %a
    }
    graph otherwise(%c: float64[], %d: float64[]) {
      return %d
    }
  }
  return %cond
}
"""


def named(pairs):
    return [(source and source.name, target.name) for source, target in pairs]


def test_a_loop():
    (node,) = from_text(LOOP, OPS).nodes
    assert sorted(named(flow_edges(node))) == sorted([
        ("x", "a"), ("c", "b"), ("mul", "a"),  # parameters of the condition
        ("x", "a"), ("c", "b"), ("mul", "a"),  # parameters of the body
        ("x", "while"), ("mul", "while"),
    ])  # fmt: skip
    assert [value.name for value in result_sources(node, 0)] == ["x", "mul"]
    assert sorted(named(parameter_sources(node, node.regions[1]))) == [("a", "mul"), ("a", "x"), ("b", "c")]


def test_a_choice():
    (node,) = from_text(CHOICE, OPS).nodes
    assert named(flow_edges(node)) == [
        ("x", "a"), ("y", "b"), ("a", "cond"), ("x", "c"), ("y", "d"), ("d", "cond"),
    ]  # fmt: skip
    assert [value.name for value in result_sources(node, 0)] == ["a", "d"]


def test_other_nodes_have_no_edges():
    graph = from_text("graph f(%x: float64[]) {\n  %y = add(%x, %x): float64[]\n  return %y\n}\n", OPS)
    assert list(flow_edges(graph.nodes[0])) == [] == result_sources(graph.nodes[0], 0)
