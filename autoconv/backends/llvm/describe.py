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

_WORDS = {
    "scalar": "numbers", "pair": "complex number", "pick": "one element", "view": "looked through",
    "matmul": "product", "update": "in place",
    "join": "joined", "whole": "native", "alias": "the same memory", "search": "search", "kernel": "kernel",
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
    whole = legalize_graph(graph)
    counts = _Counts(stack_versions(whole))
    lines = list(_lines(whole, counts))
    kernels = ", ".join(sorted(set(counts.kernels))) or "nothing"
    loops = f"{counts.loops} loop{'' if counts.loops == 1 else 's'} of {counts.ops} op{'' if counts.ops == 1 else 's'}"
    return [*lines, f"{loops}; by kernels: {kernels}"]


def kernels(graph: Graph, library: bool = True) -> list[str]:
    """Return the names of the ops of a graph that would run by their kernels.

    Without `library`, two kinds are left out: ops whose kernels are library routines that native code would call as
    well, and ops that end the run.
    """
    whole = legalize_graph(graph)
    native_stacks = stack_versions(whole)
    idle = ("constant", "absent", "identity", *(() if library else ("raise",)))
    return [
        node.op.name
        for node in whole.walk()
        if node.op.name not in idle
        and (library or node.op.name not in LIBRARY_OPS)
        and lowering_class(node) == "kernel"
        and not any(value in native_stacks for value in node.results)
    ]


def takes_bounds(node: Node) -> bool:
    """Return whether a node has a native form, whole or in parts, so that its attributes may contain dimensions."""
    return lowering_class(node) != "kernel" or is_split(node)


def has_bounds_for_kernels(graph: Graph) -> bool:
    """Return whether dimensions occur in a subscript that no native code takes.

    That is a subscript of an op that runs by its kernel, or of one that is decomposed in a way that needs numbers.
    """
    try:
        indexed = [node for node in legalize_graph(graph).walk() if "spec" in node.attributes]
        brackets = [node for node in indexed if lowering_class(node) == "kernel"]
    except TypeError:
        return True
    entries = (entry for node in brackets for entry in node.attributes["spec"])
    return any(isinstance(bound, Symbol) for entry in entries for bound in entry.parts)


class _Counts:
    def __init__(self, native_stacks: frozenset[Value]) -> None:
        self.stacks = native_stacks
        self.loops = 0
        self.ops = 0
        self.kernels: list[str] = []


def _lines(graph: Graph, counts: _Counts) -> Iterator[str]:
    plan = schedule(graph)
    row: list[str] = []
    kind = ""
    steps: list[Item] = []
    # By step: description of the items that run block by block, or concurrently, from there on.
    blocks: dict[int, str] = {}
    for item in plan.items:
        if item.members:
            how = "side by side" if item.is_concurrent else "by blocks of rows"
            blocks[len(steps)] = f"{how}: " + " | ".join(", ".join(_names(one) for one in run) for run in item.runs)
        steps += item.members or [item]
    for number, item in enumerate(steps):
        if number in blocks:
            if row:
                yield f"{_WORDS[kind]}: {', '.join(row)}"
                row = []
            yield blocks[number]
        node = item.nodes[0]
        found = "loop" if item.shape is not None else plan.classes[node]
        if node.results and node.results[0] in counts.stacks and found == "kernel":
            found = "stack"
        if row and (found != kind or found in ("loop", "control", "kernel")):
            yield f"{_WORDS[kind]}: {', '.join(row)}"
            row = []
        kind = found
        if found == "loop":
            counts.loops += 1
            counts.ops += len(item.nodes)
            yield _loop(item)
        elif found == "control":
            yield from _control(node, counts)
        elif found == "kernel" and node.op.name == "constant":
            continue
        else:
            row.append(node.op.name)
            if found == "kernel":
                counts.kernels.append(node.op.name)
    if row:
        yield f"{_WORDS[kind]}: {', '.join(row)}"
    yield f"result: {', '.join(map(reference, graph.outputs)) or 'none'}"


def _names(item: Item) -> str:
    return item.nodes[0].op.name if item.shape is None else f"loop of {len(item.nodes)}"


def _loop(item: Item) -> str:
    assert item.shape is not None
    shape = "x".join(str(size).removeprefix("%size.") for size in item.shape)
    stored: list[Value] = item.stored
    return (
        f"loop over {shape or 'one'}: {', '.join(node.op.name for node in item.nodes)}"
        f" -> {', '.join(map(reference, stored))}"
    )


def _control(node: Node, counts: _Counts) -> Iterator[str]:
    for region in node.regions:
        yield f"{node.op.name}, {region.name}:"
        yield from (f"  {line}" for line in _lines(region, counts))
