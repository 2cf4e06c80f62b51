"""The default graph: the graph of the enclosing `as_default` block, or else one per process."""

from __future__ import annotations

from contextlib import ExitStack

from autoconv.api.control.graphs import Graph, graph_being_built
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.regions import current_region, recording
from autoconv.runtime.support.dimension import Dimension
from autoconv.runtime.support.shape import show_sizes_by
from autoconv.runtime.tensors.tensor import Tensor

_COMPARISONS = ("__eq__", "__ne__", "__hash__")
# The methods by which the elements of tensors and variables are compared.
_ELEMENTWISE_METHODS = {cls: [getattr(cls, name) for name in _COMPARISONS] for cls in (Tensor, Variable)}


def get_default_graph() -> Graph:
    """Return the graph of the enclosing `as_default` block; outside of blocks, the process's default graph.

    >>> with autoconv.Graph().as_default() as graph:
    ...     autoconv.compat.v1.get_default_graph() is graph
    True
    """
    return graph_being_built() or _STATE.graph


def reset_default_graph() -> None:
    """Replace the default graph by an empty one. Raises RuntimeError in a graph's block.

    >>> autoconv.compat.v1.reset_default_graph()
    """
    if current_region() is not None and graph_being_built() is not _STATE.recorded_graph():
        raise RuntimeError("Do not use reset_default_graph() to clear nested graphs: leave the graph's block first.")
    _STATE.replace()


def disable_eager_execution() -> None:
    """Record all further ops of this thread into the default graph, as programs of version 1 expect.

    Raises ValueError in a function that is traced.

    >>> autoconv.compat.v1.disable_eager_execution()
    >>> isinstance(autoconv.constant(1), autoconv.Tensor) and not autoconv.executing_eagerly()
    True
    >>> autoconv.compat.v1.enable_eager_execution()
    """
    if _STATE.block is None:
        if current_region() is not None:
            raise ValueError("disable_eager_execution() belongs at the start of a program, outside of functions.")
        _STATE.start()


def enable_eager_execution(config: object = None, device_policy: object = None, execution_mode: object = None) -> None:
    """Run all further ops of this thread eagerly, as at the start.

    >>> autoconv.compat.v1.enable_eager_execution()
    >>> autoconv.executing_eagerly()
    True
    """
    _STATE.stop()


def disable_v2_behavior() -> None:
    """Record ops into the default graph, as `disable_eager_execution`, and give the sizes of shapes a `value`.

    >>> autoconv.compat.v1.disable_v2_behavior()
    >>> autoconv.compat.v1.placeholder(autoconv.float32, [None, 3]).shape[1].value
    3
    >>> autoconv.compat.v1.enable_v2_behavior()
    """
    disable_v2_tensorshape()
    disable_eager_execution()


def enable_v2_behavior() -> None:
    """Undo `disable_v2_behavior`: run ops eagerly, and represent the sizes of shapes by ints and None.

    >>> autoconv.compat.v1.enable_v2_behavior()
    """
    enable_v2_tensorshape()
    enable_eager_execution()


def disable_v2_tensorshape() -> None:
    """Add an attribute `value` to the sizes of shapes, in the whole process: `x.shape[0].value` is an int or None.

    >>> autoconv.compat.v1.disable_v2_tensorshape()
    >>> autoconv.TensorShape([None, 3])[1].value
    3
    >>> autoconv.compat.v1.enable_v2_tensorshape()
    """
    show_sizes_by(Dimension.of)


def enable_v2_tensorshape() -> None:
    """Represent the sizes of shapes by ints and None, as at the start.

    >>> autoconv.compat.v1.enable_v2_tensorshape()
    """
    show_sizes_by(present_size=None)


def disable_tensor_equality() -> None:
    """Compare tensors and variables by identity in the whole process, so that they can be keys of dicts.

    >>> autoconv.compat.v1.disable_tensor_equality()
    >>> autoconv.constant(1.0) == autoconv.constant(1.0)
    False
    >>> autoconv.compat.v1.enable_tensor_equality()
    """
    for cls in _ELEMENTWISE_METHODS:
        for name in _COMPARISONS:
            setattr(cls, name, getattr(object, name))


def enable_tensor_equality() -> None:
    """Compare the elements of tensors and variables, as at the start.

    >>> autoconv.compat.v1.enable_tensor_equality()
    >>> bool(autoconv.constant(1.0) == autoconv.constant(1.0))
    True
    """
    for cls, methods in _ELEMENTWISE_METHODS.items():
        for name, method in zip(_COMPARISONS, methods, strict=True):
            setattr(cls, name, method)


class _DefaultGraphState:
    """The default graph outside of blocks; while eager execution is disabled, `block` is the recording into it."""

    def __init__(self) -> None:
        self._graph: Graph | None = None
        self.block: ExitStack | None = None

    @property
    def graph(self) -> Graph:
        if self._graph is None:
            self._graph = Graph()
        return self._graph

    def recorded_graph(self) -> Graph | None:
        """Return the graph into which ops are recorded now; None while they run eagerly."""
        return self._graph if self.block is not None else None

    def replace(self) -> None:
        """Forget the graph; if ops were recorded into it, record them into a new one."""
        is_recording = self.block is not None
        self.stop()
        self._graph = None
        if is_recording:
            self.start()

    def start(self) -> None:
        """Record ops into the graph."""
        self.block = ExitStack()
        self.block.enter_context(recording(self.graph.root))

    def stop(self) -> None:
        """Run ops eagerly again."""
        if self.block is not None:
            self.block.close()
            self.block = None


_STATE = _DefaultGraphState()
