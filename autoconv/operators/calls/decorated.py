"""Conversion of functions that were decorated, or given to a dataset, by a framework's own package."""

from __future__ import annotations

import types
from typing import Any, TypeGuard

from autoconv.emit.converted import convert_function, is_converted
from autoconv.emit.unchanged import is_unchanged
from autoconv.errors import ConversionError
from autoconv.operators.calls.call import FRAMEWORKS, convert_callee, operators_module
from autoconv.operators.control.recursion_detection import is_tracked, track_calls


def convert_decorated(function: Any, region: Any) -> Any:
    """Return the callable to trace in place of a function that was decorated.

    Calls of a framework's functions in converted code are left as they are. But a function that the framework itself
    decorates is converted, unless its text has nothing to convert: it may have loops over datasets and conditions on
    tensors, as TensorFlow's users write them. Functions without source stay unconverted, and so do all of them under
    `compile`.
    """
    underlying: object = function.__func__ if isinstance(function, types.MethodType) else function
    if region.contract.objects_in_graph or not _needs_conversion(underlying):
        return convert_callee(function, region)
    try:
        converted_function = convert_function(underlying, operators_module())
    except ConversionError:
        return convert_callee(function, region)
    target = track_calls(underlying, converted_function)
    return types.MethodType(target, function.__self__) if isinstance(function, types.MethodType) else target


def _needs_conversion(function: object) -> TypeGuard[types.FunctionType]:
    """Return whether a function of a framework's package has something to convert, and is not excluded or converted."""
    if not isinstance(function, types.FunctionType) or is_converted(function) or is_tracked(function):
        return False
    is_excluded = getattr(function, "__autoconv_do_not_convert__", False)
    is_of_framework = (function.__module__ or "").partition(".")[0] in FRAMEWORKS
    return is_of_framework and not is_excluded and not is_unchanged(function, allows_package_calls=True)
