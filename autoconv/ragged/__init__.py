"""Ragged tensors: rows of different lengths."""

from autoconv.api import ragged_handlers as _handlers  # noqa: F401 registers what general functions do
from autoconv.api.ragged.construction import (
    boolean_mask,
    constant,
    map_flat_values,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack,
    stack_dynamic_partitions,
)
from autoconv.api.ragged.construction import range_ as range
from autoconv.api.ragged.crossing import cross, cross_hashed
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

__all__ = [
    "boolean_mask", "constant", "cross", "cross_hashed", "map_flat_values", "range", "row_splits_to_segment_ids",
    "segment_ids_to_row_splits", "stack", "stack_dynamic_partitions",
]  # fmt: skip

_wrap_public_functions(globals())
