"""Functions of arrays that are part of graphs as data, so that saved graphs can hold them.

A host function is a frozen dataclass with `__call__`, registered by `attribute_class`. Its fields are Python's
literals, dtypes and tuples of them. The text of a graph contains its fields, from which the parser restores it.
`graphdef_name` is the name of TensorFlow's op for the function in GraphDefs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.tensor import Tensor


def call_on_host(function: Callable[..., Any], inputs: Sequence[Tensor], specs: Sequence[TensorSpec]) -> list[Tensor]:
    """Return the results of a host function as tensors: at once, or recorded in the graph that is traced."""
    return list(numpy_function(function, inputs, list(specs), name=type(function).__name__))
