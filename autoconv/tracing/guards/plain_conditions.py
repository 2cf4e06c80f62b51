"""Conditions under which every call runs as plain Python: replaced builtins, and actions of NumPy on float errors.

A program may replace a builtin in the module `builtins`, as tests do for a while. The code of this package, and of the
libraries that it uses, would call the replacement.
"""

from __future__ import annotations

import builtins
import io
import operator
import types

from autoconv.tracing.guards.numpy_error_state import acts_on_floats

_OF_THE_PROGRAM = ("print", "input", "breakpoint")  # this package calls none of them for itself
_ORIGINALS = {
    name: value
    for name, value in {**vars(builtins), "open": io.open}.items()
    if isinstance(value, (types.BuiltinFunctionType, type)) and name[0].islower() and name not in _OF_THE_PROGRAM
}  # without exceptions
_read_all = operator.itemgetter(*_ORIGINALS)
_VALUES = tuple(_ORIGINALS.values())


def reason_for_plain_calls() -> str:
    """Return why all calls have to run plain now; "" if they need not."""
    if _read_all(builtins.__dict__) != _VALUES:
        return "the program has replaced a builtin of the module builtins, which this package calls as well"
    if acts_on_floats():
        return "np.seterr or np.errstate has NumPy raise, call, print or log floating-point errors, which no graph does"
    return ""
