"""Registration of a program's own handlers, which replace public functions for its extension types."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from autoconv.api.control import checks
from autoconv.api.elementwise import BINARY, UNARY
from autoconv.runtime.recording.api_dispatch import Handler, register, unregister, unwrap

Function = TypeVar("Function", bound=Callable[..., Any])
_ASSERTIONS = (
    checks.assert_equal, checks.assert_none_equal, checks.assert_less, checks.assert_less_equal, checks.assert_greater,
    checks.assert_greater_equal,
)  # fmt: skip


def dispatch_for_api(api: Callable[..., Any], *signatures: Mapping[Any, Any]) -> Callable[[Function], Function]:
    """Decorator that registers a function as a replacement of the public function `api`, for some types of arguments.

    `signatures` map names or positions of the public function's parameters to types; by default they are the
    annotations of the decorated function. Raises ValueError if there are none.

    >>> class Doubled(autoconv.experimental.ExtensionType):
    ...     half: autoconv.Tensor
    >>> @autoconv.experimental.dispatch_for_api(autoconv.reduce_sum)
    ... def total(input_tensor: Doubled, axis=None, keepdims=False):
    ...     return 2 * autoconv.reduce_sum(input_tensor.half, axis, keepdims)
    >>> autoconv.reduce_sum(Doubled([1, 2])).numpy()
    np.int32(6)
    """
    function = unwrap(api)
    signature = inspect.signature(function)

    def register_handler(handler: Function) -> Function:
        type_maps = list(signatures) or [_annotations(handler)]
        if not all(type_maps):
            raise ValueError(f"dispatch_for_api needs types of arguments: annotate those of {handler!r}")
        for type_map in type_maps:
            register(function, Handler(_annotated_type_check(signature, type_map), handler))
        return handler

    return register_handler


def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[Function], Function]:
    """Register `handler(function, x)` for all functions of one tensor that compute element by element.

    >>> class Named(autoconv.experimental.ExtensionType):
    ...     values: autoconv.Tensor
    ...     name: str
    >>> @autoconv.experimental.dispatch_for_unary_elementwise_apis(Named)
    ... def of_named(function, x):
    ...     return Named(function(x.values), x.name)
    >>> autoconv.abs(Named([-1, 2], "a")).values.numpy()
    array([1, 2], dtype=int32)
    """

    def register_handler(handler: Function) -> Function:
        for function in UNARY:
            register(function, Handler(_leading_type_check([x_type]), _wrap_unary(handler, function)))
        return handler

    return register_handler


def dispatch_for_binary_elementwise_apis(x_type: Any, y_type: Any) -> Callable[[Function], Function]:
    """Register `handler(function, x, y)` for all functions of two tensors that compute element by element.

    >>> class Amount(autoconv.experimental.ExtensionType):
    ...     values: autoconv.Tensor
    >>> @autoconv.experimental.dispatch_for_binary_elementwise_apis(Amount, Amount)
    ... def of_amounts(function, x, y):
    ...     return Amount(function(x.values, y.values))
    >>> autoconv.add(Amount([1, 2]), Amount([3, 4])).values.numpy()
    array([4, 6], dtype=int32)
    """
    return _register_binary(BINARY, x_type, y_type)


def dispatch_for_binary_elementwise_assert_apis(x_type: Any, y_type: Any) -> Callable[[Function], Function]:
    """Register `handler(function, x, y)` for all assertions that compare two tensors element by element.

    >>> class Checked(autoconv.experimental.ExtensionType):
    ...     values: autoconv.Tensor
    >>> @autoconv.experimental.dispatch_for_binary_elementwise_assert_apis(Checked, Checked)
    ... def of_checked(function, x, y):
    ...     return function(x.values, y.values)
    >>> autoconv.assert_equal(Checked([1]), Checked([1]))
    """
    return _register_binary(_ASSERTIONS, x_type, y_type)


def unregister_dispatch_for(dispatch_target: Callable[..., Any]) -> None:
    """Remove a handler that a decorator of this module registered; raises ValueError for another function.

    >>> autoconv.experimental.unregister_dispatch_for(abs)
    Traceback (most recent call last):
    ValueError: Function <built-in function abs> was not registered with a `@dispatch_for...` decorator.
    """
    unregister(dispatch_target)


def _register_binary(functions: Sequence[Callable[..., Any]], x_type: Any, y_type: Any) -> Callable[
    [Function], Function
]:
    """Return a decorator that registers a handler of two operands of these types for each of the functions."""
    def register_handler(handler: Function) -> Function:
        for function in functions:
            register(function, Handler(_leading_type_check([x_type, y_type]), _wrap_binary(handler, function)))
        return handler

    return register_handler


def _wrap_unary(handler: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a handler with the arguments of `function`; all but the first one are bound to the function it gets."""
    def run(x: Any, *args: Any, **kwargs: Any) -> Any:
        return handler(lambda value: function(value, *args, **kwargs), x)

    run.__wrapped__ = handler  # type: ignore[attr-defined]
    return run


def _wrap_binary(handler: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a handler with the arguments of `function`; all but the first two are bound to the function it gets."""
    def run(x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        return handler(lambda first, second: function(first, second, *args, **kwargs), x, y)

    run.__wrapped__ = handler  # type: ignore[attr-defined]
    return run


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotated types of the parameters."""
    hints = typing.get_type_hints(function)
    hints.pop("return", None)
    return hints


def _annotated_type_check(signature: inspect.Signature, type_map: Mapping[Any, Any]) -> Callable[..., bool]:
    """Return a function of (args, kwargs) that returns whether the arguments have the types of `type_map`."""
    names = list(signature.parameters)

    def has_annotated_types(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        try:
            bound_arguments = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return False
        type_by_name = {names[key] if isinstance(key, int) else key: type_ for key, type_ in type_map.items()}
        return all(
            name in bound_arguments and is_instance_of(bound_arguments[name], type_)
            for name, type_ in type_by_name.items()
        )

    return has_annotated_types


def _leading_type_check(leading_types: Sequence[Any]) -> Callable[..., bool]:
    """Return a function of (args, kwargs) that returns whether the first arguments have these types."""
    def has_leading_types(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        return len(args) >= len(leading_types) and all(
            is_instance_of(value, type_) for value, type_ in zip(args, leading_types, strict=False)
        )

    return has_leading_types


def is_instance_of(value: Any, type_: Any) -> bool:
    """Return whether a value is of an annotated type: a class, a union, or a list or tuple of elements of one type."""
    origin, arguments = typing.get_origin(type_), typing.get_args(type_)
    if origin in (typing.Union, types.UnionType):
        return any(is_instance_of(value, member_type) for member_type in arguments)
    if origin in (list, tuple, Sequence):
        return isinstance(value, (list, tuple)) and all(is_instance_of(item, arguments[0]) for item in value)
    return type_ is Any or (isinstance(type_, type) and isinstance(value, type_))
