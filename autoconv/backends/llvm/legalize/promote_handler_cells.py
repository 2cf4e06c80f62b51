"""Promote handler values, which the body of a `try` stores for its handlers, from a dict to handler cells.

    before   %frame = object_build(class_name='dict')
             try(%frame, %x, …) { body: object_apply(%frame, 0, object_box(%x), function='setitem') …
                                  handler: object_unbox(object_method(%frame, 0, object_box(%y), name='get')) … }
    after    %cell = cell(type=float64[])
             try(%x, …, %cell)  { body: cell_set(%cell, %x) …
                                  handler: cell_get(%cell, %y) … }

A read yields the last value stored, or the handler's default if there is none. A number that may be of several types
has a cell for each of them, and one for each class for which the handler tests it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.representation import is_scalar
from autoconv.backends.llvm.legalize.dead_nodes import remove_all_dead_nodes
from autoconv.graph.dtypes import DType, bool_, complex128, float64, int64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, clone, has_recursion, node_effects
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import ObjectType, TensorType, Type
from autoconv.lazy_dataclass import dataclass, field
from autoconv.ops import OPS
from autoconv.ops.analysis.value_range import is_within_int64
from autoconv.ops.python.objects import constant_of
from autoconv.ops.record import Op, no_gradient

_NO_GRADIENT = no_gradient("made by the native backend")
# The dtypes of Python's numbers, by their classes, and the reverse.
_DTYPES: dict[type, DType] = {bool: bool_, int: int64, float: float64}
_CLASSES: dict[DType, type] = {**{dtype: class_ for class_, dtype in _DTYPES.items()}, complex128: complex}
_TESTED_CLASSES = frozenset({*_CLASSES.values(), np.generic})  # classes for which a cell can hold the result of a test
_CELL = ObjectType("cell")
CELL = Op(
    name="cell", graphdef="Cell", result=lambda *, type: _CELL, kernel=None, gradient=_NO_GRADIENT,
    effects=Effects.WRITE,
)  # fmt: skip
SET = Op(
    name="cell_set", graphdef="CellSet", result=lambda cell, x: (), kernel=None, gradient=_NO_GRADIENT,
    effects=Effects.WRITE,
)  # fmt: skip
GET = Op(
    name="cell_get", graphdef="CellGet", result=lambda cell, default: default, kernel=None, gradient=_NO_GRADIENT,
    effects=Effects.READ,
)  # fmt: skip


def promote_cells(graph: Graph, is_exported: bool = False) -> Graph:
    """Return the graph, regions included, with dicts that only hold numbers for handlers replaced by cells.

    An exported graph does not distinguish Python's numbers from NumPy's, and its cells hold arrays, too.
    """
    if not any(node.op.name == "try" for node in graph.walk()) or has_recursion(graph):
        return graph
    copy = clone(graph, lambda *_: None)
    for node in list(copy.walk()):
        if node.op.name == "object_build" and node.attributes["class_name"] == "dict" and not node.inputs:
            _HandlerDict(node, is_exported).rewrite()
    remove_all_dead_nodes(copy)
    # Writes of removed dicts are no effects any more. An outer node has the effects of inner ones, which come first.
    for node in reversed([node for node in copy.walk() if node.regions]):
        node.effects = node_effects(node, node.regions)
    return copy


@dataclass
class _Uses:
    """The uses of one key: nodes that store a number, that load one, and that unbox or test a loaded one."""

    stores: list[Node] = field(default_factory=list)
    loads: list[Node] = field(default_factory=list)
    readers: list[Node] = field(default_factory=list)

    @property
    def types(self) -> list[Type]:
        """The types of the numbers that are read."""
        return list(dict.fromkeys(node.attributes["type"] for node in self.readers if node.op.name == "object_unbox"))

    @property
    def classes(self) -> list[type]:
        """The classes for which the number is tested, if it may be of several types."""
        return list(dict.fromkeys(node.attributes["kinds"] for node in self.readers if node.op.name != "object_unbox"))


class _HandlerDict:
    """A dict of the graph that handlers read."""

    def __init__(self, node: Node, is_exported: bool) -> None:
        self.creation = node
        self.is_exported = is_exported
        self.capturing_nodes: list[Node] = []  # nodes whose regions capture it, outer ones first
        self.value_by_graph: dict[Graph, Value] = {}  # the value that stands for it in each graph
        self.uses_by_key: dict[int, _Uses] = defaultdict(_Uses)
        self.unpromoted_keys: set[int] = set()

    def rewrite(self) -> None:
        """Promote the keys whose uses allow it; the dict is removed if no other key is left."""
        if not self._collect_uses(self.creation.results[0]):
            return
        for key, uses in self.uses_by_key.items():
            if key not in self.unpromoted_keys and self._is_promotable(uses):
                self._promote_key(uses)
            else:
                self.unpromoted_keys.add(key)
        if not self.unpromoted_keys:
            self._remove_dict()

    def _collect_uses(self, value: Value) -> bool:
        """Collect all uses of the dict, which is `value` in that value's graph; return False if it escapes."""
        graph = value.graph
        self.value_by_graph[graph] = value
        if value in graph.outputs:
            return False
        for node in graph.nodes:
            if value not in node.inputs:
                continue
            position = node.inputs.index(value)
            if node.regions:
                if not self._collect_uses_in_regions(node, position):
                    return False
            elif value in node.inputs[1:] or not self._record_use(graph, node):  # stored in an object: it escapes
                return False
        return True

    def _collect_uses_in_regions(self, node: Node, position: int) -> bool:
        """Collect the uses of the dict that regions capture; return false if it is state, repeated or in a function."""
        is_state = node.op.traits.repeats and position < state_size(node)
        is_repeated = node.inputs.count(node.inputs[position]) > 1
        if lowering_class(node) != "control" or node.op.name == "call" or is_state or is_repeated:
            return False
        self.capturing_nodes.append(node)
        parameter_index = position - len(node.inputs)  # captures are the last parameters of all regions
        return all(self._collect_uses(region.parameters[parameter_index]) for region in node.regions)

    def _record_use(self, graph: Graph, node: Node) -> bool:
        """Record a node that stores or loads a key; return False for another use of the dict."""
        name, attributes = node.op.name, node.attributes
        is_store = name == "object_apply" and attributes["function"] == "setitem" and not attributes["keywords"]
        is_load = name == "object_method" and attributes["name"] == "get"
        if len(node.inputs) != 3 or not (is_store or is_load):
            return False
        key = constant_of(node.inputs[1])
        readers = [reader for reader in graph.nodes if not set(node.results).isdisjoint(reader.inputs)]
        if type(key) is not int or any(value in graph.outputs for value in node.results):
            return False
        uses = self.uses_by_key[key]
        if is_store:
            uses.stores.append(node)
            is_promotable_use = not readers
        else:
            uses.loads.append(node)
            uses.readers += readers
            is_promotable_use = all(_is_plain_unboxing(x) or x.op.name == "object_isinstance" for x in readers)
        if not is_promotable_use:
            self.unpromoted_keys.add(key)
        return True

    def _is_promotable(self, uses: _Uses) -> bool:
        """Return whether all stored numbers have one of the types that are read, which fit registers.

        The default of a load may have another type. Such a default is never returned: a store precedes every load of
        that key.
        """
        types, classes = uses.types, uses.classes
        if not uses.readers:
            return True
        may_be_arrays = self.is_exported and not classes
        if (len(types) > 1 and not classes) or not all(is_scalar(type_) or may_be_arrays for type_ in types):
            return False
        if not _TESTED_CLASSES.issuperset(classes):
            return False
        stored_types = [self._type_of(node, types) for node in uses.stores]
        return all(
            type_ is not None and (not classes or _has_known_class(node, type_))
            for node, type_ in zip(uses.stores, stored_types, strict=True)
        )

    def _type_of(self, node: Node, types: Sequence[Type]) -> Type | None:
        """Return the type in `types` of the number that a node stores, or loads as the default; None for others."""
        stored_object = node.inputs[2]
        # A type that is equal comes first, then in exported graphs one that differs in weakness only.
        weakness_modes = (False, True) if self.is_exported else (False,)
        for ignores_weakness in weakness_modes:
            for type_ in types:
                if _has_type(stored_object, type_, ignores_weakness):
                    return type_
        return None

    # ---- rewriting

    def _promote_key(self, uses: _Uses) -> None:
        """Replace the uses of a key by a cell for each type, and one for each tested class with the test's result."""
        types, classes = uses.types, uses.classes

        def number_of_type(type_: Type, graph: Graph, node: Node) -> Value | None:
            return _stored_number(graph, node, type_) if self._type_of(node, types) == type_ else None

        def test_result(class_: type, graph: Graph, node: Node) -> Value:
            return _constant(graph, node, issubclass(_class_of(self._type_of(node, types)), class_))

        for type_ in types:
            readers = [node for node in uses.readers if node.attributes.get("type") == type_]
            self._add_cell(uses, type_, readers, partial(number_of_type, type_))
        for class_ in classes:
            readers = [node for node in uses.readers if node.attributes.get("kinds") is class_]
            self._add_cell(uses, readers[0].results[0].type, readers, partial(test_result, class_))
        for node in (*uses.stores, *uses.loads):
            _graph_of(node).nodes.remove(node)

    def _add_cell(
        self, uses: _Uses, type_: Type, readers: Sequence[Node], stored_value: Callable[[Graph, Node], Value | None]
    ) -> None:
        """Make a cell of a type for these readers.

        `stored_value(graph, node)` returns the value that a store sets, or None for the number of another type.
        """
        cells = self._new_cell(type_)
        for node in uses.stores:
            graph = _graph_of(node)
            value = stored_value(graph, node)
            if value is not None:
                _insert(graph, node, SET, (cells[graph], value))
        for reader in readers:
            load, graph = _loading_node(reader), _graph_of(reader)
            default = stored_value(graph, load)
            if default is None:
                assert isinstance(type_, TensorType)
                default = _constant(graph, load, np.zeros((), type_.dtype.numpy))
            reader.inputs = (cells[graph], default)
            reader.op, reader.attributes, reader.effects = GET, {}, Effects.READ

    def _new_cell(self, type_: Type) -> dict[Graph, Value]:
        """Make a cell; return the value that stands for it in each graph."""
        graph = self.creation.results[0].graph
        cell = _insert(graph, self.creation, CELL, (), type=type_).results[0]
        cells = {graph: cell}
        for owner in self.capturing_nodes:
            parameters = [region.add_parameter(_CELL, cell.name) for region in owner.regions]
            owner.inputs = (*owner.inputs, cells[_graph_of(owner)])
            cells.update(zip(owner.regions, parameters, strict=True))
        return cells

    def _remove_dict(self) -> None:
        """Remove the dict, which has no uses left."""
        for owner in reversed(self.capturing_nodes):
            dict_ = self.value_by_graph[_graph_of(owner)]
            owner.inputs = tuple(value for value in owner.inputs if value is not dict_)
            for region in owner.regions:
                region.parameters.remove(self.value_by_graph[region])
        self.creation.results[0].graph.nodes.remove(self.creation)


def _graph_of(node: Node) -> Graph:
    """Return the graph or region that has a node with inputs."""
    return node.inputs[0].graph


def _loading_node(reader: Node) -> Node:
    """Return the node that loaded the object that `reader` unboxes."""
    node = reader.inputs[0].node
    assert node is not None
    return node


def _is_plain_unboxing(node: Node) -> bool:
    """Return whether a node takes the number out of an object, without an index."""
    return node.op.name == "object_unbox" and not node.attributes.get("index")


def _class_of(type_: Type | None) -> type:
    """Return the class that a number of this type has in the dict: Python's for a weak type, else np.generic."""
    return _CLASSES[type_.dtype] if isinstance(type_, TensorType) and type_.weak else np.generic


def _has_known_class(node: Node, type_: Type) -> bool:
    """Return whether a stored number of this type is certain to have the class that `_class_of` gives.

    A number whose type is not weak has a known class only if it is boxed as an array. Otherwise the number may be a
    tensor of `function`, or in an exported graph a number of Python.
    """
    box = node.inputs[2].node
    is_weak = isinstance(type_, TensorType) and type_.weak
    return is_weak or (box is not None and box.op.name == "object_box" and box.attributes["boxing"] == "array")


def _has_type(value: Value, type_: Type, ignores_weakness: bool) -> bool:
    """Return whether an object has that type; with `ignores_weakness`, a number may be Python's in place of NumPy's."""
    if value.node is not None and value.node.op.name == "object_box":
        return _are_equal(value.node.inputs[0].type, type_, ignores_weakness)
    number, dtype = constant_of(value), _DTYPES.get(type(constant_of(value)))
    if dtype is None or not _are_equal(TensorType(dtype, (), weak=True), type_, ignores_weakness):
        return False
    return dtype is not int64 or is_within_int64((number, number))


def _are_equal(first: Type, second: Type, ignores_weakness: bool) -> bool:
    """Return whether two types are equal; if `ignores_weakness`, a weak tensor type equals one that is not weak."""
    if not ignores_weakness or not isinstance(first, TensorType) or not isinstance(second, TensorType):
        return first == second
    return (first.dtype, first.shape) == (second.dtype, second.shape)


def _stored_number(graph: Graph, node: Node, type_: Type) -> Value:
    """Return the number that a node stores, or loads as the default."""
    box = node.inputs[2]
    if box.node is not None and box.node.op.name == "object_box":
        return box.node.inputs[0]
    return _constant(graph, node, np.asarray(constant_of(box), type_.dtype.numpy))  # type: ignore[union-attr]


def _constant(graph: Graph, before: Node, value: Any) -> Value:
    """Insert a constant before a node, and return it."""
    return _insert(graph, before, OPS["constant"], (), value=np.asarray(value), weak=True).results[0]


def _insert(graph: Graph, before: Node, op: Op, inputs: Sequence[Value], **attributes: Any) -> Node:
    """Insert a node before another one, and return it."""
    node = graph.add(op, inputs, attributes, span=before.span)
    graph.nodes.insert(graph.nodes.index(before), graph.nodes.pop())
    return node
