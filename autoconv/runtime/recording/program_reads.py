"""Reads of attributes by the program, as opposed to those by this package.

Under `compile` the program sees NumPy's arrays and Python's numbers in place of tensors.
"""

from __future__ import annotations

import threading
from inspect import getattr_static
from typing import Any

from autoconv.config.paths import is_own_file
from autoconv.graph.types import TensorType
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.recording.regions import current_contract, current_region


def reads_as_array(frame: Any) -> bool:
    """Return whether `frame`, which reads a tensor's attribute, is code of a program with tensors as NumPy's arrays."""
    region = current_region()
    return region is not None and region.trace.uses_arrays and _is_read_by_program(frame)


def _is_read_by_program(frame: Any) -> bool:
    return _READ_STATE.is_by_program or is_of_program(frame)


def is_of_program(frame: Any) -> bool:
    """Return whether a frame runs code of the program, or code of this package that replaces a library's function."""
    filename = frame.f_code.co_filename
    return not is_own_file(filename) or filename in _LIBRARY_REPLACEMENT_FILES


_LIBRARY_REPLACEMENT_FILES: set[str] = set()


def treat_as_program(filename: str) -> None:
    """Treat attribute reads by the code of a file of this package as the program's.

    The code is converted in place of library functions.
    """
    _LIBRARY_REPLACEMENT_FILES.add(filename)


class _ReadState(threading.local):
    """The flag whether the current read of an attribute in this thread is one of the program."""

    is_by_program = False


_READ_STATE = _ReadState()


def read_for_program(value: object, name: str) -> Any:
    """Read `value.name` on behalf of the program.

    Only properties distinguish the program from this package. What a getter reads is read for the program, too.
    """
    # A plain read of the class would run the program's descriptors.
    if not isinstance(getattr_static(type(value), name, None), property):
        return getattr(value, name)
    outer_state, _READ_STATE.is_by_program = _READ_STATE.is_by_program, True
    try:
        return getattr(value, name)
    finally:
        _READ_STATE.is_by_program = outer_state


def refuse_tensor_attribute(type_: TensorType, name: str, frame: Any) -> None:
    """Raise Python's AttributeError where the program reads a tensor's attribute from a Python number."""
    if current_contract().python_numbers and _is_read_by_program(frame):
        class_name = type(type_.dtype.numpy.type(1).item()).__name__
        raise mark_program_error(AttributeError(f"{class_name!r} object has no attribute {name!r}"))
