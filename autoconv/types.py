"""Names for annotations and isinstance checks."""

from __future__ import annotations

from autoconv.runtime.tensor import Tensor
from autoconv.tracing import ConcreteFunction as _ConcreteFunction
from autoconv.tracing import Function
from autoconv.tracing.protocol import SupportsTracingProtocol as _SupportsTracingProtocol
from autoconv.tracing.protocol import TraceType as _TraceType
from autoconv.tracing.protocol import TracingContext as _TracingContext


class experimental:
    """What functions are: a PolymorphicFunction has a trace for each signature, a ConcreteFunction one."""

    ConcreteFunction = _ConcreteFunction
    GenericFunction = Function
    PolymorphicFunction = Function
    Callable = Function
    TensorLike = Tensor
    TraceType = _TraceType
    TracingContext = _TracingContext
    SupportsTracingProtocol = _SupportsTracingProtocol


__all__ = ["experimental"]
