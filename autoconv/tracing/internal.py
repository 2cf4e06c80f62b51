"""Faults of this package: what a trace or a compilation raised that neither refuses the program nor is the program's.

Under `compile` the call runs as plain Python then, which is right, and hides the fault. So faults are counted, and
`explain()` shows each with its place; with AUTOCONV_STRICT=1, as tests have it, they are raised.
"""

from __future__ import annotations

import dis
import os
import re
from typing import Any, NoReturn

from autoconv.config import SETTINGS
from autoconv.errors import (
    AutoconvError,
    InaccessibleTensorError,
    IntegerLimitError,
    InternalError,
    ItemAssignmentError,
    OperatorNotAllowedInGraphError,
    OtherKindError,
)
from autoconv.runtime.spans import is_own_file, shown

_REFUSALS = (
    AutoconvError, InaccessibleTensorError, IntegerLimitError, ItemAssignmentError, OperatorNotAllowedInGraphError,
    OtherKindError, MemoryError, RecursionError,
)  # fmt: skip
# Where functions of the program are called: with arguments that these do not take, say.
_CALLS = ("noted_calls.py", "calls.py")
_CALLED = re.compile(r"\(\) (got|missing|takes) ")
_RAISE = dis.opmap["RAISE_VARARGS"]


def is_fault(error: BaseException) -> bool:
    """Whether this package raised the error by accident, as far as the error tells: code of its own failed, or asserts
    something, outside of a `raise` statement. Of the program's own operations, which code of this package carries out,
    `is_of_program` tells once plain Python ran."""
    if getattr(error, "is_fault", False):
        return True
    if isinstance(error, _REFUSALS) or getattr(error, "_autoconv_run_time", False):
        return False
    inner = _innermost(error)
    if inner is None:
        return False
    code, at = inner
    if isinstance(error, AssertionError):
        return True
    called_wrongly = isinstance(error, TypeError) and code.co_filename.endswith(_CALLS) and _CALLED.search(str(error))
    return code.co_code[at] != _RAISE and not called_wrongly


def is_of_program(fault: BaseException, raised: BaseException | None) -> bool:
    """Whether plain Python, which raised this error or none, met there what the trace met."""
    return raised is not None and (isinstance(raised, type(fault)) or isinstance(fault, type(raised)))


def described(error: BaseException) -> str:
    """The error in a line, with its place in this package."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        if is_own_file(trace.tb_frame.f_code.co_filename):
            file = trace.tb_frame.f_code.co_filename
            place = f" at {os.path.relpath(file, _PACKAGE)}:{trace.tb_lineno}"
        trace = trace.tb_next
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {text}{place}"


def raise_fault(name: str, error: BaseException) -> NoReturn:
    raise InternalError(f"autoconv failed while it traced or compiled {name}: {described(error)}") from error


def meets_fault(explanation: Any, error: BaseException) -> None:
    """Counts the error for `explain()`; raises InternalError where faults are not to pass."""
    explanation.faults[described(error)] += 1
    if SETTINGS.strict:
        raise_fault(explanation.name, error)


def _innermost(error: BaseException) -> tuple[Any, int] | None:
    """The code of this package that raised the error, itself or by what it called, and where; None where a function of
    the program's did."""
    entries, trace = [], error.__traceback__
    while trace is not None:
        entries.append((trace.tb_frame.f_code, trace.tb_lasti))
        trace = trace.tb_next
    found = None
    for (code, at), is_users in zip(entries, shown([code for code, _ in entries]), strict=True):
        if is_users:
            found = None
        elif is_own_file(code.co_filename):
            found = code, at
    return found


_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

__all__ = ["described", "is_fault", "is_of_program", "meets_fault"]
