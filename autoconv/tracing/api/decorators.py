"""`function` and `compile`: the decorators, one for each contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, overload

from autoconv.config import SETTINGS
from autoconv.runtime.recording.tracebacks import present_errors
from autoconv.tracing.api.compiled_function import compile_callable
from autoconv.tracing.api.disabled import disable
from autoconv.tracing.api.function import Function
from autoconv.tracing.api.function_options import FunctionOptions
from autoconv.tracing.execute.donation import Donate
from autoconv.tracing.specialise.compile_contract import CompileContract
from autoconv.tracing.specialise.function_contract import FunctionContract

P = ParamSpec("P")
R = TypeVar("R")


class Options(TypedDict, total=False):
    """The keyword arguments of `function` that its overloads do not list one by one."""

    reduce_retracing: bool
    experimental_implements: Any
    experimental_autograph_options: Any
    experimental_attributes: Any
    experimental_relax_shapes: bool | None
    experimental_compile: bool | None
    experimental_follow_type_hints: bool | None
    donate: Donate
    backend: str | None


class Decorator(Protocol):
    """The type of `function(…)` and `compile(…)` without a function: the decorator with these arguments."""

    def __call__(self, func: Callable[P, R], /) -> Function[P, R]: ...


@overload
def function(
    func: Callable[P, R], input_signature: Sequence[Any] | None = None, autograph: bool = True,
    jit_compile: bool | None = None, **options: Unpack[Options],
) -> Function[P, R]: ...  # fmt: skip


@overload
def function(
    func: None = None, input_signature: Sequence[Any] | None = None, autograph: bool = True,
    jit_compile: bool | None = None, **options: Unpack[Options],
) -> Decorator: ...  # fmt: skip


@present_errors
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
    backend: str | None = None,
) -> Any:
    """Run a Python function as graphs under TensorFlow's contract, with one trace per signature of tensors.

    Python side effects happen once per trace; ops run on every call. `input_signature` fixes one signature.
    With `reduce_retracing`, sizes in which calls differ are left open from the second trace on. With
    `experimental_follow_type_hints`, numbers given for parameters that are annotated as Tensor become tensors.
    Raises TypeError when `func` is not callable.

    `donate` names parameters (or gives their positions) whose tensors are donated to the call: native code may reuse
    their memory for its results. Donated tensors raise DonatedTensorError when they are used afterwards, even if the
    call failed. Arrays and variables stay valid, and so do the tensors of a call that a tape records or that is part of
    another trace. Raises ValueError for an unknown parameter.

    `backend` names the backend of the graphs: "native" (LLVM), "xla" (the extra of that name) or "reference" (NumPy, op
    by op); by default it is that of the settings (AUTOCONV_BACKEND). A function that is part of another function's
    trace runs with the backend of that function. Raises ValueError for an unknown name, ImportError where a package is
    missing.

    `experimental_relax_shapes` is another name of `reduce_retracing`. `jit_compile`, `experimental_compile`,
    `experimental_implements`, `experimental_autograph_options` and `experimental_attributes` have no effect: they are
    accepted for programs of TensorFlow.

    >>> @autoconv.function
    ... def larger(x, y):
    ...     if autoconv.reduce_sum(x) > autoconv.reduce_sum(y):
    ...         return x
    ...     return y
    >>> larger(autoconv.constant([1, 2]), autoconv.constant([3, 4])).numpy()
    array([3, 4], dtype=int32)
    """

    def decorate(inner: Callable[..., Any]) -> Any:
        """Return the Function of a callable, with the options of the decorator."""
        reduces_retracing = bool(reduce_retracing or experimental_relax_shapes)
        follows_hints = bool(experimental_follow_type_hints)
        options = FunctionOptions(
            input_signature=input_signature, autograph=autograph, reduce_retracing=reduces_retracing,
            follow_type_hints=follows_hints, donate=donate, backend=backend,
        )  # fmt: skip
        make_function = disable if SETTINGS.disabled else Function
        return make_function(inner, FunctionContract, options)

    return present_errors(decorate) if func is None else decorate(func)


@overload
def compile(func: Callable[P, R], donate: Donate = (), backend: str | None = None) -> Function[P, R]: ...


@overload
def compile(func: None = None, donate: Donate = (), backend: str | None = None) -> Decorator: ...


@present_errors
def compile(
    func: Callable[..., Any] | None = None, donate: Donate = (), backend: str | None = None
) -> Any:
    """Run a Python function as graphs under Python's contract: with the plain function's results and exceptions.

    Numbers are inputs, so one trace serves all of their values. Code that cannot be part of a graph runs as plain
    Python; `f.explain()` shows the line and the reason. `donate` and `backend` are as in `function`; a call that runs
    as plain Python donates nothing. If a backend is named, each call that can be a graph runs as one, whether or not
    plain Python is quicker.

    >>> @autoconv.compile
    ... def collatz(n):
    ...     steps = 0
    ...     while n != 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         steps += 1
    ...     return steps
    >>> collatz(27)
    111
    """

    def decorate(inner: Callable[..., Any]) -> Any:
        make_function = disable if SETTINGS.disabled else compile_callable
        return make_function(inner, CompileContract, FunctionOptions(donate=donate, backend=backend))

    return present_errors(decorate) if func is None else decorate(func)
