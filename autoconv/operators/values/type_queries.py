"""Type queries on values of a trace: isinstance, type, hasattr, getattr, finfo and iinfo."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.operators.control.conditionals import if_exp
from autoconv.operators.control.iterables import StagedIterable
from autoconv.operators.control.variants import distribute, selects_object
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.held_iterators import HeldIterator
from autoconv.operators.support.optional_attributes import has_attribute, optional_value
from autoconv.operators.support.overrides import overrides
from autoconv.runtime.arrays.flat_elements import FlatElements
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import TracedDict, TracedList, TracedSet
from autoconv.runtime.objects.dict_views import DictView
from autoconv.runtime.objects.staged_exceptions import StagedException
from autoconv.runtime.objects.symbolic_generators import SymbolicGenerator
from autoconv.runtime.recording.journal import MISSING
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor

_SAMPLE_ARRAY = np.zeros(0)  # an instance, since hasattr on the class would find attributes of its metaclass


def represents_array(x: SymbolicTensor) -> bool:
    """Return whether plain Python would have a NumPy array here.

    The trace is abandoned if it might be a NumPy scalar instead.
    """
    region = current_region()
    if region is None or not region.trace.uses_arrays:
        return False
    if x.type.shape == () and region.trace.memory:
        return False  # memory arrays represent arrays without dimensions
    if x.type.shape == ():
        region.contract.require_original(x, "the code tests whether a value is a NumPy scalar or an array")
    return True


def _scalar_type(x: object) -> Any:
    """Return the class of NumPy scalar that plain Python would have here; None for other values."""
    region = current_region()
    if region is None or not region.trace.memory or not isinstance(x, SymbolicTensor):
        return None
    return x.type.dtype.numpy.type if x.type.shape == () and not x.weak else None


@overrides(builtins.isinstance)
def _isinstance(x: object, kinds: Any) -> Any:
    """`isinstance` with the class that plain Python would have; a weak tensor represents a Python number."""
    if type(x) is Variant:
        return distribute(lambda value: _isinstance(value, kinds), x)
    if isinstance(x, SymbolicTensor) and x.weak:
        return builtins.isinstance(_number_of_type(x), kinds) or _includes_base(x, kinds)
    if isinstance(x, StagedIterable) and x.kind is not None:
        return issubclass(x.kind, kinds)
    if type(x) is SymbolicArray or (isinstance(x, SymbolicTensor) and represents_array(x)):
        return issubclass(np.ndarray, kinds)
    scalar_class = _scalar_type(x)
    return builtins.isinstance(x, kinds) if scalar_class is None else issubclass(scalar_class, kinds)


def _number_of_type(x: SymbolicTensor) -> Any:
    """Return a Python number of the class that plain Python would have."""
    return np.zeros((), x.type.dtype.numpy).item()


def _includes_base(x: object, kinds: Any) -> bool:
    """Return whether one of the classes is, by identity, a base of the tensor's class.

    Abstract classes such as `Sized` are excluded: they would find methods that no number has.
    """
    if isinstance(kinds, tuple | types.UnionType):
        return any(_includes_base(x, kind) for kind in (kinds if isinstance(kinds, tuple) else kinds.__args__))
    return kinds is not object and kinds in type(x).__mro__


@overrides(np.isscalar)
def _isscalar(x: object) -> bool:
    """Return whether the value that plain Python would have is a scalar to NumPy; a weak tensor is a Python number."""
    if isinstance(x, SymbolicTensor) and not x.weak:
        represents_array(x)  # abandons the trace where it may be either
        return _scalar_type(x) is not None
    return np.isscalar(x) or (isinstance(x, SymbolicTensor) and x.weak)


@overrides(np.finfo)
def _finfo(dtype: object) -> Any:
    return _limits_of_type(np.finfo, dtype)


@overrides(np.iinfo)
def _iinfo(dtype: object) -> Any:
    return _limits_of_type(np.iinfo, dtype)


def _limits_of_type(limits_class: Any, dtype: object) -> Any:
    """Return the limits of a dtype, also of that of a number passed in its place; raise NumPy's error for an array."""
    if type(dtype) is Variant:
        return distribute(lambda value: _limits_of_type(limits_class, value), dtype)
    if type(dtype) is SymbolicArray or (isinstance(dtype, SymbolicTensor) and represents_array(dtype)):
        return limits_class(np.ndarray)
    if isinstance(dtype, SymbolicTensor):
        return limits_class(_number_of_type(dtype) if dtype.weak else dtype.type.dtype.numpy)
    return limits_class(dtype)


@overrides(builtins.hasattr)
def _hasattr(x: object, name: str) -> Any:
    """`hasattr(x, name)` for the value that plain Python would have in place of `x`."""
    result = has_attribute(x, name)
    if result is not NotImplemented:
        return result
    optional_attribute = optional_value(x, name)
    if optional_attribute is not None:
        is_missing = selects_object(optional_attribute, MISSING)
        return dispatch.apply("logical_not", is_missing) if isinstance(is_missing, Tensor) else not is_missing
    if isinstance(x, SymbolicTensor) and x.weak:
        return builtins.hasattr(_number_of_type(x), name)
    if type(x) is SymbolicArray or (isinstance(x, SymbolicTensor) and represents_array(x)):
        return builtins.hasattr(_SAMPLE_ARRAY, name)
    scalar_class = _scalar_type(x)
    if scalar_class is not None:
        return builtins.hasattr(scalar_class(), name)
    return _read_optional(builtins.hasattr, x, name)


def _read_optional(read: Callable[..., Any], *args: Any) -> Any:
    """Return `read(*args)`, for which an AttributeError is a result (False or the default) and no error."""
    region = current_region()
    if region is None:
        return read(*args)
    trace = region.trace
    was_missing_result, trace.is_missing_attribute_result = trace.is_missing_attribute_result, True
    try:
        return read(*args)
    finally:
        trace.is_missing_attribute_result = was_missing_result


@overrides(builtins.getattr)
def _getattr(x: object, name: str, *default: Any) -> Any:
    """`getattr` with only the attributes that plain Python's number or array has; tensors have more."""
    region = current_region()
    has_value = has_attribute(x, name) if default else NotImplemented
    if has_value is not NotImplemented:
        return if_exp(has_value, lambda: builtins.getattr(x, name), lambda: default[0])
    optional_attribute = optional_value(x, name) if default else None
    if optional_attribute is not None:
        is_missing = selects_object(optional_attribute, MISSING)
        return if_exp(is_missing, lambda: default[0], lambda: builtins.getattr(x, name))
    hides_attributes = isinstance(x, SymbolicTensor) and region is not None and region.contract.numpy_arrays
    if hides_attributes and not _hasattr(x, name):
        if default:
            return default[0]
        raise AttributeError(f"{kind_of(x).__name__!r} object has no attribute {name!r}")
    value = _read_optional(builtins.getattr, x, name, *default) if default else builtins.getattr(x, name)
    return value.value if type(value) is StagedException else value  # a `__cause__` or `__context__` as graph object


_PYTHON_CLASSES: dict[Any, type] = {TracedList: list, TracedDict: dict, TracedSet: set}


@overrides(builtins.type)
def kind_of(*args: Any) -> Any:
    """`type`, with the class that plain Python would have for one argument."""
    if len(args) != 1:
        return builtins.type(*args)
    (x,) = args
    own_class = builtins.type(x)
    if own_class in (HeldIterator, DictView, SymbolicGenerator, FlatElements):
        return x.__class__
    if own_class is SymbolicArray:
        return np.ndarray
    if isinstance(x, StagedIterable) and x.kind is not None:
        return x.kind
    if isinstance(x, SymbolicTensor):
        if x.weak:
            return builtins.type(_number_of_type(x))
        return np.ndarray if represents_array(x) else _scalar_type(x) or EagerTensor
    return _PYTHON_CLASSES.get(own_class, own_class)
