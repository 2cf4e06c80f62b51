"""Rewrite a graph by its inferred kinds: scalars replace boxed numbers, and typed lists replace lists of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autoconv.graph.graph import Graph, Node, Span, Value, compute_effects, copy_node, copy_regions
from autoconv.graph.region_flow import flow_edges, state_size
from autoconv.graph.types import ObjectType, TensorType, TupleType, Type
from autoconv.ops import OPS
from autoconv.ops.numpy.list_arrays import LIST_ARRAY
from autoconv.optimise.unboxing.alias_classes import ARGUMENT_LIST_OP, find_root, is_stored_argument
from autoconv.optimise.unboxing.entries import add_compaction
from autoconv.optimise.unboxing.kind_inference import Kinds, operation_key, register_in
from autoconv.optimise.unboxing.kinds import (
    BOOL,
    DICTS,
    FLOAT,
    INT,
    LIST,
    SET,
    Kind,
    is_item,
    is_number,
)
from autoconv.optimise.unboxing.replacements import replacement_types

# Adds the ops that replace a node with inferred kinds, and returns the replacements of its results: for each result, as
# many values as `Writer.types` has types for it.
RewriteRule = Callable[["Writer", Node], Sequence[Value]]
_RULES: dict[str, RewriteRule] = {}
_DICT_RULES: dict[str, RewriteRule] = {}  # see `kind_inference.DICT_RULES`
_ZIP_RULES: dict[str, RewriteRule] = {}
_LIST_VALUE_RULES: dict[str, RewriteRule] = {}
_RULES_BY_OPERAND = {"other": _RULES, "dict": _DICT_RULES, "zip": _ZIP_RULES, "dict of lists": _LIST_VALUE_RULES}
_CLASS_BY_KIND: dict[Any, str] = {INT: "int", FLOAT: "float", BOOL: "bool"}
# One rule serves lists of numbers and lists of lists.
_OPS_WITH_SHARED_RULE = frozenset({"object_check_assigned", LIST_ARRAY})


def rewrite_rule(*names: str) -> Callable[[RewriteRule], RewriteRule]:
    """Register the decorated function as the rule that replaces nodes with these keys (see `operation_key`)."""
    return register_in(_RULES, names)


def dict_rewrite_rule(*names: str) -> Callable[[RewriteRule], RewriteRule]:
    """Register the decorated function as the rule for these keys where the first operand is a dict or a part of one."""
    return register_in(_DICT_RULES, names)


def zip_rewrite_rule(*names: str) -> Callable[[RewriteRule], RewriteRule]:
    """Register the decorated function as the rule for these keys where the first operand is a zip or its iterator."""
    return register_in(_ZIP_RULES, names)


def list_value_rewrite_rule(*names: str) -> Callable[[RewriteRule], RewriteRule]:
    """Register the decorated function as the rule for these keys where the first operand is a dict of lists."""
    return register_in(_LIST_VALUE_RULES, names)


def share_rewrite_rules(*names: str) -> None:
    """Register the rules for dicts of numbers for these keys as rules for dicts of lists."""
    _LIST_VALUE_RULES.update({name: _DICT_RULES[name] for name in names})


def rewrite_by_kinds(graph: Graph, kinds: Kinds) -> Graph:
    """Return the graph rewritten by its inferred kinds; it has the same parameters and result types."""
    # Boxes of floats have the attribute `boxing`: "number" makes a Python float of every value, and "looked_up" raises
    # for a NaN: Python finds a NaN in a container by identity, which a graph that looks numbers up cannot.
    has_lookups = any(node.attributes.get("boxing") == "looked_up" for node in graph.walk())
    copy = _GraphCopier(kinds, "looked_up" if has_lookups else "number").copy_graph(graph)
    compute_effects(copy)
    return copy


class _GraphCopier:
    """The rewrite of a graph and its regions. `_copies` maps graphs to their copies, which may not be complete yet."""

    def __init__(self, kinds: Kinds, float_boxing: str) -> None:
        self._kinds = kinds
        self._float_boxing = float_boxing
        self._copies: dict[Graph, Graph] = {}

    def copy_graph(self, graph: Graph, targets: Mapping[Value, Value] | None = None) -> Graph:
        """Return the rewritten graph; the outermost one, without `targets` of its outputs, returns objects."""
        copy = self._copies[graph] = Graph(graph.name)
        writer = Writer(copy, self._kinds, self._float_boxing)
        for value in graph.parameters:
            writer.values[value] = tuple(copy.add_parameter(type_, value.name) for type_ in writer.types(value))
        for node in graph.nodes:
            if node in self._kinds.rewritable_nodes:
                writer.write_node(node)
            else:
                self._copy(writer, node)
        for value in graph.outputs:
            if targets is None:
                copy.outputs.append(writer.as_object(value, node=None))
            else:
                copy.outputs += writer.replacements_for_target(value, targets)
        if targets is None:
            writer.add_stores()
        return copy

    def _copy(self, writer: Writer, node: Node) -> None:
        """Copy a node: with objects as operands, or, for control flow, with their replacements."""
        if node.op.name == ARGUMENT_LIST_OP:
            writer.values[node.results[0]] = writer.replacements(node.inputs[0])
            return
        attributes = node.attributes
        targets = {source: target for source, target in flow_edges(node) if source is not None}
        if not node.regions:
            inputs = [writer.as_object(value, node) for value in node.inputs]
            types: list[Type] = [value.type for value in node.results]
        else:
            passed_values = [writer.replacements_for_target(value, targets, node) for value in node.inputs]
            inputs = [value for values in passed_values for value in values]
            types = [type_ for value in node.results for type_ in writer.types(value)]
            if node.op.traits.repeats:
                attributes = {**attributes, "state": sum(map(len, passed_values[: state_size(node)]))}
        regions = copy_regions(node, self._copies, lambda region: self.copy_graph(region, targets))
        new_node = writer.graph.add_replacement(node, node.op, inputs, attributes, regions=regions, types=types)
        writer.set_replacements(node, new_node.results)


class Writer:
    """The writer of one graph.

    A value of the old graph is replaced by one value or several, such as the list and the cursor of an iterator:
    `values` maps it to them. `constants` maps new constant values to their numbers.
    """

    def __init__(self, graph: Graph, kinds: Kinds, float_boxing: str = "number") -> None:
        """`float_boxing` is the `boxing` attribute of a box for Python floats."""
        self.float_boxing = float_boxing
        self.graph = graph
        self.kinds = kinds
        self.values: dict[Value, tuple[Value, ...]] = {}
        self.constants: dict[Value, Any] = {}
        self._tuples: dict[Value, Value] = {}  # value replaced by a tuple's numbers -> the object built from them
        self._outgoing_lists: dict[Value, Value] = {}  # Python lists that the graph returns, by typed list
        self.argument_lists: dict[Value, Value] = {}  # arguments, by the typed lists made from them

    def types(self, value: Value) -> list[Type]:
        """Return the types of the value's replacements."""
        return replacement_types(self.kinds, value)

    def set_replacements(self, node: Node, values: Sequence[Value]) -> None:
        """Record the replacements of a node's results, given as one sequence."""
        remaining_values = iter(values)
        for value in node.results:
            self.values[value] = tuple(next(remaining_values) for _ in self.types(value))

    def write_node(self, node: Node) -> None:
        """Add the ops that replace a node whose effect is known."""
        is_nested = node in self.kinds.nested_nodes and operation_key(node) not in _OPS_WITH_SHARED_RULE
        if not is_nested:
            rule = _RULES_BY_OPERAND[self.kinds.first_operand_class(node)][operation_key(node)]
        elif operation_key(node) == "object_apply.getitem":
            rule = Writer._add_inner_list_read
        else:
            rule = Writer.copy_with_inner_lists
        replacements = rule(self, node)
        if not replacements:
            return  # an unused None, or a constant slice
        self.set_replacements(node, replacements)
        for value in node.results:
            stays_object = isinstance(value.type, ObjectType) and self.types(value) == [value.type]
            if stays_object and is_number(self.values[value][0].type):  # rules may give numbers for objects
                self.values[value] = (self._box(self.values[value][0], node, value.type),)

    def replacements(self, value: Value) -> tuple[Value, ...]:
        """Return the values that replace a value of the old graph."""
        return self.values[value]

    def replacements_for_target(
        self, value: Value, targets: Mapping[Value, Value], node: Node | None = None
    ) -> tuple[Value, ...]:
        """Return the replacements of a value that is passed on: an object where its target is one.

        `targets` maps the operands and outputs of regions to what receives them; `node` is the control node.
        """
        kind, target = self.kinds.kind(value), targets.get(value)
        if target is None or not isinstance(value.type, ObjectType) or not is_item(kind):
            return self.values[value]
        return self.values[value] if self.kinds.kind(target) == kind else (self.as_object(value, node),)

    def number(self, value: Value) -> Value:
        """Return the replacement of a value that is a number."""
        (result,) = self.values[value]
        return result

    def item(self, value: Value, kind: Kind, node: Node) -> list[Value]:
        """Return the numbers of an item of a typed list: a number, converted to the kind, or those of a tuple."""
        numbers = self.values[value]
        return [*numbers] if isinstance(kind, TupleType) else [self.convert(numbers[0], kind, node)]

    def as_object(self, value: Value, node: Node | None) -> Value:
        """Return the value as an object: a number is boxed, a typed list converted; other values stay as they are.

        `node` is the one that uses it, None for an output of the graph.
        """
        values = self.values[value]
        if not isinstance(value.type, ObjectType):
            return values[0]
        kind = self.kinds.kind(value)
        if is_number(kind):
            return self._box(values[0], node, value.type)
        if isinstance(kind, TupleType):
            if value not in self._tuples:
                self._tuples[value] = self._build_tuple(iter(values), kind, node)
            return self._tuples[value]
        if kind in (SET, *DICTS) and node is None:
            if values[0] not in self._outgoing_lists:
                self._outgoing_lists[values[0]] = self._returned_dict(value)
            return self._outgoing_lists[values[0]]
        if kind != LIST:
            return values[0]
        if node is not None and is_stored_argument(node, value):
            return self._returned_list(value)
        if node is not None:
            return self._add_python_list(value, node.span)
        if values[0] not in self._outgoing_lists:
            self._outgoing_lists[values[0]] = self._returned_list(value)
        return self._outgoing_lists[values[0]]

    def _build_tuple(self, numbers: Iterator[Value], kind: TupleType, node: Node | None) -> Value:
        """Add a tuple of kind `kind`, and tuples in it, of the next numbers; return it."""
        items = [
            self._build_tuple(numbers, item, node) if isinstance(item, TupleType)
            else self._box(next(numbers), node, ObjectType(_CLASS_BY_KIND[item]))
            for item in kind.items
        ]  # fmt: skip
        attributes, span = {"class_name": "tuple"}, None if node is None else node.span
        return self.graph.add(OPS["object_build"], items, attributes, types=[ObjectType("tuple")], span=span).results[0]

    def _returned_dict(self, value: Value) -> Value:
        """Return Python's dict or set for a result."""
        attributes = {**self.element_attribute(value), "class_name": self.kinds.kind(value)}
        op, inputs, list_class = OPS["typed_dict_object"], [self.dense_entries(None, value)], None
        if self.kinds.kind(value) != SET:
            list_class = self.kinds.list_values(value)
        if list_class is not None and list_class.content is not None:
            op, inputs = OPS["typed_dict_of_lists_object"], [*inputs, self.values[value][-1]]
            attributes["list_element"] = find_root(list_class.content).kind
        return self.graph.add(op, inputs, attributes, types=[value.type], span=_span_of(value)).results[0]

    def dense_entries(self, node: Node | None, value: Value) -> Value:
        """Return the list of the entries of a dict, set or view, after its holes are closed, or the list itself."""
        add_compaction(self.graph, self.kinds, value, self.values[value], node)
        return self.values[value][0]

    def _returned_list(self, value: Value) -> Value:
        """Return the Python list for a result: the caller's list if the list was an argument."""
        list_value = self.typed_list(value)
        if list_value in self.argument_lists:
            return self.argument_lists[list_value]
        if not self.argument_lists or not self._may_hold_argument(value):
            return self._add_python_list(value, _span_of(value))
        inputs = [list_value, *(list_ for pair in self.argument_lists.items() for list_ in pair)]
        op = OPS["typed_list_or_given"]  # gives the argument whose typed list this is, or else a new Python list
        attributes = {"element": self._number_type(value)}
        return self.graph.add(op, inputs, attributes, types=[value.type], span=_span_of(value)).results[0]

    def add_stores(self) -> None:
        """Write the typed lists of mutated arguments back into the arguments.

        If several lists or inner lists are involved, it is checked at run time that no list occurs twice.
        """
        mutated_argument_nodes = [node for node in self.kinds.graph.nodes if node in self.kinds.mutated_argument_nodes]
        is_nested = any(site.attributes["depth"] > 1 for site in mutated_argument_nodes)
        if is_nested or (mutated_argument_nodes and len(self.argument_lists) > 1):
            self.graph.add(OPS["typed_list_apart"], [*self.argument_lists.values()], {})
        for site in mutated_argument_nodes:
            typed_list = self.typed_list(site.results[0])
            inputs = [self.argument_lists[typed_list], typed_list]
            self.graph.add(OPS["typed_list_store"], inputs, {"element": site.attributes["element"]})

    def _may_hold_argument(self, value: Value) -> bool:
        """Return whether the list, or one in it, may be one that was passed as an argument."""
        alias_class = self.kinds.alias_class(value)
        while alias_class.kind == LIST and alias_class.content is not None:
            if any(site.op.name == ARGUMENT_LIST_OP for site in alias_class.sites):
                return True
            alias_class = find_root(alias_class.content)
        return False

    def _add_python_list(self, value: Value, span: Span | None) -> Value:
        """Add a new Python list of the current items; return it."""
        op = OPS["typed_list_object" if is_item(self.kinds.content(value).kind) else "typed_list_rows"]
        attributes = {"element": self._number_type(value)}
        return self.graph.add(op, [self.typed_list(value)], attributes, types=[value.type], span=span).results[0]

    def _number_type(self, value: Value) -> Any:
        """Return the type of the numbers or tuples in a list, which may be nested."""
        item = self.kinds.content(value)
        while not is_item(item.kind):
            assert item.content is not None
            item = find_root(item.content)
        return item.kind

    def _box(self, number: Value, node: Node | None, type_: Type) -> Value:
        """Add the object for a number, with the span of the node that uses it; return the object."""
        span = _span_of(number) if node is None else node.span
        if number in self.constants:
            attributes = {"value": self.constants[number]}
            return self.graph.add(OPS["object_constant"], [], attributes, types=[type_], span=span).results[0]
        boxing = self.float_boxing if type_ == ObjectType("float") else "number" if number.weak else "array"
        return self.graph.add(OPS["object_box"], [number], {"boxing": boxing}, types=[type_], span=span).results[0]

    def add(self, name: str, node: Node, *inputs: Value, **attributes: Any) -> Value:
        """Add an op that replaces the node; return its result."""
        return self.add_all(name, node, *inputs, **attributes)[0]

    def add_all(self, name: str, node: Node, *inputs: Value, **attributes: Any) -> list[Value]:
        """Add an op that replaces the node; return its results."""
        return [*self.graph.add_replacement(node, OPS[name], inputs, attributes).results]

    def add_list_op(self, name: str, node: Node, value: Value, *operands: Value, **attributes: Any) -> list[Value]:
        """Add an op on the typed list that replaces the value; return its results, the numbers of an item."""
        attributes |= self.element_attribute(value)
        return self.add_all(f"typed_list_{name}", node, self.typed_list(value), *operands, **attributes)

    def write_mutation(self, name: str, node: Node, value: Value, *operands: Value, **attributes: Any) -> list[Value]:
        """Add a mutation of the typed list that replaces the value; None replaces the node's result, if used."""
        attributes |= self.element_attribute(value)
        self.add_mutation(name, node, self.typed_list(value), *operands, **attributes)
        used_results = [value for value in node.results if value in self.kinds.used_values]
        return [self.add("object_constant", node, value=None) for _ in used_results]

    def add_mutation(self, name: str, node: Node, typed_list: Value, *operands: Value, **attributes: Any) -> None:
        """Add an op without results that mutates the typed list."""
        self.graph.add_replacement(node, OPS[f"typed_list_{name}"], (typed_list, *operands), attributes)

    def copy(self, node: Node) -> list[Value]:
        """Add a copy of the node whose operands are objects; return its results."""
        inputs = [self.as_object(value, node) for value in node.inputs]
        return [*copy_node(self.graph, node, inputs).results]

    def copy_with_inner_lists(self, node: Node) -> list[Value]:
        """Add a copy of the node; return its results.

        Operands that are lists are replaced by typed lists, or by lists of these; others become objects.
        """
        kinds = self.kinds
        inputs = [
            self.replacements(value)[0] if kinds.kind_or_number_type(value) == LIST else self.as_object(value, node)
            for value in node.inputs
        ]
        types = [type_ for value in node.results for type_ in self.types(value)]
        new_node = self.graph.add_replacement(node, node.op, inputs, node.attributes, types=types)
        return [*new_node.results]

    def _add_inner_list_read(self, node: Node) -> list[Value]:
        """Add the read of an inner list from a list of lists; return the inner list."""
        index = self.convert(self.number(node.inputs[1]), INT, node)
        (type_,) = self.types(node.results[0])
        inputs = [self.typed_list(node.inputs[0]), index]
        row = self.graph.add_replacement(node, OPS["typed_list_row"], inputs, {}, types=[type_])
        return [*row.results]

    def typed_list(self, value: Value) -> Value:
        """Return the typed list that replaces a list, or that an iterator traverses."""
        return self.values[value][0]

    def element_attribute(self, value: Value) -> dict[str, Any]:
        """Return the attribute `element` of ops on the typed list that replaces the value."""
        return {"element": self.kinds.content(value).kind}

    def convert(self, number: Value, kind: Any, node: Node) -> Value:
        """Return the number converted to the kind; the conversion raises at run time where the kind cannot hold it."""
        assert isinstance(number.type, TensorType) and isinstance(kind, TensorType)
        if number.type == kind:
            return number
        if kind == BOOL and number.weak:
            return self.add("python_bool", node, number)
        return self.add("python_cast", node, number, dtype=kind.dtype, weak=kind.weak)


def _span_of(value: Value) -> Span | None:
    return None if value.node is None else value.node.span
