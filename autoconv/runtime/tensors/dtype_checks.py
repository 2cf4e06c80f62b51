"""Errors of operands that type rules refuse: eagerly as in graphs, and for dtypes that do not agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.errors import (
    AutoconvError,
    DtypeError,
    InvalidArgumentError,
    TensorConversionError,
    TypeRuleError,
    UnconvertibleError,
)
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.types import TensorType
from autoconv.ops.record import Op
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.spans import current_place

_ACCEPTED_DTYPES: set[tuple[Any, ...]] = set()  # names of ops with dtypes of operands that their type rules accept


def check_dtypes(op: Op, values: Sequence[Any], arrays: Sequence[Any], attributes: dict[str, Any]) -> None:
    """Raise DtypeError where the op's type rule raises TypeError: NumPy's kernels would take more dtypes.

    The rule runs once for each combination of dtypes. `arrays` are the operands `values` as NumPy's.
    """
    dtypes = (op.name, *[getattr(array, "dtype", None) for array in arrays])
    if dtypes in _ACCEPTED_DTYPES:
        return
    if all(isinstance(array, (np.ndarray, np.generic)) for array in arrays):
        types = [
            value.type
            if hasattr(value, "type")
            else TensorType(as_dtype(array.dtype), np.shape(array), _is_weak(value))
            for value, array in zip(values, arrays, strict=True)
        ]
        try:
            op.result_types(types, attributes)
        except ValueError:  # the kernel's own errors about shapes and values are more precise
            pass
        except TypeError as error:
            if isinstance(error, AutoconvError):
                raise
            raise DtypeError(str(error)) from None
    _ACCEPTED_DTYPES.add(dtypes)


def kernel_dtype_error(error: TypeError, op: Op, arrays: Sequence[Any]) -> TypeError:
    """Return a DtypeError for the TypeError of an elementwise kernel: NumPy lacks it for the dtypes of the arrays.

    Errors of this package and of other ops are returned unchanged.
    """
    if isinstance(error, AutoconvError) or not op.traits.elementwise or op.name.startswith("python"):
        return error
    names = " and ".join(dict.fromkeys(as_dtype(array.dtype).name for array in arrays))
    return DtypeError(f"{op.graphdef} does not take {names} tensors")


def operand_name(position: int) -> str:
    """Return the name of an operand in errors and of its constants: x, y, z, and w for all further ones."""
    return "xyzw"[min(position, 3)]


def mismatch_error(op: Op, first: DType, other: DType, position: int, region: Region | None) -> Exception:
    """Return the error for two operands whose dtypes do not agree."""
    remedy = f"Cast one of them: autoconv.cast(value, autoconv.{first.name})."
    if region is None:
        return InvalidArgumentError(
            f"cannot compute {op.graphdef} as input #{position}(zero-based) was expected to be a {first.name} tensor "
            f"but is a {other.name} tensor [Op:{op.graphdef}]. {remedy}",
            current_place(),
        )
    return TypeError(
        f"Input {operand_name(position)!r} of {op.graphdef!r} Op has type {other.name} that does not match "
        f"type {first.name} of argument 'x'. {remedy}"
    )


def type_rule_error(error: TypeError | ValueError, region: Region) -> Exception:
    """Return the error of a type rule while tracing, with its place.

    Outside of `compile`, a plain ValueError becomes a TypeRuleError.
    """
    if isinstance(error, AutoconvError):
        error.place = error.place or current_place()
    elif isinstance(error, ValueError) and type(error) is ValueError and not region.contract.numpy_arrays:
        return TypeRuleError(str(error), current_place())
    return error


def unconvertible_error(op: Op, target: DType, value: Any, position: int, region: Region | None) -> Exception:
    """Return TensorFlow's error for a Python value that cannot take the dtype of the tensor it meets.

    TensorFlow's `+` first converts the second operand alone. So its error is that of two dtypes that do not agree.
    """
    if op.graphdef == "AddV2" and position and region is None:
        return mismatch_error(op, target, as_dtype(value.dtype), position, region=None)
    if target.is_string and isinstance(value, (np.ndarray, np.generic)):
        return TensorConversionError(f"Failed to convert a NumPy array to a Tensor of strings (found {value!r}).")
    python_value = np.asarray(value).tolist()
    shown_value = python_value.decode(errors="replace") if isinstance(python_value, bytes) else python_value
    return UnconvertibleError(f"Cannot convert {shown_value!r} to EagerTensor of dtype {target.name}")


def _is_weak(value: object) -> bool:
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)
