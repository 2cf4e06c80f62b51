"""The global step: the variable that counts the steps of a training."""

from __future__ import annotations

from typing import Any

from autoconv.api.scopes import name_scope
from autoconv.compat.v1.collections import GraphKeys
from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.compat.v1.variables import Variable
from autoconv.graph.dtypes import int64


def get_global_step(graph: Any = None) -> Any:
    """Return the variable that counts the steps of a graph, None if it has none.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.train.get_global_step() is None
    True
    """
    members = (graph or get_default_graph()).get_collection(GraphKeys.GLOBAL_STEP)
    return members[0] if members else None


def create_global_step(graph: Any = None) -> Any:
    """Create the variable that counts the steps of a graph, an int64; raises ValueError if the graph has one already.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.train.create_global_step().name
    'global_step:0'
    """
    owner_graph = graph or get_default_graph()
    if get_global_step(owner_graph) is not None:
        raise ValueError('"global_step" already exists.')
    with owner_graph.as_default(), name_scope(""):
        collections = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP]
        return Variable(0, trainable=False, collections=collections, name="global_step", dtype=int64)


def get_or_create_global_step(graph: Any = None) -> Any:
    """Return the variable that counts the steps of a graph, a new one if it has none.

    >>> with autoconv.Graph().as_default():
    ...     step = autoconv.compat.v1.train.get_or_create_global_step()
    ...     autoconv.compat.v1.train.get_or_create_global_step() is step
    True
    """
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """Return the value of the global step in a session, as an int.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     step = autoconv.compat.v1.train.create_global_step()
    ...     session.run(step.initializer)
    ...     autoconv.compat.v1.train.global_step(session, step)
    0
    """
    return int(sess.run(global_step_tensor))
