"""Input signatures under `function`: their validation, and the conversion of values to their specs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.graph.types import is_subtype
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import flat_leaves, flatten
from autoconv.runtime.support.type_spec import is_composite_spec
from autoconv.runtime.tensors.conversion import to_array
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor


def validate_input_signature(signature: Sequence[Any] | None) -> tuple[Any, ...] | None:
    """Return the input signature as a tuple; raise TypeError for parts that are no specs."""
    if signature is None:
        return None
    if not isinstance(signature, (list, tuple)):
        raise TypeError(
            f"input_signature must be either a tuple or a list, got {type(signature)}. Put it into a list: one "
            "autoconv.TensorSpec for each parameter."
        )
    signature = tuple(_to_plain_containers(part) for part in signature)
    leaves, _ = flatten(signature)
    if not all(isinstance(leaf, TensorSpec) or is_composite_spec(leaf) or _is_spec(leaf) for leaf in leaves):
        classes = [type(leaf) for leaf in leaves]
        raise TypeError(
            "input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args "
            f"{list(leaves)} with types {classes}."
        )
    return signature


def _to_plain_containers(argument: Any) -> Any:
    """Convert nested lists and dicts of subclasses, such as those that track their items, to Python's own."""
    if isinstance(argument, list):
        return [_to_plain_containers(item) for item in argument]
    if isinstance(argument, dict) and type(argument) is not dict:
        return {key: _to_plain_containers(item) for key, item in argument.items()}
    return argument


def _is_spec(value: Any) -> bool:
    """Return whether the value describes a dataset or an iterator, rather than being one."""
    return hasattr(type(value), "__autoconv_spec__") and value.__autoconv_spec__() is value


def holds_composite_spec(spec: Any) -> bool:
    """Return whether a nested spec, a part of an input signature, contains the spec of a composite tensor."""
    return any(map(is_composite_spec, flat_leaves(spec)))


def convert_to_spec(value: Any, spec: TensorSpec) -> Any:
    """Return a value as a tensor, or a TensorSpec, that fits the spec; None if it does not fit."""
    if isinstance(value, SymbolicTensor):
        return value if is_subtype(value.type, spec.type) else None
    if isinstance(value, TensorSpec):
        return TensorSpec.from_type(spec.type) if is_subtype(value.type, spec.type) else None
    has_dtype = isinstance(value, (np.ndarray, np.generic))
    try:
        tensor = value if isinstance(value, EagerTensor) else EagerTensor(
            to_array(value, None if has_dtype else spec.dtype)
        )  # fmt: skip
    except (TypeError, ValueError):
        return None
    return tensor if is_subtype(tensor.type, spec.type) else None
