"""`eig` and `eigvals` in Python that autoconv converts: whether NumPy's results are real depends on the values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from autoconv.runtime.arrays.symbolic_arrays import load_elements, wrap_new_arrays
from autoconv.runtime.recording.numpy_protocol import call_implementation
from autoconv.runtime.support.trace_callables import called_unconverted
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_EigResult: Any = np.linalg._linalg.EigResult  # type: ignore[attr-defined]


@called_unconverted
def complex_results(function: Callable[..., object], a: ArrayLike) -> Any:
    """Apply the op for `eig` or `eigvals`, whose results are always complex."""
    return wrap_new_arrays(call_implementation(function, load_elements(a)))


@functools.cache
def _has_real_results() -> bool:
    """Return whether the results of the installed NumPy are real where all eigenvalues are; since 2.5 none are."""
    return not np.iscomplexobj(np.linalg.eigvals(np.eye(1)))


@called_unconverted
def may_be_real(a: ArrayLike) -> bool:
    """Return whether the results for a matrix may be real."""
    return _has_real_results() and not np.iscomplexobj(a)


@called_unconverted
def real_part(x: ArrayLike) -> ArrayLike:
    return wrap_new_arrays(apply("real", load_elements(x)))  # type: ignore[no-any-return]


@called_unconverted
def is_real(x: ArrayLike) -> Tensor:
    """Return whether all imaginary parts are zero."""
    imaginary_parts = apply("imag", load_elements(x))
    return apply("numpy_all", apply("equal", imaginary_parts, apply("zeros_like", imaginary_parts)))


def eig(a: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
    """Implement numpy.linalg.eig."""
    values, vectors = complex_results(np.linalg.eig, a)
    if may_be_real(a) and is_real(values):
        return _EigResult(real_part(values), real_part(vectors))
    return _EigResult(values, vectors)


def eigvals(a: ArrayLike) -> ArrayLike:
    """Implement numpy.linalg.eigvals."""
    values = complex_results(np.linalg.eigvals, a)
    if may_be_real(a) and is_real(values):
        return real_part(values)
    return values  # type: ignore[no-any-return]
