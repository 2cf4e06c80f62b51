"""A graph in TensorFlow's GraphDef form: nodes with names, ops and inputs, effects ordered by `^control` inputs."""

from __future__ import annotations

from typing import Any

from autoconv.graph.effects import Effects, must_keep_order
from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.types import TensorType
from autoconv.lazy_dataclass import dataclass, field


@dataclass(slots=True)
class NodeDef:
    """A node. `input` holds `name`, `name:index` for results after the first, and `^name` for control inputs."""

    name: str
    op: str
    input: list[str] = field(default_factory=list)
    device: str = ""
    attr: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f'  name: "{self.name}"', f'  op: "{self.op}"', *(f'  input: "{name}"' for name in self.input)]
        return "node {\n" + "\n".join(lines) + "\n}"


@dataclass(slots=True)
class Signature:
    """The name of a body in a `FunctionLibrary`."""

    name: str


@dataclass(slots=True)
class FunctionDef:
    """The body of a control-flow node."""

    signature: Signature
    node_def: list[NodeDef]


@dataclass(slots=True)
class FunctionLibrary:
    """The bodies of a graph's control-flow nodes."""

    function: list[FunctionDef]


@dataclass(slots=True)
class VersionDef:
    """The version of the format; programs of TensorFlow read the field."""

    producer: int = 1


@dataclass(slots=True)
class GraphDef:
    """A graph in TensorFlow's form: `node` has the nodes in program order."""

    node: list[NodeDef]
    library: FunctionLibrary
    versions: VersionDef = field(default_factory=VersionDef)

    def __str__(self) -> str:
        bodies = "\n".join(
            f'  function {{\n    signature {{ name: "{body.signature.name}" }}\n  }}' for body in self.library.function
        )
        library = f"library {{\n{bodies}\n}}\n" if bodies else "library {\n}\n"
        return "\n".join(map(str, self.node)) + f"\n{library}versions {{\n  producer: {self.versions.producer}\n}}\n"


def as_graph_def(graph: Graph) -> GraphDef:
    """Return the graph as a GraphDef: parameters are Placeholders, nodes have their GraphDef names."""
    bodies: dict[str, FunctionDef] = {}
    nodes = _node_defs(graph, bodies, {})
    return GraphDef(nodes, FunctionLibrary(list(bodies.values())))


def _node_defs(graph: Graph, bodies: dict[str, FunctionDef], recursive_names: dict[Graph, str]) -> list[NodeDef]:
    """Return the nodes of a GraphDef, placeholders first; the functions that they call are added to `bodies`."""
    node_defs = [
        NodeDef(parameter.name, "Placeholder", attr=_type_attributes("dtype", parameter))
        for parameter in graph.parameters
    ]
    nodes_with_effects: list[Node] = []
    for node in graph.nodes:
        inputs = [*map(_reference, node.inputs), *_controls(graph, node, nodes_with_effects)]
        node_defs.append(NodeDef(node.name, _op_name(node), inputs, node.device, _attributes(node)))
        body_names = _add_bodies(node, bodies, recursive_names)
        node_defs[-1].attr.update(zip(_BODY_ATTRIBUTES.get(node.op.name, ()), body_names, strict=False))
        if node.effects:
            nodes_with_effects.append(node)
    return node_defs


def _add_bodies(node: Node, bodies: dict[str, FunctionDef], recursive_names: dict[Graph, str]) -> list[str]:
    """Add a node's bodies to the library; return their names in it. `recursive_names` has those of recursive bodies."""
    names = []
    for region in node.regions:
        if region in recursive_names:
            names.append(recursive_names[region])
            continue
        name = region.name
        while name in bodies:
            name = f"{region.name}_{len(bodies)}"
        if is_recursive(node):
            recursive_names[region] = name
        bodies[name] = FunctionDef(Signature(name), [])
        bodies[name].node_def = _node_defs(region, bodies, recursive_names)
        names.append(name)
    return names


def _op_name(node: Node) -> str:
    """Return the name of the node's op in a GraphDef."""
    name = node.op.graphdef
    if node.op.name in ("cond", "while") and not node.effects:
        return f"Stateless{name}"
    if node.op.name == "py_call":  # the class of the function may name the op of TensorFlow that it computes
        return str(getattr(node.attributes["function"], "graphdef_name", name))
    if node.op.name == "call" and node.effects:
        return f"Stateful{name}"
    return "Add" if name == "AddV2" and _is_string(node) else name


def _is_string(node: Node) -> bool:
    dtype = getattr(node.inputs[0].type, "dtype", None)
    return dtype is not None and dtype.is_string


def _reference(value: Value) -> str:
    return value.name if value.index == 0 else f"{value.name}:{value.index}"


def _controls(graph: Graph, node: Node, earlier_nodes: list[Node]) -> list[str]:
    """Return the control inputs: the program's, and the last earlier node with conflicting effects."""
    names = list(graph.controls.get(node.name, ()))
    effects = node.effects & ~Effects.RAISE
    conflicts = [
        earlier for earlier in earlier_nodes if effects and must_keep_order(earlier.effects & ~Effects.RAISE, effects)
    ]
    if conflicts:
        names.append(conflicts[-1].name)
    return [f"^{name}" for name in dict.fromkeys(names)]


def _attributes(node: Node) -> dict[str, Any]:
    """Return the dtype and the value of a constant; for another node, the dtype of its first input as `T`."""
    if node.op.name == "constant":
        return {"dtype": node.results[0].dtype, "value": node.attributes["value"]}
    return _type_attributes("T", node.inputs[0]) if node.inputs else {}


# By op: the attributes that name the bodies, as TensorFlow calls them.
_BODY_ATTRIBUTES = {"cond": ("then_branch", "else_branch"), "while": ("cond", "body"), "call": ("f",)}


def _type_attributes(name: str, value: Value) -> dict[str, Any]:
    """Return the dtype of a tensor under this name, with the shape if it is "dtype"; nothing for other values."""
    if not isinstance(value.type, TensorType):
        return {}
    return {name: value.dtype, "shape": value.shape} if name == "dtype" else {name: value.dtype}
