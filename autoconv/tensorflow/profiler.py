"""`tensorflow.profiler`: programs may mark blocks of code, and nothing is measured."""

from __future__ import annotations

import contextlib
from typing import Any

from autoconv.errors import UnimplementedError

_REMEDY = "autoconv has no profiler for TensorBoard: measure by autoconv bench, or by Python's cProfile"


class experimental:
    """Names of `tensorflow.profiler.experimental`."""

    class Trace(contextlib.ContextDecorator):
        """A context manager or decorator that marks a block of code, and has no effect."""

        def __init__(self, name: str, **kwargs: object) -> None:
            self.name, self.metadata = name, kwargs

        def set_metadata(self, **kwargs: object) -> None:
            self.metadata.update(kwargs)

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            return None

    @staticmethod
    def start(logdir: str, options: object = None) -> None:
        """Raise UnimplementedError."""
        raise UnimplementedError(_REMEDY)

    @staticmethod
    def stop(save: bool = True) -> None:
        """Raise UnimplementedError."""
        raise UnimplementedError(_REMEDY)
