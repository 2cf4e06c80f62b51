"""Protocol of ragged tensors, for annotations in modules that `RaggedTensor`'s module imports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from autoconv.runtime.support.shape import TensorShape
    from autoconv.runtime.tensors.tensor import Tensor


class RaggedProtocol(Protocol):
    """The attributes of a RaggedTensor that `partitions` reads."""

    _uniform_row_length: int | None

    @property
    def values(self) -> Any: ...

    @property
    def row_splits(self) -> Tensor: ...

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]: ...

    @property
    def ragged_rank(self) -> int: ...

    @property
    def shape(self) -> TensorShape: ...
