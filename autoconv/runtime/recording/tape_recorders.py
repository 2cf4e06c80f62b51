"""Recorders of tapes: each op that runs eagerly is recorded with its operands and results.

A recorder follows the tensors and variable storages that depend on its watched values. Gradient rules run as ordinary
ops, which the recorders that are still active record in turn; so gradients can be differentiated again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autoconv.autodiff.cotangents import cotangents_of_inputs, is_differentiable
from autoconv.graph.graph import Value
from autoconv.graph.types import ListType, ResourceType
from autoconv.hooks import Hook
from autoconv.ops.gradients import no_cotangents
from autoconv.ops.record import Op
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.activity import count_tape

Vjp = Callable[[Sequence[Any]], Sequence[Any]]  # vector-Jacobian product, see `Entry`


class Entry:
    """An op that ran. `vjp` maps the cotangents of `results` to those of `inputs`, with None for inputs without one.

    `is_constant` is true if the results are treated as constants: no cotangent reaches the inputs.
    """

    __slots__ = ("attributes", "inputs", "is_constant", "name", "results", "vjp")

    def __init__(
        self,
        name: str,
        inputs: Sequence[Any],
        results: Sequence[Any],
        vjp: Vjp,
        attributes: Any = None,
        is_constant: bool = False,
    ) -> None:
        self.name = name
        self.attributes = attributes or {}
        self.inputs = tuple(inputs)
        self.results = tuple(results)
        self.vjp = vjp
        self.is_constant = is_constant


class Recorder:
    """The entries that depend on watched values, and the followed objects by identity.

    orders             the number of times that the recorded ops may be differentiated: more than one where a gradient
                       may be taken while recording goes on
    watches_variables  trainable variables are watched when they are read
    variables          the watched variables, by the identity of their storage
    exports_values     a followed value was converted to a Python number or array, so that gradients may be incomplete
    recompute_every    if it is a number n, the backward pass of a compiled function's loop keeps the state of each n-th
                       iteration, and recomputes the others; if None, it keeps all states
    """

    def __init__(
        self, orders: int = 1, watches_variables: bool = True, recompute_every: int | None = None
    ) -> None:
        self.orders = orders
        self.watches_variables = watches_variables
        self.recompute_every = recompute_every
        self.entries: list[Entry] = []
        self.variables: dict[int, Any] = {}
        self.exports_values = False
        self._followed: dict[int, Any] = {}
        self._constants: set[int] = set()  # followed values through which no gradient reaches a watched value
        self._substitutes: dict[int, tuple[Any, Any]] = {}
        self._unread_substitutes: set[int] = set()  # substitutes that no recorded op has read yet
        self._watched_in_graph: list[Value] = []
        self.graph_values: dict[Value, bool] = {}  # a cache: whether values of graphs depend on watched ones

    def substitute(self, array: TensorLike, tensor: TensorLike) -> None:
        """Follow `tensor` in place of `array`, for a function called with the array."""
        self._substitutes[id(array)] = array, tensor
        self._unread_substitutes.add(id(tensor))

    @property
    def has_lost_values(self) -> bool:
        """True if gradients may be incomplete: a value was exported, or a substitute was read by no recorded op."""
        return self.exports_values or bool(self._unread_substitutes)

    def record_export(self, value: object) -> None:
        """Record that a value was converted to a Python number or array; constants have no gradient to lose."""
        self.exports_values |= self.follows(value) and id(value) not in self._constants

    def substitute_for(self, array: TensorLike) -> Any:
        """Return the tensor followed in place of `array`, or None."""
        _, tensor = self._substitutes.get(id(array), (None, None))
        return tensor

    def watch(self, value: object) -> None:
        """Follow a tensor or storage, and what is computed from it."""
        self._followed[id(value)] = value
        self._constants.discard(id(value))
        graph_value = getattr(value, "value_in_graph", None)
        if graph_value is not None:
            self._watched_in_graph.append(graph_value)
            self.graph_values = dict.fromkeys(self._watched_in_graph, True)

    def watch_variable(self, variable: Any) -> None:
        """Follow a variable whose value is differentiable."""
        if variable.dtype.is_differentiable and id(variable.storage) not in self.variables:
            self.variables[id(variable.storage)] = variable
            self.watch(variable.storage)

    def follows(self, value: object) -> bool:
        """Return whether a value is watched, or depends on a watched value."""
        return id(value) in self._followed

    def record(self, entry: Entry) -> None:
        """Keep an entry that depends on a followed value, and follow its results."""
        followed_inputs = self._followed.keys() & map(id, entry.inputs)
        if followed_inputs:
            self.entries.append(entry)
            is_constant = entry.is_constant or followed_inputs <= self._constants
            self._unread_substitutes.difference_update(map(id, entry.inputs))
            for result in entry.results:
                if hasattr(result, "type") and is_differentiable(result.type):
                    self._followed[id(result)] = result
                    if is_constant:
                        self._constants.add(id(result))

    def forget(self) -> None:
        """Drop the entries and followed values; watched variables stay in `variables`."""
        self.entries.clear()
        self._followed.clear()
        self._constants.clear()


class _ActiveRecorders(threading.local):
    """The recorders of the tapes that are active in this thread, outermost first."""

    recorders: tuple[Recorder, ...] = ()


_ACTIVE = _ActiveRecorders()


def active_recorders() -> tuple[Recorder, ...]:
    """Return the active recorders of this thread, outermost first."""
    return _ACTIVE.recorders


def start(recorder: Recorder) -> None:
    """Make a recorder active in this thread, unless it is."""
    if recorder not in _ACTIVE.recorders:
        _ACTIVE.recorders = (*_ACTIVE.recorders, recorder)
        count_tape()


def stop(recorder: Recorder) -> None:
    """End the activity of a recorder in this thread."""
    if recorder in _ACTIVE.recorders:
        _ACTIVE.recorders = tuple(other for other in _ACTIVE.recorders if other is not recorder)
        count_tape(-1)


@contextmanager
def pause_recorders(*recorders: Recorder) -> Iterator[None]:
    """Suspend these recorders inside the block; without arguments, all recorders."""
    outer_recorders = _ACTIVE.recorders
    _ACTIVE.recorders = tuple(recorder for recorder in outer_recorders if recorders and recorder not in recorders)
    try:
        yield
    finally:
        _ACTIVE.recorders = outer_recorders


def follows(values: Sequence[Any]) -> list[bool]:
    """Return for each value whether an active recorder follows it."""
    return [any(recorder.follows(value) for recorder in _ACTIVE.recorders) for value in values]


def tensor_for(array: TensorLike) -> Any:
    """Return the tensor that active recorders follow in place of the array, or None."""
    substitutes = (recorder.substitute_for(array) for recorder in reversed(_ACTIVE.recorders))
    return next((tensor for tensor in substitutes if tensor is not None), None)


def record_entry(entry: Entry) -> None:
    """Record an entry in all active recorders."""
    for recorder in _ACTIVE.recorders:
        recorder.record(entry)


def record_export(value: object) -> None:
    """Record that a tensor was converted to a number or an array, which recorders cannot follow."""
    for recorder in _ACTIVE.recorders:
        recorder.record_export(value)


def watch_used_variable(variable: Any) -> None:
    """Watch a variable that is used, in the recorders that watch trainable variables.

    For the placeholder of an argument, recorders outside of the call watch the caller's variable.
    """
    for recorder in _ACTIVE.recorders:
        if recorder.watches_variables and variable.trainable:
            watched_variable = variable
            while recorder in watched_variable.storage.outer_recorders:
                watched_variable = watched_variable.storage.variable()
            recorder.watch_variable(watched_variable)


def record_op(
    op: Op, values: Sequence[Any], attributes: dict[str, Any], output: object, wrap: Callable[[Any, bool], Any]
) -> None:
    """Record an op that ran on `values`, as the kernel received them; `wrap(array, is_weak)` makes a tensor."""
    if not any(follows(values)):
        return
    results = output if isinstance(output, tuple) else (output,)
    is_weak = op.name.startswith("python_")  # its operands are Python's numbers
    inputs = tuple(value if hasattr(value, "type") else wrap(value, is_weak) for value in values)
    vjp: Vjp = lambda cotangents: cotangents_of_inputs(op, BUILDER, inputs, results, tuple(cotangents), attributes)
    record_entry(Entry(op.name, inputs, results, vjp, attributes, op.gradient is no_cotangents))


APPLY = Hook("autoconv.runtime.tensors.dispatch")  # the function `apply` of dispatch, which imports this module


class EagerBuilder:
    """Runs ops by name through `apply`, for gradient rules."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *operands, **attributes: APPLY(name, *operands, **attributes)


BUILDER = EagerBuilder()


def zeros_for(value: Any) -> Any:
    """Return the zero cotangent of `value`."""
    type_ = value.type
    if isinstance(type_, ListType):
        return BUILDER.list_zeros_like(value)
    return BUILDER.zeros_like(value.value if isinstance(type_, ResourceType) else value)


def add(first: Any, second: Any) -> Any:
    """Add two cotangents."""
    return (BUILDER.list_add if isinstance(first.type, ListType) else BUILDER.add)(first, second)
