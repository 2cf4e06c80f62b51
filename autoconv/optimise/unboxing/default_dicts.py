"""Rules for dicts with a value for missing keys: `defaultdict` of int, float, bool or list, and `Counter`.

    before   %counts = object_apply(%int, function='collections.defaultdict', keywords=()): object<any>
             %count = object_apply(%counts, %key, function='getitem', keywords=()): object<any>
    after    %entries = typed_list_make(element=tuple<weak int64[], weak int64[]>): object<numbers>
             %index = typed_dict_index(): object<numbers>
             %zero = constant(value=array(int64[], 0), weak=True): weak int64[]
             %count = typed_dict_get(%entries, %index, %key, %zero, …, inserts=True): weak int64[]
"""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TupleType
from autoconv.ops.python.objects import constant_of
from autoconv.optimise.unboxing.alias_classes import AliasClass, find_root
from autoconv.optimise.unboxing.dicts import add_dict_op, is_key, write_empty
from autoconv.optimise.unboxing.entries import entry_kind
from autoconv.optimise.unboxing.kind_inference import Kinds, dict_rule, rule
from autoconv.optimise.unboxing.kinds import COUNTER, DEFAULT_DICTS, INT, LIST, LIST_DICT, is_python_number
from autoconv.optimise.unboxing.whole_lists import mark_new_list
from autoconv.optimise.unboxing.writer import Writer, dict_rewrite_rule, rewrite_rule


@rule("object_apply.collections.defaultdict")
def _defaultdict_rule(kinds: Kinds, node: Node) -> bool:
    """Return whether the node is a defaultdict of a class of numbers or of list; mark its result."""
    factory = constant_of(node.inputs[0]) if len(node.inputs) == 1 else None
    kind = f"defaultdict({factory.__name__})" if isinstance(factory, type) else ""
    if kind not in (LIST_DICT, *DEFAULT_DICTS) or node.attributes["keywords"]:
        return False
    entries = kinds.mark_list(node, kind)
    if entries is None:
        return False
    if kind == LIST_DICT:
        entries.content = entries.content or AliasClass()
        return kinds.mark_inner_list(find_root(entries.content), node) is not None
    return True


@rewrite_rule("object_apply.collections.defaultdict")
def _write_defaultdict(writer: Writer, node: Node) -> list[Value]:
    return [*write_empty(writer, node)]


@rule("object_apply.collections.Counter")
def _counter_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `Counter()`, and for a Counter of a list of ints or of tuples of these."""
    if len(node.inputs) > 1 or node.attributes["keywords"] or kinds.mark_list(node, COUNTER) is None:
        return False
    if not node.inputs:
        return True
    (value,) = node.inputs
    kind = kinds.kind(value)
    item_kind = kinds.content(value).kind if kind == LIST else None
    if item_kind is None:
        return None if kind in (None, LIST) else False
    if not is_key(item_kind):
        return False
    kinds.raise_kind(kinds.content(node.results[0]), TupleType((item_kind, INT)))  # type: ignore[arg-type]
    return True


@rewrite_rule("object_apply.collections.Counter")
def _write_counter(writer: Writer, node: Node) -> list[Value]:
    """Write a new Counter, and the counts of the items."""
    (target,) = node.results
    writer.values[target] = write_empty(writer, node)
    if node.inputs:
        add_dict_op(writer, "count", node, target, writer.typed_list(node.inputs[0]))
    return [*writer.replacements(target)]


@dict_rule("object_method.most_common")
def _most_common_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the entries of a Counter in the order of their counts; the limit is an int, if there is one."""
    value, *limits = node.inputs
    kind, entry = kinds.kind(value), entry_kind(kinds, value)
    limit_kind = kinds.kind_or_number_type(limits[0]) if limits else INT
    if kind != COUNTER or len(limits) > 1 or node.attributes["keywords"] or limit_kind not in (None, INT):
        return False
    if entry is None or limit_kind is None:
        return None
    return isinstance(entry, TupleType) and is_python_number(entry.items[1]) and mark_new_list(kinds, node, entry)  # type: ignore[arg-type]


@dict_rewrite_rule("object_method.most_common")
def _write_most_common(writer: Writer, node: Node) -> list[Value]:
    """Sort pairs of counts and negative positions, reverse them, and read the entries at these positions.

    In this order, the first of equal counts comes first.
    """
    value, *limits = node.inputs
    entry = entry_kind(writer.kinds, value)
    pair = {"element": TupleType((entry.items[1], INT))}  # type: ignore[union-attr]
    writer.dense_entries(node, value)
    (ranking,) = add_dict_op(writer, "ranking", node, value)
    writer.add_mutation("change", node, ranking, method="sort", **pair)
    writer.add_mutation("change", node, ranking, method="reverse", **pair)
    return add_dict_op(writer, "ranked", node, value, ranking, *map(writer.number, limits))
