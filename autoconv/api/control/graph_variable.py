"""Variables that are made while a `Graph` is built: declared in the graph, with a value in each session."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype
from autoconv.runtime.objects.storage import Storage
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.objects.variable_updates import VariableAggregation, VariableSynchronization
from autoconv.runtime.recording.name_scopes import current_scope
from autoconv.runtime.recording.regions import current_region, recording
from autoconv.runtime.support.shape import as_shape
from autoconv.runtime.tensors.conversion import as_tensor, constant, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.operation import EVALUATE, TensorOperation
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor

GLOBAL_VARIABLES, TRAINABLE_VARIABLES = "variables", "trainable_variables"  # names of collections


class VariableTensors(NamedTuple):
    """The tensors of a variable in its graph: its initial value, the result of assigning it, and a read."""

    initial_value: Any
    assignment: Any
    snapshot: Any


class GraphVariable(Variable):
    """A variable of a graph. It has a value in a session once the session has run its `initializer`.

    `caching_device`, `variable_def`, `import_scope` and `experimental_enable_variable_lifting` have no effect.
    """

    def __init__(
        self, initial_value: Any = None, trainable: bool | None = None, validate_shape: bool = True,
        caching_device: Any = None, name: str | None = None, variable_def: Any = None, dtype: Any = None,
        import_scope: Any = None, constraint: Any = None, synchronization: Any = None, aggregation: Any = None,
        shape: Any = None, experimental_enable_variable_lifting: bool = True, *, graph: Any,
        collections: Any = None,
    ) -> None:  # fmt: skip
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `autoconv.Variable` has to be given; found None.")
        self.constraint = constraint
        self.synchronization = synchronization or VariableSynchronization.AUTO
        self.aggregation = aggregation or VariableAggregation.NONE
        full_name = current_scope() + (name or "Variable")
        with outside_of_control_flow(graph):
            initial_tensor = _initial_tensor(initial_value, None if dtype is None else as_dtype(dtype))
            inferred_shape = as_shape(initial_tensor.shape) if validate_shape else None
            known_shape = as_shape(shape) if shape is not None else inferred_shape
            storage = declare_storage(graph, initial_tensor.dtype, known_shape, full_name)
            assignment = apply("assign_variable", storage, initial_tensor, name=f"{storage.name}/Assign")
            snapshot = apply("read_variable", storage, name=f"{storage.name}/Read")
        tensors = VariableTensors(initial_tensor, assignment, snapshot)
        self._set_graph_parts(graph, storage, trainable is not False, tensors)
        collection_names = [GLOBAL_VARIABLES] if collections is None else list(collections)
        if self._trainable and TRAINABLE_VARIABLES not in collection_names:
            collection_names.append(TRAINABLE_VARIABLES)
        graph.add_to_collections(collection_names, self)

    @classmethod
    def from_graph(cls, graph: Any, storage: Storage, is_trainable: bool, tensors: Iterable[Any]) -> Any:
        """Return a variable of `storage` for tensors that the graph already has, in the order of `VariableTensors`."""
        result = cls.__new__(cls)
        result.constraint = None
        result.synchronization, result.aggregation = VariableSynchronization.AUTO, VariableAggregation.NONE
        result._set_graph_parts(graph, storage, is_trainable, VariableTensors(*tensors))
        return result

    def _set_graph_parts(self, graph: Any, storage: Storage, is_trainable: bool, tensors: VariableTensors) -> None:
        """Set the attributes that refer to the graph, and add the variable to those of the graph."""
        self._graph = weakref.ref(graph)
        self._trainable = is_trainable
        self._storage = storage
        storage.variable = weakref.ref(self)
        self.initial_value, self.assignment, self.snapshot = tensors
        graph.attachments.setdefault("variables", []).append(self)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        return self is other

    def __ne__(self, other: object) -> Any:
        return self is not other

    @property
    def initializer(self) -> TensorOperation:  # type: ignore[override]
        """The operation that sets the initial value in a session."""
        return self.assignment.op  # type: ignore[no-any-return]

    @property
    def graph(self) -> Any:
        return self._graph()

    @property
    def op(self) -> TensorOperation:
        """The operation that reads the variable, under the variable's name."""
        return _VariableOperation(self.snapshot.op, self._storage.name)

    @property
    def control_names(self) -> tuple[str, ...]:
        return self.op.control_names

    def initialized_value(self) -> Tensor:
        """Return the initial value itself, also in a session that has not set it."""
        return self.initial_value

    def is_initialized(self, name: str | None = None) -> Tensor:
        raise NotImplementedError(
            f"{self.name} has values in some sessions only: use compat.v1.is_variable_initialized(variable)"
        )

    def eval(self, session: Any = None) -> Any:
        """Return the value in a session, by default the default one."""
        return EVALUATE(self.value() if self._is_graph_recorded() else self.snapshot, session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Set the value in a session, by default the default one."""
        EVALUATE(self.initial_value, session=session, assignment=(self, value))

    def numpy(self) -> NoReturn:
        raise NotImplementedError(f"numpy() needs eager execution: {self.name} has values in sessions.")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise NotImplementedError(f"{self.name} has values in sessions: use session.run(variable).")

    def assign(
        self, value: object, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Record an assignment. Return its result, or the operation alone if `read_value` is False.

        `use_locking` has no effect.
        """
        result = super().assign(value)
        return result if read_value else result.op

    def _is_graph_recorded(self) -> bool:
        """Return whether ops are being recorded in the variable's graph."""
        region = current_region()
        return region is not None and region.trace.root.graph.program_graph is self.graph

    def __repr__(self) -> str:
        return f"<autoconv.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise NotImplementedError(f"{self.name} belongs to a graph and cannot be copied.")

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self.name} belongs to a graph and cannot be pickled.")


class _VariableOperation(TensorOperation):
    """The operation `read`, which reads a variable, under the name of the variable."""

    __slots__ = ("_name",)

    def __init__(self, read: TensorOperation, name: str) -> None:
        super().__init__(read._value, read._wrap)
        self._name = name

    @property
    def name(self) -> str:
        return self._name


def declare_storage(graph: Any, dtype: DType, shape: Any, name: str) -> Storage:
    """Return the storage of a new variable of the graph. Sessions have the values; the storage's array is not used."""
    storage = Storage(np.zeros((), dtype.numpy), shape, name)
    storage.name = graph.root.trace.capture(storage, storage.type, name).name
    return storage


@contextmanager
def outside_of_control_flow(graph: Any) -> Iterator[None]:
    """Record into the graph's root, not into an enclosing branch or loop, without scopes and control dependencies."""
    trace = graph.root.trace
    outer_state = trace.controls, trace.scope
    trace.controls, trace.scope = (None, ()), ""
    try:
        with recording(graph.root):
            yield
    finally:
        trace.controls, trace.scope = outer_state


def _initial_tensor(value: Any | Callable[[], Any], dtype: DType | None) -> SymbolicTensor:
    """Return `value`, or its result if it is a function, as a tensor of the graph and of `dtype` if that is given."""
    initial_value = value() if callable(value) and as_tensor(value) is None else value
    tensor = as_tensor(initial_value)
    if tensor is None:
        tensor = constant(initial_value, dtype)
    if dtype is not None and tensor.dtype is not dtype:
        tensor = convert_to_tensor(initial_value, dtype) if tensor.weak else apply("cast", tensor, dtype=dtype)
    return tensor if isinstance(tensor, SymbolicTensor) else apply("identity", tensor, name="initial_value")
