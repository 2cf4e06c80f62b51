"""Partition of a graph by devices.

    graph                                     stage 0, CPU:1     stage 0, CPU:2     stage 1, default
    %a = sin(%x): … on CPU:1                  %a = sin(%x)       %b = cos(%x)       %c = add(%a, %b)
    %b = cos(%x): … on CPU:2
    %c = add(%a, %b): …
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, append_copy, copy_node
from autoconv.graph.types import ResourceType
from autoconv.lazy_dataclass import dataclass, field


@dataclass(eq=False)
class Part:
    """Nodes of one device that run together, as `graph`, a copy of them.

    `inputs` and `outputs` are values of the partitioned graph. Parts run in the order of their stages.
    `is_divided`: the part is one node whose regions run on several devices.
    """

    device: str
    stage: int
    is_divided: bool = False
    nodes: list[Node] = field(default_factory=list)
    graph: Graph = field(default_factory=lambda: Graph("part"))
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)


def partition(
    graph: Graph, device_of: Callable[[Node], str], is_divided: Callable[[Node], bool] = lambda node: False
) -> list[list[Part]]:
    """Divide the nodes of a graph, without those of regions, into stages of parts.

    `device_of` maps a node to the device that runs it; a node that `is_divided` is a part of its own. The parts of a
    stage are independent of each other, and depend on earlier stages only. Constants belong to the parts that use them.
    """
    parts: dict[tuple[int, str, Node | None], Part] = {}  # by (stage, device, divided node of its own part)
    effect_order = _EffectOrder()
    part_by_value: dict[Value, Part] = {}
    for node in graph.nodes:
        if is_constant(node) and not any(value in graph.outputs for value in node.results):
            continue
        device, separate_node = device_of(node), node if is_divided(node) else None
        joined_device = None if separate_node is not None else device
        stage = effect_order.earliest_stage(
            node, joined_device, [part_by_value[value] for value in node.inputs if value in part_by_value]
        )
        part = parts.setdefault((stage, device, separate_node), Part(device, stage, separate_node is not None))
        part.nodes.append(node)
        part_by_value.update(dict.fromkeys(node.results, part))
        effect_order.record(node, part)
    _set_inputs_and_outputs(graph, parts.values(), part_by_value)
    for part in parts.values():
        _build_graph(part, graph.name)
    stages = sorted({part.stage for part in parts.values()})
    return [[part for part in parts.values() if part.stage == stage] for stage in stages]


def requested_devices(graph: Graph) -> set[str]:
    """Return the devices that are requested by nodes of a graph and its regions; "" stands for no request."""
    return {node.device for node in graph.walk() if not is_constant(node)}


def is_constant(node: Node) -> bool:
    """Return whether the node is the op `constant`."""
    return node.op.name == "constant"


class _EffectOrder:
    """The order of side effects.

    A write of a resource runs after the earlier reads and writes of it. Nodes with other effects run one after another.
    """

    def __init__(self) -> None:
        self._last_writers: dict[Hashable, Part] = {}
        self._readers_since_write: dict[Hashable, list[Part]] = {}

    def earliest_stage(self, node: Node, device: str | None, sources: list[Part]) -> int:
        """Return the first stage in which a node may run, after the parts that its inputs come from.

        `device` is the one whose part the node joins, None for a part of its own.
        """
        predecessors = list(sources)
        for key in _effect_keys(node):
            if key in self._last_writers:
                predecessors.append(self._last_writers[key])
            if node.effects.must_run:
                predecessors += self._readers_since_write.get(key, ())
        return max((part.stage + (part.is_divided or part.device != device) for part in predecessors), default=0)

    def record(self, node: Node, owner: Part) -> None:
        """Note that a node runs in its part `owner`, for the nodes that have to run after it."""
        for key in _effect_keys(node):
            if node.effects.must_run:
                self._last_writers[key] = owner
                self._readers_since_write.pop(key, None)
            else:
                self._readers_since_write.setdefault(key, []).append(owner)


def _effect_keys(node: Node) -> list[Hashable]:
    """Return the keys of what a node's effects act on: its resources, and "" for all other effects."""
    if not node.effects & ~Effects.RAISE:
        return []
    resources: list[Hashable] = [value for value in node.inputs if isinstance(value.type, ResourceType)]
    has_other_effects = node.effects & (Effects.OUTPUT | Effects.RANDOM) or not resources
    return [*resources, ""] if has_other_effects else resources


def _set_inputs_and_outputs(graph: Graph, device_parts: Iterable[Part], part_by_value: dict[Value, Part]) -> None:
    """Set the inputs of each part, and as outputs the values that other parts or the graph's outputs use."""
    for device_part in device_parts:
        part_nodes = set(device_part.nodes)
        operands = [value for node in device_part.nodes for value in node.inputs if value.node not in part_nodes]
        constants = {value for value in operands if value.node is not None and is_constant(value.node)}
        inputs = [value for value in dict.fromkeys(operands) if value not in constants or value in part_by_value]
        device_part.inputs = inputs
        for value in inputs:
            if value in part_by_value and value not in part_by_value[value].outputs:
                part_by_value[value].outputs.append(value)
    for value in graph.outputs:
        if value in part_by_value and value not in part_by_value[value].outputs:
            part_by_value[value].outputs.append(value)


def _build_graph(device_part: Part, name: str) -> None:
    """Build the graph of a part from its nodes, with copies of the constants that they use."""
    device_part.graph.name = name
    values = {value: device_part.graph.add_parameter(value.type, value.name) for value in device_part.inputs}
    for node in device_part.nodes:
        for value in node.inputs:
            if value not in values:
                assert value.node is not None
                values[value] = copy_node(device_part.graph, value.node, ()).results[0]
        node_copy = append_copy(device_part.graph, node, values)
        node_copy.device = ""
    device_part.graph.outputs = [values[value] for value in device_part.outputs]
