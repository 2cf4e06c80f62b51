"""Analysis of the graphs that can be undone if a run ends early, by the side effects of their ops."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import ObjectType
from autoconv.ops.python.undo_log import ARRAY_MUTATORS

# Ops whose writes are logged, or go only to objects of the graph.
_LOGGED_OPS = frozenset(
    {
        "object_apply", "object_method", "object_set_attribute", "object_delete_attribute", "object_build",
        "object_iterate", "object_advance", "object_unpack", "object_exception", "object_caught",
        "object_make", "numpy_tolist", "generator_make",
        "array_new", "array_of",
    }
)  # fmt: skip
TO_LOCAL_OBJECTS = "typed_list_"  # prefix of ops that write to the run's own objects


def can_undo(graph: Graph) -> bool:
    """Return whether all writes of the graph are logged: it prints by Python's print, and changes only objects.

    Arrays passed as memory count as logged (see `make_rollback`); others belong to the run.
    """
    makes_generators = makes_all_generators(graph)
    return not any(
        is_irreversible(node) and not (makes_generators and node.op.name == "generator_draw") for node in graph.walk()
    )


def makes_all_generators(graph: Graph) -> bool:
    """Return whether the graph makes all of its NumPy generators itself, so that draws are invisible outside."""
    nodes = (node for node in graph.walk() if not node.regions)
    values = [*graph.parameters, *(value for node in nodes for value in _foreign_results(node))]
    return all(value.type != ObjectType("Generator") for value in values)


def _foreign_results(node: Node) -> Sequence[Value]:
    """Return the results that may be generators from outside of the graph."""
    return () if node.op.name == "generator_make" else node.results


def may_not_undo(node: Node) -> bool:
    """Return whether it is known only at run time that the node's change cannot be undone."""
    name = node.attributes.get("name" if node.op.name == "object_method" else "function")
    if node.op.name == "object_method":
        return name in ARRAY_MUTATORS and node.inputs[0].type != ObjectType("list")
    return node.op.name == "object_apply" and name in ("next", "collections.defaultdict")


def is_irreversible(node: Node) -> bool:
    """Return whether the node has an irreversible side effect."""
    return _has_unlogged_effect(node) and node.op.traits.stores_into is None


def _has_unlogged_effect(node: Node) -> bool:
    if node.regions:
        return False  # nodes in regions are tested individually
    is_revertible = (
        node.op.name in _LOGGED_OPS or node.op.name.startswith(TO_LOCAL_OBJECTS) or not node.effects & Effects.WRITE
    )
    return bool(node.effects & Effects.RANDOM) or node.op.traits.irreversible or not is_revertible


__all__ = ["can_undo", "is_irreversible", "may_not_undo"]
