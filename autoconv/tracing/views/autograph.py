"""The functions of `autoconv.autograph`."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from typing import Any

from autoconv.config import SETTINGS
from autoconv.emit.converted import convert_function, converted_text
from autoconv.errors import ConversionError
from autoconv.operators.calls.call import do_not_convert, operators_module
from autoconv.runtime.recording.tracebacks import present_errors


@present_errors
def to_code(entity: Callable[..., Any], recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """Return the converted source of a function, as a function named `tf__NAME`.

    Raises ConversionError for a function without source. The other parameters are accepted and ignored.

    >>> def both(a, b):
    ...     return a and b
    >>> print(autoconv.autograph.to_code(both))
    def tf__both(a, b):
        return ag__.and_(a, lambda: b)
    <BLANKLINE>
    """
    function = _python_function(entity)
    text = converted_text(function)
    name = "lambda" if function.__name__ == "<lambda>" else function.__name__
    return re.sub(r"^def \w+\(", f"def tf__{name}(", text, count=1)


@present_errors
def to_graph(
    entity: Callable[..., Any], recursive: bool = True, experimental_optional_features: Any = None
) -> Callable[..., Any]:
    """Return the converted function: inside a trace it records its operations, elsewhere it computes at once.

    >>> def clip(x):
    ...     return x if x > 0 else 0.0
    >>> clip = autoconv.autograph.to_graph(clip)
    >>> clip(-1.0)
    0.0
    >>> autoconv.function(clip)(autoconv.constant(2.0)).numpy()
    np.float32(2.0)
    """
    function = _python_function(entity)
    converted_function = convert_function(function, operators_module())
    converted_function.__name__ = f"tf__{function.__name__}"
    if isinstance(entity, types.MethodType):
        return types.MethodType(converted_function, entity.__self__)
    return converted_function


def trace(*args: Any) -> None:
    """Print the arguments once at each execution of the Python code: while tracing, or eagerly.

    >>> autoconv.autograph.trace("x", 1)
    x 1
    """
    print(*args)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Set the level of what conversion logs: nothing at 0, the converted code from 3 on.

    If `alsologtostdout` is true, the log is also written to the standard output.

    >>> autoconv.autograph.set_verbosity(0)
    """
    SETTINGS.verbosity = level
    SETTINGS.log_to_stdout = alsologtostdout


def _python_function(entity: Any) -> types.FunctionType:
    """Return the function of a function or method; raises ConversionError for other objects."""
    if getattr(entity, "__autoconv_function__", False):
        raise ConversionError(
            f"converting {entity!r}: ValueError: Cannot apply autograph to a function that doesn't expose a __code__ "
            "object. If this is a @autoconv.function, try passing f.python_function instead."
        )
    function = entity.__func__ if isinstance(entity, types.MethodType) else entity
    if not isinstance(function, types.FunctionType):
        raise ConversionError(
            f"{entity!r} is not a Python function, and has no source to convert",
            remedy="a function that def or lambda made, or a method",
        )
    return function


__all__ = ["do_not_convert", "set_verbosity", "to_code", "to_graph", "trace"]
