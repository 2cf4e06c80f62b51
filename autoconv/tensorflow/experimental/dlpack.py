"""`tf.experimental.dlpack`: tensors of other libraries, by the protocol of arrays in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.runtime.tensors.conversion import constant


class _CapsuleAdapter:
    """Adapt a capsule to the methods of the DLPack protocol, which NumPy calls."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: object) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # DLPack's device type of the CPU, and the number of the device


def to_dlpack(tf_tensor: object) -> Any:
    """Return a capsule of the tensor's memory."""
    return np.array(tf_tensor).__dlpack__()


def from_dlpack(dlcapsule: object) -> Any:
    """Return the tensor of a capsule, or of an object that has the protocol's methods."""
    owner = dlcapsule if hasattr(dlcapsule, "__dlpack__") else _CapsuleAdapter(dlcapsule)
    return constant(np.array(np.from_dlpack(owner)))
