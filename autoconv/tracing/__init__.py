"""Tracing: signatures, guards, the cache, and the two decorators."""

from autoconv.tracing.concrete import ConcreteFunction
from autoconv.tracing.decorators import compile, function
from autoconv.tracing.function import Function

__all__ = ["ConcreteFunction", "Function", "compile", "function"]
