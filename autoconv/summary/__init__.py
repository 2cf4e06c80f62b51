"""Summaries for TensorBoard: scalars, histograms, images, texts and graphs, written to event files by step."""

from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions
from autoconv.summary import experimental
from autoconv.summary.graphs import graph, trace_export, trace_off, trace_on
from autoconv.summary.kinds import histogram, image, scalar, text
from autoconv.summary.state import record_if, should_record_summaries
from autoconv.summary.writer import SummaryWriter, create_file_writer, create_noop_writer
from autoconv.summary.writing import flush, write

__all__ = [
    "SummaryWriter", "create_file_writer", "create_noop_writer", "experimental", "flush", "graph", "histogram",
    "image", "record_if", "scalar", "should_record_summaries", "text", "trace_export", "trace_off", "trace_on",
    "write",
]  # fmt: skip

_wrap_public_functions(globals())
