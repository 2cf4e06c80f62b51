"""`tf.experimental`."""

from autoconv.data.optional import Optional
from autoconv.experimental import (
    BatchableExtensionType,
    DynamicRaggedShape,
    ExtensionType,
    RowPartition,
    dispatch_for_api,
    dispatch_for_binary_elementwise_apis,
    dispatch_for_unary_elementwise_apis,
    unregister_dispatch_for,
)
from autoconv.tensorflow.experimental import dtensor, numpy

__all__ = [
    "BatchableExtensionType", "DynamicRaggedShape", "ExtensionType", "Optional", "RowPartition", "dispatch_for_api",
    "dispatch_for_binary_elementwise_apis", "dispatch_for_unary_elementwise_apis", "dtensor", "numpy",
    "unregister_dispatch_for",
]  # fmt: skip
