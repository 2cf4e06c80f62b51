"""`tf.__internal__`: the part of TensorFlow's internals that its libraries use."""

from autoconv.runtime.support.type_spec import CompositeTensor
from autoconv.runtime.tensors.tensor import EagerTensor
from autoconv.tensorflow.__internal__ import distribute, eager_context, smart_cond, tf2, tracking, types
from autoconv.tensorflow.__internal__.func_graph import FuncGraph

__all__ = [
    "CompositeTensor", "EagerTensor", "FuncGraph", "distribute", "eager_context", "smart_cond", "tf2", "tracking",
    "types",
]  # fmt: skip
