"""Handlers of public functions for composite tensors, which ops do not take as operands.

A public function that raises for its arguments is tried again by the handler of a composite among them. Handlers are
found by the function itself, without the wrapper that presents its errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.support.type_spec import composites_in

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Handler:
    """`run` takes the place of a function where `fits(args, kwargs)`. Later handlers take precedence."""

    fits: Callable[[Sequence[object], Mapping[str, object]], bool]
    run: Function


_HANDLERS: dict[Function, list[Handler]] = {}
# Public function, or None for all -> pairs (run, refusal) that libraries registered. `run(function, args, kwargs)`
# returns a result, or the object `refusal` for arguments that it does not handle.
_FALLBACKS: dict[Function | None, list[tuple[Callable[..., object], object]]] = {}


def unwrap(function: Function) -> Function:
    """Return a public function without its wrapper."""
    return getattr(function, "__wrapped__", function)  # type: ignore[no-any-return]


def register(function: Function, handler: Handler) -> None:
    """Register a handler of a public function, before the handlers that the function has already."""
    _HANDLERS.setdefault(unwrap(function), []).insert(0, handler)


def register_fallback(function: Function | None, run: Callable[..., object], refusal: object) -> None:
    """Let `run(function, args, kwargs)` give the result of a public function (None: of every one) where that raises.

    It returns the object `refusal` for arguments that it does not handle.
    """
    _FALLBACKS.setdefault(function and unwrap(function), []).append((run, refusal))


def unregister(run: Function) -> None:
    """Remove the handlers that run this function; raises ValueError where there is none."""
    removed_count = 0
    for handlers in _HANDLERS.values():
        remaining_handlers = [handler for handler in handlers if run not in (handler.run, unwrap(handler.run))]
        removed_count += len(handlers) - len(remaining_handlers)
        handlers[:] = remaining_handlers
    if not removed_count:
        raise ValueError(f"Function {run} was not registered with a `@dispatch_for...` decorator.")


def handles(*functions: Function, composite: type) -> Callable[[Function], Function]:
    """Register the decorated function as the functions' handler for calls with a composite of the class."""

    def fits(args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
        return any(isinstance(value, composite) for value in composites_in((*args, *kwargs.values())))

    def decorate(run: Function) -> Function:
        for function in functions:
            register(function, Handler(fits, run))
        return run

    return decorate


def handles_each(functions: Iterable[Function], composite: type) -> Callable[[Function], Function]:
    """Register `run(function, *args, **kwargs)` for each of the functions, as `handles` does."""

    def decorate(run: Function) -> Function:
        for function in functions:
            handles(function, composite=composite)(_bind(run, function))
        return run

    return decorate


def _bind(run: Function, function: Function) -> Function:
    """Return a function that calls `run` with the function before the arguments."""

    def bound(*args: object, **kwargs: object) -> Any:
        return run(function, *args, **kwargs)

    bound.__wrapped__ = run  # type: ignore[attr-defined]
    return bound


def handler_of(public: Function, args: Sequence[object], kwargs: Mapping[str, object]) -> Function | None:
    """Return the handler that replaces a public function for these arguments; None if there is none."""
    function = unwrap(public)
    composites = list(composites_in((*args, *kwargs.values())))
    for composite in composites:
        provider = getattr(type(composite), "__autoconv_handlers__", "")
        if provider:
            import_module(provider)
    for handler in _HANDLERS.get(function, ()) if composites else ():
        if handler.fits(args, kwargs):
            return handler.run
    for run, refusal in (*_FALLBACKS.get(function, ()), *_FALLBACKS.get(None, ())):
        result = run(public, args, kwargs)
        if result is not refusal:
            return lambda *_, result=result, **__: result
    return None
