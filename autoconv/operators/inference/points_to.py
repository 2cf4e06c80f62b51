"""Points-to analysis of the objects in a graph that is being recorded.

Lattice: for each value an example of each class of number that it may be, the types of arrays, and the contents of its
items. A function is applied to the examples. The sets are joined along data flow (forward), through regions, until a
fixed point is reached (Andersen, Program Analysis and Specialization for the C Programming Language). The analysis is
flow-insensitive: every store into a list may be seen by every read of it. Lists that may alias share one record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, bfloat16
from autoconv.graph.graph import Node, Value
from autoconv.graph.region_flow import flow_edges
from autoconv.graph.types import ArrayType, Dimension, ObjectType, TensorType, Type
from autoconv.ops.lists.item_layout import ItemType, numpy_dtype
from autoconv.ops.python.unassigned_names import NotAssigned
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import TracedList, heap_of
from autoconv.runtime.objects.symbolic_objects import SymbolicObject
from autoconv.runtime.recording.regions import Region, Trace
from autoconv.runtime.tensors.symbolic import SymbolicTensor

_NUMBER_CLASSES = (bool, int, float, complex, np.number, np.bool_)
# Transfer functions by op: contents of the results and of lists that the op fills, from those of its operands.
TRANSFER_FUNCTION_BY_OP: dict[str, Callable[[Flow, Node], None]] = {}


class Contents:
    """Possible contents of one object.

    `numbers`: an example of each class of number that the object may be; `arrays`: the dtypes and shapes of arrays that
    it may be; `items`: the contents of its items; `parts`: for a tuple, the contents of the item at each position;
    `lengths`: lengths of tuples, None for lists; `may_be_unknown`: whether the object may be anything else;
    `may_be_list_in_object`: whether an unknown object may be a list that is stored in some other object;
    `parent`: the contents with which these were unified, which stand for both (see `root`).
    """

    __slots__ = ("arrays", "items", "lengths", "may_be_list_in_object", "may_be_unknown", "numbers", "parent", "parts")

    def __init__(self) -> None:
        self.numbers: dict[type, Any] = {}
        self.arrays: set[tuple[np.dtype[Any], tuple[Dimension, ...]]] = set()
        self.items: Contents | None = None
        self.parts: dict[int, Contents] = {}
        self.lengths: set[int | None] = set()
        self.may_be_unknown = self.may_be_list_in_object = False
        self.parent: Contents | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.numbers or self.arrays or self.items or self.may_be_unknown)


def root(contents: Contents) -> Contents:
    """Return the record that stands for these contents and all those unified with them."""
    while contents.parent is not None:
        contents = contents.parent
    return contents


class Flow:
    """Contents of the values of some nodes, whose regions capture values of each other."""

    def __init__(self, trace: Trace, regions: Iterable[Region], nodes: Iterable[Node]) -> None:
        self._contents: dict[Value, Contents] = {}
        self._edges: list[tuple[Value, Value]] = [pair for region in regions for pair in region.captures.items()]
        self._nodes: list[Node] = []
        self.lists_with_stores: list[Value] = []  # lists that items are stored in
        self._has_changed = True
        for value, (element, depth) in trace.argument_list_items.items():
            self._add_argument_list(value, element, depth)
        for value in trace.root.graph.parameters:
            if isinstance(value.type, ObjectType) and value not in trace.argument_list_items:
                self.add_unknown(self.contents_of(value), may_be_list_in_object=True)
        for node in nodes:
            self._collect(node)
        # By id of a list: what was appended to it before it moved into the graph.
        self.appended_contents: dict[int, Contents] = {}
        for container, item in trace.appended_items:
            contents = self.appended_contents.setdefault(id(container), Contents())
            self._add_traced(self.add_list(contents), item)
        while self._has_changed:
            self._has_changed = False
            for source, target in self._edges:
                if isinstance(source.type, ObjectType) and isinstance(target.type, ObjectType):
                    self.join(self.contents_of(target), self.contents_of(source))
            for node in self._nodes:
                TRANSFER_FUNCTION_BY_OP[node.op.name](self, node)

    def contents_of(self, value: Value) -> Contents:
        """Return the record of the possible contents of a value."""
        return root(self._contents.setdefault(value, Contents()))

    def is_known(self, value: Value) -> bool:
        """Return whether something is known of the items of a value."""
        items = self.contents_of(value).items
        return items is not None and not root(items).is_empty

    # ---- used by the transfer functions

    def add_example(self, contents: Contents, value: Any) -> None:
        """Add that the object may be a number or array like this example, or a sequence of such items."""
        if isinstance(value, _NUMBER_CLASSES):
            if type(value) not in contents.numbers:
                contents.numbers[type(value)] = value
                self._has_changed = True
        elif isinstance(value, range):
            self.add_example(self.add_list(contents), 1)
        elif type(value) in (list, tuple):
            items = self._add_sequence(contents, len(value) if type(value) is tuple else None)
            for item in value:
                self.add_example(root(items), item)
        elif isinstance(value, np.ndarray):
            self.add_array(contents, value.dtype, value.shape)
        elif not isinstance(value, NotAssigned):
            self.add_unknown(contents)

    def add_type(self, contents: Contents, type_: Type) -> None:
        """Add a number or an array of that type."""
        if not isinstance(type_, (TensorType, ArrayType)) or type_.shape is None or not _is_numeric(type_.dtype):
            self.add_unknown(contents)
        elif type_.shape != () or isinstance(type_, ArrayType):
            self.add_array(contents, type_.dtype.numpy, type_.shape)
        else:
            example = np.ones((), type_.dtype.numpy)
            self.add_example(contents, example.item() if type_.weak else example[()])

    def add_array(self, contents: Contents, dtype: np.dtype[Any], shape: Sequence[Any]) -> None:
        """Add that the object may be an array of that dtype and shape; a size that is no int is unknown."""
        description = dtype, tuple(size if isinstance(size, int) else None for size in shape)
        if description not in contents.arrays:
            contents.arrays.add(description)
            self._has_changed = True

    def add_unknown(self, contents: Contents, may_be_list_in_object: bool = False) -> None:
        """Add that the object may be anything (see `Contents` for `may_be_list_in_object`)."""
        may_be_more = may_be_list_in_object and not contents.may_be_list_in_object
        self._has_changed |= not contents.may_be_unknown or may_be_more
        contents.may_be_unknown = True
        contents.may_be_list_in_object |= may_be_list_in_object

    def add_list(self, contents: Contents) -> Contents:
        """Add that the object may be a list; return the contents of its items."""
        return self._add_sequence(contents, length=None)

    def _add_sequence(self, contents: Contents, length: int | None) -> Contents:
        """Add that the object may be a tuple of that length, or a list (None); return the contents of its items."""
        if contents.items is None:
            contents.items = Contents()
        if length not in contents.lengths:
            contents.lengths.add(length)
            self._has_changed = True
        return root(contents.items)

    def store_item(self, target: Contents, item: Contents) -> None:
        """Add that the item is stored into the object, a list."""
        self.join(self.add_list(target), item)

    def add_tuple(self, target: Contents, items: Sequence[Contents]) -> None:
        """Add a tuple of these items to the objects that `target` may be."""
        self._add_sequence(target, len(items))
        for position, item in enumerate(items):
            self.join(self.part_of(target, position), item)
            self.join(self._add_sequence(target, len(items)), item)

    def part_of(self, contents: Contents, position: int) -> Contents:
        """Return the contents of the item at that position of a tuple."""
        return root(contents.parts.setdefault(position, Contents()))

    def add_list_of(self, target: Contents, source: Contents) -> None:
        """Add a new list that contains the items of `source`, among others."""
        if source.items is not None:
            self.join(self.add_list(target), root(source.items))

    def alias_items(self, target: Contents, source: Contents) -> None:
        """Add an iterator over a list, or an alias of it: both share one record of items."""
        if source.items is not None:
            self._unify(self.add_list(target), root(source.items))

    def add_item_of(self, target: Contents, source: Contents) -> None:
        """Add that the object may be an item of `source`."""
        if source.items is not None:
            self.join(target, root(source.items))
        elif source.may_be_unknown or source.arrays:
            self.add_unknown(target, may_be_list_in_object=source.may_be_unknown)

    def join(self, target: Contents, source: Contents) -> None:
        """Join the contents of `source` into those of `target`."""
        if target is source:
            return
        for kind, example in source.numbers.items():
            if kind not in target.numbers:
                target.numbers[kind] = example
                self._has_changed = True
        if not source.arrays <= target.arrays or not source.lengths <= target.lengths:
            target.arrays |= source.arrays
            target.lengths |= source.lengths
            self._has_changed = True
        if source.may_be_unknown:
            self.add_unknown(target, source.may_be_list_in_object)
        for position, part in list(source.parts.items()):
            self.join(self.part_of(target, position), root(part))
        if source.items is not None:
            if target.items is None:
                target.items = source.items
                self._has_changed = True
            self._unify(root(target.items), root(source.items))

    def _unify(self, first: Contents, second: Contents) -> None:
        """Let the record `first` stand for both from now on."""
        if first is not second:
            self._has_changed = True
            second.parent = first
            self.join(first, second)

    # ---- collection of the nodes and of values from outside the graph

    def _add_argument_list(self, value: Value, element: ItemType, depth: int) -> None:
        contents = self.contents_of(value)
        for _ in range(depth):
            contents = self.add_list(contents)
        self.add_example(contents, np.ones((), numpy_dtype(element)).item())

    def _add_traced(self, contents: Contents, item: Any) -> None:
        """Add a value of the traced code, which may be symbolic."""
        heap = heap_of(item)
        item = item if heap is None else heap
        if type(item) is SymbolicObject:
            self.join(contents, self.contents_of(item.value_in_graph))
        elif isinstance(item, SymbolicTensor | SymbolicArray):
            self.add_type(contents, item.type)
        elif type(item) in (list, tuple, TracedList):
            items = self._add_sequence(contents, len(item) if type(item) is tuple else None)
            for part in tuple.__iter__(item) if type(item) is tuple else list.__iter__(item):
                self._add_traced(root(items), part)
        else:
            self.add_example(contents, item)

    def _collect(self, node: Node) -> None:
        """Collect the data-flow edges of a node; a recursive function that is being recorded may lack some outputs."""
        name = node.op.name
        if node.op.traits.control:
            self._edges += [(source, target) for source, target in flow_edges(node) if source is not None]
        elif name in TRANSFER_FUNCTION_BY_OP:
            self._nodes.append(node)
            if name == "object_method" and node.attributes["name"] in ("append", "insert", "extend"):
                self.lists_with_stores.append(node.inputs[0])
        elif name == "object_constant":
            self.add_example(self.contents_of(node.results[0]), node.attributes["value"])
        else:
            for value in node.results:
                if isinstance(value.type, ObjectType):
                    self.add_unknown(self.contents_of(value), may_be_list_in_object=name == "object_get_attribute")


def _is_numeric(dtype: DType) -> bool:
    return dtype is not bfloat16 and dtype.numpy.kind in "biufc"
