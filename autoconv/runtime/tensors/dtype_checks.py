"""Refuse operands eagerly whose dtypes the type rule of an op refuses in graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.errors import AutoconvError, DtypeError
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.types import TensorType
from autoconv.ops.record import Op

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


def name_dtypes(error: TypeError, op: Op, arrays: Sequence[Any]) -> TypeError:
    """Return a DtypeError if an elementwise kernel failed since NumPy lacks it for these dtypes; else the error."""
    if isinstance(error, AutoconvError) or not op.traits.elementwise or op.name.startswith("python"):
        return error
    names = " and ".join(dict.fromkeys(as_dtype(array.dtype).name for array in arrays))
    return DtypeError(f"{op.graphdef} does not take {names} tensors")


def _is_weak(value: object) -> bool:
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)


__all__ = ["check_dtypes", "name_dtypes"]
