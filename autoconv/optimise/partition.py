"""Partition of a graph by devices.

    graph                                     stage 0, CPU:1     stage 0, CPU:2     stage 1, default
    %a = sin(%x): … on CPU:1                  %a = sin(%x)       %b = cos(%x)       %c = add(%a, %b)
    %b = cos(%x): … on CPU:2
    %c = add(%a, %b): …
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, append_copy, copy_node
from autoconv.graph.types import ResourceType


@dataclass(eq=False)
class Part:
    """Nodes of one device that run together; `inputs` and `outputs` are values of the partitioned graph.

    `is_divided`: the part is one node whose regions run on several devices.
    """

    place: str
    stage: int
    is_divided: bool = False
    nodes: list[Node] = field(default_factory=list)
    graph: Graph = field(default_factory=lambda: Graph("part"))
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)


def partition(
    graph: Graph, place: Callable[[Node], str], is_divided: Callable[[Node], bool] = lambda node: False
) -> list[list[Part]]:
    """Divide the nodes of a graph, without those of regions, into stages of parts.

    `place` maps a node to the place that runs it; a node that `is_divided` is a part of its own. The parts of a stage
    are independent of each other; each stage needs earlier ones only. Constants belong to the parts that use them.
    """
    parts: dict[tuple[int, str, Node | None], Part] = {}
    order = _Order()
    found: dict[Value, Part] = {}
    for node in graph.nodes:
        if is_constant(node) and not any(value in graph.outputs for value in node.results):
            continue
        where, alone = place(node), node if is_divided(node) else None
        shared = None if alone is not None else where
        stage = order.earliest(node, shared, [found[value] for value in node.inputs if value in found])
        part = parts.setdefault((stage, where, alone), Part(where, stage, alone is not None))
        part.nodes.append(node)
        found.update(dict.fromkeys(node.results, part))
        order.note(node, part)
    _connect(graph, found)
    for part in parts.values():
        _build(part, graph.name)
    stages = sorted({part.stage for part in parts.values()})
    return [[part for part in parts.values() if part.stage == stage] for stage in stages]


def places(graph: Graph) -> set[str]:
    """Return the devices that nodes of a graph ask for, those of regions among them; "" for none."""
    return {node.device for node in graph.walk() if not is_constant(node)}


def is_constant(node: Node) -> bool:
    return node.op.name == "constant"


class _Order:
    """The order of side effects: what writes a resource follows its readers and writers; others follow each other."""

    def __init__(self) -> None:
        self._written: dict[Hashable, Part] = {}
        self._read: dict[Hashable, list[Part]] = {}

    def earliest(self, node: Node, where: str | None, before: list[Part]) -> int:
        """Return the first stage in which a node may run, after the parts that its inputs come from.

        `where` is the place whose part it joins, None for a part of its own.
        """
        after = list(before)
        for key in _effect_keys(node):
            if key in self._written:
                after.append(self._written[key])
            if node.effects.must_run:
                after += self._read.get(key, ())
        return max((part.stage + (part.is_divided or part.place != where) for part in after), default=0)

    def note(self, node: Node, part: Part) -> None:
        for key in _effect_keys(node):
            if node.effects.must_run:
                self._written[key] = part
                self._read.pop(key, None)
            else:
                self._read.setdefault(key, []).append(part)


def _effect_keys(node: Node) -> list[Hashable]:
    """Return what the effects of a node act on: its resources, or else one key for all other effects."""
    if not node.effects & ~Effects.RAISE:
        return []
    resources: list[Hashable] = [value for value in node.inputs if isinstance(value.type, ResourceType)]
    outside = node.effects & (Effects.OUTPUT | Effects.RANDOM) or not resources
    return [*resources, ""] if outside else resources


def _connect(graph: Graph, found: dict[Value, Part]) -> None:
    """Note which values parts take from elsewhere and give away."""
    for part in dict.fromkeys(found.values()):
        inside = set(part.nodes)
        taken = [value for node in part.nodes for value in node.inputs if value.node not in inside]
        part.inputs = [value for value in dict.fromkeys(taken) if value.node is None or not is_constant(value.node)
                       or value in found]
        for value in part.inputs:
            if value in found and value not in found[value].outputs:
                found[value].outputs.append(value)
    for value in graph.outputs:
        if value in found and value not in found[value].outputs:
            found[value].outputs.append(value)


def _build(part: Part, name: str) -> None:
    part.graph.name = name
    values = {value: part.graph.add_parameter(value.type, value.name) for value in part.inputs}
    for node in part.nodes:
        for value in node.inputs:
            if value not in values:
                assert value.node is not None
                values[value] = copy_node(part.graph, value.node, ()).results[0]
        made = append_copy(part.graph, node, values)
        made.device = ""
    part.graph.outputs = [values[value] for value in part.outputs]
