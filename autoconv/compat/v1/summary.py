"""Summaries of version 1: string tensors with serialised messages for TensorBoard, and the writer of event files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.api.control.graphs import Graph, graph_being_built
from autoconv.api.gradients.callbacks import numpy_function
from autoconv.compat.v1.collections import GraphKeys, add_to_collections, get_collection
from autoconv.config.refused_options import refuse_options
from autoconv.graph.dtypes import as_dtype, string
from autoconv.io.image_files import EncodeImage
from autoconv.io.records import tf_record_iterator
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.name_scopes import current_scope
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.summary.graphs import serialize_graph
from autoconv.summary.protos import messages, metadata_of, tensor_message
from autoconv.summary.writer import EventFile


def scalar(name: str, tensor: TensorLike, collections: Any = None, family: str | None = None) -> Any:
    """Return a string tensor with the summary of a number.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     text = session.run(autoconv.compat.v1.summary.scalar("loss", 0.5))
    >>> autoconv.compat.v1.Summary.FromString(text).value[0].simple_value
    0.5
    """

    def fill(value: Any, array: np.ndarray) -> None:
        value.simple_value = float(array)

    return _summary(name, tensor, fill, collections, family)


def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> Any:
    """Return a string tensor with the summary of the distribution of a tensor's elements.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     text = session.run(autoconv.compat.v1.summary.histogram("weights", [1.0, 2.0]))
    >>> autoconv.compat.v1.Summary.FromString(text).value[0].histo.num
    2.0
    """

    def fill(value: Any, array: np.ndarray) -> None:
        numbers = array.astype(np.float64).ravel()
        counts, edges = np.histogram(numbers, bins=30) if numbers.size else (np.zeros(0), np.zeros(1))
        histo = value.histo
        histo.min, histo.max = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 0.0)
        histo.num, histo.sum, histo.sum_squares = float(numbers.size), float(numbers.sum()), float(numbers @ numbers)
        histo.bucket_limit.extend(edges[1:].tolist())
        histo.bucket.extend(counts.tolist())

    return _summary(name, values, fill, collections, family)


def text(name: str, tensor: TensorLike, collections: Any = None) -> Any:
    """Return a string tensor with the summary of texts.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     message = session.run(autoconv.compat.v1.summary.text("note", "hello"))
    >>> autoconv.compat.v1.Summary.FromString(message).value[0].tensor.string_val[0]
    b'hello'
    """

    def fill(value: Any, array: np.ndarray) -> None:
        value.tensor.CopyFrom(tensor_message(np.asarray(array, object)))
        value.metadata.CopyFrom(metadata_of("text", None))

    return _summary(name, convert_to_tensor(tensor, string), fill, collections, family=None)


def image(
    name: str, tensor: TensorLike, max_outputs: int = 3, collections: Any = None, family: str | None = None
) -> Any:
    """Return a string tensor with the summary of images [n, height, width, channels]; floats are scaled to 0 to 255.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     message = session.run(autoconv.compat.v1.summary.image("digit", autoconv.zeros([1, 8, 8, 1])))
    >>> autoconv.compat.v1.Summary.FromString(message).value[0].image.height
    8
    """

    encode_png = EncodeImage("PNG", level=-1, progressive=False, halves_chroma=False)

    def encode(array: np.ndarray) -> np.ndarray:
        summary = messages("summary").Summary()
        for number, pixels in enumerate(array[:max_outputs]):
            value = summary.value.add(tag=f"{tag}/image" + (f"/{number}" if max_outputs > 1 else ""))
            value.image.height, value.image.width, value.image.colorspace = pixels.shape
            value.image.encoded_image_string = encode_png(_scale_to_bytes(pixels))
        return np.array(summary.SerializeToString(), object)

    name, tag = _name_and_tag(name, family)
    (summary,) = numpy_function(encode, [tensor], [TensorSpec((), string)], name=name)
    return _add_to_collections(summary, collections)


def merge(inputs: Sequence[Any], collections: Any = None, name: str | None = None) -> Any:
    """Return a string tensor with the merged values of several summaries.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     s = autoconv.compat.v1.summary
    ...     text = session.run(s.merge([s.scalar("a", 1.0), s.scalar("b", 2.0)]))
    >>> [value.tag for value in autoconv.compat.v1.Summary.FromString(text).value]
    ['a', 'b']
    """

    def encode(*texts: Any) -> np.ndarray:
        summary = messages("summary").Summary()
        for text in texts:
            summary.MergeFromString(text if isinstance(text, bytes) else text.item())
        return np.array(summary.SerializeToString(), object)

    return _add_to_collections(
        numpy_function(encode, list(inputs), [TensorSpec((), string)], name=name)[0], collections, ()
    )


def merge_all(key: Any = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Any:
    """Return a string tensor with all summaries of the default graph merged; None if there are none.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.summary.merge_all() is None
    True
    """
    summaries = get_collection(key, scope)
    return merge(summaries, name=name) if summaries else None


class FileWriter:
    """Write the summaries that sessions return to an event file in a folder, for TensorBoard.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with autoconv.Graph().as_default() as graph, autoconv.compat.v1.Session() as session:
    ...     with autoconv.compat.v1.summary.FileWriter(folder, graph) as writer:
    ...         writer.add_summary(session.run(autoconv.compat.v1.summary.scalar("loss", 0.5)), 1)
    >>> len(os.listdir(folder))
    1
    """

    def __init__(
        self, logdir: str, graph: Graph | None = None, max_queue: int = 10, flush_secs: float = 120,
        graph_def: Any = None, filename_suffix: str | None = None, session: Any = None,
    ) -> None:  # fmt: skip
        refuse_options("FileWriter", session=session)
        self._folder = str(logdir)
        self._file = EventFile(self._folder, max_queue, flush_secs, filename_suffix or "")
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)

    def get_logdir(self) -> str:
        return self._folder

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Write a summary, given as a message or as its bytes."""
        if isinstance(summary, bytes):
            summary = messages("summary").Summary.FromString(summary)
        self.add_event(messages("event").Event(summary=summary), global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Write a graph, or `graph_def` if `graph` is None."""
        written_graph = graph_def if graph is None else graph
        self.add_event(messages("event").Event(graph_def=serialize_graph(written_graph)), global_step)

    def add_event(self, event: Any, global_step: Any = None) -> None:
        """Write an event message, to which the current time is added."""
        if global_step is not None:
            event.step = int(global_step)
        self._file.add(event)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        self.add_event(messages("event").Event(session_log=session_log), global_step)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def reopen(self) -> None:
        self._file.reopen()

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def summary_iterator(path: str) -> Iterator[Any]:
    """Return an iterator over the Event messages of an event file.

    >>> import glob, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with autoconv.compat.v1.summary.FileWriter(folder) as writer:
    ...     writer.add_summary(autoconv.compat.v1.Summary(value=[{"tag": "loss", "simple_value": 0.5}]), 3)
    >>> events = autoconv.compat.v1.train.summary_iterator(glob.glob(folder + "/*")[0])
    >>> [(event.step, value.tag, value.simple_value) for event in events for value in event.summary.value]
    [(3, 'loss', 0.5)]
    """
    return map(messages("event").Event.FromString, tf_record_iterator(path))


def _summary(
    name: str, tensor: Any, fill: Callable[[Any, np.ndarray], None], collections: Any, family: str | None
) -> Any:
    """Return a string tensor with the summary of a tensor, and add it to collections.

    `fill(value, array)` sets the fields of the message `value` for the tensor's array.
    """

    def encode(array: Any) -> np.ndarray:
        summary = messages("summary").Summary()
        fill(summary.value.add(tag=tag), np.asarray(array, object) if isinstance(array, bytes) else np.asarray(array))
        return np.array(summary.SerializeToString(), object)

    name, tag = _name_and_tag(name, family)
    (summary,) = numpy_function(encode, [tensor], [TensorSpec((), string)], name=name)
    return _add_to_collections(summary, collections)


def _name_and_tag(name: str, family: str | None) -> tuple[str, str]:
    """Return the name of a summary's op, and its tag, which is unique in the graph; `family` is a prefix of both."""
    name = re.sub(r"[^-/\w.]", "_", name).lstrip("/")
    name = f"{family}/{name}" if family else name
    graph = graph_being_built()
    tag = current_scope() + name if graph is None else graph.unique_name(name, mark_as_used=False)
    return name, f"{family}/{tag}" if family else tag


def _add_to_collections(summary: Any, collections: Any, default: Any = (GraphKeys.SUMMARIES,)) -> Any:
    """Add a summary to collections of the graph, and return it; where ops run eagerly, only return it."""
    if graph_being_built() is not None:
        add_to_collections(default if collections is None else collections, summary)
    return summary


def _scale_to_bytes(pixels: np.ndarray) -> np.ndarray:
    """Return pixels as bytes. Floats are scaled: the largest becomes 255; with negative ones, 0 becomes 128."""
    if as_dtype(pixels.dtype).is_integer:
        return pixels.astype(np.uint8)
    low, high = float(pixels.min(initial=0.0)), float(pixels.max(initial=0.0))
    if low < 0:
        scale, offset = 127.0 / max(-low, high, 1e-30), 128.0
    else:
        scale, offset = (255.0 / high if high > 0 else 0.0), 0.0
    return np.clip(pixels * scale + offset, 0, 255).astype(np.uint8)
