"""Sessions, which compute tensors and run operations of a graph, and hold the values of its variables."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

import numpy as np

from autoconv import nest
from autoconv.api.control.graph_variable import GraphVariable
from autoconv.api.control.graphs import Graph
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.compat.v1.operations import Operation, StartOperation
from autoconv.compat.v1.placeholders import SparseTensorValue
from autoconv.compat.v1.slices import Slice, slice_of
from autoconv.config.refused_options import refuse_options
from autoconv.graph.dtypes import string
from autoconv.graph.graph import Value
from autoconv.graph.types import TensorType, are_shapes_compatible
from autoconv.ops.random.global_generator import GLOBAL
from autoconv.runtime.objects.storage import Storage
from autoconv.runtime.recording.regions import recording
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.operation import EVALUATE, TensorOperation
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor
from autoconv.tracing.views import func_graph


class Session:
    """A session computes tensors and runs operations of a graph, by default of the default graph.

    Each session has its own values of the graph's variables. `with Session() as session:` makes it, and its graph,
    the default ones in the block, and then closes the session. `config` has no effect: there is one
    device, and no `target` but "".

    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default():
    ...     x = v1.placeholder(autoconv.float32, [None])
    ...     total = autoconv.reduce_sum(x * x)
    ...     with v1.Session() as session:
    ...         session.run(total, feed_dict={x: [1.0, 2.0, 3.0]})
    np.float32(14.0)
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: object = None) -> None:
        refuse_options("Session", target=target)
        self.graph: Graph = get_default_graph() if graph is None else graph
        self._storages: dict[Storage, Storage] = {}  # of variables: the storage of this session by the graph's
        self._draw_streams: dict[Any, Any] = {}  # of the graph's random numbers
        self._is_closed = False
        self._contexts: list[ExitStack] = []
        self._close_callbacks: list[Callable[[], None]] = []

    def run(self, fetches: Any, feed_dict: Any = None, options: object = None, run_metadata: object = None) -> Any:
        """Return the values of the fetches in their structure: arrays for tensors and variables, None for operations.

        Fetches are tensors, variables, operations, or their names, in tuples, lists and dicts. `feed_dict` has values
        that replace those of tensors. Ops run in the order of the program. Raises RuntimeError if the session is
        closed, and ValueError for anything outside its graph and for a fed value of another shape. Raises
        InvalidArgumentError for a placeholder that is not fed, FailedPreconditionError for a variable that is not
        initialised.
        """
        feeds = self._collect_feeds(feed_dict)
        return self._run_with_feeds(fetches, tuple(feeds), list(feeds.values()))

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False) -> Any:
        """Return a function that takes the values of `feed_list` and returns the values of the fetches."""
        feed_targets = [self._value_in_graph(item) for item in feed_list or ()]

        def run(*values: Any) -> Any:
            if len(values) != len(feed_targets):
                raise TypeError(f"expected {len(feed_targets)} values, of the feed_list; found {len(values)}")
            arrays = [_feed_array(target, value) for target, value in zip(feed_targets, values, strict=True)]
            return self._run_with_feeds(fetches, tuple(feed_targets), arrays)

        return run

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> NoReturn:
        """Raise NotImplementedError: a run keeps nothing for later ones."""
        raise NotImplementedError(_PARTIAL_RUN_MESSAGE)

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> NoReturn:
        """Raise NotImplementedError, as `partial_run_setup`."""
        raise NotImplementedError(_PARTIAL_RUN_MESSAGE)

    def close(self) -> None:
        """End the session and discard the values of its variables."""
        self._is_closed = True
        for callback in self._close_callbacks:
            callback()
        self._storages.clear()

    def call_at_close(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the session is closed, for example to end the waiting of other threads."""
        self._close_callbacks.append(callback)

    @contextmanager
    def as_default(self) -> Iterator[Session]:
        """Make this the default session in the block; the session stays open after the block."""
        stack = _SESSIONS.default_sessions
        stack.append(self)
        try:
            yield self
        finally:
            stack.remove(self)

    def __enter__(self) -> Session:
        contexts = ExitStack()
        contexts.enter_context(self.graph.as_default())
        contexts.enter_context(self.as_default())
        self._contexts.append(contexts)
        return self

    def __exit__(self, *_: object) -> None:
        self._contexts.pop().close()
        self.close()

    @property
    def graph_def(self) -> Any:
        return self.graph.as_graph_def()

    @property
    def sess_str(self) -> bytes:
        return b""

    def list_devices(self) -> list[str]:
        """Return the names of the devices: only the processor's."""
        return ["/job:localhost/replica:0/task:0/device:CPU:0"]

    def has_value(self, variable: GraphVariable) -> bool:
        """Return whether a variable is initialised in this session."""
        return variable.storage in self._storages

    def set_value(self, variable: GraphVariable, value: Any) -> None:
        """Set the value of a variable; raises ValueError for another shape."""
        array = np.array(value, variable.dtype.numpy)
        if not are_shapes_compatible(variable.type.shape, array.shape):
            raise ValueError(f"{variable.name} has the shape {variable.shape}, the value {TensorShape(array.shape)}")
        storage = variable.storage
        self._storages[storage] = Storage(array, storage.shape, storage.name)

    def _run_with_feeds(self, fetches: Any, feed_targets: tuple[Value, ...], fed_arrays: list[Any]) -> Any:
        """Return the values of the fetches in their structure, given the arrays of the feeds."""
        if self._is_closed:
            raise RuntimeError("Attempted to use a closed Session.")
        fetched_structure = nest.map_structure(_sparse_components, fetches)
        flat_fetches = nest.flatten(fetched_structure)
        for item in flat_fetches:
            if isinstance(item, StartOperation):
                item.start(self, self._run_values([item.value], (), feed_targets, fed_arrays)[0])
        resolved_fetches = [self.resolve(item, is_fetched=True) for item in flat_fetches]
        values = tuple(fetch for fetch in resolved_fetches if isinstance(fetch, Value))
        node_names = tuple(name for fetch in resolved_fetches if isinstance(fetch, tuple) for name in fetch)
        results = iter(self._run_values(values, node_names, feed_targets, fed_arrays))
        fetched_values = [next(results) if isinstance(fetch, Value) else None for fetch in resolved_fetches]
        return nest.pack_sequence_as(fetched_structure, fetched_values)

    def run_value(self, value: Value) -> Any:
        """Return a value of the graph that needs no feeds, such as a dataset."""
        return self._run_values([value], (), (), [])[0]

    def _run_values(
        self, values: Sequence[Value], node_names: tuple[str, ...], feed_targets: tuple[Value, ...],
        fed_arrays: list[Any],
    ) -> list[Any]:  # fmt: skip
        """Compute values of the graph and run nodes; return the arrays of the values."""
        with recording(region=None), _mark_running(self), GLOBAL.use_streams(self._draw_streams):
            return self._slice_for(tuple(values), node_names, feed_targets)(fed_arrays, self._storages)

    def _slice_for(
        self, values: tuple[Value, ...], node_names: tuple[str, ...], feed_targets: tuple[Value, ...]
    ) -> Slice:
        """Return the compiled slice of the graph for these fetches and feeds, which is shared by all sessions."""
        slices: dict[Any, Slice] = self.graph.attachments.setdefault("slices", {})
        key = values, node_names, feed_targets
        if key not in slices:
            slices[key] = slice_of(self.graph, values, node_names, feed_targets)
        return slices[key]

    def _collect_feeds(self, feed_dict: Any) -> dict[Value, Any]:
        """Return the array of each fed value of the graph."""
        feeds: dict[Value, Any] = {}
        for key, value in (feed_dict or {}).items():
            for item, item_value in _flat_feed(key, value):
                target = self._value_in_graph(item)
                feeds[target] = _feed_array(target, item_value)
        return feeds

    def _value_in_graph(self, item: Any) -> Value:
        """Return the graph's value of a tensor to feed; raise TypeError for an operation."""
        result = self.resolve(item)
        if not isinstance(result, Value):
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {item!r} is an operation")
        return result

    def resolve(self, item: Any, is_fetched: bool = False) -> Value | tuple[str, ...]:
        """Return the graph's value of a tensor or variable, or the names of the nodes of an operation.

        For a fetched variable it is the value of the graph that stands for its storage, read at the end of the run.
        """
        if isinstance(item, (str, bytes)):
            item = self._find_by_name(item if isinstance(item, str) else item.decode())
        if isinstance(item, GraphVariable):
            if is_fetched and item.graph is self.graph:
                return self.graph.root.trace.capture(item.storage, item.storage.type, item.storage.name)
            item = item.snapshot
        if isinstance(item, (SymbolicTensor, TensorOperation, Operation, func_graph.Operation)):
            if item.graph is not self.graph:
                raise ValueError(f"Tensor {item} is not an element of this graph.")
            return item.value_in_graph if isinstance(item, SymbolicTensor) else tuple(item.control_names)
        if isinstance(item, Tensor):
            raise TypeError(f"{item!r} is the value of an op that ran at once: it is no part of a graph.")
        raise TypeError(
            f"Fetch argument {item!r} has invalid type {type(item).__name__!r}, must be a string or Tensor. "
            f"(Can not convert a {type(item).__name__} into a Tensor or Operation.)"
        )

    def _find_by_name(self, name: str) -> Any:
        """Return the variable, tensor or operation of a name; raise ValueError if there is none."""
        operation_name, _, index = name.partition(":")
        for variable in self.graph.attachments.get("variables", ()):
            if index in ("", "0") and variable.name == f"{operation_name}:0":
                return variable if index else variable.op
        imported_tensor = self.graph.attachments.get("imported", {}).get(name)
        if imported_tensor is not None:
            return imported_tensor
        try:
            return self.graph.as_graph_element(name)
        except KeyError as error:
            message = f"Argument `fetch` = {name} cannot be interpreted as a Tensor. ({error.args[0]})"
            raise ValueError(message) from None


_PARTIAL_RUN_MESSAGE = (
    "A session runs its fetches at once: fetch the intermediate tensor by session.run, and feed its value in place of "
    "the tensor to the next session.run, which then starts from there."
)


class InteractiveSession(Session):
    """A session that is the default one from its creation until it is closed.

    >>> with autoconv.Graph().as_default():
    ...     session = autoconv.compat.v1.InteractiveSession()
    ...     print((autoconv.constant(2) * 3).eval())
    ...     session.close()
    6
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: object = None) -> None:
        super().__init__(target, graph, config)
        _SESSIONS.default_sessions.append(self)

    def close(self) -> None:
        super().close()
        if self in _SESSIONS.default_sessions:
            _SESSIONS.default_sessions.remove(self)


def get_default_session() -> Session | None:
    """Return the session of the innermost enclosing block, None outside of blocks.

    >>> autoconv.compat.v1.get_default_session() is None
    True
    """
    return _SESSIONS.default_sessions[-1] if _SESSIONS.default_sessions else None


def running_session() -> Session:
    """Return the session whose `run` calls a Python function of the graph."""
    return _SESSIONS.running_sessions[-1]


def is_session_running() -> bool:
    """Return whether a session's `run` called the code that runs now."""
    return bool(_SESSIONS.running_sessions)


class _ThreadSessions(threading.local):
    """The thread's default sessions and running ones, the innermost last."""

    def __init__(self) -> None:
        self.default_sessions: list[Session] = []
        self.running_sessions: list[Session] = []


_SESSIONS = _ThreadSessions()


@contextmanager
def _mark_running(session: Session) -> Iterator[None]:
    """Make the session the running one of the block."""
    _SESSIONS.running_sessions.append(session)
    try:
        yield
    finally:
        _SESSIONS.running_sessions.pop()


def _evaluate(
    fetch: Any, feed_dict: Any = None, session: Session | None = None,
    assignment: tuple[GraphVariable, Any] | None = None,
) -> Any:  # fmt: skip
    """Return the result of a fetch in a session; with `assignment`, (variable, value), set the variable instead."""
    current_session = get_default_session() if session is None else session
    if current_session is None:
        action = "evaluate tensor using `eval()`" if isinstance(fetch, Tensor) else "execute operation using `run()`"
        raise ValueError(
            f"Cannot {action}: No default session is registered. Use `with session.as_default()`, or pass session=…"
        )
    if assignment is not None:
        current_session.set_value(*assignment)
        return None
    return current_session.run(fetch, feed_dict)


EVALUATE.set(_evaluate)


def _sparse_components(fetch: Any) -> Any:
    """Return a SparseTensorValue of the tensors of a sparse tensor, or any other fetch itself."""
    if not isinstance(fetch, SparseTensor):
        return fetch
    return SparseTensorValue(fetch.indices, fetch.values, fetch.dense_shape)


def _flat_feed(key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield pairs (tensor, value) for a key of `feed_dict`, which may be a nest of tuples, and its value."""
    if isinstance(key, SparseTensor):
        key = key.indices, key.values, key.dense_shape
        value = (value.indices, value.values, value.dense_shape) if hasattr(value, "dense_shape") else value
    if not isinstance(key, tuple):
        yield key, value
        return
    for inner_key, inner_value in zip(key, value, strict=True):
        yield from _flat_feed(inner_key, inner_value)


def _feed_array(target: Value, value: Any) -> np.ndarray:
    """Return a fed value as an array of the tensor's dtype; raises ValueError for another shape."""
    if isinstance(value, (SymbolicTensor, GraphVariable)):
        raise TypeError(
            "The value of a feed cannot be a tensor of a graph: it is a number, a string, a list or a NumPy array."
        )
    if isinstance(value, EagerTensor):
        value = value.numpy()
    type_ = target.type
    assert isinstance(type_, TensorType)
    if type_.dtype is string:
        array = np.array(EagerTensor(_encode_texts(value)).numpy(), object)
    else:
        array = np.asarray(value, type_.dtype.numpy)
    if not are_shapes_compatible(type_.shape, array.shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape} for Tensor {target.full_name}, which has shape "
            f"{TensorShape(type_.shape)}"
        )
    return array


def _encode_texts(value: Any) -> np.ndarray:
    """Return texts as an array of bytes objects."""
    array = np.asarray(value, object)
    encode: Callable[[Any], bytes] = lambda text: text.encode() if isinstance(text, str) else bytes(text)
    return np.frompyfunc(encode, 1, 1)(array) if array.shape else np.asarray(encode(array.item()), object)
