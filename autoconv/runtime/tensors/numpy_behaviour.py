"""NumPy's behaviour of tensors: methods and attributes of arrays, and operators and indices by NumPy's rules.

While a function is differentiated with respect to arrays, the tensors that stand for these arrays have this behaviour.
In programs that enable it, all tensors have it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.runtime.annotations import AxisLike, DTypeLike, TensorLike
from autoconv.runtime.recording.numpy_protocol import call_implementation, implementation
from autoconv.runtime.recording.tape_recorders import active_recorders, tensor_for
from autoconv.runtime.support.skipped_frames import skipped_by_warnings
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.symbolic import MUTATING_METHODS
from autoconv.runtime.tensors.tensor import Tensor, register_numpy_behaviour

_is_enabled = False


def enable_numpy_behaviour(is_enabled: bool = True) -> None:
    """Give all tensors NumPy's behaviour from now on, in graphs of `function` too."""
    global _is_enabled
    _is_enabled = is_enabled


def is_numpy_behaviour_enabled() -> bool:
    return _is_enabled


@skipped_by_warnings
def call_plain(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function as plain Python, with tensors in place of the arguments' arrays that a tape follows."""
    replaced_arguments = _replace_followed_arrays((args, kwargs)) if active_recorders() else None
    args, kwargs = replaced_arguments or (args, kwargs)
    return function(*args, **kwargs)


def _replace_followed_arrays(value: Any) -> Any:
    """Return the value with tensors in place of followed arrays in tuples, lists and dicts; None if it has none."""
    if isinstance(value, np.ndarray):
        return tensor_for(value)
    if type(value) not in (tuple, list, dict):
        return None
    parts = list(value.values()) if isinstance(value, dict) else list(value)
    replacements = list(map(_replace_followed_arrays, parts))
    if all(replacement is None for replacement in replacements):
        return None
    new_parts = [old if new is None else new for old, new in zip(parts, replacements, strict=True)]
    return dict(zip(value, new_parts, strict=True)) if isinstance(value, dict) else type(value)(new_parts)


@register_numpy_behaviour
def _array_attribute(tensor: Tensor, name: str, is_array: bool) -> Any:
    """Return an attribute or method that arrays have; NotImplemented without NumPy's behaviour."""
    if not (is_array or _is_enabled):
        return NotImplemented
    method = vars(_ArrayMethods).get(name)
    if method is not None and not name.startswith("_"):
        return functools.partial(method.__func__, tensor)
    if name in MUTATING_METHODS or not (hasattr(np.ndarray, name) and hasattr(np, name)):
        return NotImplemented
    compute = implementation(getattr(np, name))
    if compute is None:
        return NotImplemented
    return functools.partial(compute, tensor) if callable(getattr(np.ndarray, name)) else compute(tensor)


class _ArrayMethods:
    """Methods whose arguments are not those of NumPy's function of the same name."""

    @staticmethod
    def astype(x: TensorLike, dtype: DTypeLike, **ignored_options: Any) -> Any:
        return apply("cast", x, dtype=as_dtype(dtype))

    @staticmethod
    def compress(x: TensorLike, condition: TensorLike, axis: AxisLike | None = None) -> Any:
        return call_implementation(np.compress, condition, x, axis)

    @staticmethod
    def copy(x: TensorLike, order: str = "C") -> Any:
        return apply("identity", x)

    @staticmethod
    def flatten(x: TensorLike, order: str = "C") -> Any:
        return call_implementation(np.ravel, x, order=order)

    @staticmethod
    def reshape(x: TensorLike, *shape: Any, order: str = "C") -> Any:
        return call_implementation(np.reshape, x, shape[0] if len(shape) == 1 else shape, order=order)

    @staticmethod
    def transpose(x: TensorLike, *axes: Any) -> Any:
        return call_implementation(np.transpose, x, axes[0] if len(axes) == 1 else axes or None)

    @staticmethod
    def item(x: Tensor, *index: Any) -> Any:
        return np.asarray(x).item(*index)

    @staticmethod
    def tolist(x: Tensor) -> Any:
        return np.asarray(x).tolist()
