"""The plan of a graph: nodes fused into loop nests, and the order of all items.

Elementwise nodes over one shape join the loop of their producers, as do the reductions that read them. Views (slices,
transposes, broadcasts) have no loops: their readers compute the index in the source. Two loops are merged only if no
path of dependences leads from one to the other through another item. Nodes with effects keep their program order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from autoconv.backends.llvm.analysis.classify import LoweringClasses
from autoconv.backends.llvm.analysis.contiguity import is_contiguous_part, is_whole_source
from autoconv.backends.llvm.analysis.indexing import (
    has_position_arrays,
    is_better_stored,
    part_shape,
    positions,
    shares_loop,
    updates,
)
from autoconv.backends.llvm.analysis.lent_loads import is_blas_matrix, is_lent_load
from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import computed_sizes, defined_sizes
from autoconv.backends.llvm.schedule.implicit_im2col import Patches, patches_of
from autoconv.backends.llvm.schedule.matmul_tiling import Product, can_read_patches, tiled_product
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.lazy_dataclass import dataclass, field
from autoconv.ops.analysis.reads import read_inputs

# Lowering classes that read their inputs, and define their results, as whole objects.
WHOLE_OPERAND_CLASSES = frozenset(
    {"memory", "object", "kernel", "pair", "control", "matmul", "update", "search", "alias", "whole"}
)
# Lowering classes whose nodes depend only on the inputs whose elements they read.
_SELECTIVE_CLASSES = {"element", "reduce", "scatter", "view", "copy", "pad", "pick", "short search", "extent", "sizes"}
# Lowering classes whose nodes read contiguous elements only, so that the operand's object may have another shape.
_CONTIGUOUS_CLASSES = frozenset(
    {"matmul", "search", "short search", "element", "reduce", "view", "copy", "pad", "pick", "join", "alias", "whole"}
)


@dataclass(eq=False)
class Item:
    """A plan item: a single node, or a loop nest over `shape` of elementwise and reducing `nodes`."""

    nodes: list[Node]
    position: int  # index of the first node in the program
    shape: tuple[int, ...] | None = None
    number: int = -1  # index among the plan's `all_items`; -1 for an item with `runs`
    earlier_bits: int = 0  # bit set, by number, of the items that must run earlier
    dependences: set[int] = field(default_factory=set)  # numbers of the items that must run earlier, direct ones only
    reads: list[Value] = field(default_factory=list)  # values from outside of the item
    stored: list[Value] = field(default_factory=list)  # results that are needed after the item
    # For row chains (see row_chains.py): the phases of each row in order, the nodes that are computed once for each row
    # from its reductions, and the number of leading dimensions that index rows.
    phases: list[list[Node]] = field(default_factory=list)
    row_nodes: list[Node] = field(default_factory=list)
    depth: int = 0
    # For items that are computed in blocks (see row_blocks.py): independent runs of members that share blocks of rows.
    runs: list[list[Item]] = field(default_factory=list)
    is_concurrent: bool = False  # each run is a single item, and the runs execute concurrently (see concurrency.py)

    @property
    def members(self) -> list[Item]:
        """The items of all runs."""
        return [item for run in self.runs for item in run]


class Plan:
    """A schedule of a graph: `items` in execution order.

    `classes` are the lowering classes of the nodes, and `views` the values that exist only as index maps. `lent` are
    results of loads that are no copies: their readers read the array's own memory.
    """

    def __init__(self, graph: Graph, classes: LoweringClasses) -> None:
        self.graph = graph
        self._program_positions = {node: i for i, node in enumerate(graph.nodes)}
        self.classes: dict[Node, str] = {node: classes[node] for node in graph.nodes}
        self.patches: dict[Node, Patches] = {}
        self._consumers = self._find_consumers()
        self._choose_patches()
        self.views: set[Value] = set()
        self._choose_views()
        loads = [node.results[0] for node in graph.nodes if is_lent_load(node)]
        readers = {load: list(self.readers_and_views(load)) for load in loads}
        self.lent = {load for load in loads if all(self._takes_strides(reader, load) for reader in readers[load])}
        self.classes.update((value.node, "lent") for value in self.lent if value.node is not None)
        self._lent_reader_numbers: set[int] = set()
        self.all_items: list[Item] = []
        self._item_number_of: dict[Node, int] = {}
        self._last_effect: int | None = None
        self._awaited_bits = 0  # bit set of the items that other items must follow
        self._definers = {size: node for node in graph.nodes for size in defined_sizes(node)}  # computed size -> node
        for position, node in enumerate(graph.nodes):
            if node in self.classes:
                self._schedule_node(node, position)
        self.items: list[Item] = []

    def _find_consumers(self) -> dict[Value, list[Node]]:
        """Return the nodes that read each value, directly."""
        result: dict[Value, list[Node]] = {}
        for node in self.classes:
            for value in self.inputs(node):
                result.setdefault(value, []).append(node)
        return result

    def _choose_patches(self) -> None:
        """Find the products that read patches in place, and remove the nodes that would build the patch matrices."""
        outputs = set(self.graph.outputs)
        for node in self.graph.nodes:
            patches = patches_of(node, self._consumers, outputs) if self.classes[node] == "matmul" else None
            if patches is not None and can_read_patches(node, patches):
                self.patches[node] = patches
        for patches in self.patches.values():
            for node in patches.nodes:
                self.classes.pop(node, None)
        if self.patches:
            self._consumers = self._find_consumers()

    def inputs(self, node: Node) -> tuple[Value, ...]:
        """Return the inputs that a node reads.

        Loops and views skip inputs that give only a shape; other nodes read all inputs.
        """
        if node in self.patches:
            return self.patches[node].base, *node.inputs[1:]
        return read_inputs(node) if self.classes[node] in _SELECTIVE_CLASSES else node.inputs

    # ---- views

    def _choose_views(self) -> None:
        """Choose the views that remain index maps: those whose readers do not need contiguous elements."""
        outputs = set(self.graph.outputs)
        self._contiguous_views: set[Value] = set()  # views whose readers read the contiguous memory of the source
        for node in reversed(self.graph.nodes):
            if self.classes.get(node) != "view":
                continue
            (result,) = node.results
            readers = self._consumers.get(result, ())
            is_read_through = all(self._reads_through(reader, result) for reader in readers)
            if not is_dense(result.type):
                self.classes[node] = "pick"
            elif result not in outputs and self._is_alias(node, readers, is_read_through):
                self.classes[node] = "alias"
            elif result in outputs or not is_read_through or is_better_stored(node, readers):
                self.classes[node] = "pad" if node.op.name == "pad" else "copy"
            else:
                self.views.add(result)
                if any(self._needs_contiguous(reader, result) for reader in readers):
                    self._contiguous_views.add(result)

    def _is_alias(self, node: Node, readers: Sequence[Node], is_read_through: bool) -> bool:
        """Return whether to lower a view to an alias, the same memory with another shape, which is quicker to read."""
        if not node.op.traits.same_order or not is_dense(node.inputs[0].type):
            return False
        source_sizes, result_sizes = (tuple(size for size in sizes(value.type) if size != 1)
                                      for value in (node.inputs[0], node.results[0]))  # fmt: skip
        is_read_by_elements = all(self.classes[reader] in _CONTIGUOUS_CLASSES for reader in readers)
        return (source_sizes != result_sizes or not is_read_through) and is_read_by_elements

    def _needs_contiguous(self, reader: Node, value: Value) -> bool:
        """Return whether a reader needs contiguous elements, such as positions and the matrices of a product."""
        if (reader.results and reader.results[0] in self._contiguous_views) or self.classes[reader] == "matmul":
            return True
        return self._has_position_arrays(reader) and value in positions(reader)

    def _has_position_arrays(self, reader: Node) -> bool:
        """Return whether arrays of positions determine what a reader reads or writes."""
        return self.classes[reader] in ("view", "copy", "pick", "scatter") and has_position_arrays(reader)

    def _reads_through(self, reader: Node, value: Value) -> bool:
        """Return whether a reader of a view can read the view's source instead, by the index map."""
        lowering_class = self.classes[reader]
        feeds_contiguous_view = bool(reader.results) and reader.results[0] in self._contiguous_views
        if feeds_contiguous_view and not (is_whole_source(value) or is_contiguous_part(value)):
            return False
        if lowering_class == "join":
            return True
        if lowering_class == "matmul" and is_contiguous_part(value):
            return tiled_product(reader, self.patches.get(reader)) is not None
        if self._has_position_arrays(reader):
            # Positions, and the base of a scatter, are read contiguously before the loops that use them.
            if value in positions(reader):
                return is_whole_source(value) and reader.inputs.count(value) == 1
            return value is (updates(reader) if lowering_class == "scatter" else reader.inputs[0])
        if lowering_class in ("view", "copy", "pad", "pick", "short search"):
            return value not in reader.inputs[1:]
        return lowering_class in ("element", "reduce") and not reader.effects

    def _takes_strides(self, reader: Node, value: Value) -> bool:
        """Return whether a reader can read the elements of a load in the array's own memory, by its strides."""
        lowering_class = self.classes[reader]
        if lowering_class == "matmul":
            return value in reader.inputs and is_blas_matrix(value) and not Product(reader).suits_tiles()
        if reader.results and reader.results[0] in self._contiguous_views:
            return False
        if lowering_class in ("view", "copy", "pick", "short search"):
            indices = positions(reader) if has_position_arrays(reader) else ()
            return all(base is not value for index in indices for base, _ in self.bases(index))
        return lowering_class == "join" or (lowering_class in ("element", "reduce") and not reader.effects)

    # ---- groups

    def _schedule_node(self, node: Node, position: int) -> None:
        """Add a node to an item whose loop it can join, or to a new item, and record what has to run before."""
        lowering_class = self.classes[node]
        has_loops = lowering_class in ("element", "reduce", "scatter", "copy", "pad")
        predecessors, candidates = self._dependences(node, lowering_class)
        if node.effects is not Effects.PURE and self._last_effect is not None:
            predecessors |= {self.resolve_number(self._last_effect)} - candidates
        if node.effects.must_run:  # the node may write memory that readers of lent values read
            predecessors |= {self.resolve_number(i) for i in self._lent_reader_numbers} - candidates
        shape = _loop_shape(node, lowering_class) if has_loops else None
        # A scatter raises before its loop, so it may join a loop.
        may_join = has_loops and (not node.effects or lowering_class == "scatter")
        number = self._choose_loop(predecessors, candidates) if may_join else None
        if number is None:
            number = len(self.all_items)
            self.all_items.append(Item([node], position, shape, number=number))
        else:
            self.all_items[number].nodes.append(node)
        predecessors = {self.resolve_number(i) for i in predecessors | candidates} - {number}
        if node.effects is not Effects.PURE:
            self._last_effect = number
        self._item_number_of[node] = number
        if self.lent and any(base in self.lent for value in self.inputs(node) for base, _ in self.bases(value)):
            self._lent_reader_numbers.add(number)
        self._add_dependences(number, predecessors)

    def resolve_number(self, number: int) -> int:
        """Return the number of an item; of one that was merged, the number of the item that has its nodes."""
        while not self.all_items[number].nodes:
            (number,) = self.all_items[number].dependences
        return number

    def _dependences(self, node: Node, lowering_class: str) -> tuple[set[int], set[int]]:
        """Return the numbers of the items that a node has to follow, and of those whose loops it could join."""
        predecessors: set[int] = set()
        candidates: set[int] = set()
        has_shape = lowering_class in ("element", "reduce", "pad", "scatter")
        shape = _loop_shape(node, lowering_class) if has_shape else None
        for value in self.inputs(node):
            if lowering_class == "scatter" and (value is not updates(node) or not shares_loop(node)):
                producers = [base.node for base, _ in self.bases(value) if base.node]
                predecessors.update(self.resolve_number(self._item_number_of[producer]) for producer in producers)
                continue
            for base, has_same_index in self.bases(value):
                if base.node is None:
                    continue
                number = self.resolve_number(self._item_number_of[base.node])
                has_same_shape = shape is not None and is_dense(base.type) and sizes(base.type) == shape
                can_join = has_same_index and has_same_shape and self.all_items[number].shape == shape
                can_join = can_join and self.classes[base.node] in ("element", "copy")
                # If a node may raise, its kernel may run after the loop and replace the results.
                can_join = can_join and (not base.node.effects or self.classes[base.node] == "copy")
                (candidates if can_join else predecessors).add(number)
        for size in computed_sizes(node) if self._definers else ():
            definer = self._definers.get(size)
            if definer is not None and definer is not node:
                predecessors.add(self.resolve_number(self._item_number_of[definer]))
        return predecessors, candidates - predecessors

    def bases(self, value: Value) -> Iterator[tuple[Value, bool]]:
        """Iterate over the values that a reader of `value` reads, each with whether it is read at the same index."""
        if value not in self.views:
            yield value, True
            return
        assert value.node is not None
        yield value, False  # the view's own item, which has to run before, checks positions
        for operand in read_inputs(value.node):
            yield from ((base, False) for base, _ in self.bases(operand))

    def _choose_loop(self, predecessors: set[int], candidates: set[int]) -> int | None:
        """Return the number of the first loop that a node can join, or None; other such loops are merged into it."""
        chosen_number: int | None = None
        for number in sorted(candidates):
            bit = 1 << number
            other_numbers = predecessors | (candidates - {number, chosen_number})
            if any(self.all_items[other].earlier_bits & bit for other in other_numbers):
                continue
            if chosen_number is None:
                chosen_number = number
            else:
                is_after = self.all_items[number].earlier_bits >> chosen_number & 1
                if not is_after and not self.all_items[chosen_number].earlier_bits & bit:
                    self.merge_items(chosen_number, number)
        return chosen_number

    def merge_items(self, target_number: int, merged_number: int) -> None:
        """Move the nodes of an item into the item of the number `target_number`."""
        target_item, merged_item = self.all_items[target_number], self.all_items[merged_number]
        target_item.nodes = sorted(target_item.nodes + merged_item.nodes, key=self._program_positions.__getitem__)
        target_item.position = min(target_item.position, merged_item.position)
        merged_item.nodes = []
        predecessors = {self.resolve_number(i) for i in merged_item.dependences}
        merged_item.dependences = {target_number}
        for other in self._dependents(merged_number):
            other.earlier_bits |= 1 << target_number
            self._awaited_bits |= 1 << target_number
        self._add_dependences(target_number, predecessors - {target_number})

    def _add_dependences(self, number: int, predecessors: set[int]) -> None:
        """Record that an item runs after its predecessors; keep `earlier_bits` transitively closed."""
        dependent = self.all_items[number]
        added_bits = 0
        for predecessor in predecessors:
            added_bits |= self.all_items[predecessor].earlier_bits | 1 << predecessor
        dependent.dependences |= predecessors
        if added_bits & ~dependent.earlier_bits:
            dependent.earlier_bits |= added_bits
            self._awaited_bits |= added_bits
            for other in self._dependents(number):
                other.earlier_bits |= dependent.earlier_bits

    def _dependents(self, number: int) -> list[Item]:
        """Return the items that have to run after an item."""
        items = self.all_items if self._awaited_bits >> number & 1 else ()
        return [other for other in items if other.earlier_bits >> number & 1]

    # ---- reads and stores of each item

    def find_reads_and_stores(self) -> None:
        """Set `reads` and `stored` of all items."""
        outputs = set(self.graph.outputs)
        for item in self.all_items:
            results = {value for node in item.nodes for value in node.results}
            reads: dict[Value, None] = {}
            for node in item.nodes:
                for value in self.inputs(node):
                    for base, _ in self.bases(value):
                        if base not in results and base not in self.views:
                            reads[base] = None
            item.reads = list(reads)
            for node in item.nodes:
                for value in node.results:
                    # Loops accumulate into memory, except for reductions of rows in a row chain.
                    accumulates = self.classes[node] == "reduce" and not item.phases
                    is_in_memory = accumulates or self.classes[node] in ("pad", "scatter", "join")
                    if value in outputs or is_in_memory or self._is_read_outside(value, item):
                        item.stored.append(value)

    def count_reads(self, item: Item, value: Value) -> int:
        """Count the reads of `value` by the nodes of an item."""
        operands = [operand for node in item.nodes for operand in self.inputs(node)]
        return sum(base is value for operand in operands for base, _ in self.bases(operand))

    def readers(self, value: Value) -> Iterator[Node]:
        """Iterate over the nodes that read the value, directly or through views."""
        readers = self.readers_and_views(value)
        yield from (reader for reader in readers if not (reader.results and reader.results[0] in self.views))

    def readers_and_views(self, value: Value) -> Iterator[Node]:
        """Iterate over the nodes that read the value, including views, and those that read it through views."""
        for reader in self._consumers.get(value, ()):
            yield reader
            if reader.results and reader.results[0] in self.views:
                yield from self.readers_and_views(reader.results[0])

    def _is_read_outside(self, value: Value, item: Item) -> bool:
        """Return whether another item reads the value or a view of it; without phases, any view counts as read."""
        for reader in self._consumers.get(value, ()):
            if reader.results and reader.results[0] in self.views:
                if not item.phases or self._is_read_outside(reader.results[0], item):
                    return True
                continue
            if self.all_items[self.resolve_number(self._item_number_of[reader])] is not item:
                return True
        return False

    def execution_order(self) -> list[Item]:
        """Return the items in an order that respects dependences, and otherwise the order of the program."""
        items = [(i, item) for i, item in enumerate(self.all_items) if item.nodes]
        unmet_dependences = {i: {self.resolve_number(d) for d in item.dependences} - {i} for i, item in items}
        followers: dict[int, list[int]] = {}
        for i, predecessors in unmet_dependences.items():
            for predecessor in predecessors:
                followers.setdefault(predecessor, []).append(i)
        ready = [(self.all_items[i].position, i) for i, predecessors in unmet_dependences.items() if not predecessors]
        heapq.heapify(ready)
        order: list[Item] = []
        while ready:
            _, i = heapq.heappop(ready)
            order.append(self.all_items[i])
            for follower in followers.get(i, ()):
                unmet_dependences[follower].discard(i)
                if not unmet_dependences[follower]:
                    heapq.heappush(ready, (self.all_items[follower].position, follower))
        assert len(order) == len(unmet_dependences), "the items wait for each other"
        return order


def _loop_shape(node: Node, lowering_class: str) -> tuple[int, ...]:
    """Return the trip counts of a node's loops."""
    if lowering_class == "scatter":
        return part_shape(node)
    return sizes(node.inputs[0].type if lowering_class in ("reduce", "pad") else node.results[0].type)
