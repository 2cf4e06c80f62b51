"""`tf.experimental.numpy`: NumPy's functions over tensors."""

from __future__ import annotations

from typing import Any

from autoconv import numpy as _numpy
from autoconv.graph.dtypes import as_dtype


def __getattr__(name: str) -> Any:
    return getattr(_numpy, name)


def finfo(dtype: Any) -> Any:
    """Return the limits of a dtype of floats, as NumPy does."""
    import numpy as np

    return np.finfo(as_dtype(dtype).numpy)
