"""Exception messages that contain tensors, which are formatted when the graph raises them."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.runtime.objects.staged_exceptions import StagedException
from autoconv.runtime.objects.symbolic_objects import SymbolicObject
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.symbolic import SymbolicTensor


class _DeferredTensors(threading.local):
    """The tensors formatted so far in this thread's raise statement; None outside of one."""

    tensors: list[Any] | None = None


_STATE = _DeferredTensors()
_MARK = re.compile("\x00(\\d+)\x00")


def evaluate_exception(make: Callable[[], BaseException]) -> BaseException:
    """Evaluate the exception of a raise statement; tensors formatted into its message are filled in at run time."""
    if current_region() is None:
        return make()
    with _collect_tensors() as tensors:
        error = make()
    if type(error) is SymbolicObject:
        return StagedException(error)
    if tensors and isinstance(error, BaseException):
        error._autoconv_tensors = tensors  # type: ignore[attr-defined]
    return error


def format_deferred(tensor: SymbolicTensor, spec: str) -> str:
    """Format a symbolic tensor: as its name, or inside a raise statement as a mark that is filled in later."""
    if _STATE.tensors is None or spec:
        return str(tensor)
    _STATE.tensors.append(tensor)
    return f"\x00{len(_STATE.tensors) - 1}\x00"


def template_of(error: BaseException) -> tuple[tuple[Any, ...] | None, list[Any]]:
    """Return (template of the arguments, tensors) for the op `raise`; (None, []) for arguments without tensors.

    The template has an entry for each argument. That of a constant is `(None, argument)`, that of a tensor its index,
    or `(index,)` if it is a NumPy scalar. A tuple of texts and indices stands for a text that they are joined to.
    """
    tensors = list(getattr(error, "_autoconv_tensors", None) or ())
    template: list[Any] = []
    for argument in error.args:
        if isinstance(argument, (SymbolicTensor, SymbolicObject)):
            template.append((len(tensors),) if _is_numpy_scalar(argument) else len(tensors))
            tensors.append(argument)
        elif isinstance(argument, str) and _MARK.search(argument):
            pieces = enumerate(_MARK.split(argument))  # text and the index of a tensor, in turns
            template.append(tuple(int(piece) if number % 2 else piece for number, piece in pieces))
        else:
            template.append((argument,) if isinstance(argument, str) else (None, argument))
    return (tuple(template), tensors) if tensors else (None, [])


def _is_numpy_scalar(argument: SymbolicTensor | SymbolicObject) -> bool:
    """Return whether a value of the graph stands for a scalar of NumPy's, whose text differs from Python's."""
    region = current_region()
    if region is None or not (region.contract.numpy_arrays and region.trace.uses_arrays):
        return False
    return isinstance(argument, SymbolicTensor) and not argument.weak and argument.type.shape == ()


@contextmanager
def _collect_tensors() -> Iterator[list[Any]]:
    """Provide the list to which the tensors that are formatted inside the block are appended."""
    outer_tensors, _STATE.tensors = _STATE.tensors, []
    try:
        yield _STATE.tensors
    finally:
        _STATE.tensors = outer_tensors


def _format(self: SymbolicTensor, spec: str) -> str:
    return format_deferred(self, spec)


SymbolicTensor.__format__ = _format  # type: ignore[method-assign,assignment]
