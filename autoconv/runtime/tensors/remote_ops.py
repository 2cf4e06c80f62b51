"""Single ops that another process runs, as a device block or the variable that they use requires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.config.placement import eager_device, task_of
from autoconv.errors import InaccessibleTensorError
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType
from autoconv.ops import OPS
from autoconv.ops.record import Op
from autoconv.runtime.recording.value_names import scope_message
from autoconv.runtime.support.spans import current_span
from autoconv.runtime.tensors.conversion import weak_dtype
from autoconv.runtime.tensors.remote_tensor import RemoteTensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor

NUMBERS = (bool, int, float, complex)


def home_of_variable(values: Sequence[Any]) -> str:
    """Return the device whose process holds the variable, the first operand of an op; "" for this process."""
    return getattr(values[0], "home", "")


def run_remotely(op: Op, values: Sequence[Any], attributes: dict[str, Any], home: str) -> Any:
    """Run an op in the process that holds its variable, or in the task that the enclosing block requests.

    Return None for an op that this process has to run.
    """
    device = home or eager_device()
    task = task_of(device) if op.name not in ("python_cast", "constant") else None
    operands = values[1:] if home else values
    if task is None or not all(isinstance(value, (Tensor, np.ndarray, np.generic)) for value in operands):
        return None
    if home and op.name == "assign_variable":  # the result is the new value, read where the variable is
        values[0].set(_as_operand(values[1]))
        op, values = OPS["read_variable"], values[:1]
    graph = Graph(op.name)
    inputs = [graph.add_parameter(type_of_operand(value)) for value in values]
    graph.outputs = list(graph.add(op, inputs, attributes, span=current_span()).results)
    if not graph.outputs or not all(isinstance(value.type, TensorType) for value in graph.outputs):
        return None
    results = tuple(RemoteTensor(result, device) for result in task.compile(graph)(list(map(_as_operand, values))))
    return results[0] if len(results) == 1 else results


def _as_operand(value: object) -> Any:
    return value.remote if isinstance(value, RemoteTensor) else array_of(value)


def type_of_operand(value: Any) -> Any:
    """Return the type of a tensor or array in a graph."""
    return value.type if hasattr(value, "type") else TensorType(as_dtype(value.dtype), np.shape(value))


def array_of(value: object) -> Any:
    """Return an operand as kernels take it: an array, or the object that a resource or list is."""
    if isinstance(value, EagerTensor):
        return value._array
    if isinstance(value, SymbolicTensor):
        raise InaccessibleTensorError(scope_message(value.value_in_graph))
    if isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__autoconv_resource__"):
        return value
    return np.array(value, weak_dtype(value).numpy) if isinstance(value, NUMBERS) else value
