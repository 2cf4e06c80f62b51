"""`tensorflow.python.ops.linalg.linear_operator`: linear operators."""

from __future__ import annotations

from typing import TypeVar

from autoconv.linalg import LinearOperator as LinearOperator

T = TypeVar("T", bound=type)


def make_composite_tensor(cls: T, module_name: str = "tf.linalg") -> T:
    """Return the class: subclasses of LinearOperator need no registration as composites here."""
    return cls
