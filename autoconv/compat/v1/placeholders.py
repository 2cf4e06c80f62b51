"""Placeholders: symbolic tensors whose values are fed when a session runs."""

from __future__ import annotations

from typing import Any, NamedTuple

from autoconv.api.sparse.tensor import SparseTensor
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.types import TensorType
from autoconv.ops import OPS
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.shape import as_shape
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def placeholder(dtype: DTypeLike, shape: Any = None, name: str | None = None) -> Any:
    """Return a symbolic tensor for a value that is fed when the graph runs.

    Raises RuntimeError where no graph is recorded: outside of `with graph.as_default():` and of traced functions.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.placeholder(autoconv.float32, [None, 2]).shape
    TensorShape([None, 2])
    """
    region = current_region()
    if region is None:
        raise RuntimeError(
            "placeholder() is not compatible with eager execution: write it in a block `with graph.as_default():`, or "
            "call autoconv.compat.v1.disable_eager_execution() at the start of the program."
        )
    graph = region.block.graph
    full_name = region.trace.scope + (name or "Placeholder")
    return SymbolicTensor(graph.add_parameter(TensorType(as_dtype(dtype), as_shape(shape)), full_name))


class SparseTensorValue(NamedTuple):
    """The arrays of a sparse tensor, which a session returns, or which are fed to it.

    >>> autoconv.compat.v1.SparseTensorValue([[0, 0]], [1], [1, 1]).values
    [1]
    """

    indices: Any
    values: Any
    dense_shape: Any


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Return a sparse tensor for a SparseTensor or a SparseTensorValue, a tensor for anything else.

    Raises RuntimeError for a sparse tensor of another dtype.

    >>> autoconv.compat.v1.convert_to_tensor_or_sparse_tensor([1, 2]).shape
    TensorShape([2])
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor(*value)
    if not isinstance(value, SparseTensor):
        return convert_to_tensor(value, dtype)
    if dtype is not None and value.dtype is not as_dtype(dtype):
        raise RuntimeError(f"Sparse dtype mismatch. Requested: {as_dtype(dtype).name}, Actual: {value.dtype.name}")
    return value


def sparse_placeholder(dtype: DTypeLike, shape: Any = None, name: str | None = None) -> SparseTensor:
    """Return a sparse tensor of placeholders; see `placeholder`.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.sparse_placeholder(autoconv.float32, [None, 2]).shape
    TensorShape([None, 2])
    """
    static_shape = as_shape(shape)
    rank = None if static_shape is None else len(static_shape)
    prefix = name or "SparsePlaceholder"
    indices = placeholder("int64", [None, rank], f"{prefix}/indices")
    values = placeholder(dtype, [None], f"{prefix}/values")
    if static_shape is not None and None not in static_shape:
        dense_shape: Any = convert_to_tensor(list(static_shape), as_dtype("int64"))
    else:
        dense_shape = placeholder("int64", [rank], f"{prefix}/shape")
    result = SparseTensor(indices, values, dense_shape)
    if static_shape is not None:
        result.set_shape(static_shape)
    return result


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """Return a symbolic tensor of this shape; its value is `input` unless another one is fed.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     x = autoconv.compat.v1.placeholder_with_default([1.0, 2.0], [None])
    ...     session.run(x), session.run(x, {x: [5.0]})
    (array([1., 2.], dtype=float32), array([5.], dtype=float32))
    """
    region = current_region()
    if region is None:
        return convert_to_tensor(input)
    tensor = convert_to_tensor(input)
    declared_type = TensorType(tensor.dtype, as_shape(shape))
    input_value = region.lift(tensor.value_in_graph)  # type: ignore[attr-defined]
    full_name = region.trace.scope + (name or "PlaceholderWithDefault")
    return SymbolicTensor(
        region.graph.add(OPS["identity"], [input_value], types=[declared_type], name=full_name).results[0]
    )
