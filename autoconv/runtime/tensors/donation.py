"""Donated tensors, and the placeholder that replaces their arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from autoconv.errors import DonatedTensorError
from autoconv.runtime.tensors.tensor import EagerTensor


def donate(leaves: Iterable[Any], function: str) -> None:
    """Invalidate the tensors among the leaves: each later use of one raises."""
    for leaf in leaves:
        if type(leaf) is EagerTensor:
            leaf._array = DonatedArray(function)  # type: ignore[assignment]


class DonatedArray:
    """Placeholder for the array of a donated tensor: each use raises. `function` is the name of the callee."""

    __slots__ = ("_function",)

    def __init__(self, function: str) -> None:
        self._function = function

    def __str__(self) -> str:
        return f"donated to a call of {self._function}"

    def _refuse(self, *_: Any) -> NoReturn:
        raise DonatedTensorError(
            f"this tensor was donated to a call of {self._function}, which may have put other numbers into its memory",
            remedy="the result of the call, or donate a copy: autoconv.constant(x.numpy())",
        )

    __getattr__ = _refuse
    __array__ = __bool__ = __complex__ = __float__ = __getitem__ = __index__ = __int__ = __iter__ = __len__ = _refuse
