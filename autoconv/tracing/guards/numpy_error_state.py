"""NumPy's floating-point error state (np.errstate, np.seterr), which only plain Python can honour.

NumPy 2 keeps it in a context variable. While the variable has its default, the program has requested no other state;
this is quick to test.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from autoconv.config.paths import PACKAGE, is_own_file

_STATE = getattr(sys.modules.get("numpy._core.umath"), "_extobj_contextvar", None)  # missing in older versions
ERROR_STATE: contextvars.ContextVar[Any] | None = _STATE if isinstance(_STATE, contextvars.ContextVar) else None
DEFAULT_ERROR_STATE = contextvars.Context().run(ERROR_STATE.get) if ERROR_STATE is not None else None

_POINTER_OFFSET = 16  # offset in bytes of a capsule's pointer

_OPERATORS = str(Path(PACKAGE) / "operators")  # the frames of operators compute for the program
_NUMPY = str(Path(np.__file__).parent)


@contextlib.contextmanager
def report_constant_errors(report: Callable[[], None]) -> Iterator[None]:
    """Call `report` if NumPy would warn of a floating-point error in a computation of the program on plain values.

    Such results are computed once, while tracing. They are constants of the graph, so its runs set no flags for them.
    """

    def note_error(error: str, flag: int) -> None:
        """Report an error unless code of this package other than the operators computed the value."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith((_OPERATORS, _NUMPY)):
            frame = frame.f_back
        if frame is None or not is_own_file(frame.f_code.co_filename):
            report()

    # Errors that are ignored now are reported as well, because they may not be ignored in later calls. Underflow is the
    # exception, as it is ignored by default.
    call_actions: Any = {error: "call" for error, action in np.geterr().items() if action == "warn" or error != "under"}
    with np.errstate(**call_actions, call=note_error):
        yield


def acts_on_float_errors() -> bool:
    """Return whether NumPy is set to do more than warn about floating-point errors."""
    if ERROR_STATE is not None and ERROR_STATE.get() is DEFAULT_ERROR_STATE:
        return False
    return not {"raise", "call", "print", "log"}.isdisjoint(np.geterr().values())


def has_expected_layout() -> bool:
    """Return whether NumPy's error state has the memory layout that native code expects.

    It has to be a capsule whose pointer is to an int, with an action of three bits for each kind of error.
    """
    if ERROR_STATE is None:
        return False
    # Arguments of `np.errstate`, and the int for them: an octal digit for invalid, underflow, overflow and division.
    states: list[tuple[dict[str, Any], int]] = [
        ({"all": "ignore"}, 0),
        ({"all": "warn", "divide": "raise"}, 0o1112),
        ({"all": "warn", "over": "print"}, 0o1141),
        ({"all": "warn", "invalid": "log"}, 0o5111),
    ]
    for actions, packed_actions in states:
        with np.errstate(**actions):
            state = ERROR_STATE.get()
        is_capsule = type(state).__name__ == "PyCapsule"
        address = ctypes.c_void_p.from_address(id(state) + _POINTER_OFFSET).value if is_capsule else 0
        if not address or ctypes.c_int.from_address(address).value != packed_actions:
            return False
    return True
