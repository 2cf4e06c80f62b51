"""Tensors, and eager tensors, which hold an array; symbolic tensors are in `autoconv.runtime.tensors.symbolic`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from autoconv.config.placement import DEFAULT_DEVICE, eager_device, full_name, has_device, other_device_request
from autoconv.errors import ItemAssignmentError
from autoconv.graph.dtypes import DType, as_dtype, float32, float64, int32, int64
from autoconv.graph.types import TensorType
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.interchange import Interchange
from autoconv.runtime.recording.numpy_protocol import array_function, array_ufunc, call_implementation
from autoconv.runtime.recording.regions import current_contract
from autoconv.runtime.support.html import tensor_html
from autoconv.runtime.support.shape import TensorShape, as_shape
from autoconv.runtime.tensors.tensor_methods import TensorMethods

_ARRAY_API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


class Tensor(TensorMethods):
    """An immutable array of one dtype; the class of eager and symbolic tensors alike.

    `_origin` is set on the result of a variable's assignment, and on parts of variables: it is the object whose
    assigning methods the tensor has.

    >>> x = autoconv.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> x.shape, x.dtype, (x @ x)[0].numpy()
    (TensorShape([2, 2]), autoconv.float32, array([ 7., 10.], dtype=float32))
    """

    __module__ = "autoconv.tensorflow.python.framework.tensor"  # libraries recognise the class by it
    __slots__ = ("__dict__", "__weakref__", "_origin")
    _origin: Any
    __array_priority__ = 100.0
    __array_ufunc__ = array_ufunc
    __array_function__ = array_function
    # Libraries give these methods to classes of their own whose objects stand for tensors.
    OVERLOADABLE_OPERATORS = frozenset({
        *(f"__{name}__" for name in ("abs", "eq", "ge", "getitem", "gt", "invert", "le", "lt", "ne", "neg")),
        *(f"__{side}{name}__" for side in ("", "r") for name in (
            "add", "and", "floordiv", "matmul", "mod", "mul", "or", "pow", "sub", "truediv", "xor",
        )),
    })  # fmt: skip

    def __bool__(self) -> bool:
        return bool(np.asarray(self))  # for subclasses of libraries; this package's classes override the method

    __nonzero__ = __bool__

    def __hash__(self) -> int:
        error = TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")
        error._autoconv_uncatchable_in_trace = True  # type: ignore[attr-defined]
        raise error

    @property
    def type(self) -> TensorType:
        raise NotImplementedError

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def shape(self) -> TensorShape:
        return TensorShape.of(self.type.shape)

    def get_shape(self) -> TensorShape:
        return self.shape

    @property
    def ndim(self) -> int | None:
        return self.type.rank

    @property
    def weak(self) -> bool:
        """True for a Python number: it adopts the dtype of other operands."""
        return self.type.weak

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return `autoconv.xp`, the array API standard; raises ValueError for an unsupported version."""
        if api_version not in (None, *_ARRAY_API_VERSIONS):
            newest = _ARRAY_API_VERSIONS[-1]
            raise ValueError(f"the array API of {api_version} is not here: autoconv.xp is that of {newest}")
        return _namespace()

    def to_device(self, device: str, /, *, stream: Any = None) -> Tensor:
        """Return the tensor on a device of this program; the tensor itself where it is there already, and under trace.

        Raises ValueError for an unknown device.
        """
        if not has_device(str(device)):
            raise ValueError(f"there is no device {device!r} here: tensors are on {DEFAULT_DEVICE!r}")
        name = full_name(str(device))
        if not isinstance(self, EagerTensor) or name == self.device:
            return self
        result = EagerTensor(self._array, self._weak)
        result._device = name
        return result

    def cpu(self) -> Tensor:
        """Return the tensor on the first device of the processor."""
        return self.to_device("/CPU:0")

    def gpu(self, gpu_index: int = 0) -> Tensor:
        """Return the tensor on a GPU; raises RuntimeError where there is none of that number."""
        if not has_device(f"/GPU:{gpu_index}"):
            raise RuntimeError(f"GPU:{gpu_index} unknown device.")
        return self.to_device(f"/GPU:{gpu_index}")

    def __setitem__(self, index: object, value: object) -> NoReturn:
        raise ItemAssignmentError(f"{type(self).__name__!r} object does not support item assignment")

    def ref(self) -> TensorReference:
        """Return a hashable reference to this tensor, for use as a key."""
        return TensorReference(self)


class EagerTensor(Interchange, Tensor):
    """A tensor that holds its array; `_device` is the full name of its device, "" for the default one."""

    __slots__ = ("_array", "_weak")
    _device: str = ""

    def __init__(self, array: Any, weak: bool = False) -> None:
        self._array = np.asarray(array)
        self._weak = weak
        if other_device_request():
            self._device = eager_device()

    @property
    def type(self) -> TensorType:
        return TensorType(as_dtype(self._array.dtype), self._array.shape, self._weak)

    @property
    def dtype(self) -> DType:
        return as_dtype(self._array.dtype)

    def __getattr__(self, name: str) -> Any:
        result = array_attribute(self, name, type(self) is ArrayTensor)
        return variable_method_or_raise(self, name) if result is NotImplemented else result

    def set_shape(self, shape: ShapeLike) -> None:
        """Check the shape, without effect on the tensor: raise ValueError if it is not compatible with the tensor's."""
        if not self.shape.is_compatible_with(as_shape(shape)):
            raise ValueError(f"the shape {self.shape} is not compatible with {TensorShape(as_shape(shape))}")

    def numpy(self) -> Any:
        """Return a copy of the array; for a tensor without dimensions, a NumPy scalar (bytes for strings).

        `np.asarray(tensor)` is the array itself, read-only.
        """
        tape_recorders.record_export(self)
        return self._array[()] if self._array.ndim == 0 else self._array.copy()

    @property
    def device(self) -> str:
        return self._device or DEFAULT_DEVICE

    backing_device = device

    @property
    def T(self) -> Tensor:
        """The tensor with its dimensions in reverse order."""
        return call_implementation(np.transpose, self)  # type: ignore[no-any-return]

    @property
    def mT(self) -> Tensor:
        """The tensor with its last two dimensions exchanged."""
        return call_implementation(np.swapaxes, self, -1, -2)  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._array.size

    def __bool__(self) -> bool:
        return bool(self._array) if self._array.size else False  # NumPy refuses empty arrays

    def __int__(self) -> int:
        return int(self._array)

    def __float__(self) -> float:
        tape_recorders.record_export(self)
        return float(self._array)

    def __complex__(self) -> complex:
        return complex(self._array)

    def __index__(self) -> int:
        return self._array.__index__()

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        if tape_recorders.active_recorders():
            return (self[row] for row in range(len(self._array)))
        return (EagerTensor(row) for row in self._array)

    def __contains__(self, item: object) -> bool:
        return any(bool(np.all(row._array == np.asarray(item))) for row in self)  # type: ignore[attr-defined]

    def __format__(self, spec: str) -> str:
        """Return the value as text, as NumPy formats it; an assigned variable is shown as one."""
        return str(self) if not spec and self._is_assigned else format(self._array[()], spec)

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: object) -> EagerTensor:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return EagerTensor, (self._array, self._weak)

    def _text(self) -> str:
        if self._array.ndim:
            return str(self._array)
        value = self._array[()]
        return repr(value) if isinstance(value, bytes) else str(value)

    def __str__(self) -> str:
        if self._is_donated or self._is_assigned:
            return repr(self)
        text = self._text()
        newline = "\n" if "\n" in text else ""
        return f"autoconv.Tensor({newline}{text}, shape={self.shape}, dtype={self.dtype.name})"

    def _repr_html_(self) -> str:
        return tensor_html(self._array, self.dtype.name)

    def __repr__(self) -> str:
        if self._is_donated:
            return f"<autoconv.Tensor: {self._array}>"
        text = repr(self._array if self._array.ndim else self._array.item())
        newline = "\n" if "\n" in text else ""
        if self._is_assigned:
            head = f"<autoconv.Variable 'UnreadVariable' shape={self.shape} dtype={self.dtype.name}"
            return f"{head}, numpy={newline}{text}>"
        return f"<autoconv.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={newline}{text}>"

    @property
    def _is_donated(self) -> bool:
        """Return whether a call took the array; then `_array` is an object whose text is shown in its place."""
        return not isinstance(self._array, np.ndarray)

    @property
    def _is_assigned(self) -> bool:
        """Return whether an assignment made the tensor, which then prints as a variable, as in TensorFlow."""
        try:
            origin = object.__getattribute__(self, "_origin")
        except AttributeError:
            return False
        return hasattr(type(origin), "storage")  # of a variable, not of a part of one


class ArrayTensor(EagerTensor):
    """An eager tensor that stands for an array of the program, with NumPy's behaviour, as do results of ops on it."""

    __slots__ = ()

    def __setitem__(self, index: object, value: object) -> NoReturn:
        raise ItemAssignmentError(
            "a tensor, which stands for an array here, does not support item assignment; decorate the function with "
            "@autoconv.compile, which differentiates writes"
        )


def register_namespace(find: Callable[[], Any]) -> None:
    """Register `find()`, which returns the result of `__array_namespace__`."""
    global _namespace
    _namespace = find


_namespace: Callable[[], Any]


# Attributes of the array API standard, implemented by the NumPy function of the same meaning.
NUMPY_FUNCTION_BY_ATTRIBUTE: dict[str, Callable[[Any], Any]] = {
    "T": np.transpose, "mT": lambda x: np.swapaxes(x, -1, -2), "size": np.size,
}  # fmt: skip


# Prefixes of the assigning methods of variables and their parts.
VARIABLE_METHOD_PREFIXES = ("assign", "scatter_")


def register_numpy_behaviour(find: Callable[[Any, str, bool], Any]) -> Callable[[Any, str, bool], Any]:
    """Register `find(tensor, name, is_array)`, which returns an attribute of NumPy's arrays, or NotImplemented."""
    global _find_array_attribute
    _find_array_attribute = find
    return find


def array_attribute(tensor: Tensor, name: str, is_array: bool = False) -> Any:
    """Return an attribute of NumPy's arrays if the tensor has their behaviour, as it has with `is_array`.

    Return NotImplemented for other tensors and names.
    """
    return _find_array_attribute(tensor, name, is_array)


_find_array_attribute: Callable[[Any, str, bool], Any] = lambda tensor, name, is_array: NotImplemented


def variable_method_or_raise(tensor: Tensor, name: str) -> Any:
    """Return an assigning method of the variable from which the tensor came; AttributeError for other names."""
    remedy = ""
    if name.startswith(VARIABLE_METHOD_PREFIXES):
        try:
            origin = object.__getattribute__(tensor, "_origin")
        except AttributeError:
            pass
        else:
            return getattr(origin, name)
        if not isinstance(tensor, EagerTensor):
            remedy = ": variables are assigned; where a tensor chooses between variables, assign in each branch"
    raise AttributeError(f"{type(tensor).__name__!r} object has no attribute {name!r}{remedy}", name=name, obj=tensor)


class TensorReference:
    """A reference that compares and hashes by the identity of its tensor."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: TensorLike) -> None:
        self._tensor = tensor

    def deref(self) -> Any:
        return self._tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorReference) and self._tensor is other._tensor

    def __lt__(self, other: Any) -> bool:
        return id(self._tensor) < id(other._tensor) if isinstance(other, TensorReference) else NotImplemented

    def __hash__(self) -> int:
        return id(self._tensor)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._tensor!r}>"


def standalone_dtype(type_: TensorType) -> DType:
    """Return the dtype of a weak value that adopts none: of 64 bits under `compile`, else int32 or float32."""
    uses_64_bits = current_contract().python_numbers
    if type_.dtype.is_integer:
        return int64 if uses_64_bits else int32
    if type_.dtype.is_floating:
        return float64 if uses_64_bits else float32
    return type_.dtype
