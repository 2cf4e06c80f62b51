"""Conditions under which every call runs as plain Python: replaced builtins, and actions of NumPy on float errors.

A program may replace a builtin in the module `builtins`, as tests do for a while. The code of this package, and of the
libraries that it uses, would call the replacement.
"""

from __future__ import annotations

import builtins
import io
import operator
import types

from autoconv.tracing.guards.numpy_error_state import acts_on_float_errors

_CALLED_BY_PROGRAMS_ONLY = ("print", "input", "breakpoint")  # this package calls none of them for itself
_ORIGINALS = {  # all others except exceptions, whose names begin with a capital
    name: value
    for name, value in {**vars(builtins), "open": io.open}.items()
    if isinstance(value, (types.BuiltinFunctionType, type))
    and name[0].islower()
    and name not in _CALLED_BY_PROGRAMS_ONLY
}
_read_current_values = operator.itemgetter(*_ORIGINALS)
_ORIGINAL_VALUES = tuple(_ORIGINALS.values())


def reason_for_plain_calls() -> str:
    """Return why all calls have to run plain now; "" if they need not."""
    if _read_current_values(builtins.__dict__) != _ORIGINAL_VALUES:
        return "the program has replaced a builtin of the module builtins, which this package calls as well"
    if acts_on_float_errors():
        return "np.seterr or np.errstate has NumPy raise, call, print or log floating-point errors, which no graph does"
    return ""
