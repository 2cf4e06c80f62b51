"""`tensorflow.profiler`: blocks may be marked; nothing is measured here."""

from __future__ import annotations

import contextlib
from typing import Any

from autoconv.errors import UnimplementedError

_REMEDY = "autoconv has no profiler for TensorBoard: measure by autoconv bench, or by Python's cProfile"


class experimental:
    """Names of `tensorflow.profiler.experimental`."""

    class Trace(contextlib.ContextDecorator):
        """A block of a program with a name; it runs as it is."""

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
