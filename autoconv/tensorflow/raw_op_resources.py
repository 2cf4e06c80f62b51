"""Raw ops of TensorFlow on variables and tables."""

from __future__ import annotations

from collections.abc import Callable

import autoconv as tf
from autoconv.tensorflow.raw_op_updates import variable_of

_SCATTERS = ("Add", "Sub", "Mul", "Div", "Min", "Max", "Update")


def _make_scatter(method: str) -> Callable[..., object]:
    """Return the function for a raw op that changes rows of a variable by the named method of variables."""
    return lambda resource, indices, updates: _assign(
        getattr(variable_of(resource), method), tf.IndexedSlices(updates, indices)
    )


# Name of a raw op -> a function with its parameters, written in public functions.
FORM_BY_OP: dict[str, Callable[..., object]] = {
    "ReadVariableOp": lambda resource, dtype: tf.identity(variable_of(resource)),
    "AssignVariableOp": lambda resource, value, validate_shape=False: _assign(variable_of(resource).assign, value),
    "AssignAddVariableOp": lambda resource, value: _assign(variable_of(resource).assign_add, value),
    "AssignSubVariableOp": lambda resource, value: _assign(variable_of(resource).assign_sub, value),
    "VarIsInitializedOp": lambda resource: tf.compat.v1.is_variable_initialized(variable_of(resource)),
    "VariableShape": lambda input, out_type=tf.int32: tf.shape(variable_of(input), out_type),
    "ResourceGather": lambda resource, indices, dtype, batch_dims=0, validate_indices=True: tf.gather(
        variable_of(resource), indices, batch_dims=batch_dims
    ),
    "ResourceGatherNd": lambda resource, indices, dtype: tf.gather_nd(variable_of(resource), indices),
    **{f"ResourceScatter{name}": _make_scatter(f"scatter_{name.lower()}") for name in _SCATTERS},
    "ResourceApplyGradientDescent": lambda var, alpha, delta, use_locking=False: _assign(
        variable_of(var).assign_sub, tf.convert_to_tensor(delta) * alpha
    ),
    "LookupTableFindV2": lambda table_handle, keys, default_value: table_handle.lookup(keys),
    "LookupTableInsertV2": lambda table_handle, keys, values: _assign(table_handle.insert, keys, values),
    "LookupTableSizeV2": lambda table_handle: table_handle.size(),
}  # fmt: skip


def _assign(assign: Callable[..., object], *values: object) -> None:
    """Call a method that assigns, and drop its result: the raw op has none."""
    assign(*values)
