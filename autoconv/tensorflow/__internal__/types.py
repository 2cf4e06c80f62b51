"""Base class of tensors and of objects that convert to one."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.tensors.tensor import Tensor as _Tensor


class Tensor(metaclass=ABCMeta):  # noqa: B024 subclasses override `__tf_tensor__` or are registered
    """A tensor, a variable, or an object whose method `__tf_tensor__` returns one."""

    def __autoconv_tensor__(self) -> Any:
        return self.__tf_tensor__()

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        """Return the tensor."""
        raise NotImplementedError(f"{type(self).__name__} has no method __tf_tensor__")


Tensor.register(_Tensor)
Tensor.register(Variable)
