"""Types of functions: a PolymorphicFunction has a trace for each signature, a ConcreteFunction is one trace."""

import importlib
from types import SimpleNamespace

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


def __getattr__(name: str) -> SimpleNamespace:
    if name != "distributed":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    values = importlib.import_module("autoconv.distribute.values")  # not before it is needed
    variables = importlib.import_module("autoconv.distribute.variables")
    result = SimpleNamespace(PerReplica=values.PerReplica, Mirrored=variables.MirroredVariable)
    globals()[name] = result
    return result
