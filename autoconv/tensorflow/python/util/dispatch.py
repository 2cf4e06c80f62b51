"""`tensorflow.python.util.dispatch`: handlers of functions for classes of arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from autoconv.runtime.recording.api_dispatch import Handler, register
from autoconv.tensorflow.__internal__.dispatch import GlobalOpDispatcher as GlobalOpDispatcher
from autoconv.tensorflow.__internal__.dispatch import OpDispatcher as OpDispatcher
from autoconv.tensorflow.__internal__.dispatch import add_dispatch_support as add_dispatch_support

Function = TypeVar("Function", bound=Callable[..., object])


def dispatch_for_types(op: Callable[..., object], *types: type) -> Callable[[Function], Function]:
    """Return a decorator of the function that replaces `op` where an argument is of one of the classes."""

    def decorate(function: Function) -> Function:
        def fits(args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
            return any(isinstance(value, types) for value in (*args, *kwargs.values()))

        register(op, Handler(fits, function))
        return function

    return decorate
