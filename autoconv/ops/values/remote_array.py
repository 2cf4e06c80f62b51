"""Arrays in the memory of another process or of an accelerator."""

from __future__ import annotations

from typing import Any

import numpy as np


class RemoteArray:
    """An array that this process's memory does not hold.

    Code recognises it by this class, since objects of the program may have methods of any name.
    """

    type: Any

    def fetch(self) -> np.ndarray:
        """Return the array, which is transferred once only; raise the error of its computation."""
        raise NotImplementedError
