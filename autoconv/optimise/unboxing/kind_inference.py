"""Kind inference by unification: find objects that are numbers of one kind, and lists of them that do not escape.

Values that may be one object share an alias class (Steensgaard, Points-to Analysis in Almost Linear Time). The lattice
of the kind of an alias class is None (nothing known) < one kind < OTHER; kinds only rise, to a fixed point.
Conservative: a list with a use of unknown effect is banned, that is, it stays a Python list, and the analysis starts
again without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import flow_edges
from autoconv.graph.types import ObjectType, TensorType
from autoconv.optimise.unboxing.alias_classes import AliasClass, find_root, holds_numbers, is_stored_argument
from autoconv.optimise.unboxing.irreversible import late_nodes
from autoconv.optimise.unboxing.kinds import (
    CONTAINERS,
    DICTS,
    ENTRY,
    LIST,
    OTHER,
    RETURNED,
    SET,
    SLICE,
    DictPart,
    Kind,
    Zip,
    is_item,
    is_number,
)

# A rule sets the kinds of a node's results. It returns True if the node's effect on objects of these kinds is known,
# False if it is not, so that lists stay Python lists, and None if that is not decided yet. Rules are found by
# `operation_key`.
Rule = Callable[["Kinds", Node], bool | None]
RULES: dict[str, Rule] = {}
NESTED_RULES: dict[str, Rule] = {}  # for nodes with a list of lists as an operand
DICT_RULES: dict[str, Rule] = {}  # for nodes whose first operand is a dict or set, or a view or iterator of one
ZIP_RULES: dict[str, Rule] = {}  # for nodes whose first operand is a zip or an iterator over one
LIST_VALUE_RULES: dict[str, Rule] = {}  # for nodes whose first operand is a dict of lists, or a part of one
# By the first operand; views and iterators are in the class of the dict, set or zip that they come from.
RULES_BY_OPERAND = {"other": RULES, "dict": DICT_RULES, "zip": ZIP_RULES, "dict of lists": LIST_VALUE_RULES}
RUN_CHECKS: list[Callable[[Kinds], object]] = []  # checks at the end of a run, which may ban lists
_KEY_ATTRIBUTES = {"object_apply": "function", "object_method": "name", "object_build": "class_name"}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule for the nodes with these keys."""
    return register_in(RULES, names)


def nested_rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule for these keys where an operand is a list of lists."""
    return register_in(NESTED_RULES, names)


def dict_rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule for these keys where the first operand is a dict or a part of one."""
    return register_in(DICT_RULES, names)


def zip_rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule for these keys where the first operand is a zip or its iterator."""
    return register_in(ZIP_RULES, names)


def register_in(table: dict[str, Any], names: Sequence[str]) -> Callable[[Any], Any]:
    """Return a decorator that enters a function into a table of rules under these keys."""

    def register(function: Any) -> Any:
        table.update(dict.fromkeys(names, function))
        return function

    return register


def operation_key(node: Node) -> str:
    """Return the name of the op, with the function or method that it applies, or the class that it builds."""
    key_attribute = _KEY_ATTRIBUTES.get(node.op.name)
    return node.op.name if key_attribute is None else f"{node.op.name}.{node.attributes[key_attribute]}"


class Kinds:
    """The analysis of a graph, and its result: the kind of each object.

    Sets of nodes: `rewritable_nodes` have a known effect on objects of these kinds; `nested_nodes` are those of them
    with a list of lists as operand; `removal_nodes` remove entries of dicts and sets; `late_nodes` may run after a side
    effect that cannot be undone; `mutated_argument_nodes` mark arguments into which typed lists are written back at the
    end; `stored_argument_nodes` mark arguments to which an object refers after the run; `_banned` nodes allocate lists
    that stay Python lists. `used_values` are read by a node or returned by a graph.

    Phases: with `assumes_floats`, ints that meet only floats count as floats where no other kind is known; in
    `_is_final_phase`, kinds that the earlier phases have not decided count as OTHER.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.late_nodes = late_nodes(graph)
        self.used_values = _used_values(graph)
        self.mutated_argument_nodes: set[Node] = set()
        self._banned: set[Node] = set()
        while not self._reach_fixed_point():
            pass

    def kind(self, value: Value) -> Kind:
        """Return the kind of an object; in the final phase it is OTHER if nothing is known."""
        kind = self.alias_class(value).kind
        return OTHER if kind is None and self._is_final_phase else kind

    def kind_or_number_type(self, value: Value) -> Kind:
        """Return the kind of an object, or the number type of a tensor."""
        if not isinstance(value.type, ObjectType):
            type_ = value.type
            return type_ if isinstance(type_, TensorType) and is_number(type_) else OTHER
        return self.kind(value)

    def alias_class(self, value: Value) -> AliasClass:
        """Return the alias class of a value, a new one at the first call."""
        alias_class = self._alias_classes.get(value)
        if alias_class is None:
            alias_class = self._alias_classes[value] = AliasClass()
        return find_root(alias_class)

    def content(self, value: Value) -> AliasClass:
        """Return the alias class of a list's items, or of the list from which an iterator or a pair comes."""
        content = self.alias_class(value).content
        assert content is not None
        return find_root(content)

    def has_lists(self) -> bool:
        """Return whether any list becomes a typed list."""
        return any(find_root(alias_class).kind in CONTAINERS for alias_class in self._alias_classes.values())

    # ---- transfer functions used by rules

    def raise_kind(self, alias_class: AliasClass, kind: Kind) -> None:
        """Raise the kind of an alias class to the join with `kind`: OTHER if they differ."""
        alias_class = find_root(alias_class)
        if kind is None or alias_class.kind == kind or alias_class.kind == OTHER:
            return
        self._has_changed = True
        kind_before = alias_class.kind
        alias_class.kind = kind if kind_before is None else OTHER
        if alias_class.kind == OTHER:
            self._ban_lists_of(alias_class, kind_before)

    def widen_kind_of(self, value: Value, kind: Kind) -> None:
        """Raise the kind of the value's alias class to the join with `kind`."""
        self.raise_kind(self.alias_class(value), kind)

    def unify(self, first: AliasClass, second: AliasClass) -> None:
        """Make one alias class of two, and of the alias classes of their contents."""
        first, second = find_root(first), find_root(second)
        if first is second:
            return
        self._has_changed = True
        are_joinable = first.kind == second.kind or None in (first.kind, second.kind)
        joined_kind = first.kind or second.kind
        second.parent = first
        first.sites |= second.sites
        contents = [content for content in (first.content, second.content) if content is not None]
        first.content = contents[0] if contents else None
        if are_joinable:
            first.kind = joined_kind
            if len(contents) == 2:
                self.unify(*contents)
            if first.kind == OTHER:
                self._ban_lists_of(first, kind_before=None)
            return
        first.kind = OTHER
        for content in contents:
            self._ban_sites(content)
        self._ban_lists_of(first, kind_before=None)

    def mark_list(self, node: Node, kind: str = LIST) -> AliasClass | None:
        """Mark a node as an allocation site of a list, or of a deque if `kind` is DEQUE.

        Return the alias class of its items, None for a banned list.
        """
        return None if node in self._banned else self.mark_inner_list(self.alias_class(node.results[0]), node, kind)

    def mark_inner_list(self, alias_class: AliasClass, node: Node, kind: str = LIST) -> AliasClass | None:
        """Mark a node as an allocation site of the lists of `alias_class`.

        Return the alias class of their items, None for banned lists.
        """
        alias_class.sites.add(node)
        if alias_class.content is None:
            alias_class.content = AliasClass()
        self.raise_kind(alias_class, kind)
        alias_class = find_root(alias_class)
        if alias_class.kind == OTHER:
            self._banned.add(node)
            return None
        return find_root(alias_class.content or alias_class)

    def alias_classes(self) -> set[AliasClass]:
        """Return all distinct alias classes."""
        return set(map(find_root, self._alias_classes.values()))

    def ban(self, sites: set[Node]) -> None:
        """Exclude the lists allocated by these nodes."""
        self._banned |= sites

    def add_item(self, target: Value, value: Value) -> None:
        """Note that the value becomes an item of the list `target`."""
        kind = self.kind_or_number_type(value)
        if kind == LIST:
            self.unify(self.content(target), self.alias_class(value))
            return
        self.raise_kind(self.content(target), OTHER if kind is not None and not is_item(kind) else kind)

    def add_list_value(self, target: Value, value: Value) -> None:
        """Note that the list `value` becomes a value of the dict `target`."""
        entries = self.content(target)
        if entries.content is None:
            entries.content = self.alias_class(value)
            self._has_changed = True
        self.unify(entries.content, self.alias_class(value))

    def mark_derived_from_list(self, value: Value, kind: Kind, list_class: AliasClass) -> None:
        """Mark the value as an iterator, `enumerate` or pair, by `kind`, that comes from a list of `list_class`."""
        alias_class = self.alias_class(value)
        if alias_class.content is None:
            alias_class.content = list_class
        else:
            self.unify(alias_class.content, list_class)
        self.raise_kind(alias_class, kind)
        if find_root(alias_class).kind == OTHER:
            self._ban_sites(list_class)

    def _ban_lists_of(self, alias_class: AliasClass, kind_before: Kind) -> None:
        """Ban the lists of an alias class that rises to OTHER, and for an iterator also the lists that it traverses."""
        self._ban_sites(alias_class)
        if alias_class.content is not None and kind_before != LIST:
            self._ban_sites(alias_class.content)

    def _ban_sites(self, alias_class: AliasClass) -> None:
        self._banned |= find_root(alias_class).sites

    # ---- fixed point

    def _reach_fixed_point(self) -> bool:
        """Run the analysis to a fixed point; return False if another list was banned, which requires a new run."""
        banned_before = len(self._banned)
        self._alias_classes: dict[Value, AliasClass] = {}
        self.current_node: Node | None = None  # the node whose rule is applied
        for value in self.graph.parameters:
            self._escape(value)
        for self.assumes_floats, self._is_final_phase in ((False, False), (True, False), (True, True)):
            self._has_changed = True
            while self._has_changed:
                self._has_changed = False
                self.rewritable_nodes: set[Node] = set()
                self.nested_nodes: set[Node] = set()
                self.removal_nodes: set[Node] = set()
                self.stored_argument_nodes: set[Node] = set()
                self._visited: set[Graph] = set()
                self._apply_rules(self.graph)
                self.current_node = None
                for value in self.graph.outputs:
                    if self.kind(value) not in (None, *RETURNED) and not is_item(self.kind(value)):
                        self._escape(value)
        for alias_class in self.alias_classes():
            if alias_class.kind in CONTAINERS and not holds_numbers(alias_class):
                self._ban_sites(alias_class)
        self._ban_shared_outputs()
        for check in RUN_CHECKS:
            check(self)
        return len(self._banned) == banned_before

    def _ban_shared_outputs(self) -> None:
        """Ban lists that two results may share: each result becomes a new list, so the identity would be lost."""
        output_by_class: dict[AliasClass, Value] = {}
        for value in self.graph.outputs:
            alias_class = self.alias_class(value)
            while isinstance(value.type, ObjectType) and (alias_class.kind in RETURNED or alias_class.content):
                if output_by_class.setdefault(alias_class, value) is not value:
                    self._ban_sites(alias_class)
                alias_class = find_root(alias_class.content or alias_class)
                if output_by_class.get(alias_class) is value:
                    break  # a list that contains itself: `holds_numbers` is false, so it is banned

    def _apply_rules(self, graph: Graph) -> None:
        """Apply the rules to each node of a graph and its regions, once."""
        if graph in self._visited:  # a recursive function
            return
        self._visited.add(graph)
        for node in graph.nodes:
            self.current_node = node
            if node.regions:
                self._propagate_through_regions(node)
                for region in node.regions:
                    self._apply_rules(region)
                continue
            if not any(isinstance(value.type, ObjectType) for value in (*node.inputs, *node.results)):
                continue
            is_nested = any(self.is_nested_list(value) for value in node.inputs)
            rules = RULES_BY_OPERAND[self.first_operand_class(node)]
            if is_nested and rules is RULES:
                rules = NESTED_RULES
            is_effect_known = rules.get(operation_key(node), lambda *_: False)(self, node)
            if is_effect_known:
                self.rewritable_nodes.add(node)
                if is_nested:
                    self.nested_nodes.add(node)
            elif is_effect_known is False or self._is_final_phase:
                for value in node.inputs:
                    if is_stored_argument(node, value) and value.node is not None:
                        self.stored_argument_nodes.add(value.node)
                    elif not is_item(self.kind_or_number_type(value)):
                        self._escape(value)
                for value in node.results:
                    self._escape(value)

    def first_operand_class(self, node: Node) -> str:
        """Return the key in `RULES_BY_OPERAND` of the node's first operand."""
        kind = self.kind_or_number_type(node.inputs[0]) if node.inputs else None
        if isinstance(kind, Zip):
            return "zip"
        if kind not in (SET, ENTRY, *DICTS) and not isinstance(kind, DictPart):
            return "other"
        return "dict of lists" if kind != SET and self.list_values(node.inputs[0]) is not None else "dict"

    def list_values(self, value: Value) -> AliasClass | None:
        """Return the alias class of the lists in a dict, or in the dict of a part; None for a dict of numbers."""
        entries = self.content(value)
        if self.kind(value) not in DICTS:
            entries = find_root(entries.content or AliasClass())
        return None if entries.content is None else find_root(entries.content)

    def is_nested_list(self, value: Value) -> bool:
        """Return whether the value is a list of lists."""
        if not isinstance(value.type, ObjectType) or self.kind(value) != LIST:
            return False
        return self.content(value).kind == LIST

    def _escape(self, value: Value) -> None:
        """Raise the kind of an escaping object to OTHER."""
        if isinstance(value.type, ObjectType):
            self.widen_kind_of(value, OTHER)

    def _propagate_through_regions(self, node: Node) -> None:
        """Unify the values that are passed into regions and out of them; for unknown nodes, these values escape."""
        if node.op.traits.control:
            target_by_source: dict[Value, Value] = {}
            for source, target in flow_edges(node):
                if source is None:  # an exception
                    self._escape(target)
                    continue
                self._propagate(source, target)
                other_target = target_by_source.setdefault(source, target)
                if isinstance(target.type, ObjectType) and isinstance(other_target.type, ObjectType):
                    self.unify(self.alias_class(other_target), self.alias_class(target))
        else:
            region_values = (value for region in node.regions for value in (*region.parameters, *region.outputs))
            for value in (*node.inputs, *node.results, *region_values):
                self._escape(value)

    def _propagate(self, source: Value, target: Value) -> None:
        """Note that `source` is passed on as `target`; a number or tuple becomes an object where the target is one."""
        are_objects = isinstance(source.type, ObjectType), isinstance(target.type, ObjectType)
        if all(are_objects):
            kind = self.kind(source)
            if kind is None or is_item(kind):
                self.widen_kind_of(target, kind)
                return
            self.unify(self.alias_class(target), self.alias_class(source))
            # A use reads the bounds from the node that defines the slice, so a slice that is passed on stays an object.
            if self.kind(source) == SLICE:
                self._escape(source)
        elif any(are_objects):
            self._escape(source)
            self._escape(target)


def _used_values(graph: Graph) -> set[Value]:
    """Return the values that are operands or outputs, in regions too."""
    result = set(graph.outputs)
    for node in graph.walk():
        result.update(node.inputs)
        for region in node.regions:
            result.update(region.outputs)
    return result
