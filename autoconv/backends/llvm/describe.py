"""Describe the native code of a graph in words: shared loops, numbers in registers, ops that run by their kernels."""

from __future__ import annotations

from collections.abc import Iterator

from autoconv.backends.llvm.analysis.classify import LIBRARY_OPS, lowering_class
from autoconv.backends.llvm.analysis.list_stacks import stack_versions
from autoconv.backends.llvm.legalize.complex.split import is_split
from autoconv.backends.llvm.legalize.pipeline import legalize_graph
from autoconv.backends.llvm.schedule.pipeline import schedule
from autoconv.backends.llvm.schedule.plan import Item
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.text import reference
from autoconv.graph.types import Symbol

# The phrase for the nodes of each lowering class, except for loops and control flow.
_CLASS_WORDS = {
    "scalar": "numbers", "pair": "complex number", "pick": "one element", "view": "looked through",
    "matmul": "product", "update": "in place", "lent": "read in place",
    "join": "joined", "whole": "native", "alias": "the same memory", "search": "search",
    "short search": "search in registers", "kernel": "kernel",
    "memory": "in memory", "object": "objects", "stack": "stack", "extent": "dimensions", "sizes": "sizes",
}  # fmt: skip


def describe(graph: Graph) -> list[str]:
    """Return a line for each step in execution order, steps of regions indented, and a line that sums them up.

        loop over 256x1000: subtract, exp, reduce_sum -> %exp, %reduce_sum
        numbers: less, add
        while, body: …
        kernel: sort
        2 loops of 4 ops; by kernels: sort

    Composite ops (a softmax, for example) are listed by the ops that they expand to.
    """
    legalized_graph = legalize_graph(graph)
    counts = _Counts()
    lines = list(_describe_items(legalized_graph, stack_versions(legalized_graph), counts))
    kernels = ", ".join(sorted(set(counts.kernels))) or "nothing"
    loops = f"{counts.loops} loop{'' if counts.loops == 1 else 's'} of {counts.ops} op{'' if counts.ops == 1 else 's'}"
    return [*lines, f"{loops}; by kernels: {kernels}"]


def kernels(graph: Graph, all_kernels: bool = True) -> list[str]:
    """Return the names of the ops of a graph that would run by their kernels.

    If `all_kernels` is false, two kinds are left out: ops whose kernels are library routines that native code would
    call as well, and ops that end the run.
    """
    legalized_graph = legalize_graph(graph)
    native_stacks = stack_versions(legalized_graph)
    uncounted_ops = ("constant", "absent", "identity", *(() if all_kernels else ("raise",)))
    return [
        node.op.name
        for node in legalized_graph.walk()
        if node.op.name not in uncounted_ops
        and (all_kernels or node.op.name not in LIBRARY_OPS)
        and lowering_class(node) == "kernel"
        and not any(value in native_stacks for value in node.results)
    ]


def accepts_symbolic_attributes(node: Node) -> bool:
    """Return whether a node has a native form, its own or that of its real and imaginary parts.

    Its attributes may then contain dimensions.
    """
    return lowering_class(node) != "kernel" or is_split(node)


def has_kernels_with_symbolic_attributes(graph: Graph) -> bool:
    """Return whether dimensions occur in a subscript that no native code takes.

    That is a subscript of an op that runs by its kernel, or of one that is decomposed in a way that needs numbers.
    """
    try:
        indexing_nodes = [node for node in legalize_graph(graph).walk() if "spec" in node.attributes]
        kernel_nodes = [node for node in indexing_nodes if lowering_class(node) == "kernel"]
    except TypeError:  # a decomposition computed with a symbol
        return True
    entries = (entry for node in kernel_nodes for entry in node.attributes["spec"])
    return any(isinstance(bound, Symbol) for entry in entries for bound in entry.parts)


class _Counts:
    """The numbers of loops and of their ops, and the names of kernels, for the last line of a description."""

    def __init__(self) -> None:
        self.loops = 0
        self.ops = 0
        self.kernels: list[str] = []


def _describe_items(graph: Graph, native_stacks: frozenset[Value], counts: _Counts) -> Iterator[str]:
    """Yield a line for each item of a graph's plan, or for several short ones; count loops and kernels."""
    plan = schedule(graph)
    pending_names: list[str] = []
    pending_class = ""
    steps: list[Item] = []
    # The line that announces a group of items, which run block by block or concurrently, by its first step's position.
    group_lines: dict[int, str] = {}
    for item in plan.items:
        if item.members:
            order = "side by side" if item.is_concurrent else "by blocks of rows"
            runs = " | ".join(", ".join(map(_label_item, run)) for run in item.runs)
            group_lines[len(steps)] = f"{order}: {runs}"
        steps += item.members or [item]
    for position, item in enumerate(steps):
        if position in group_lines:
            if pending_names:
                yield f"{_CLASS_WORDS[pending_class]}: {', '.join(pending_names)}"
                pending_names = []
            yield group_lines[position]
        node = item.nodes[0]
        item_class = "loop" if item.shape is not None else plan.classes[node]
        if node.results and node.results[0] in native_stacks and item_class == "kernel":
            item_class = "stack"
        if pending_names and (item_class != pending_class or item_class in ("loop", "control", "kernel")):
            yield f"{_CLASS_WORDS[pending_class]}: {', '.join(pending_names)}"
            pending_names = []
        pending_class = item_class
        if item_class == "loop":
            counts.loops += 1
            counts.ops += len(item.nodes)
            yield _describe_loop(item)
        elif item_class == "control":
            yield from _describe_control(node, native_stacks, counts)
        elif item_class == "kernel" and node.op.name == "constant":
            continue
        else:
            pending_names.append(node.op.name)
            if item_class == "kernel":
                counts.kernels.append(node.op.name)
    if pending_names:
        yield f"{_CLASS_WORDS[pending_class]}: {', '.join(pending_names)}"
    yield f"result: {', '.join(map(reference, graph.outputs)) or 'none'}"


def _label_item(item: Item) -> str:
    """Return the name of an item's op, or the number of ops of a loop."""
    return item.nodes[0].op.name if item.shape is None else f"loop of {len(item.nodes)}"


def _describe_loop(item: Item) -> str:
    """Return the line of a loop: its shape, ops and results."""
    assert item.shape is not None
    shape = "x".join(str(size).removeprefix("%size.") for size in item.shape)
    stored_values: list[Value] = item.stored
    return (
        f"loop over {shape or 'one'}: {', '.join(node.op.name for node in item.nodes)}"
        f" -> {', '.join(map(reference, stored_values))}"
    )


def _describe_control(node: Node, native_stacks: frozenset[Value], counts: _Counts) -> Iterator[str]:
    """Yield the lines of a control op's regions."""
    for region in node.regions:
        yield f"{node.op.name}, {region.name}:"
        yield from (f"  {line}" for line in _describe_items(region, native_stacks, counts))
