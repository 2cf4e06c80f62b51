"""What functions are: a PolymorphicFunction has a trace for each signature, a ConcreteFunction one."""

from autoconv.runtime.tensors.tensor import Tensor as TensorLike
from autoconv.tracing import ConcreteFunction, Function
from autoconv.tracing.key.trace_types import SupportsTracingProtocol, TraceType, TracingContext

Callable = GenericFunction = PolymorphicFunction = Function

__all__ = [
    "Callable", "ConcreteFunction", "GenericFunction", "PolymorphicFunction", "SupportsTracingProtocol", "TensorLike",
    "TraceType", "TracingContext",
]  # fmt: skip
