"""Tracing: signatures, guards, the cache, and the two decorators."""

from autoconv.tracing.concrete import ConcreteFunction
from autoconv.tracing.function import Function, compile, function

__all__ = ["ConcreteFunction", "Function", "compile", "function"]
