"""Arrays in the memory of another process or of an accelerator."""

from __future__ import annotations

from typing import Any

import numpy as np


class RemoteArray:
    """An array in other memory. By this class, and by no method's name, it is told apart from the program's objects."""

    type: Any

    def fetch(self) -> np.ndarray:
        """Return the array, kept from then on; raise the error of its computation."""
        raise NotImplementedError
