"""Faults of this package: errors of a trace or compilation that are neither refusals nor errors of the program.

Under `compile` the call then runs as plain Python, which gives the right result but hides the fault. So faults are
counted, and `explain()` shows each with its place. With AUTOCONV_STRICT=1, which the tests set, they are raised.
"""

from __future__ import annotations

import dis
import os
from typing import Any, NoReturn

from autoconv.config import SETTINGS
from autoconv.config.paths import PACKAGE, is_own_file
from autoconv.errors import (
    AutoconvError,
    InaccessibleTensorError,
    IntegerLimitError,
    InternalError,
    ItemAssignmentError,
    OperatorNotAllowedInGraphError,
    OtherKindError,
)
from autoconv.operators.regions.raised_errors import is_tracing_error
from autoconv.ops.program_errors import is_marked_as_program_error
from autoconv.runtime.support.spans import are_user_frames

_REFUSAL_CLASSES = (
    AutoconvError, InaccessibleTensorError, IntegerLimitError, ItemAssignmentError, OperatorNotAllowedInGraphError,
    OtherKindError, MemoryError, RecursionError,
)  # fmt: skip
# The packages that carry out the program's operations and infer types and shapes: errors raised there may be the
# program's.
_OPERATION_PACKAGES = ("operators", "runtime", "ops", "numpy", "xp", "api", "data")
_RAISE_OPCODE = dis.opmap["RAISE_VARARGS"]


def note_fault(error: BaseException) -> bool:
    """Return whether the error is a fault.

    If so, store the file and line where it was raised, because frames of this package are removed from its traceback.
    """
    if not is_fault(error):
        return False
    error.__dict__["_autoconv_place"] = _place_suffix(error)
    return True


def is_fault(error: BaseException) -> bool:
    """Return whether the error is a fault, by its class and the innermost frame of its traceback.

    Faults are AssertionError and NameError, and any other error that no `raise` statement raised, outside of code that
    carries out operations of the program.
    """
    if getattr(error, "_autoconv_is_fault", False):
        return True
    if isinstance(error, _REFUSAL_CLASSES) or is_marked_as_program_error(error):
        return False
    instruction = _raising_instruction(error)
    if instruction is None:
        return False
    code, offset = instruction
    if isinstance(error, (AssertionError, NameError)):
        return True
    if code.co_code[offset] == _RAISE_OPCODE:
        return False
    _, subpackage, *_ = os.path.relpath(code.co_filename, _PARENT_FOLDER).split(os.sep)
    is_operation = subpackage in _OPERATION_PACKAGES
    if is_operation and isinstance(error, AttributeError):
        # In such code, an attribute that an object of this package lacks is a fault.
        return (type(error.obj).__module__ or "").startswith("autoconv.") and not is_tracing_error(error)
    return not is_operation


def is_program_error(suspect: BaseException, plain_error: BaseException | None) -> bool:
    """Return whether a supposed fault is the program's own error: whether plain Python raised a similar one.

    `plain_error` is that error, or None. Errors are similar if the class of one is that of the other or a base of it.
    """
    if plain_error is None:
        return False
    return isinstance(plain_error, type(suspect)) or isinstance(suspect, type(plain_error))


def error_text(error: BaseException) -> str:
    """Return the error in one line, with the file and line of this package where it was raised."""
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {text}{getattr(error, '_autoconv_place', '') or _place_suffix(error)}"


def _place_suffix(error: BaseException) -> str:
    """Return " at FILE:LINE" for the innermost frame of this package; "" if there is none."""
    traceback, place = error.__traceback__, ""
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if is_own_file(file):
            place = f" at {os.path.relpath(file, _PARENT_FOLDER)}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place


def raise_fault(name: str, error: BaseException) -> NoReturn:
    """Raise InternalError for a fault in the trace or compilation of the function `name`."""
    raise InternalError(f"autoconv failed while it traced or compiled {name}: {error_text(error)}") from error


def count_fault(explanation: Any, error: BaseException) -> None:
    """Count the error for `explain()`; raises InternalError in strict mode."""
    explanation.faults[error_text(error)] += 1
    if SETTINGS.strict:
        raise_fault(explanation.name, error)


def _raising_instruction(error: BaseException) -> tuple[Any, int] | None:
    """Return the code of this package that raised the error or called a library that did, and the instruction's offset.

    Return None if a function of the program raised the error.
    """
    instructions, traceback = [], error.__traceback__
    while traceback is not None:
        instructions.append((traceback.tb_frame.f_code, traceback.tb_lasti))
        traceback = traceback.tb_next
    result = None
    are_user_code = are_user_frames([code for code, _ in instructions])
    for (code, offset), is_user_code in zip(instructions, are_user_code, strict=True):
        if is_user_code:
            result = None
        elif is_own_file(code.co_filename):
            result = code, offset
    return result


_PARENT_FOLDER = os.path.dirname(os.path.dirname(PACKAGE))  # contains the package
