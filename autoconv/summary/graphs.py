"""Graphs for TensorBoard: the argument of `graph`, or the graphs of functions that run after `trace_on`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.summary.protos import messages, metadata_of
from autoconv.summary.state import STATE, should_record_summaries, summary_scope
from autoconv.summary.writing import write
from autoconv.tracing.execute.graph_collection import end_collection, start_collection

_PLUGIN = "graph_run_metadata_graph"
_ACTIVE_COLLECTION: list[bool] = []  # between `trace_on` and `trace_off` one item: its argument `graph`


def graph(graph_data: Any) -> Tensor:
    """Write a graph, such as that of a concrete function; return whether it was written: not without a default writer.

    Raises ValueError for anything but a graph, and in a traced function.

    >>> double = autoconv.function(lambda x: x * 2)
    >>> concrete = double.get_concrete_function(autoconv.TensorSpec([], autoconv.float32))
    >>> autoconv.summary.graph(concrete.graph).numpy()
    np.False_
    """
    if current_region() is not None:
        raise ValueError("graph() cannot be invoked inside a traced function: write the graph outside of it.")
    writer: Any = STATE.writer
    if writer is None or not writer.writes or not should_record_summaries():
        return convert_to_tensor(False)
    writer.add(messages("event").Event(graph_def=serialize_graph(graph_data)))
    return convert_to_tensor(True)


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: str | None = None) -> None:
    """Collect the graphs of the functions that run from now on, for `trace_export`. There is no profiler.

    >>> autoconv.summary.trace_on()
    >>> autoconv.summary.trace_off()
    """
    if _ACTIVE_COLLECTION:
        warnings.warn("Trace already enabled", stacklevel=2)
        return
    if profiler:
        warnings.warn("no profile is written: autoconv bench and autoconv.debugging measure programs", stacklevel=2)
    _ACTIVE_COLLECTION.append(graph)
    if graph:
        start_collection()


def trace_export(name: str, step: Any = None, profiler_outdir: str | None = None) -> None:
    """Write the graphs that were collected since `trace_on` to the default writer, and end the collection.

    Raises ValueError without `trace_on`, and without a step.

    >>> double = autoconv.function(lambda x: x * 2)
    >>> autoconv.summary.trace_on()
    >>> _ = double(autoconv.constant(1))
    >>> autoconv.summary.trace_export("double", step=0)
    """
    if current_region() is not None:
        raise ValueError("trace_export() cannot be invoked inside a traced function: export outside of it.")
    if not _ACTIVE_COLLECTION:
        raise ValueError("Must enable trace before export through autoconv.summary.trace_on.")
    writes_graphs = _ACTIVE_COLLECTION.pop()
    concrete_functions = end_collection()
    if writes_graphs and STATE.writer is not None and STATE.writer.writes:
        metadata = messages("config").RunMetadata()
        for concrete in concrete_functions:
            entry = metadata.function_graphs.add()
            entry.pre_optimization_graph.ParseFromString(serialize_graph(concrete.recorded))
            entry.post_optimization_graph.ParseFromString(serialize_graph(concrete.optimised))
        value = np.array(metadata.SerializeToString(), object)
        with summary_scope(name, "graph_run_metadata_graph_summary", [step]) as (tag, _):
            write(tag, convert_to_tensor(value), step, metadata_of(_PLUGIN, None, b"1"))


def trace_off() -> None:
    """End the collection of graphs, and forget those collected.

    >>> autoconv.summary.trace_off()
    """
    _ACTIVE_COLLECTION.clear()
    end_collection()


def serialize_graph(graph_data: Any) -> bytes:
    """Return the bytes of a GraphDef, or of an object's `as_graph_def()`; raises ValueError for other objects."""
    convert = getattr(graph_data, "as_graph_def", None)
    message = convert() if callable(convert) else graph_data
    if not hasattr(message, "SerializeToString") or not hasattr(message, "node"):
        received_text = f"Received graph_data={graph_data} of type {type(graph_data).__name__}."
        raise ValueError(f"Argument 'graph_data' is not a Graph or GraphDef. {received_text}")
    return message.SerializeToString()  # type: ignore[no-any-return]
