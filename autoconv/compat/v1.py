"""Names of version 1 of TensorFlow."""

from __future__ import annotations

from typing import Any

from autoconv.api.random.stateful import set_seed
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.types import TensorType
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.shape import as_shape
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.summary.protos import messages


def placeholder(dtype: DTypeLike, shape: Any = None, name: str | None = None) -> Any:
    """Return a symbolic tensor for a value that is given when the graph runs.

    Raises RuntimeError outside of `with graph.as_default():` and of a traced function.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.placeholder(autoconv.float32, [None, 2]).shape
    TensorShape([None, 2])
    """
    region = current_region()
    if region is None:
        raise RuntimeError("placeholder() is not compatible with eager execution: write it in a graph's block.")
    root = region.trace.root.graph
    return SymbolicTensor(root.add_parameter(TensorType(as_dtype(dtype), as_shape(shape)), name or "Placeholder"))


def reset_default_graph() -> None:
    """Do nothing: outside of a graph's block ops run at once, and there is no default graph to forget.

    >>> autoconv.compat.v1.reset_default_graph()
    """


def enable_eager_execution(
    config: object = None, device_policy: object = None, execution_mode: object = None
) -> None:
    """Do nothing: ops run at once outside of a graph's block.

    >>> autoconv.compat.v1.enable_eager_execution()
    """


def enable_v2_behavior() -> None:
    """Do nothing: version 2 is what programs have.

    >>> autoconv.compat.v1.enable_v2_behavior()
    """


def enable_resource_variables() -> None:
    """Do nothing: variables are objects that are changed in order.

    >>> autoconv.compat.v1.enable_resource_variables()
    """


def set_random_seed(seed: int) -> None:
    """Set the global seed, as `autoconv.random.set_seed` does.

    >>> autoconv.compat.v1.set_random_seed(1)
    """
    set_seed(seed)


def __getattr__(name: str) -> Any:
    """Return TensorBoard's messages, at the first use of one of them: their package is an extra."""
    if name not in _MESSAGES:
        raise AttributeError(f"module 'autoconv.compat.v1' has no attribute {name!r}")
    return getattr(messages("summary" if name.startswith("Summary") else "event"), name)


_MESSAGES = ("Event", "Summary", "SummaryMetadata")
__all__ = [
    "enable_eager_execution", "enable_resource_variables", "enable_v2_behavior", "placeholder", "reset_default_graph",
    "set_random_seed",
]  # fmt: skip
