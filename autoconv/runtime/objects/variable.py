"""Variables: named storage that ops read and assign."""

from __future__ import annotations

import inspect
import weakref
from typing import Any, NoReturn

import numpy as np

from autoconv.config.placement import DEFAULT_DEVICE, current_request, non_default_name
from autoconv.config.refused_options import refuse_options
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.types import Shape, TensorType
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.objects.storage import Storage, create_storage
from autoconv.runtime.objects.trackable import Trackable
from autoconv.runtime.objects.variable_updates import (
    VariableAggregation,
    VariablePart,
    VariableSynchronization,
    VariableUpdates,
    create_variable,
    creators_in_scope,
    is_trainable,
)
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.name_scopes import current_scope
from autoconv.runtime.recording.regions import current_contract, current_region, recording
from autoconv.runtime.recording.tracebacks import wrap_public_methods
from autoconv.runtime.support.shape import TensorShape, as_shape
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import as_tensor, constant, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import computed_value, static_value
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor, TensorReference
from autoconv.runtime.tensors.tensor_methods import TensorMethods


class VariableType(type):
    """Metaclass that creates variables through the creators of `variable_creator_scope` and the contract in force."""

    def __call__(cls, /, *args: Any, **kwargs: Any) -> Any:
        contract = current_contract()
        creates_by_contract = type(contract).make_variable is not Contract.make_variable
        if cls is not Variable or not (creators_in_scope() or creates_by_contract):
            return super().__call__(*args, **kwargs)
        bound_arguments = inspect.signature(cls.__init__).bind(None, *args, **kwargs)
        bound_arguments.apply_defaults()
        arguments = dict(list(bound_arguments.arguments.items())[1:])  # without `self`

        make_variable = super().__call__

        def create_by_contract(**final_arguments: Any) -> Any:
            return contract.make_variable(make_variable, final_arguments)

        return create_variable(create_by_contract, arguments)


@wrap_public_methods
class Variable(TensorMethods, VariableUpdates, Trackable, metaclass=VariableType):
    """A tensor that can be assigned.

    `initial_value` is anything that converts to a tensor, or a function that returns one; `shape` may leave
    dimensions unknown that later values fill. Raises ValueError for a value of another shape or dtype.

    >>> v = autoconv.Variable([1.0, 2.0])
    >>> _ = v.assign_add([1.0, 1.0])
    >>> v.numpy()
    array([2., 3.], dtype=float32)
    """

    __array_priority__ = 100.0
    _device: str = ""  # the full name of its device, "" for the default one

    def __hash__(self) -> int:
        """Raise TypeError: `==` compares elements, so that a variable is no key."""
        error = TypeError(f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self!r})")
        error._autoconv_uncatchable_in_trace = True  # type: ignore[attr-defined]
        raise error

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        refuse_options("Variable", variable_def=variable_def)
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `autoconv.Variable` has to be given; found None.")
        array = _initial_array(initial_value, as_dtype(dtype) if dtype is not None else None)
        declared_shape = as_shape(shape) if shape is not None else array.shape
        if not TensorShape(declared_shape).is_compatible_with(array.shape):
            raise ValueError(
                f"In this `autoconv.Variable` creation, the initial value's shape ({array.shape}) is not compatible "
                f"with the explicitly supplied `shape` argument ({shape})."
            )
        region = current_region()
        self._device = non_default_name(current_request() if region is None else region.trace.device)
        self._storage = create_storage(self._device, array, declared_shape, current_scope() + (name or "Variable"))
        self._storage.variable = weakref.ref(self)
        self._trainable = is_trainable(trainable, synchronization)
        self.constraint = constraint
        self.synchronization = synchronization or VariableSynchronization.AUTO
        self.aggregation = aggregation or VariableAggregation.NONE
        if region is not None:
            region.contract.on_variable_created(self)

    @classmethod
    def of_storage(cls, storage: Storage) -> Variable:
        """Return the variable of the storage, or a new one for the same storage if it was garbage-collected."""
        result = storage.variable()
        if result is None:
            result = cls.__new__(cls)
            result.__dict__.update(_storage=storage, _trainable=True, constraint=None)
            result.__dict__.update(synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE)
            storage.variable = weakref.ref(result)
        return result

    @property
    def name(self) -> str:
        return f"{self._storage.name}:0"

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def dtype(self) -> DType:
        return self._storage.element_type

    @property
    def shape(self) -> TensorShape:
        return TensorShape.of(self._storage.shape)

    @property
    def type(self) -> TensorType:
        return self._storage.type.value  # type: ignore[return-value]

    @property
    def storage(self) -> Storage:
        return self._storage

    @property
    def ndim(self) -> int | None:
        return self.type.rank

    @property
    def handle(self) -> Storage:
        """The storage, to which graphs refer."""
        return self._storage

    @property
    def _shared_name(self) -> str:
        """The name without the number of the output, for libraries of TensorFlow."""
        return self._storage.name

    @property
    def _unique_id(self) -> str:
        """A name that no other variable of the process has, for libraries of TensorFlow."""
        return f"{self._storage.name}_{self._storage.number}"

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"VARIABLE_VALUE": self.value()}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Variable:
        self.assign(restored_tensors["VARIABLE_VALUE"])
        return self

    @property
    def initializer(self) -> None:
        return None

    @property
    def device(self) -> str:
        return self._device or DEFAULT_DEVICE

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Return True: a variable has a value from the start."""
        return constant(True)

    def set_shape(self, shape: ShapeLike) -> None:
        """Check a shape against the declared one; raises ValueError when they are incompatible."""
        new_shape = as_shape(shape)
        if not self.shape.is_compatible_with(new_shape):
            raise ValueError(f"the shape {self.shape} is not compatible with {TensorShape(new_shape)}")

    def get_shape(self) -> TensorShape:
        return self.shape

    def value(self) -> Tensor:
        """Return the current value: a tensor that later assignments do not change."""
        return self._on_its_device(self.read_value())

    def read_value(self) -> Tensor:
        """Return the current value as `value` does, on the device of the enclosing block."""
        if tape_recorders.active_recorders():
            tape_recorders.watch_used_variable(self)
        return apply("read_variable", self._storage)

    def _on_its_device(self, tensor: Tensor) -> Tensor:
        """Return a value of the variable, marked as on the variable's device."""
        if self._device and isinstance(tensor, EagerTensor):
            tensor._device = self._device
        return tensor

    def __autoconv_tensor__(self) -> Tensor:
        return self.value()

    def numpy(self) -> Any:
        if current_region() is not None:
            raise NotImplementedError("numpy() is only available when running eagerly.")
        return EagerTensor(self._storage.value).numpy()

    def assign(self, value: object, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Set the value; return the new one, or None without `read_value`.

        Raises ValueError for another shape or dtype.
        """
        return self._update("assign_variable", value, read_value)

    def assign_add(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        return self._update("assign_add_variable", delta, read_value)

    def assign_sub(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        return self._update("assign_sub_variable", delta, read_value)

    def _update(self, op: str, value: object, read_value: bool) -> Any:
        """Apply the op, such as an assignment, to the variable and a value; return the new value if `read_value`."""
        tensor = as_tensor(value)
        if tensor is None or tensor.weak:
            tensor = convert_to_tensor(value, self.dtype)
        elif tensor.dtype is not self.dtype:
            _raise_wrong_dtype(self, tensor)
        if not self.shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"Cannot assign value to variable '{self.name}': Shape mismatch. The variable shape "
                f"{self.shape}, and the assigned value shape {tensor.shape} are incompatible."
            )
        if tape_recorders.active_recorders():
            tape_recorders.watch_used_variable(self)
        result = apply(op, self._storage, tensor)
        if not read_value:
            return None
        self._on_its_device(result)
        result._origin = self  # assigning methods of the result assign to this variable
        return result

    def __getitem__(self, index: object) -> Tensor:
        """Return a part of the current value; `variable[index].assign(value)` assigns to it."""
        result: Tensor = get_item(self.value(), index)
        result._origin = VariablePart(self, index)
        return result

    def ref(self) -> TensorReference:
        return TensorReference(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._storage.value, dtype)

    def __bool__(self) -> bool:
        return bool(self.value())

    def __int__(self) -> int:
        return int(self.value())  # type: ignore[call-overload]

    def __float__(self) -> float:
        return float(self.value())  # type: ignore[arg-type]

    def __index__(self) -> int:
        return self.value().__index__()  # type: ignore[attr-defined]

    def __iter__(self) -> Any:
        return iter(self.value())  # type: ignore[call-overload]

    def __len__(self) -> int:
        return len(self.value())  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by value: the loaded object is another variable, with the current value."""
        state = {name: value for name, value in self.__dict__.items() if name != "_storage"}
        return _restore, (self._storage.value, self._storage.shape, self._storage.name, state)

    def __deepcopy__(self, memo: object) -> Variable:
        return Variable(self._storage.value.copy(), self._trainable, name=self._storage.name)

    def __repr__(self) -> str:
        head = f"<autoconv.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}"
        if current_region() is not None:
            return head + ">"
        text = repr(EagerTensor(self._storage.value))
        return f"{head}, {text[text.index('numpy=') : -1]}>"


def represented_value(value: Any) -> Any:
    """Return the variable or tensor that an object of another library represents; every other value unchanged.

    Such an object has the storage of a variable as its `handle`, or converts to a tensor by a method.
    """
    if isinstance(value, (Tensor, Variable)):
        return value
    handle = getattr(value, "handle", None)
    if isinstance(handle, Storage):
        return Variable.of_storage(handle)
    tensor = as_tensor(value)
    return value if tensor is None else tensor


def _restore(value: np.ndarray, shape: Shape, name: str, state: dict[str, Any]) -> Variable:
    """Make a variable that was pickled; `state` has its attributes except for the storage."""
    storage = Storage(value, shape, name)
    variable = Variable.__new__(Variable)
    variable.__dict__.update(state, _storage=storage)
    storage.variable = weakref.ref(variable)
    return variable


def _raise_wrong_dtype(variable: Variable, tensor: Tensor) -> NoReturn:
    """Raise ValueError for a tensor of another dtype that is assigned to a variable."""
    raise ValueError(
        f"Tensor conversion requested dtype {variable.dtype.name} for Tensor with dtype "
        f"{tensor.dtype.name}: {tensor!r}. Cast it: autoconv.cast(value, autoconv.{variable.dtype.name})."
    )


def _initial_array(value: object, dtype: DType | None) -> np.ndarray:
    """Compute the initial value eagerly; during a trace, from the arguments of the traced call."""
    region = current_region()
    with recording(region=None):
        tensor = value() if callable(value) else value
        if isinstance(tensor, SymbolicTensor):
            known_value = static_value(tensor)
            if known_value is None and region is not None:
                known_value = region.contract.evaluate(tensor.value_in_graph)
                if known_value is None:
                    known_value = computed_value(tensor.value_in_graph)
            if known_value is None:
                raise ValueError(
                    "the initial value of a variable created in a traced function has to be known; found "
                    f"{tensor!r}. Create it from a number or an array, and assign the tensor to it."
                )
            tensor = known_value
        value_tensor = as_tensor(tensor)
        if value_tensor is None:
            value_tensor = constant(tensor, dtype)
        elif dtype is not None and value_tensor.dtype is not dtype:
            value_tensor = apply("cast", value_tensor, dtype=dtype)
        return np.array(value_tensor.numpy(), value_tensor.dtype.numpy)  # type: ignore[union-attr]
