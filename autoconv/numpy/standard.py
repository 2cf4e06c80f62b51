"""Implementations of NumPy's functions, wrappers and the only device: the parts of the namespace `autoconv.xp`."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.config.placement import DEFAULT_DEVICE
from autoconv.numpy.operands import NotStaged, find_function, refusal
from autoconv.runtime.recording.numpy_protocol import FUNCTIONS
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.recording.tracebacks import present_errors
from autoconv.runtime.tensors.tensor import EagerTensor

DEVICE = DEFAULT_DEVICE

_NAMED_RESULTS = {
    "unique_all": namedtuple("unique_all_result", "values indices inverse_indices counts"),
    "unique_counts": namedtuple("unique_counts_result", "values counts"),
    "unique_inverse": namedtuple("unique_inverse_result", "values inverse_indices"),
}


@functools.cache
def numpy_implementation(name: str) -> Callable[..., Any]:
    """Return the implementation of NumPy's function of that name; if NumPy lacks it, one that raises when called."""
    compute = FUNCTIONS.get(find_function(name))
    if compute is None:
        return functools.partial(_raise_missing, name)
    result_class = _NAMED_RESULTS.get(name)
    return compute if result_class is None else lambda x: result_class(*compute(x))


def wrap_for_users(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Wrap the function for users: errors name the line of the call, and results of NumPy itself become tensors."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        region = current_region()
        trace = None if region is None else region.trace
        used_arrays = trace is not None and trace.uses_arrays
        try:
            return _as_tensors(function(*args, **kwargs))
        except NotStaged as error:
            if region is None:
                raise TypeError(f"xp.{name} {error.reason}") from None
            raise refusal(f"xp.{name}", error) from None
        finally:
            if trace is not None:
                trace.uses_arrays = used_arrays  # arrays that the implementation makes are not the program's

    run.__module__ = "autoconv.xp"
    return present_errors(run)


def _as_tensors(results: object) -> Any:
    """Return an array, or a tuple of arrays, of NumPy as tensors; other results unchanged."""
    if isinstance(results, (np.ndarray, np.generic)):
        return EagerTensor(results)
    if isinstance(results, tuple) and any(isinstance(x, (np.ndarray, np.generic)) for x in results):
        return (
            type(results)(*map(_as_tensors, results))
            if hasattr(results, "_fields")
            else tuple(map(_as_tensors, results))
        )
    return results


def _raise_missing(name: str, *args: Any, **kwargs: Any) -> Any:
    """Raise AttributeError for a function that the installed NumPy lacks."""
    raise AttributeError(f"this version of NumPy has no {name}")


def check_device(device: str) -> None:
    """Raise ValueError unless the device is None, "cpu" or the `device` of a tensor."""
    if device is not None and str(device).lower().rpartition("/")[2] not in ("", "cpu", "cpu:0", "device:cpu:0"):
        raise ValueError(f"there is no device {device!r} here: tensors are on 'cpu'")
