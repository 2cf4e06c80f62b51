"""`tf.ragged`, whose tensors autoconv does not have yet: names to refer to, which raise when they are called."""

from __future__ import annotations

from typing import Any

from autoconv.tensorflow.missing import Missing


class _Kind(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"RaggedTensor.{name}", "Pad the rows to one length.")


class RaggedTensor(metaclass=_Kind):
    """A ragged tensor, of which there are none: making one raises UnimplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        Missing("RaggedTensor", "Pad the rows to one length.")()


class RaggedTensorSpec:
    """The spec of a ragged tensor, of which there are none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        Missing("RaggedTensorSpec", "Pad the rows to one length.")()


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Missing(f"ragged.{name}", "Pad the rows to one length.")
