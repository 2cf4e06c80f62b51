"""Tracing: signatures, guards, the cache, and the two decorators."""

from autoconv.tracing.api.decorators import compile, function
from autoconv.tracing.api.function import Function
from autoconv.tracing.execute.compiled_trace import ConcreteFunction

__all__ = ["ConcreteFunction", "Function", "compile", "function"]
