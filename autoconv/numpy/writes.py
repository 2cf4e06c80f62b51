"""Results written into an array of the caller: `out=`, and functions that mutate their argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import ItemAssignmentError
from autoconv.graph.types import ArrayType
from autoconv.numpy.operands import cast, numpy_dtype_of, refuse, tensor
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.arrays.array_checks import may_broadcast
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor


def write_into(
    out: Any, result: Tensor, where: TensorLike = True, casting: str = "same_kind", broadcasts: bool = False
) -> Any:
    """Write a result into `out` where the mask `where` is true, and return `out`.

    Raises NumPy's error for a dtype that the rule `casting` forbids. With `broadcasts`, as for ufuncs, the result is
    broadcast to the shape of `out`. Otherwise a result of another shape is refused, since the text of the error differs
    from function to function.
    """
    if isinstance(out, EagerTensor):
        raise ItemAssignmentError("'EagerTensor' object does not support item assignment")
    if isinstance(out, np.ndarray) or (isinstance(out, Tensor) and not isinstance(out, SymbolicTensor)):
        refuse(
            "writes to an array that is not part of the graph" if current_region() else "writes to a tensor"
        )
    dtype = numpy_dtype_of(out)
    if not broadcasts and tensor(out).type.shape != result.type.shape:
        refuse("is given an array of another shape to write to")
    if not np.can_cast(result.dtype.numpy, dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"Cannot cast ufunc output from dtype('{result.dtype.name}') to dtype('{dtype}') with casting rule "
            f"'{casting}'"
        )
    out_shape, shape = np.shape(out), result.type.shape
    if shape is not None and None not in (*out_shape, *shape) and not may_broadcast(out_shape, shape):
        raise ValueError(f"non-broadcastable output operand with shape {out_shape} doesn't match {shape}")
    value = cast(result, dtype)
    if where is not True:
        value = apply("select", tensor(where, bool), value, tensor(out))
    if isinstance(out, SymbolicTensor):
        note_change(out)
    out[...] = value
    return out


def write_product(out: Any, result: Tensor) -> Any:
    """Write a result into `out`, as `write_into` does, where NumPy requires its dtype and a C-contiguous array."""
    array_type = getattr(out, "type", None)
    if isinstance(array_type, ArrayType) and not array_type.is_contiguous:
        refuse("is given an array to write to that may not be C-contiguous")
    if numpy_dtype_of(out) != result.dtype.numpy:
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
        )
    return write_into(out, result)


def note_change(x: TensorLike) -> None:
    """Register an in-place change of an array, which makes the trace take it by reference."""
    current_contract().require_original(x, "an array is changed in place")
