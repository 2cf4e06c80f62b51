"""The op of a symbolic tensor, under TensorFlow's interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.graph.graph import Node, Value
from autoconv.hooks import Hook

EVALUATE = Hook("autoconv.compat.v1.session")  # runs a tensor or operation in a session


class TensorOperation:
    """The op that computes a tensor: `name`, `type` (TensorFlow's name of the op), `inputs`, `outputs`, `device`."""

    __slots__ = ("_value", "_wrap")

    def __init__(self, value: Value, wrap: Callable[[Value], Any]) -> None:
        self._value = value
        self._wrap = wrap

    @property
    def node(self) -> Node | None:
        """The node of the graph, None for a parameter."""
        return self._value.node

    @property
    def name(self) -> str:
        return self.node.name if self.node is not None else self._value.name

    @property
    def type(self) -> str:
        return self.node.op.graphdef if self.node is not None else "Placeholder"

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The tensors among the inputs."""
        operands = self.node.inputs if self.node is not None else ()
        return tuple(self._wrap(value) for value in operands if hasattr(value.type, "dtype"))

    @property
    def outputs(self) -> list[Any]:
        """The tensors among the results."""
        results = self.node.results if self.node is not None else (self._value,)
        return [self._wrap(value) for value in results if hasattr(value.type, "dtype")]

    @property
    def graph(self) -> Any:
        """The graph; inside a block `with graph.as_default():` the block's own object."""
        return self._value.graph.program_graph or self._value.graph

    @property
    def control_names(self) -> tuple[str, ...]:
        """The names of the nodes that have to run before nodes that depend on this operation."""
        return () if self.node is None else (self.node.name,)

    @property
    def control_inputs(self) -> list[Any]:
        """The operations on which this one has a control dependency."""
        graph = self._value.graph
        names = graph.controls.get(self.name, ())
        nodes = [node for node in graph.nodes if node.name in names and node.results]
        return [TensorOperation(node.results[0], self._wrap) for node in nodes]

    def get_attr(self, name: str) -> Any:
        """Return an attribute of the node; raises ValueError for one that it lacks."""
        attributes = self.node.attributes if self.node is not None else {}
        if name not in attributes:
            raise ValueError(f"operation {self.name!r} has no attribute {name!r}; it has {sorted(attributes)}")
        return attributes[name]

    def values(self) -> tuple[Any, ...]:
        return tuple(self.outputs)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run the operation in a session, by default the default one."""
        EVALUATE(self, feed_dict, session)

    @property
    def device(self) -> str:
        return self.node.device if self.node is not None else ""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorOperation):
            return NotImplemented
        return self._value is other._value if self.node is None else self.node is other.node

    def __hash__(self) -> int:
        return hash(self._value if self.node is None else self.node)

    def __repr__(self) -> str:
        return f"<autoconv.Operation {self.name!r} type={self.type}>"
