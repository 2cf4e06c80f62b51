"""Saved models of version 1: graphs with a session's values, in folders that `autoconv.saved_model` loads, too."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from autoconv import saved_model
from autoconv.compat.v1.saved_model.builder import Builder, simple_save
from autoconv.compat.v1.saved_model.loader import load
from autoconv.compat.v1.saved_model.signatures import (
    SignatureDef,
    TensorInfo,
    build_signature_def,
    build_tensor_info,
    get_tensor_from_tensor_info,
    predict_signature_def,
)
from autoconv.saved_model import contains_saved_model

# The modules of version 1 in which programs find these names.
builder = SimpleNamespace(SavedModelBuilder=Builder)
constants = signature_constants = tag_constants = saved_model
loader = SimpleNamespace(load=load, maybe_saved_model_directory=contains_saved_model)
maybe_saved_model_directory = contains_saved_model
signature_def_utils = SimpleNamespace(
    build_signature_def=build_signature_def, predict_signature_def=predict_signature_def
)
utils = SimpleNamespace(build_tensor_info=build_tensor_info, get_tensor_from_tensor_info=get_tensor_from_tensor_info)

__all__ = [
    "Builder", "SignatureDef", "TensorInfo", "build_signature_def", "build_tensor_info", "contains_saved_model",
    "get_tensor_from_tensor_info", "load", "predict_signature_def", "simple_save",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Return a name of `autoconv.saved_model`, whose meaning is the same in both versions."""
    if not hasattr(saved_model, name):
        raise AttributeError(f"module 'autoconv.compat.v1.saved_model' has no attribute {name!r}")
    return getattr(saved_model, name)
