"""Lists of numbers passed as arguments: typed lists of their items, which are written back if the graph changes them.

The items are written back at the end of the run, so that a run that raises has changed nothing, and its call runs again
as plain Python. This requires that the run changes nothing else that existed before, and prints nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, clone
from autoconv.graph.types import ObjectType
from autoconv.ops import OPS
from autoconv.ops.analysis.allocation import fresh_objects
from autoconv.ops.lists.item_layout import ItemType
from autoconv.ops.lists.typed_lists import NUMBERS
from autoconv.ops.python.undo_log import may_change_operand, method_needs_log
from autoconv.optimise.unboxing.alias_classes import ARGUMENT_LIST_OP, find_root
from autoconv.optimise.unboxing.kind_inference import RUN_CHECKS, Kinds, rule
from autoconv.optimise.unboxing.kinds import LIST, is_number
from autoconv.optimise.unboxing.writer import Writer, rewrite_rule

_CONSTANT_CLASSES = (bool, int, float, complex, str, bytes, range, slice, type(None))
_NON_MUTATING_OPS = frozenset({"object_build", "object_make", "object_exception", "object_iterate", "object_advance",
                    "object_unpack"})  # fmt: skip


def mark_number_lists(graph: Graph, number_lists: Mapping[int, tuple[ItemType, int]]) -> Graph:
    """Return a copy of the graph that marks parameters as lists of numbers.

    `number_lists` maps positions to (type of the numbers, depth of nesting: 1 for a flat list, 2 for a list of lists).
    """

    def mark(copy: Graph, value: Value, position: int) -> Value:
        """Return the parameter's value, behind a node that marks it."""
        if position not in number_lists:
            return value
        element, depth = number_lists[position]
        attributes = {"element": element, "depth": depth}
        return copy.add(OPS[ARGUMENT_LIST_OP], [value], attributes, types=[value.type]).results[0]

    return clone(graph, lambda copy, node, inputs: None, mark)


def ban_mutated_arguments(kinds: Kinds) -> None:
    """Keep as Python lists the argument lists that may be mutated and cannot be written back, or have other readers.

    Set `mutated_argument_nodes` to the others that may be mutated.
    """
    sites = {
        site for alias_class in kinds.alias_classes() for site in alias_class.sites if site.op.name == ARGUMENT_LIST_OP
    }
    if not sites:
        return
    banned_sites: set[Node] = set()
    kinds.mutated_argument_nodes = set()
    new_objects, can_store = fresh_objects(kinds.graph), _can_store(kinds, sites)
    for node in kinds.graph.walk():
        if node in kinds.rewritable_nodes:
            # Cells merge values flow-insensitively, but a list allocated here is never an argument.
            if not _may_mutate_first_operand(node) or node.inputs[0] in new_objects:
                continue
            if kinds.kind(node.inputs[0]) == LIST:
                is_stored = can_store and is_number(kinds.content(node.inputs[0]).kind)
                mutated_sites = kinds.mutated_argument_nodes if is_stored else banned_sites
                mutated_sites |= find_root(kinds.alias_class(node.inputs[0])).sites & sites
        elif not node.regions and _may_mutate_argument(node, new_objects):
            banned_sites |= sites
    kinds.ban(banned_sites | (kinds.mutated_argument_nodes & kinds.stored_argument_nodes))


def _can_store(kinds: Kinds, sites: set[Node]) -> bool:
    """Return whether a run changes nothing else that existed before, and has no other objects from outside."""
    given_lists = {site.inputs[0] for site in sites}
    if any(isinstance(value.type, ObjectType) and value not in given_lists for value in kinds.graph.parameters):
        return False
    return all(_keeps_outside(kinds, node) for node in kinds.graph.walk())


def _keeps_outside(kinds: Kinds, node: Node) -> bool:
    """Return whether the node neither prints nor changes what existed before the run, given that no objects did."""
    if node.op.traits.prints or node.op.traits.irreversible or (node.regions and not node.op.traits.control):
        return False
    if node.op.name == "object_constant":
        return isinstance(node.attributes["value"], _CONSTANT_CLASSES)
    is_local = node.op.name.startswith("object_") or node in kinds.rewritable_nodes
    return is_local or bool(node.regions) or not node.effects & (Effects.WRITE | Effects.RANDOM | Effects.OUTPUT)


def _may_mutate_argument(node: Node, new_objects: frozenset[Value]) -> bool:
    """Return whether a node of unknown effect may change a list that is no new object of the graph."""
    name = node.op.name
    if name == "py_call":
        return True
    if name in _NON_MUTATING_OPS or not name.startswith("object_"):
        return False
    if node.inputs and node.inputs[0] in new_objects:
        return False
    return _may_mutate_first_operand(node)


def _may_mutate_first_operand(node: Node) -> bool:
    """Return whether the operation may change its first operand, if that is a list."""
    if node.op.name == "object_apply":
        function = node.attributes["function"]
        return may_change_operand(function) or function == "iadd"
    if node.op.name == "object_method":
        return method_needs_log(list, node.attributes["name"]) and node.attributes["name"] in dir(list)
    return False


@rule(ARGUMENT_LIST_OP)
def _mark_rule(kinds: Kinds, node: Node) -> bool:
    """Make the argument a list, with inner lists by its depth, of items of its kind; return false if it is banned."""
    item_class = kinds.mark_list(node)
    for _ in range(node.attributes["depth"] - 1):
        item_class = kinds.mark_inner_list(item_class, node) if item_class is not None else None
    if item_class is None:
        return False
    kinds.raise_kind(item_class, node.attributes["element"])
    return True


@rewrite_rule(ARGUMENT_LIST_OP)
def _write_mark(writer: Writer, node: Node) -> list[Value]:
    """Convert the argument to a typed list, or a list of such, and record the list that it stands for."""
    (value,) = node.inputs
    is_flat = node.attributes["depth"] == 1
    type_ = NUMBERS if is_flat else ObjectType("list")
    op = OPS["typed_list_of" if is_flat else "typed_list_of_rows"]
    attributes = {"element": node.attributes["element"]} | ({} if is_flat else {"depth": node.attributes["depth"]})
    list_node = writer.graph.add_replacement(node, op, [writer.as_object(value, node)], attributes, types=[type_])
    writer.argument_lists[list_node.results[0]] = writer.as_object(value, node)
    return [*list_node.results]


RUN_CHECKS.append(ban_mutated_arguments)
