"""Names for annotations and isinstance checks."""

from __future__ import annotations

from autoconv.runtime.tensor import Tensor
from autoconv.tracing import ConcreteFunction as _ConcreteFunction
from autoconv.tracing import Function


class experimental:
    """What functions are: a PolymorphicFunction has a trace for each signature, a ConcreteFunction one."""

    ConcreteFunction = _ConcreteFunction
    GenericFunction = Function
    PolymorphicFunction = Function
    Callable = Function
    TensorLike = Tensor


__all__ = ["experimental"]
