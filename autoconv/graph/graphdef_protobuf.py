"""Conversion of a GraphDef to the protocol buffer that TensorBoard reads, with its field numbers and types."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype, string
from autoconv.graph.graph import GRAPH_DEF, Graph
from autoconv.graph.graphdef import GraphDef, NodeDef, as_graph_def

_MAX_WRITTEN_ELEMENTS = 1024  # elements of a constant whose contents are written


def protobuf_classes() -> Any:
    """Return TensorBoard's module of protocol buffers, None where it is not installed."""
    try:
        from tensorboard.compat.proto import graph_pb2  # heavy and optional
    except ImportError:
        return None
    return graph_pb2


def to_protobuf(graph_def: GraphDef, classes: Any) -> Any:
    """Convert a GraphDef to a message; `classes` is the module that `protobuf_classes` returns."""
    message = classes.GraphDef()
    message.versions.producer = 1
    for node in graph_def.node:
        _fill_node(message.node.add(), node)
    for body in graph_def.library.function:
        function = message.library.function.add()
        function.signature.name = body.signature.name
        for node in body.node_def:
            _fill_node(function.node_def.add(), node)
    return message


def _fill_node(message: Any, node: NodeDef) -> None:
    message.name, message.op, message.device = node.name, node.op, node.device
    message.input.extend(node.input)
    for name, value in node.attr.items():
        _fill_attribute(message.attr[name], value)


def _fill_attribute(message: Any, value: Any) -> None:
    """Write an attribute: a dtype, the name of a body, a constant, or a shape (None for an unknown rank)."""
    if isinstance(value, DType):
        message.type = value.enum
    elif isinstance(value, str):
        message.func.name = value
    elif isinstance(value, np.ndarray):
        _fill_tensor(message.tensor, value)
    elif value is None:
        message.shape.unknown_rank = True
    else:
        for size in value:
            message.shape.dim.add().size = size if isinstance(size, int) else -1


def _fill_tensor(message: Any, array: np.ndarray) -> None:
    """Write an array to a tensor's message; the elements of a large one are left out."""
    message.dtype = (string if array.dtype == object else as_dtype(array.dtype)).enum
    for size in array.shape:
        message.tensor_shape.dim.add().size = size
    if array.dtype == object:
        message.string_val.extend(bytes(item) for item in array.flat)
    elif array.size <= _MAX_WRITTEN_ELEMENTS:
        message.tensor_content = np.ascontiguousarray(array).tobytes()


def graph_def_of(graph: Graph) -> Any:
    """Return a graph as a GraphDef: a protocol buffer where TensorBoard is installed, else an object like it."""
    classes = protobuf_classes()
    return as_graph_def(graph) if classes is None else to_protobuf(as_graph_def(graph), classes)


GRAPH_DEF.set(graph_def_of)
