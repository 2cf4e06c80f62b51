"""Operations of a graph without a result: groups of nodes, and single nodes with an effect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv import nest
from autoconv.api.control.graphs import Graph, graph_being_built
from autoconv.api.scopes import control_dependencies
from autoconv.api.tensors.casts import identity
from autoconv.graph.graph import Node, Value
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.operation import EVALUATE


class Operation:
    """The nodes `control_names` of a graph under one name: a session runs all of them and returns None.

    >>> with autoconv.Graph().as_default():
    ...     v = autoconv.Variable(1.0, name="v")
    ...     autoconv.compat.v1.group(v.initializer, name="init")
    <autoconv.Operation 'init' type=NoOp>
    """

    type = "NoOp"

    def __init__(self, name: str, graph: Graph, control_names: Sequence[str]) -> None:
        self.name = name
        self.graph = graph
        self.control_names = tuple(dict.fromkeys(control_names))
        graph.attachments.setdefault("operations", {})[name] = self

    inputs: tuple[Any, ...] = ()
    outputs: tuple[Any, ...] = ()
    device = ""

    @property
    def node_def(self) -> Any:
        return self

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run the nodes in a session, by default the default one."""
        EVALUATE(self, feed_dict, session)

    def __repr__(self) -> str:
        return f"<autoconv.Operation {self.name!r} type={self.type}>"


class StartOperation(Operation):
    """An operation that a session runs before others: it computes `value` and calls `start(session, result)`.

    >>> autoconv.compat.v1.operations.StartOperation.type
    'NoOp'
    """

    def __init__(self, name: str, graph: Graph, value: Value, start: Callable[[Any, Any], None]) -> None:
        super().__init__(name, graph, ())
        self.value = value
        self.start = start


def group(*inputs: Any, name: str | None = None) -> Operation | None:
    """Return an operation that runs all inputs, which are operations, tensors and structures of them.

    The result is None where ops run eagerly. If `name` is a scope, which ends with "/", the operation has the name of
    the scope.

    >>> with autoconv.Graph().as_default() as graph:
    ...     v = autoconv.Variable(1.0)
    ...     both = autoconv.compat.v1.group(v.assign(2.0), v.assign_add(1.0))
    >>> both.outputs
    ()
    """
    graph = graph_being_built()
    if graph is None:
        return None
    control_names: list[str] = []
    for item in nest.flatten(inputs):
        if item is not None:
            control_names += _control_names(item)
    full_name = name[:-1] if name and name.endswith("/") else graph.unique_name(name or "group_deps")
    return Operation(full_name, graph, [*_enclosing_control_names(), *control_names])


def no_op(name: str | None = None) -> Operation | None:
    """Return an operation that runs the control dependencies of the enclosing blocks, and nothing else.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.no_op().name
    'NoOp'
    """
    return group(name=name or "NoOp")


def tuple_(tensors: Sequence[Any], name: str | None = None, control_inputs: Sequence[Any] | None = None) -> list[Any]:
    """Return copies of the tensors, which are computed after all of them and after the control inputs.

    >>> with autoconv.Graph().as_default():
    ...     len(autoconv.compat.v1.tuple([autoconv.constant(1), None]))
    2
    """
    present_tensors = [tensor for tensor in tensors if tensor is not None]
    with control_dependencies([*present_tensors, *(control_inputs or ())]):
        return [None if tensor is None else identity(tensor, name=name) for tensor in tensors]


def as_operation(call: Callable[[], Any]) -> Any:
    """Return the result of `call`; if that is None, an operation that runs the last node that `call` recorded."""
    graph, region = graph_being_built(), current_region()
    if graph is None or region is None or region.graph is not graph.recorded:
        return call()
    mark = region.graph.mark()
    result = call()
    recorded_nodes: list[Node] = region.graph.nodes_since(mark)
    if result is not None or not recorded_nodes:
        return result
    return Operation(graph.unique_name(f"{recorded_nodes[-1].name}/op"), graph, [recorded_nodes[-1].name])


def _control_names(item: Any) -> Sequence[str]:
    """Return the names of the nodes of an operation or a tensor; raise TypeError for anything else."""
    result: Sequence[str] | None = getattr(item, "control_names", None)
    if result is None:
        operation = getattr(item, "op", None)
        if operation is None:
            raise TypeError(f"'inputs' should be zero or more (nested) operations or tensors, found {item!r}")
        result = operation.control_names
    return result


def _enclosing_control_names() -> Sequence[str]:
    """Return the names of the nodes of the enclosing control dependencies."""
    region = current_region()
    if region is None:
        return ()
    _, names = region.trace.controls
    return names
