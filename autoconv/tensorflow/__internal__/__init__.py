"""`tf.__internal__`: the part of TensorFlow's internals that its libraries use."""

from autoconv.runtime.recording.name_scopes import current_scope
from autoconv.runtime.support.type_spec import CompositeTensor
from autoconv.runtime.tensors.tensor import EagerTensor
from autoconv.tensorflow.__internal__ import (
    autograph,
    dispatch,
    distribute,
    eager_context,
    function,
    ops,
    smart_cond,
    tf2,
    tracking,
    train,
    types,
)
from autoconv.tensorflow.__internal__.func_graph import FuncGraph
from autoconv.tensorflow.__internal__.registration import feature_column, mixed_precision, saved_model
from autoconv.tensorflow.__internal__.registration import register as register_call_context_function
from autoconv.tensorflow.__internal__.registration import register as register_clear_session_function
from autoconv.tensorflow.__internal__.registration import register as register_get_session_function
from autoconv.tensorflow.__internal__.registration import register as register_load_model_function
from autoconv.tensorflow.python.util import nest
from autoconv.tensorflow.python.util import tf_decorator as decorator


def get_name_scope() -> str:
    """Return the current scope of names, without a slash at its end."""
    return current_scope().rstrip("/")


__all__ = [
    "CompositeTensor", "EagerTensor", "FuncGraph", "autograph", "decorator", "dispatch", "distribute", "eager_context",
    "feature_column", "function", "get_name_scope", "mixed_precision", "nest", "ops",
    "register_call_context_function", "register_clear_session_function", "register_get_session_function",
    "register_load_model_function", "saved_model", "smart_cond", "tf2", "tracking", "train", "types",
]  # fmt: skip
