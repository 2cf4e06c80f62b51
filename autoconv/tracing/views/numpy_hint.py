"""Hint for errors of code written for NumPy that is traced under `function`, where arrays become tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import (
    AutoconvError,
    DtypeError,
    InaccessibleTensorError,
    OperatorNotAllowedInGraphError,
    OpError,
    TypeRuleError,
)
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.support.remedies import COMPILE_ADVICE
from autoconv.runtime.support.structure import flat_leaves
from autoconv.runtime.tensors.tensor import Tensor

_TENSOR_ERRORS = (AutoconvError, InaccessibleTensorError, OperatorNotAllowedInGraphError)
_NOTE = f"Arrays become tensors under @autoconv.function; {COMPILE_ADVICE}."


def point_to_compile(error: BaseException, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Add a note that recommends `compile` to a trace's error, if it is about tensors and the call passed arrays."""
    text = str(error)
    if isinstance(error, (OpError, IndexError)) and not isinstance(error, (DtypeError, TypeRuleError)):
        return  # an error about values, which NumPy raises as well
    is_about_tensors = isinstance(error, _TENSOR_ERRORS) or "tensor" in text.lower() or "autoconv." in text
    if not is_about_tensors:
        return  # the program's own error
    if COMPILE_ADVICE in text or _NOTE in getattr(error, "__notes__", ()):
        return
    leaves = flat_leaves((args, kwargs))
    if any(isinstance(leaf, (Tensor, Variable)) for leaf in leaves):
        return
    if any(isinstance(leaf, (np.ndarray, np.generic)) for leaf in leaves):
        error.add_note(_NOTE)
