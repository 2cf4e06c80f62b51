"""The state of a thread for summaries: the default writer, the default step, and the condition of recording."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.graph.dtypes import bool_
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.name_scopes import current_scope, name_scope
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.tracing.guards.trace_restrictions import RunPlain

_NOT_ALLOWED_IN_SCOPES = re.compile(r"[^-_/.A-Za-z0-9]")


class _State(threading.local):
    """The state of a thread, which `as_default`, `set_step` and `record_if` set."""

    writer: Any = None  # a SummaryWriter
    step: Any = None
    condition: TensorLike | Callable[[], Any] = True


STATE = _State()


@contextmanager
def record_if(condition: TensorLike | Callable[[], Any]) -> Iterator[None]:
    """Record summaries in the block only where `condition` is true: a bool, a tensor, or a function that returns one.

    A function is called for each summary, in a traced function when it is traced.

    >>> with autoconv.summary.create_noop_writer().as_default(), autoconv.summary.record_if(False):
    ...     bool(autoconv.summary.should_record_summaries())
    False
    """
    previous_condition = STATE.condition
    STATE.condition = condition
    try:
        yield
    finally:
        STATE.condition = previous_condition


def read_state() -> _State:
    """Return the summary state of the thread.

    A traced `function` uses the state at the time of tracing. Under `compile` the call runs as plain Python, since no
    guard would notice a change.
    """
    if current_region() is not None and current_contract().runs_plain:
        raise RunPlain("a summary depends on the default writer and step of the thread")
    return STATE


def should_record_summaries() -> Tensor:
    """Return whether a summary would be written: there is a default writer, and the condition of `record_if` is true.

    >>> autoconv.summary.should_record_summaries().numpy()
    np.False_
    """
    if read_state().writer is None or not STATE.writer.writes:
        return convert_to_tensor(False)
    condition = STATE.condition() if callable(STATE.condition) else STATE.condition
    return convert_to_tensor(condition, bool_)


def get_step() -> Any:
    """Return the default step of the thread, or None.

    >>> autoconv.summary.experimental.get_step() is None
    True
    """
    return read_state().step


def set_step(step: Any) -> None:
    """Set the default step of the thread: an int, a tensor or variable of int64, or None.

    An int that a traced function uses as the default step is a constant of its graph; a variable is read each time.

    >>> autoconv.summary.experimental.set_step(3)
    >>> autoconv.summary.experimental.get_step()
    3
    >>> autoconv.summary.experimental.set_step(None)
    """
    STATE.step = step


@contextmanager
def summary_scope(name: str | None, default_name: str = "summary", values: Any = None) -> Iterator[tuple[str, str]]:
    """Yield the tag of a summary, its name below the current name scopes, and a new name scope for its ops.

    >>> with autoconv.name_scope("train"), autoconv.summary.experimental.summary_scope("loss") as (tag, scope):
    ...     tag, scope
    ('train/loss', 'train/loss/')
    """
    tag = current_scope() + (name or default_name)
    with name_scope(f"{_NOT_ALLOWED_IN_SCOPES.sub('', tag) or default_name}/") as scope:
        yield tag, scope
