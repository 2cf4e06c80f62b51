"""`tensorflow.python.ops.parallel_for.control_flow_ops`: a loop body for all iterations at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autoconv
from autoconv.runtime.annotations import TensorLike


def pfor(loop_fn: Callable[[Any], Any], iters: TensorLike, **kwargs: object) -> object:
    """Return the stacked results of `loop_fn` for 0, …, iters - 1."""
    return autoconv.vectorized_map(loop_fn, autoconv.range(iters))
