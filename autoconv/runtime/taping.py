"""What tapes record of ops that run at once: each op with its operands and results.

A recorder follows the tensors, and the storages of variables, that depend on what it watches. Rules of gradients run as
ordinary ops, which the recorders that are still at work follow in turn: so what a tape gives can be differentiated
again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autoconv.autodiff.cotangents import carries, refused
from autoconv.graph.graph import Node
from autoconv.graph.types import ListType, ResourceType
from autoconv.ops.record import NoGradient, Op
from autoconv.runtime.recording import tape_started

Pull = Callable[[Sequence[Any]], Sequence[Any]]


class Entry:
    """One op that ran: `pull` makes the cotangents of `inputs` of those of `results`, None where nothing flows."""

    __slots__ = ("attributes", "inputs", "name", "pull", "results")

    def __init__(
        self, name: str, inputs: Sequence[Any], results: Sequence[Any], pull: Pull, attributes: Any = None
    ) -> None:
        self.name = name
        self.attributes = attributes or {}
        self.inputs = tuple(inputs)
        self.results = tuple(results)
        self.pull = pull


class Recorder:
    """The entries that depend on what is watched, and which objects those are, by identity.

    `orders` is how many times what is recorded may be differentiated: more than once where a gradient may be taken
    while it goes on. Trainable variables that are read are watched with `watches_variables`; `variables` are those that
    are, by the identity of their storage. `lost` says that a value it follows became a number or array of Python's.
    Loops of functions are gone back through as `recompute_every` says.
    """

    def __init__(
        self, orders: int = 1, watches_variables: bool = True, recompute_every: int | None = None
    ) -> None:
        self.orders = orders
        self.watches_variables = watches_variables
        self.recompute_every = recompute_every
        self.entries: list[Entry] = []
        self.variables: dict[int, Any] = {}
        self._lost = False
        self._followed: dict[int, Any] = {}
        self._stand_ins: dict[int, tuple[Any, Any]] = {}
        self._not_taken_up: set[int] = set()  # of their tensors, those that no function has got yet

    def stand_in(self, array: Any, tensor: Any) -> None:
        """Where a function that is called gets the array, it is the tensor that is followed."""
        self._stand_ins[id(array)] = array, tensor
        self._not_taken_up.add(id(tensor))

    @property
    def lost(self) -> bool:
        return self._lost or bool(self._not_taken_up)

    def lose(self) -> None:
        """Notes that a value it follows becomes one of Python's."""
        self._lost = True

    def standing_in(self, array: Any) -> Any:
        return self._stand_ins.get(id(array), (None, None))[1]

    def watch(self, value: Any) -> None:
        self._followed[id(value)] = value

    def watch_variable(self, variable: Any) -> None:
        if variable.dtype.is_differentiable and id(variable.storage) not in self.variables:
            self.variables[id(variable.storage)] = variable
            self.watch(variable.storage)

    def follows(self, value: Any) -> bool:
        return id(value) in self._followed

    def note(self, entry: Entry) -> None:
        if any(id(value) in self._followed for value in entry.inputs):
            self.entries.append(entry)
            self._not_taken_up.difference_update(map(id, entry.inputs))
            for result in entry.results:
                if hasattr(result, "type") and carries(result.type):
                    self._followed[id(result)] = result

    def forget(self) -> None:
        """Lets go of what was recorded; what is watched is still known."""
        self.entries.clear()
        self._followed.clear()


class _Active(threading.local):
    recorders: tuple[Recorder, ...] = ()


_ACTIVE = _Active()


def active() -> tuple[Recorder, ...]:
    """The recorders of this thread that are at work, the outermost first."""
    return _ACTIVE.recorders


def start(recorder: Recorder) -> None:
    if recorder not in _ACTIVE.recorders:
        _ACTIVE.recorders = (*_ACTIVE.recorders, recorder)
        tape_started()


def stop(recorder: Recorder) -> None:
    if recorder in _ACTIVE.recorders:
        _ACTIVE.recorders = tuple(r for r in _ACTIVE.recorders if r is not recorder)
        tape_started(-1)


@contextmanager
def paused(*recorders: Recorder) -> Iterator[None]:
    """None of these recorders (of all, without any) records inside the block."""
    before = _ACTIVE.recorders
    _ACTIVE.recorders = tuple(r for r in before if recorders and r not in recorders)
    try:
        yield
    finally:
        _ACTIVE.recorders = before


def follows(values: Sequence[Any]) -> list[bool]:
    """Which of the values some recorder at work follows."""
    return [any(r.follows(value) for r in _ACTIVE.recorders) for value in values]


def tensor_for(array: Any) -> Any:
    """The tensor that recorders at work know an array as, None for another."""
    return next((t for r in reversed(_ACTIVE.recorders) if (t := r.standing_in(array)) is not None), None)


def note(entry: Entry) -> None:
    for recorder in _ACTIVE.recorders:
        recorder.note(entry)


def note_leaving(value: Any) -> None:
    """Tells the recorders that a number or an array was made of a tensor, which they do not follow."""
    for recorder in _ACTIVE.recorders:
        if recorder.follows(value):
            recorder.lose()


def note_variable(variable: Any) -> None:
    """Tells the recorders that a variable is used."""
    for recorder in _ACTIVE.recorders:
        if recorder.watches_variables and variable.trainable:
            recorder.watch_variable(variable)


def note_op(
    op: Op, values: Sequence[Any], attributes: dict[str, Any], found: Any, wrap: Callable[[Any, bool], Any]
) -> None:
    """Records an op that ran; `values` are its operands as the kernel got them, `wrap` makes tensors of arrays."""
    if not any(follows(values)):
        return
    results = found if isinstance(found, tuple) else (found,)
    weak = op.name.startswith("python_")
    typed = tuple(v if hasattr(v, "type") else wrap(v, weak) for v in values)
    note(Entry(op.name, typed, results, lambda given: _pull(op, typed, results, attributes, given), attributes))


def _pull(
    op: Op, inputs: Sequence[Any], results: Sequence[Any], attributes: dict[str, Any], given: Sequence[Any]
) -> Sequence[Any]:
    if isinstance(op.gradient, NoGradient):
        raise refused(Node(op, (), {}, (), op.name, None), op.gradient.reason)
    return op.gradient(BUILDER, inputs, results, tuple(given), attributes)  # type: ignore[no-any-return]


class EagerBuilder:
    """Runs ops by name, for gradient rules. `apply` is what runs them."""

    def __init__(self) -> None:
        self.apply: Callable[..., Any] = _not_yet

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *operands, **attributes: self.apply(name, *operands, **attributes)


def _not_yet(*_: Any, **__: Any) -> Any:
    raise AssertionError("ops run once autoconv.runtime.dispatch is there")


BUILDER = EagerBuilder()


def zeros_for(value: Any) -> Any:
    """The cotangent of `value` where nothing flows."""
    type_ = value.type
    if isinstance(type_, ListType):
        return BUILDER.list_zeros_like(value)
    return BUILDER.zeros_like(value.value if isinstance(type_, ResourceType) else value)


def add(first: Any, second: Any) -> Any:
    """The sum of two cotangents."""
    return (BUILDER.list_add if isinstance(first.type, ListType) else BUILDER.add)(first, second)


__all__ = ["BUILDER", "Entry", "Recorder", "active", "follows", "note", "note_op", "paused", "start", "stop"]
