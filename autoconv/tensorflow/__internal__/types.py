"""Base class of tensors and of objects that convert to one."""

from __future__ import annotations

from typing import Any

from autoconv.runtime.objects.variable import Variable, VariableType
from autoconv.runtime.tensors.tensor import Tensor as _Tensor


class _TensorType(VariableType):
    """Metaclass by which tensors and variables are instances of Tensor."""

    def __instancecheck__(cls, value: object) -> bool:
        return super().__instancecheck__(value) or (cls is Tensor and isinstance(value, _Tensor | Variable))

    def __call__(cls, /, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs) if issubclass(cls, Variable) else type.__call__(cls, *args, **kwargs)


class Tensor(metaclass=_TensorType):
    """A tensor, a variable, or an object whose method `__tf_tensor__` returns one."""

    def __autoconv_tensor__(self) -> Any:
        return self.__tf_tensor__()

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        """Return the tensor."""
        raise NotImplementedError(f"{type(self).__name__} has no method __tf_tensor__")

