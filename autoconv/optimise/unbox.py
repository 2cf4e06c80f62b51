"""Unboxing of number lists that stay inside the graph: items lie contiguously, and numbers are not objects.

    before   graph f(%n: weak int64[]) {
               %list = object_build(class_name='list'): object<list>
               %n_box = object_box(%n, boxing='number'): object<int>
               %append = object_method(%list, %n_box, name='append', keywords=()): object<any>
               %zero = object_constant(value=0): object<int>
               %first = object_apply(%list, %zero, function='getitem', keywords=()): object<any>
               %twice = object_apply(%first, %n_box, function='add', keywords=()): object<any>
               %found = object_unbox(%twice, type=weak int64[]): weak int64[]
               return %found
             }
    after    graph f(%n: weak int64[]) {
               %list = typed_list_make(element=weak int64[]): object<numbers>
               %append = typed_list_append(%list, %n, element=weak int64[]): ()
               %zero = constant(value=array(int64[], 0), weak=True): weak int64[]
               %first = typed_list_get(%list, %zero, element=weak int64[]): weak int64[]
               %twice = python_add(%first, %n): weak int64[]
               return %twice
             }
"""

from __future__ import annotations

from autoconv.graph.graph import Graph, Node, clone
from autoconv.optimise.unboxing import (  # noqa: F401 (register the rules)
    argument_lists,
    arrays,
    default_dicts,
    dict_iteration,
    dict_removals,
    dicts,
    dicts_of_lists,
    lists,
    numbers,
    queues,
    rows,
    sorts,
    whole_lists,
    zips,
)
from autoconv.optimise.unboxing.alias_classes import ARGUMENT_LIST_OP
from autoconv.optimise.unboxing.kind_inference import Kinds
from autoconv.optimise.unboxing.truth_joins import join_truths
from autoconv.optimise.unboxing.writer import rewrite_by_kinds

_CREATING_OPS = frozenset({"object_build", "object_apply", ARGUMENT_LIST_OP})


def unbox_lists(graph: Graph, contract: str = "function") -> Graph:
    """Replace lists of numbers of one kind by typed lists (see ops/lists/typed_lists.py), and boxed numbers by scalars.

    The lists are created in the graph and do not escape from it, except as results. The pass runs only under `compile`,
    where a call with ints beyond 64 bits reruns as plain Python. After an irreversible side effect, ints that may
    exceed 64 bits stay objects.
    """
    if not any(node.op.name in _CREATING_OPS for node in graph.walk()):
        return graph
    if contract == "compile" and not any(map(tests_identity, graph.walk())):
        joined_graph = join_truths(graph)
        kinds = Kinds(joined_graph)
        if kinds.has_lists():
            return rewrite_by_kinds(joined_graph, kinds)
    return clone(graph, lambda copy, node, inputs: inputs if node.op.name == ARGUMENT_LIST_OP else None)


def tests_identity(node: Node) -> bool:
    """Return whether the node compares objects, none of them constant, by `is`.

    Unboxing would change the result: each boxing makes a new object.
    """
    if node.op.name != "object_apply" or node.attributes["function"] not in ("is", "is_not"):
        return False
    return not any(value.node is not None and value.node.op.name == "object_constant" for value in node.inputs)
