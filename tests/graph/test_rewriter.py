"""Rewriters rebuild graphs node by node, regions by further rewriters, and never change their input."""

from autoconv.graph.graph import Graph, copy_node
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.text import to_text
from autoconv.graph.text_parser import from_text
from autoconv.graph.verify import verify
from autoconv.ops import OPS

BRANCH = """\
graph main(%c: bool[], %x: int64[]) {
  %y = add(%x, %x): int64[]
  %cond = cond(%c, %y): int64[] {
    graph first(%y: int64[]) {
      %z = add(%y, %y): int64[]
      return %z
    }
    graph second(%y: int64[]) {
      return %y
    }
  }
  return %cond
}
"""
RECURSIVE = """\
graph main(%n: weak int64[]) {
  %call = call(%n, name='f', recursive=True): weak int64[] {
    graph f(%n: weak int64[]) {
      %less = python_less(%n, %n): weak bool[]
      %cond = cond(%less, %n): weak int64[] {
        graph base(%n: weak int64[]) {
          return %n
        }
        graph step(%n: weak int64[]) {
          %call = call(%n, name='f', recursive=True): weak int64[] {
            again f
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


class Doubling(Rewriter[list[str]]):
    """A rewriter that replaces sums of a value with itself by a product, and records the graphs."""

    def rewrite_node(self, node, inputs):
        if node.op.name != "add":
            return None
        self.shared.append(self.graph.name)
        two = self.copy.add(OPS["add"], inputs, name="twice")
        return two.results


def test_a_copy_is_equal():
    for text in (BRANCH, RECURSIVE):
        graph = from_text(text, OPS)
        before = to_text(graph)
        copy = Rewriter(graph, None).run()
        verify(copy)
        assert copy is not graph
        assert to_text(copy) == before == to_text(graph)


def test_nodes_are_replaced_in_regions_too():
    graph, seen = from_text(BRANCH, OPS), []
    copy = Doubling(graph, seen).run()
    verify(copy)
    assert seen == ["main", "first"]
    assert [node.name for node in copy.walk()] == ["twice", "cond", "twice"]
    assert [node.name for node in graph.walk()] == ["y", "cond", "z"]


def test_a_region_that_calls_share_is_rewritten_once():
    seen: list[Graph] = []

    class Counting(Rewriter[None]):
        def rewrite_node(self, node, inputs):
            if node.op.name == "python_less":
                seen.append(self.graph)
            return

    verify(Counting(from_text(RECURSIVE, OPS), None).run())
    assert len(seen) == 1


def test_a_node_may_be_inserted_explicitly():
    class Keeping(Rewriter[None]):
        def rewrite_node(self, node, inputs):
            return copy_node(self.copy, node, inputs, self.rewritten_regions(node, inputs)).results

    graph = from_text(BRANCH, OPS)
    assert to_text(Keeping(graph, None).run()) == to_text(graph)
