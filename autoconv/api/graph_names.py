"""TensorFlow's functions for name scopes, logs and critical sections, and some that have no effect here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.api.scopes import control_dependencies
from autoconv.api.tensors.casts import identity
from autoconv.api.tensors.shaping import stack
from autoconv.errors import NotFoundError
from autoconv.forks import new_lock
from autoconv.graph.dtypes import string
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor


def is_symbolic_tensor(tensor: object) -> bool:
    """Return whether the value is a tensor of a graph that is being recorded.

    >>> autoconv.is_symbolic_tensor(autoconv.constant(1))
    False
    """
    return isinstance(tensor, SymbolicTensor)


def get_current_name_scope() -> str:
    """Return the names of the current nested name scopes, joined by slashes.

    >>> autoconv.get_current_name_scope()
    ''
    """
    region = current_region()
    return "" if region is None else region.trace.scope.rstrip("/")


def get_logger() -> logging.Logger:
    """Return the logger of this package.

    >>> autoconv.get_logger().name
    'autoconv'
    """
    return logging.getLogger("autoconv")


def parallel_stack(values: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Return the values stacked along a new first dimension, as `stack` does.

    >>> autoconv.parallel_stack([1, 2]).numpy()
    array([1, 2], dtype=int32)
    """
    return stack(list(values), 0)


def tuple_(tensors: Sequence[Any], control_inputs: Sequence[Any] | None = None, name: str | None = None) -> list[Any]:
    """Return the tensors, all of which are computed before any of the results is used; None entries stay None.

    >>> [part.numpy() for part in autoconv.tuple([autoconv.constant(1), autoconv.constant(2)])]
    [np.int32(1), np.int32(2)]
    """
    given_tensors = [tensor for tensor in tensors if tensor is not None]
    if not given_tensors:
        raise ValueError("Must have at least one Tensor.")
    with control_dependencies([*given_tensors, *(control_inputs or ())]):
        return [None if tensor is None else identity(tensor) for tensor in tensors]


def fingerprint(data: TensorLike, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """The eight bytes of the hash of each row, uint8 [rows, 8]; `method` is "farmhash64".

    >>> autoconv.fingerprint(["a", "b"]).shape
    TensorShape([2, 8])
    """
    if method not in ("farmhash64", b"farmhash64"):
        raise ValueError(f"the method of fingerprints is 'farmhash64', found {method!r}")
    x = convert_to_tensor(data, string) if isinstance(data, (str, bytes)) else convert_to_tensor(data)
    return apply("row_fingerprints", x, name=name)


class AggregationMethod:
    """TensorFlow's names of ways to add gradients; here gradients are always added pair by pair.

    >>> autoconv.AggregationMethod.ADD_N == autoconv.AggregationMethod.DEFAULT
    True
    """

    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class CriticalSection:
    """A lock: functions that it executes run one at a time, whichever thread calls them.

    >>> section = autoconv.CriticalSection()
    >>> section.execute(lambda: autoconv.constant(3)).numpy()
    np.int32(3)
    """

    def __init__(
        self, name: str | None = None, shared_name: str | None = None, critical_section_def: object = None,
        import_scope: str | None = None,
    ) -> None:  # fmt: skip
        self.name = name or shared_name or "critical_section"
        self._lock = new_lock()

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """Run `fn()` while no other function of the section runs; return the result."""
        with self._lock:
            return fn()


def load_library(library_location: str) -> None:
    """Raise NotFoundError: libraries of TensorFlow's ops cannot be loaded.

    >>> try:
    ...     autoconv.load_library("ops.so")
    ... except autoconv.errors.NotFoundError as error:
    ...     print(type(error).__name__)
    NotFoundError
    """
    raise NotFoundError(f"{library_location}: libraries of TensorFlow's ops cannot be loaded")


def no_gradient(op_type: str) -> None:
    """Check the type of `op_type` and do nothing else: to stop gradients, use `stop_gradient`.

    >>> autoconv.no_gradient("MyOp")
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
