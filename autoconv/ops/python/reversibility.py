"""Analysis of whether a run that ends early can be undone, by the side effects of the ops in its graph."""

from __future__ import annotations

from collections.abc import Iterator

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import ObjectType
from autoconv.ops.python.undo_log import ARRAY_MUTATORS
from autoconv.ops.values.generator_types import generator_class

# Ops that record their writes in the undo log, or write only to objects that the run makes.
_LOGGED_OPS = frozenset(
    {
        "object_apply", "object_method", "object_set_attribute", "object_delete_attribute", "object_build",
        "object_iterate", "object_advance", "object_unpack", "object_exception", "object_caught",
        "object_make", "numpy_tolist", "generator_make",
        "array_new", "array_of",
    }
)  # fmt: skip
# Prefix of the ops on typed lists and dicts. All of them write only to what the run makes, except `typed_list_store`:
# it writes to an argument at the end of a run, and records that in the undo log.
LOCAL_WRITE_PREFIX = "typed_"


def can_undo(graph: Graph) -> bool:
    """Return whether a run of the graph can be undone: no node has an irreversible effect.

    Writes to array arguments can be undone, since the caller saves these arrays (see `make_rollback`). Draws can be
    undone if the states of their generators can be restored.
    """
    can_restore = can_restore_generators(graph)
    return not any(
        is_irreversible(node) and not (can_restore and changes_generator_state(node)) for node in graph.walk()
    )


def changes_generator_state(node: Node) -> bool:
    """Return whether the node changes the state of a generator of NumPy."""
    return node.op.name in ("generator_draw", "generator_seed")


def makes_all_generators(graph: Graph) -> bool:
    """Return whether the graph makes all of its NumPy generators itself, so that draws are invisible outside."""
    values = [*graph.parameters, *_results_except(graph, "generator_make")]
    return all(generator_class(value.type) is None for value in values)


def can_restore_generators(graph: Graph) -> bool:
    """Return whether the graph makes all of its NumPy generators, except its parameters and the global generator."""
    values = _results_except(graph, "generator_make", "generator_global")
    return all(generator_class(value.type) is None for value in values)


def _results_except(graph: Graph, *ops: str) -> Iterator[Value]:
    """Iterate over the results of the nodes without regions whose op is none of `ops`."""
    for node in graph.walk():
        if not node.regions and node.op.name not in ops:
            yield from node.results


def may_be_irreversible(node: Node) -> bool:
    """Return whether the node may make a change that cannot be undone, depending on values at run time."""
    name = node.attributes.get("name" if node.op.name == "object_method" else "function")
    if node.op.name == "object_method":
        # The receiver may be an array, except if its type is list: changes of lists are logged.
        return name in ARRAY_MUTATORS and node.inputs[0].type != ObjectType("list")
    return node.op.name == "object_apply" and name in ("next", "collections.defaultdict")


def is_irreversible(node: Node) -> bool:
    """Return whether the node has an irreversible side effect; the nodes in its regions are tested individually."""
    if node.regions or node.op.traits.stores_into is not None:
        return False
    writes_unlogged = bool(node.effects & Effects.WRITE) and not (
        node.op.name in _LOGGED_OPS or node.op.name.startswith(LOCAL_WRITE_PREFIX)
    )
    return bool(node.effects & Effects.RANDOM) or node.op.traits.irreversible or writes_unlogged
