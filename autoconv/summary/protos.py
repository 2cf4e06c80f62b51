"""TensorBoard's protocol buffers, which the package tensorboard has."""

from __future__ import annotations

from typing import Any

from autoconv.graph.dtypes import as_dtype, string
from autoconv.graph.graphdef_protobuf import protobuf_classes
from autoconv.io.tensor_records import SerializeTensor


def messages(name: str) -> Any:
    """Return a module of messages: "event", "summary", "config"; raises ImportError without tensorboard."""
    try:
        from tensorboard.compat.proto import config_pb2, event_pb2, summary_pb2
    except ImportError:
        raise ImportError("summaries need the package tensorboard: pip install 'autoconv[summary]'") from None
    return {"config": config_pb2, "event": event_pb2, "summary": summary_pb2}[name]


def graph_messages() -> Any:
    """Return the module of messages of graphs; raises ImportError without tensorboard."""
    module = protobuf_classes()
    if module is None:
        raise ImportError("GraphDefs need the package tensorboard: pip install 'autoconv[summary]'")
    return module


def metadata_of(plugin: str, description: str | None, content: bytes = b"") -> Any:
    """Return the metadata by which a plugin of TensorBoard finds its summaries."""
    message_class = messages("summary").SummaryMetadata
    plugin_data = message_class.PluginData(plugin_name=plugin, content=content)
    return message_class(plugin_data=plugin_data, summary_description=description or "")


def tensor_message(array: Any) -> Any:
    """Return an array as a TensorProto."""
    dtype = string if array.dtype == object else as_dtype(array.dtype)
    tensor = messages("summary").Summary.Value().tensor
    tensor.ParseFromString(SerializeTensor(dtype)(array))
    return tensor
