"""`function` and `compile`: the decorators, one for each contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.config import SETTINGS
from autoconv.runtime.recording import COMPILE, FUNCTION
from autoconv.runtime.tracebacks import presented
from autoconv.tracing.disabled import switched_off
from autoconv.tracing.donation import Donate
from autoconv.tracing.function import Function


@presented
def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    donate: Donate = (),
) -> Any:
    """Makes a function run as graphs under TensorFlow's contract, one trace a signature of tensors.

    Python's own effects happen once a trace; ops happen on every call. `input_signature` fixes one signature.
    With `reduce_retracing` a second trace leaves open the sizes that differ from the first. With
    `experimental_follow_type_hints` numbers given for parameters that are annotated as Tensor become tensors.
    Raises TypeError when `func` is not callable.

    `donate` names parameters (or says their positions) whose tensors a call is given for good: native code may use
    their memory for its results, and they raise DonatedTensorError when they are used afterwards, also where the call
    failed. Arrays and variables stay as they are, and so does everything in a call that a tape records or that is part
    of another trace. ValueError for what is no parameter.
    """

    def decorate(inner: Callable[..., Any]) -> Any:
        relaxes = bool(reduce_retracing or experimental_relax_shapes)
        hints = bool(experimental_follow_type_hints)
        given = input_signature, autograph, relaxes, None, hints, donate
        return switched_off(inner, FUNCTION, *given) if SETTINGS.disabled else Function(inner, FUNCTION, *given)

    return presented(decorate) if func is None else decorate(func)


@presented
def compile(func: Callable[..., Any] | None = None, donate: Donate = ()) -> Any:
    """Makes a function run as graphs under Python's contract: results and exceptions are those of the plain function.

    Numbers are inputs, so one trace serves all of their values. What cannot be part of a graph runs as plain Python;
    `f.explain()` says which line and why. `donate` is that of `function`; a call that runs as plain Python is given
    nothing.
    """

    def decorate(inner: Callable[..., Any]) -> Any:
        given = COMPILE, None, True, False, None, False, donate
        return switched_off(inner, *given) if SETTINGS.disabled else Function(inner, *given)

    return presented(decorate) if func is None else decorate(func)
