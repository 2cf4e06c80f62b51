"""Type aliases of what functions accept, for annotations; they are strings at run time, which costs no import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from autoconv.graph.dtypes import DType
    from autoconv.graph.types import TensorType
    from autoconv.runtime.protocols import SupportsTensor

    class HasTensorType(Protocol):
        """A tensor, of a graph or with a value."""

        @property
        def type(self) -> TensorType: ...

    class HasSizes(Protocol):
        """A TensorShape."""

        def as_list(self) -> list[int | None]: ...

    class SupportsArray(Protocol):
        """An object that NumPy reads as an array."""

        def __array__(self) -> np.ndarray: ...


Scalar: TypeAlias = "bool | int | float | complex | str | bytes | np.generic"
# Objects that NumPy reads as arrays.
ArrayLike: TypeAlias = "Scalar | np.ndarray | SupportsArray | Sequence[ArrayLike]"
# Objects that are converted to tensors.
TensorLike: TypeAlias = (
    "Scalar | np.ndarray | HasTensorType | HasSizes | SupportsTensor | SupportsArray | Sequence[object]"
)
IntLike: TypeAlias = "int | np.integer | HasTensorType | SupportsTensor"
DTypeLike: TypeAlias = "DType | np.dtype | type | str"
ShapeLike: TypeAlias = "int | Sequence[int | None] | TensorLike"
AxisLike: TypeAlias = "int | np.integer | Sequence[int] | TensorLike"
# The argument `out` of NumPy's functions.
OutLike: TypeAlias = "TensorLike | tuple[TensorLike, ...]"
