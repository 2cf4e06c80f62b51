"""Arrays in the memory of another process or of an accelerator."""

from __future__ import annotations

import numpy as np

from autoconv.graph.types import TensorType


class RemoteArray:
    """An array that this process's memory does not hold.

    Test for it with `isinstance`, not by an attribute: a user's object may have a method `fetch`, too.
    """

    type: TensorType  # the array's type in graphs

    def fetch(self) -> np.ndarray:
        """Return the array, which is transferred once only; raise the error of its computation."""
        raise NotImplementedError
