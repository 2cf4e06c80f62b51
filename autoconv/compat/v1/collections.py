"""Collections of a graph: lists of its variables, losses and summaries, under names such as those in `GraphKeys`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.control.graph_variable import GLOBAL_VARIABLES, TRAINABLE_VARIABLES
from autoconv.api.control.graphs import graph_being_built
from autoconv.api.gradients.callbacks import numpy_function
from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.compat.v1.operations import group
from autoconv.compat.v1.session import running_session
from autoconv.graph.dtypes import bool_, string
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import constant


class GraphKeys:
    """The names of TensorFlow's collections.

    >>> autoconv.compat.v1.GraphKeys.GLOBAL_VARIABLES
    'variables'
    """

    GLOBAL_VARIABLES = VARIABLES = GLOBAL_VARIABLES
    TRAINABLE_VARIABLES = TRAINABLE_VARIABLES
    LOCAL_VARIABLES = "local_variables"
    MODEL_VARIABLES = "model_variables"
    METRIC_VARIABLES = "metric_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    SUMMARIES = "summaries"
    SUMMARY_OP = "summary_op"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    LOSSES = "losses"
    REGULARIZATION_LOSSES = "regularization_losses"
    WEIGHTS, BIASES, ACTIVATIONS = "weights", "biases", "activations"
    UPDATE_OPS = "update_ops"
    SAVERS = "savers"
    TRAIN_OP, INIT_OP, LOCAL_INIT_OP, READY_OP = "train_op", "init_op", "local_init_op", "ready_op"
    GLOBAL_STEP = "global_step"
    COND_CONTEXT, WHILE_CONTEXT = "cond_context", "while_context"


def add_to_collection(name: Any, value: Any) -> None:
    """Add a value to a collection of the default graph.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.add_to_collection("sizes", 3)
    ...     autoconv.compat.v1.get_collection("sizes")
    [3]
    """
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Add a value to several collections of the default graph.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.add_to_collections(["a", "b"], 3)
    ...     autoconv.compat.v1.get_collection("b")
    [3]
    """
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """Return the members of a collection of the default graph; with a scope, those whose names match it.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.get_collection("losses")
    []
    """
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """Return the list of a collection of the default graph itself, which may be changed.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.get_collection_ref("losses").append(1)
    ...     autoconv.compat.v1.get_collection("losses")
    [1]
    """
    return get_default_graph().get_collection_ref(key)


def global_variables(scope: str | None = None) -> list[Any]:
    """Return the variables of the default graph, without local ones.

    >>> with autoconv.Graph().as_default():
    ...     v = autoconv.Variable(1.0, name="v")
    ...     autoconv.compat.v1.global_variables()
    [<autoconv.Variable 'v:0' shape=() dtype=float32>]
    """
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """Return the local variables of the default graph, such as those of metrics.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.local_variables()
    []
    """
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """Return the variables of the default graph that optimizers change.

    >>> with autoconv.Graph().as_default():
    ...     step = autoconv.Variable(0, trainable=False)
    ...     autoconv.compat.v1.trainable_variables()
    []
    """
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """Return the variables in the collection of model variables.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.model_variables()
    []
    """
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """Return the variables that have moving averages: the collection MOVING_AVERAGE_VARIABLES.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.moving_average_variables()
    []
    """
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list: Sequence[Any], name: str = "init") -> Any:
    """Return the operation that initialises the variables; None in eager execution, where they have values.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     v = autoconv.Variable(2.0)
    ...     session.run(autoconv.compat.v1.variables_initializer([v]))
    ...     session.run(v)
    np.float32(2.0)
    """
    return group(*[variable.initializer for variable in var_list if variable.initializer is not None], name=name)


def global_variables_initializer() -> Any:
    """Return the operation that initialises the variables that the default graph has now.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     v = autoconv.Variable(2.0)
    ...     session.run(autoconv.compat.v1.global_variables_initializer())
    ...     session.run(v + 1.0)
    np.float32(3.0)
    """
    return variables_initializer(global_variables())


def local_variables_initializer() -> Any:
    """Return the operation that initialises the local variables that the default graph has now.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.local_variables_initializer().name
    'init'
    """
    return variables_initializer(local_variables())


def tables_initializer(name: str = "init_all_tables") -> Any:
    """Return the operation that initialises the lookup tables of the default graph.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.tables_initializer().name
    'init_all_tables'
    """
    return group(*get_collection(GraphKeys.TABLE_INITIALIZERS), name=name)


def report_uninitialized_variables(var_list: Sequence[Any] | None = None, name: str | None = None) -> Any:
    """Return a vector of the names of the variables that the running session has not initialised.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     v = autoconv.Variable(2.0, name="v")
    ...     session.run(autoconv.compat.v1.report_uninitialized_variables())
    array([b'v'], dtype=object)
    """
    variables = [*global_variables(), *local_variables()] if var_list is None else list(var_list)

    def uninitialized_names() -> np.ndarray:
        session = running_session()
        uninitialized = [variable for variable in variables if not session.has_value(variable)]
        return np.array([variable.name.removesuffix(":0").encode() for variable in uninitialized], object)

    if graph_being_built() is None:
        return constant([], string)
    (names,) = numpy_function(
        uninitialized_names, [], [TensorSpec((None,), string)], name="report_uninitialized_variables"
    )
    return names


def is_variable_initialized(variable: Any) -> Any:
    """Return a bool tensor: whether the running session has initialised the variable.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     v = autoconv.Variable(2.0)
    ...     session.run(autoconv.compat.v1.is_variable_initialized(v))
    np.False_
    """
    if graph_being_built() is None:
        return constant(True)
    result = numpy_function(lambda: np.bool_(running_session().has_value(variable)), [], [TensorSpec((), bool_)])
    return result[0]
