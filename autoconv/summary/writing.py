"""Writing of summaries, at once or each time a graph runs: effects in the order of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.tensors.casts import cast
from autoconv.graph.dtypes import bool_, int64, string
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.summary.protos import messages, tensor_message
from autoconv.summary.state import STATE, read_state, should_record_summaries
from autoconv.summary.writer import SummaryWriter

_NO_STEP = (
    "No step set. Please specify one either through the `step` argument or through "
    "autoconv.summary.experimental.set_step()"
)


def write(
    tag: str,
    tensor: TensorLike | Callable[[], TensorLike],
    step: TensorLike | None = None,
    metadata: Any = None,
    name: str | None = None,
) -> Tensor:
    """Write a tensor under a tag to the default writer; return whether it was written.

    `step` is an int, a tensor or variable of an integer, or the default step. `metadata` is a
    SummaryMetadata that names a plugin of TensorBoard. A function given as `tensor` is only called where the summary
    is recorded. Raises ValueError without a step.

    >>> autoconv.summary.write("x", 1.0, step=1).numpy()
    np.False_
    """

    def make_summary(value: np.ndarray) -> Any:
        summary = messages("summary").Summary()
        summary.value.add(tag=tag, tensor=tensor_message(value), metadata=metadata)
        return summary

    return _write_summary(make_summary, tensor, step)


def write_raw_pb(tensor: TensorLike, step: TensorLike | None = None, name: str | None = None) -> Tensor:
    """Write a serialized Summary, a string tensor; return whether it was written.

    >>> autoconv.summary.experimental.write_raw_pb(b"", step=1).numpy()
    np.False_
    """

    def make_summary(value: np.ndarray) -> Any:
        return messages("summary").Summary.FromString(value.item())

    return _write_summary(make_summary, lambda: convert_to_tensor(tensor, string), step)


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Write the buffered summaries of a writer, by default the thread's, to its file.

    >>> autoconv.summary.flush()
    """
    target = read_state().writer if writer is None else writer
    if target is not None:
        target.flush()


class WriteSummary:
    """A host function that writes a summary of a value if `is_recorded`, which it returns."""

    graphdef_name = "WriteSummary"

    def __init__(self, writer: Any, make_summary: Callable[[np.ndarray], Any]) -> None:
        self._writer = writer
        self._make_summary = make_summary

    def __call__(self, value: Any, step: Any, is_recorded: Any) -> np.bool_:
        if is_recorded:
            array = np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value)
            self._writer.add(messages("event").Event(step=int(step), summary=self._make_summary(array)))
        return np.bool_(is_recorded)


def _write_summary(make_summary: Callable[[np.ndarray], Any], tensor: Any, step: TensorLike | None) -> Tensor:
    """Write `make_summary(value of the tensor)` now, or each time the graph runs; return whether it was written."""
    writer = read_state().writer
    if writer is None or not writer.writes:
        return convert_to_tensor(False)
    is_recorded = should_record_summaries()
    if current_region() is None and not is_recorded:
        return is_recorded
    current_step = STATE.step if step is None else step
    if current_step is None:
        raise ValueError(_NO_STEP)
    value = convert_to_tensor(tensor() if callable(tensor) else tensor)
    function = WriteSummary(writer, make_summary)
    inputs = [value, cast(convert_to_tensor(current_step), int64), is_recorded]
    return numpy_function(function, inputs, [TensorSpec((), bool_)])[0]  # type: ignore[no-any-return]
