"""`tensorflow.python.ops.array_ops`: ops on shapes and elements of tensors, by their public names."""

from __future__ import annotations

import autoconv
from autoconv.runtime.annotations import TensorLike
from autoconv.tensorflow.python.private_modules import lookup_in


def prevent_gradient(input: TensorLike, message: str = "", name: str | None = None) -> object:
    """Return the input; raises LookupError where its gradient is taken."""

    @autoconv.custom_gradient
    def identity(value: TensorLike) -> object:
        def gradient(*_: object) -> object:
            raise LookupError(f"Gradient explicitly disabled. Reason: {message}")

        return autoconv.identity(value), gradient

    return identity(input)


__getattr__ = lookup_in(__name__)
