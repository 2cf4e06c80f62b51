"""Names that TensorFlow keeps under `experimental`."""

import importlib

from autoconv.api.dispatchers import (
    dispatch_for_api,
    dispatch_for_binary_elementwise_apis,
    dispatch_for_binary_elementwise_assert_apis,
    dispatch_for_unary_elementwise_apis,
    unregister_dispatch_for,
)
from autoconv.api.extension_specs import ExtensionTypeSpec
from autoconv.api.extension_types import BatchableExtensionType, ExtensionType
from autoconv.api.ragged.dynamic_shape import DynamicRaggedShape
from autoconv.api.ragged.row_partition import RowPartition
from autoconv.data.optional import Optional

__all__ = [
    "BatchableExtensionType", "DynamicRaggedShape", "ExtensionType", "ExtensionTypeSpec", "Optional", "RowPartition",
    "dispatch_for_api",
    "dispatch_for_binary_elementwise_apis", "dispatch_for_binary_elementwise_assert_apis",
    "dispatch_for_unary_elementwise_apis", "unregister_dispatch_for",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in ("dlpack", "dtensor", "extension_type", "numpy"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"autoconv.tensorflow.experimental.{name}")  # few programs need it
