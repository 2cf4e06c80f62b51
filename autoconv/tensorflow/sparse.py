"""`tf.sparse`, whose tensors autoconv does not have yet: names to refer to, which raise when they are called."""

from __future__ import annotations

from typing import Any

from autoconv.tensorflow.missing import Missing


class SparseTensor:
    """A sparse tensor, of which there are none: making one raises UnimplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        Missing("SparseTensor", "Use a dense tensor.")()


class SparseTensorSpec:
    """The spec of a sparse tensor, of which there are none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        Missing("SparseTensorSpec", "Use a dense tensor.")()


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Missing(f"sparse.{name}", "Use a dense tensor.")
