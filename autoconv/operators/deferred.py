"""Messages of exceptions that contain tensors: formatted when the graph raises them."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.runtime.recording import current_region
from autoconv.runtime.tensor import SymbolicTensor


class _Deferring(threading.local):
    tensors: list[Any] | None = None


_STATE = _Deferring()
_MARK = re.compile("\x00(\\d+)\x00")


def raising(make: Callable[[], BaseException]) -> BaseException:
    """The exception of a raise statement; tensors formatted into its message are filled in when it is raised."""
    if current_region() is None:
        return make()
    with _deferring() as tensors:
        error = make()
    if tensors and isinstance(error, BaseException):
        error._autoconv_tensors = tensors  # type: ignore[attr-defined]
    return error


def deferred_format(tensor: SymbolicTensor, spec: str) -> str:
    """What formatting a symbolic tensor gives: its name, or inside a raise a mark that is filled in later."""
    if _STATE.tensors is None or spec:
        return str(tensor)
    _STATE.tensors.append(tensor)
    return f"\x00{len(_STATE.tensors) - 1}\x00"


def template_of(error: BaseException) -> tuple[tuple[Any, ...] | None, list[Any]]:
    """(pieces of the message, tensors): strings and numbers of tensors; (None, []) for a message that is complete."""
    tensors = getattr(error, "_autoconv_tensors", None)
    if not tensors and error.args and any(isinstance(a, SymbolicTensor) for a in error.args):
        if len(error.args) == 1:
            return (0,), [error.args[0]]
        return None, []
    if not tensors or len(error.args) != 1 or not isinstance(error.args[0], str):
        return None, []
    pieces: list[Any] = []
    for number, piece in enumerate(_MARK.split(error.args[0])):
        pieces.append(int(piece) if number % 2 else piece)
    return tuple(p for p in pieces if p != ""), list(tensors)


@contextmanager
def _deferring() -> Iterator[list[Any]]:
    before, _STATE.tensors = _STATE.tensors, []
    try:
        yield _STATE.tensors
    finally:
        _STATE.tensors = before


def _format(self: SymbolicTensor, spec: str) -> str:
    return deferred_format(self, spec)


SymbolicTensor.__format__ = _format  # type: ignore[method-assign,assignment]
