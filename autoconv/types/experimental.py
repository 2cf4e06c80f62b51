"""Types of functions: a PolymorphicFunction has a trace for each signature, a ConcreteFunction one."""

from autoconv.runtime.tensors.tensor import Tensor as TensorLike
from autoconv.tracing import ConcreteFunction
from autoconv.tracing import Function as Callable
from autoconv.tracing import Function as GenericFunction
from autoconv.tracing import Function as PolymorphicFunction
from autoconv.tracing.key.trace_types import SupportsTracingProtocol, TraceType, TracingContext

__all__ = [
    "Callable", "ConcreteFunction", "GenericFunction", "PolymorphicFunction", "SupportsTracingProtocol", "TensorLike",
    "TraceType", "TracingContext",
]  # fmt: skip
