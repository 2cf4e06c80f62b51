"""Fuse nodes into loop nests, and order all items.

Elementwise nodes over one shape join the loop of their producers, and so do the reductions that read them. Views
(slices, transposes, broadcasts) are no loops: their consumers compute the index in the source. Two loops are merged
only if no dependence path leads from one to the other through an item outside. Nodes with effects keep program order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from autoconv.backends.llvm.analysis.classify import LoweringClasses
from autoconv.backends.llvm.analysis.contiguity import is_block, is_contiguous
from autoconv.backends.llvm.analysis.indexing import is_indexed, part_shape, positions, shares_loop, updates
from autoconv.backends.llvm.analysis.lent_loads import is_blas_matrix, is_lent_load
from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import computed_sizes, defined_sizes
from autoconv.backends.llvm.schedule.implicit_im2col import Patches, patches_of
from autoconv.backends.llvm.schedule.matmul_tiling import Product, can_read_patches, tiled_product
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.ops.analysis.reads import read_inputs

# Roles that read their inputs, and make their results, as whole objects.
WHOLE = frozenset({"memory", "object", "kernel", "pair", "control", "matmul", "update", "search", "alias", "whole"})
# Roles that skip inputs whose elements they do not read.
_OF_ELEMENTS_READ = frozenset(
    {"element", "reduce", "scatter", "view", "copy", "place", "pick", "extent", "sizes"}
)
# Roles that read only elements, contiguous in memory.
_BY_ELEMENTS = frozenset(
    {"matmul", "search", "element", "reduce", "view", "copy", "place", "pick", "join", "alias", "whole"}
)


@dataclass(eq=False)
class Item:
    """One step of a plan: a single node, or a loop nest over `shape` of elementwise and reducing `nodes`."""

    nodes: list[Node]
    position: int
    shape: tuple[int, ...] | None = None
    number: int = -1  # index among all items
    before: int = 0  # bit set of the items that must run earlier
    direct: set[int] = field(default_factory=set)
    reads: list[Value] = field(default_factory=list)
    stored: list[Value] = field(default_factory=list)
    # For loops that run row by row (see rows): the phases of each row in order, the nodes computed from the sums of a
    # row, and the number of dimensions that count rows.
    phases: list[list[Node]] = field(default_factory=list)
    rows: list[Node] = field(default_factory=list)
    depth: int = 0
    # For items that run block by block (see blocks): runs that share blocks of rows, several of them side by side.
    runs: list[list[Item]] = field(default_factory=list)
    is_concurrent: bool = False  # each run is a single whole item, and the runs execute concurrently (see apart)

    @property
    def members(self) -> list[Item]:
        return [item for run in self.runs for item in run]


class Plan:
    """A schedule: `items` in execution order.

    `classes` are the lowering classes of the nodes, and `views` the values that only yield indices.
    """

    def __init__(self, graph: Graph, classes: LoweringClasses) -> None:
        self.graph = graph
        self.classes: dict[Node, str] = {node: classes[node] for node in graph.nodes}
        self.patches: dict[Node, Patches] = {}
        self._consumers = self._find_consumers()
        self._choose_patches()
        self.views: set[Value] = set()
        self._choose_views()
        self.lent = {node.results[0] for node in graph.nodes if is_lent_load(node) and self._can_lend(node.results[0])}
        self.classes.update((value.node, "lent") for value in self.lent if value.node is not None)
        self._readers_of_lent: set[int] = set()
        self.all_items: list[Item] = []
        self._item_of: dict[Node, int] = {}
        self._last_effect: int | None = None
        self._definers = {size: node for node in graph.nodes for size in defined_sizes(node)}
        for position, node in enumerate(graph.nodes):
            if node in self.classes:
                self._schedule_node(node, position)
        self.items: list[Item] = []

    def _find_consumers(self) -> dict[Value, list[Node]]:
        result: dict[Value, list[Node]] = {}
        for node in self.classes:
            for value in self.inputs(node):
                result.setdefault(value, []).append(node)
        return result

    def _choose_patches(self) -> None:
        """Drop nodes that extract patches where a matrix product reads the patches in place."""
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
        """Return the values that running the node reads.

        Loops and views skip inputs whose elements they do not read; other nodes take all inputs.
        """
        if node in self.patches:
            return self.patches[node].base, *node.inputs[1:]
        loops = self.classes[node] in _OF_ELEMENTS_READ
        return read_inputs(node) if loops else node.inputs

    # ---- views

    def _choose_views(self) -> None:
        """Keep a view an index computation unless a consumer needs its elements contiguous in memory."""
        outputs = set(self.graph.outputs)
        self._in_memory: set[Value] = set()  # views that are read in the memory of their source
        for node in reversed(self.graph.nodes):
            if self.classes.get(node) != "view":
                continue
            (result,) = node.results
            readers = self._consumers.get(result, ())
            looked_through = all(self._looks_through(reader, result) for reader in readers)
            if not is_dense(result.type):
                self.classes[node] = "pick"
            elif result not in outputs and self._is_alias(node, readers, looked_through):
                self.classes[node] = "alias"
            elif result in outputs or not looked_through or (len(readers) > 1 and is_indexed(node)):
                self.classes[node] = "place" if node.op.name == "pad" else "copy"
            else:
                self.views.add(result)
                if any(self._reads_in_memory(reader, result) for reader in readers):
                    self._in_memory.add(result)

    def _is_alias(self, node: Node, readers: Sequence[Node], looked_through: bool) -> bool:
        """Return whether to lower the view to an alias: the same memory under another shape.

        That is cheaper than computing each element's index in the source.
        """
        if not node.op.traits.same_order or not is_dense(node.inputs[0].type):
            return False
        before, after = ([s for s in sizes(v.type) if s != 1] for v in (node.inputs[0], node.results[0]))
        by_elements = all(self.classes[reader] in _BY_ELEMENTS for reader in readers)
        return (before != after or not looked_through) and by_elements

    def _reads_in_memory(self, reader: Node, value: Value) -> bool:
        """Return whether the reader takes the elements contiguously, as for positions and matrices of a product."""
        if (reader.results and reader.results[0] in self._in_memory) or self.classes[reader] == "matmul":
            return True
        indexed = self.classes[reader] in ("view", "copy", "pick", "scatter") and is_indexed(reader)
        return indexed and value in positions(reader)

    def _looks_through(self, reader: Node, value: Value) -> bool:
        kind = self.classes[reader]
        if reader.results and reader.results[0] in self._in_memory and not (is_contiguous(value) or is_block(value)):
            return False
        if kind == "join":
            return True
        if kind == "matmul" and is_block(value):
            return tiled_product(reader, self.patches.get(reader)) is not None
        if kind in ("view", "copy", "pick", "scatter") and is_indexed(reader):
            # Positions, and what a scatter changes, are read contiguously before the loops that use them.
            if value in positions(reader):
                return is_contiguous(value) and reader.inputs.count(value) == 1
            return value is (updates(reader) if kind == "scatter" else reader.inputs[0])
        if kind in ("view", "copy", "place", "pick"):
            return value not in reader.inputs[1:]
        return kind in ("element", "reduce") and not reader.effects

    def _can_lend(self, value: Value) -> bool:
        """Return whether all readers take the strides of the array that was loaded."""
        return all(self._takes_strides(reader, value) for reader in self.all_readers(value))

    def _takes_strides(self, reader: Node, value: Value) -> bool:
        kind = self.classes[reader]
        if kind == "matmul":
            return value in reader.inputs and is_blas_matrix(value) and not Product(reader).suits_tiles()
        if reader.results and reader.results[0] in self._in_memory:
            return False
        if kind in ("view", "copy", "pick"):
            indices = positions(reader) if is_indexed(reader) else ()
            return all(base is not value for one in indices for base, _ in self.bases(one))
        return kind == "join" or (kind in ("element", "reduce") and not reader.effects)

    # ---- groups

    def _schedule_node(self, node: Node, position: int) -> None:
        kind = self.classes[node]
        loops = kind in ("element", "reduce", "scatter", "copy", "place")
        needs, joins = self._needs(node, kind)
        if node.effects is not Effects.PURE and self._last_effect is not None:
            needs |= {self.resolve(self._last_effect)} - joins
        if node.effects.must_run:  # it may write what earlier readers read in place
            needs |= {self.resolve(i) for i in self._readers_of_lent} - joins
        if loops:
            shape = _loop_shape(node, kind)
            # A scatter raises before its loop.
            join = self._join(shape, needs, joins) if not node.effects or kind == "scatter" else None
            if join is None:
                join = self._new_item(node, position, shape)
            else:
                self.all_items[join].nodes.append(node)
        else:
            join = self._new_item(node, position, None)
        needs = {self.resolve(i) for i in needs | joins} - {join}
        if node.effects is not Effects.PURE:
            self._last_effect = join
        self._item_of[node] = join
        if self.lent and any(base in self.lent for value in self.inputs(node) for base, _ in self.bases(value)):
            self._readers_of_lent.add(join)
        self._depend(join, needs)

    def _new_item(self, node: Node, position: int, shape: tuple[int, ...] | None) -> int:
        self.all_items.append(Item([node], position, shape, number=len(self.all_items)))
        return len(self.all_items) - 1

    def resolve(self, item: int) -> int:
        while not self.all_items[item].nodes:  # merged into another
            (item,) = self.all_items[item].direct
        return item

    def _needs(self, node: Node, kind: str) -> tuple[set[int], set[int]]:
        """Return the items that must finish before this node, and those whose loop it could join."""
        needs: set[int] = set()
        joins: set[int] = set()
        shape = _loop_shape(node, kind) if kind in ("element", "reduce", "place", "scatter") else None
        for value in self.inputs(node):
            if kind == "scatter" and (value is not updates(node) or not shares_loop(node)):
                needs.update(self.resolve(self._item_of[base.node]) for base, _ in self.bases(value) if base.node)
                continue
            for base, straight in self.bases(value):
                if base.node is None:
                    continue
                item = self.resolve(self._item_of[base.node])
                same = straight and shape is not None and is_dense(base.type) and sizes(base.type) == shape
                fits = same and self.all_items[item].shape == shape and self.classes[base.node] in ("element", "copy")
                # The kernel of a node that may raise may still replace the results.
                fits = fits and (not base.node.effects or self.classes[base.node] == "copy")
                (joins if fits else needs).add(item)
        for size in computed_sizes(node) if self._definers else ():
            definer = self._definers.get(size)
            if definer is not None and definer is not node:
                needs.add(self.resolve(self._item_of[definer]))
        return needs, joins - needs

    def bases(self, value: Value) -> Iterator[tuple[Value, bool]]:
        """Yield the values that reading `value` reads, each with whether it is read at the very same index."""
        if value not in self.views:
            yield value, True
            return
        assert value.node is not None
        yield value, False  # for its guards, which are in the item of the view
        for operand in read_inputs(value.node):
            yield from ((base, False) for base, _ in self.bases(operand))

    def _join(self, shape: tuple[int, ...], needs: set[int], joins: set[int]) -> int | None:
        """Return the loop that the node joins: the first of the compatible ones, into which the others are merged."""
        item_to_join: int | None = None
        for item in sorted(joins):
            inside = 1 << item
            others = needs | (joins - {item} - ({item_to_join} if item_to_join is not None else set()))
            if any(self.all_items[other].before & inside for other in others):
                continue
            if item_to_join is None:
                item_to_join = item
            elif not (self.all_items[item].before >> item_to_join & 1 or self.all_items[item_to_join].before & inside):
                self.merge(item_to_join, item)
        return item_to_join

    def merge(self, into: int, item: int) -> None:
        first, second = self.all_items[into], self.all_items[item]
        first.nodes = sorted(first.nodes + second.nodes, key=self._positions().__getitem__)
        first.position = min(first.position, second.position)
        second.nodes = []
        needs = {self.resolve(i) for i in second.direct}
        second.direct = {into}
        for other in self.all_items:
            if other.before >> item & 1:
                other.before |= 1 << into
        self._depend(into, needs - {into})

    def _positions(self) -> dict[Node, int]:
        if not hasattr(self, "_position_of"):
            self._position_of = {node: i for i, node in enumerate(self.graph.nodes)}
        return self._position_of

    def _depend(self, item: int, needs: set[int]) -> None:
        """Record that `item` runs after `needs`, and keep the `before` sets transitively closed."""
        this = self.all_items[item]
        added = 0
        for need in needs:
            added |= self.all_items[need].before | 1 << need
        this.direct |= needs
        if added & ~this.before:
            this.before |= added
            for other in self.all_items:
                if other.before >> item & 1:
                    other.before |= this.before

    # ---- reads and stores of each item

    def find_traffic(self) -> None:
        outputs = set(self.graph.outputs)
        for item in self.all_items:
            inside = {value for node in item.nodes for value in node.results}
            reads: dict[Value, None] = {}
            for node in item.nodes:
                for value in self.inputs(node):
                    for base, _ in self.bases(value):
                        if base not in inside and base not in self.views:
                            reads[base] = None
            item.reads = list(reads)
            for node in item.nodes:
                for value in node.results:
                    stored = value in outputs or self.classes[node] in ("place", "scatter", "join")
                    stored = stored or (self.classes[node] == "reduce" and not item.phases)
                    if stored or self._is_read_outside(value, item):
                        item.stored.append(value)

    def reads(self, item: Item, value: Value) -> int:
        """Count the reads of `value` by the nodes of an item."""
        return sum(base is value for node in item.nodes for x in self.inputs(node) for base, _ in self.bases(x))

    def readers(self, value: Value) -> Iterator[Node]:
        """Yield the nodes that read the value, directly or through views."""
        for reader in self._consumers.get(value, ()):
            if reader.results and reader.results[0] in self.views:
                yield from self.readers(reader.results[0])
            else:
                yield reader

    def all_readers(self, value: Value) -> Iterator[Node]:
        """Yield the nodes that read the value, the views among them, and those that read it through views."""
        for reader in self._consumers.get(value, ()):
            yield reader
            if reader.results and reader.results[0] in self.views:
                yield from self.all_readers(reader.results[0])

    def _is_read_outside(self, value: Value, item: Item) -> bool:
        for reader in self._consumers.get(value, ()):
            if reader.results and reader.results[0] in self.views:
                if not item.phases or self._is_read_outside(reader.results[0], item):
                    return True
                continue
            if self.all_items[self.resolve(self._item_of[reader])] is not item:
                return True
        return False

    def execution_order(self) -> list[Item]:
        left = [(i, item) for i, item in enumerate(self.all_items) if item.nodes]
        waiting = {i: {self.resolve(d) for d in item.direct} - {i} for i, item in left}
        followers: dict[int, list[int]] = {}
        for i, needs in waiting.items():
            for need in needs:
                followers.setdefault(need, []).append(i)
        ready = [(self.all_items[i].position, i) for i, needs in waiting.items() if not needs]
        heapq.heapify(ready)
        order: list[Item] = []
        while ready:
            _, i = heapq.heappop(ready)
            order.append(self.all_items[i])
            for follower in followers.get(i, ()):
                waiting[follower].discard(i)
                if not waiting[follower]:
                    heapq.heappush(ready, (self.all_items[follower].position, follower))
        assert len(order) == len(waiting), "the items wait for each other"
        return order


def _loop_shape(node: Node, kind: str) -> tuple[int, ...]:
    """Return the iteration space of a node's loops."""
    if kind == "scatter":
        return part_shape(node)
    return sizes(node.inputs[0].type if kind in ("reduce", "place") else node.results[0].type)
