"""`tensorflow.python.ops.array_ops`: ops on the form of tensors, by their public names."""

from __future__ import annotations

from typing import Any

import autoconv


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Any:
    """Return the input; raises LookupError where its gradient is taken."""

    @autoconv.custom_gradient
    def identity(value: Any) -> Any:
        def gradient(*_: Any) -> Any:
            raise LookupError(f"Gradient explicitly disabled. Reason: {message}")

        return autoconv.identity(value), gradient

    return identity(input)


def __getattr__(name: str) -> Any:
    """Return the public name of autoconv."""
    return getattr(autoconv, name)
