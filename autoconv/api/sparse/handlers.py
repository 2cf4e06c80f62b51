"""Handlers that public functions call for sparse tensors; each has the parameters of its function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.api.sparse.tensor import SparseTensor
from autoconv.api.tensors import trigonometry
from autoconv.api.tensors.arithmetic import negative
from autoconv.api.tensors.casts import cast, identity, stop_gradient
from autoconv.api.tensors.maths import abs, erf, sign, sqrt, square
from autoconv.api.tensors.reductions import reduce_prod
from autoconv.api.tensors.shaping import rank, shape, size
from autoconv.graph.dtypes import as_dtype, int32
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.recording.api_dispatch import handles, handles_each
from autoconv.runtime.tensors.tensor import Tensor

_VALUE_FUNCTIONS = (  # functions with f(0) = 0, which are applied to the values alone
    abs, cast, erf, identity, negative, sign, sqrt, square, stop_gradient, trigonometry.asin, trigonometry.asinh,
    trigonometry.atan, trigonometry.atanh, trigonometry.sin, trigonometry.tan, trigonometry.tanh,
)  # fmt: skip


@handles_each(_VALUE_FUNCTIONS, composite=SparseTensor)
def _apply_to_values(function: Callable[..., Any], x: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
    return x.with_values(function(x.values, *args, **kwargs))


@handles(shape, composite=SparseTensor)
def _shape(input: SparseTensor, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    return cast(input.dense_shape, as_dtype(out_type or int32))


@handles(size, composite=SparseTensor)
def _size(input: SparseTensor, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    return cast(reduce_prod(input.dense_shape), as_dtype(out_type or int32))


@handles(rank, composite=SparseTensor)
def _rank(input: SparseTensor, name: str | None = None) -> Tensor:
    return size(input.dense_shape)
