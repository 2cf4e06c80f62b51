"""Functions under Python's contract: their attributes, copies and methods are those of Python's functions."""

from __future__ import annotations

import copy
import functools
from types import MethodType
from typing import TYPE_CHECKING, Any

from autoconv.tracing.api.bound_methods import MethodAttributes
from autoconv.tracing.api.call_paths import P, R
from autoconv.tracing.api.function import Function


class CompiledFunction(Function[P, R]):
    """A Function under Python's contract. As a method, it may be called with the instance, without `__get__`."""

    __slots__ = ()
    takes_instances: bool | None = None

    def _missing_attribute(self, name: str) -> object:
        """Return an attribute that only the Python function has; raises AttributeError as functions of Python do."""
        return getattr(vars(self).get("python_function", _no_function), name)

    def __copy__(self) -> CompiledFunction[P, R]:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> CompiledFunction[P, R]:
        """Return this object, as functions are not copied, or the method of the copied instance."""
        attributes = vars(self)
        if "__self__" not in attributes:
            return self
        method: CompiledFunction[P, R] = attributes["__func__"].__get__(copy.deepcopy(attributes["__self__"], memo))
        return method


class CompiledMethod(MethodAttributes, CompiledFunction[P, R]):
    """The method of an instance. As with `types.MethodType`, the class is called with a function and an instance."""

    __slots__ = ()
    takes_instances = False

    def __new__(cls, function: CompiledFunction[P, R], instance: object) -> CompiledMethod[P, R]:
        method: CompiledMethod[P, R] = function.method_of_instance(instance)
        return method

    def __init__(self, function: CompiledFunction[P, R], instance: object) -> None:
        """Do nothing: `__new__` returns a method that is initialised."""

    if not TYPE_CHECKING:

        def __get__(self, instance: object, owner: type | None = None) -> CompiledMethod[P, R]:
            return self  # as an attribute of another class it stays bound

        def __setattr__(self, name: str, value: object) -> None:
            # Attributes that this package uses can be set; for others, MethodAttributes raises Python's error.
            if name[:2] != "__" and (name in vars(self) or hasattr(CompiledFunction, name)):
                object.__setattr__(self, name, value)
            else:
                super().__setattr__(name, value)


class CompiledCallable(CompiledFunction[P, R]):
    """A compiled callable that Python does not bind to instances: a partial, a class, a bound method, a builtin."""

    __slots__ = ()
    takes_instances = False

    if not TYPE_CHECKING:

        def __get__(self, instance: object, owner: type | None = None) -> CompiledCallable[P, R]:
            return self


def compile_callable(inner: Any, contract: Any, options: Any) -> Any:
    """Return the compiled form of a callable; for a staticmethod, classmethod or property, one of the same kind."""
    if isinstance(inner, (staticmethod, classmethod)):
        return type(inner)(compile_callable(inner.__func__, contract, options))
    if type(inner) is property:
        accessors = (inner.fget, inner.fset, inner.fdel)
        fget, fset, fdel = (accessor and compile_callable(accessor, contract, options) for accessor in accessors)
        return property(fget, fset, fdel, inner.__doc__)
    # From Python 3.13 on, partial functions have a `__get__`, which warns and does not bind.
    is_bound_already = isinstance(inner, (MethodType, functools.partial, CompiledMethod, CompiledCallable))
    is_bound_later = hasattr(type(inner), "__get__") and not is_bound_already
    return (CompiledFunction if is_bound_later else CompiledCallable)(inner, contract, options)


def _no_function() -> None:
    """Stand in for the `python_function` of an object that is not initialised yet."""


CompiledFunction.method_class = CompiledMethod
