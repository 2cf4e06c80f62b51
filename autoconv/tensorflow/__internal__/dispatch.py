"""Dispatchers: what a library runs in place of a public function that refuses its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoconv.runtime.recording import api_dispatch
from autoconv.runtime.recording.tracebacks import present_errors


class _Dispatcher:
    """Base of all dispatchers."""

    NOT_SUPPORTED = object()  # the result of `handle` for arguments that the dispatcher leaves to others


class OpDispatcher(_Dispatcher):
    """Base of dispatchers of one function: a subclass defines `handle(args, kwargs)`."""

    def handle(self, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Return the result of the function for these arguments, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self, op: Callable[..., object]) -> None:
        """Try this dispatcher where `op` refuses its arguments."""
        api_dispatch.register_fallback(op, lambda _, args, kwargs: self.handle(args, kwargs), self.NOT_SUPPORTED)


class GlobalOpDispatcher(_Dispatcher):
    """Base of dispatchers of all functions: a subclass defines `handle(op, args, kwargs)`."""

    def handle(self, op: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Return the result of `op` for these arguments, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self) -> None:
        """Try this dispatcher where a public function refuses its arguments."""
        api_dispatch.register_fallback(None, self.handle, self.NOT_SUPPORTED)


def add_dispatch_support(
    target: Callable[..., object] | None = None, iterable_parameters: Sequence[str] | None = None
) -> Any:
    """Decorate a function of a library so that it has dispatchers, as public functions have."""
    return present_errors if target is None else present_errors(target)
