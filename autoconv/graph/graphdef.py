"""A graph as TensorFlow's users look at it: nodes with names, ops and inputs, effects ordered by `^control` inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autoconv.graph.effects import Effects, conflict
from autoconv.graph.graph import Graph, Node, Value, is_recursive


@dataclass(slots=True)
class NodeDef:
    """`input` holds `name`, `name:index` for results after the first, and `^name` for what has to run before."""

    name: str
    op: str
    input: list[str] = field(default_factory=list)
    device: str = ""
    attr: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f'  name: "{self.name}"', f'  op: "{self.op}"', *(f'  input: "{i}"' for i in self.input)]
        return "node {\n" + "\n".join(lines) + "\n}"


@dataclass(slots=True)
class FunctionDef:
    name: str
    node_def: list[NodeDef]


@dataclass(slots=True)
class FunctionLibrary:
    function: list[FunctionDef]


@dataclass(slots=True)
class GraphDef:
    """`node`: the nodes in program order; `library.function`: the bodies of the control-flow nodes."""

    node: list[NodeDef]
    library: FunctionLibrary

    def __str__(self) -> str:
        bodies = "\n".join(
            f'  function {{\n    signature {{ name: "{body.name}" }}\n  }}' for body in self.library.function
        )
        library = f"library {{\n{bodies}\n}}\n" if bodies else "library {\n}\n"
        return "\n".join(map(str, self.node)) + f"\n{library}versions {{\n  producer: 1\n}}\n"


def as_graph_def(graph: Graph) -> GraphDef:
    """The graph as data: parameters are Placeholders, nodes have their GraphDef names."""
    bodies: list[FunctionDef] = []
    nodes = _nodes(graph, bodies, set())
    return GraphDef(nodes, FunctionLibrary(bodies))


def _nodes(graph: Graph, bodies: list[FunctionDef], shared: set[Graph]) -> list[NodeDef]:
    found = [NodeDef(parameter.name, "Placeholder") for parameter in graph.parameters]
    previous: list[Node] = []
    for node in graph.nodes:
        found.append(
            NodeDef(node.name, _op_name(node), [_reference(v) for v in node.inputs] + _controls(node, previous))
        )
        if node.effects:
            previous.append(node)
        for region in node.regions:
            if region not in shared:
                if is_recursive(node):
                    shared.add(region)
                bodies.append(FunctionDef(region.name, _nodes(region, bodies, shared)))
    return found


def _op_name(node: Node) -> str:
    name = node.op.graphdef
    if node.op.name in ("cond", "while") and not node.effects:
        return f"Stateless{name}"
    if node.op.name == "call" and node.effects:
        return f"Stateful{name}"
    return "Add" if name == "AddV2" and _is_string(node) else name


def _is_string(node: Node) -> bool:
    dtype = getattr(node.inputs[0].type, "dtype", None)
    return dtype is not None and dtype.is_string


def _reference(value: Value) -> str:
    return value.name if value.index == 0 else f"{value.name}:{value.index}"


def _controls(node: Node, previous: list[Node]) -> list[str]:
    """The last nodes before this one whose effects have to come first, less those that their own order implies."""
    ordered = node.effects & ~Effects.RAISE
    if not ordered:
        return []
    before = [other for other in previous if conflict(other.effects & ~Effects.RAISE, ordered)]
    return [f"^{before[-1].name}"] if before else []
